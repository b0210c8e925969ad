"""The paths and the facets of published posts, set by the transaction that publishes a post or changes its title."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import Connection, bindparam, delete, select, update

from contentsvc_adapters.sql.dialects import Dialect
from contentsvc_adapters.sql.schema import post_paths, posts
from contentsvc_core.content.posts import Post

UNADDRESSED: Final = posts.c.published_at.is_not(None) & posts.c.path.is_(None)
UNFACETED: Final = posts.c.facets.is_(None)
_HOLDER: Final = select(post_paths.c.post_id).where(
    post_paths.c.organization_id == bindparam("owner"), post_paths.c.path == bindparam("path")
)
_SETTING: Final = update(posts).where(posts.c.id == bindparam("post"))


def address(connection: Connection, dialect: Dialect, changed: Sequence[Post]) -> None:
    """Set the facets of posts, and the path of each that was ever published: the first that no other post has or had.

    A post keeps its earlier paths, so that old links redirect.
    """
    from contentsvc_core.content.public.facets import facets_of  # noqa: PLC0415  # a list of posts needs none of it

    published = [post for post in changed if post.published_at is not None]
    # The last lock of its transaction: a transaction that waits here holds nothing that the lock's holder needs.
    for owner in sorted({post.organization_id for post in published}):
        dialect.lock(connection, f"paths/{owner}")
    for post in changed:
        values = {"facets": "".join(f"\n{each}" for each in facets_of(post)) + "\n"}
        if post.published_at is not None:
            values["path"] = _path(connection, post)
        connection.execute(_SETTING.values(values), {"post": post.id})


def forget(connection: Connection, post_id: str) -> None:
    connection.execute(delete(post_paths).where(post_paths.c.post_id == post_id))


def _path(connection: Connection, post: Post) -> str:
    from contentsvc_core.content.public.paths import post_paths as paths_for  # noqa: PLC0415  # as above

    for path in paths_for(post):
        holder = connection.scalar(_HOLDER, {"owner": post.organization_id, "path": path})
        if holder is None:
            connection.execute(
                post_paths.insert().values(organization_id=post.organization_id, path=path, post_id=post.id)
            )
        if holder in {None, post.id}:
            return path
    raise AssertionError
