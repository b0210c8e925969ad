"""The paths and the facets of posts, set by the transaction that publishes a post or changes its title."""

from collections.abc import Sequence
from itertools import islice
from typing import Final

from sqlalchemy import Connection, bindparam, delete, insert, select

from contentsvc_adapters.sql.dialects import Dialect
from contentsvc_adapters.sql.post_rows import written_facets
from contentsvc_adapters.sql.row import json_of
from contentsvc_adapters.sql.schema.content import post_paths, posts
from contentsvc_adapters.sql.store import setting_each
from contentsvc_core.content.posts import Post

#: The number of a post's possible paths that one query looks up: the last of them has the post's id.
_AT_ONCE: Final = 8
_HOLDERS: Final = select(post_paths.c.path, post_paths.c.post_id).where(
    post_paths.c.organization_id == bindparam("owner"), post_paths.c.path.in_(bindparam("paths", expanding=True))
)
#: With a result, SQLAlchemy sends many rows as one statement (see completion.py).
_STORE: Final = insert(post_paths).returning(post_paths.c.path)


def address(connection: Connection, dialect: Dialect, changed: Sequence[Post], *, are_new: bool = False) -> None:
    """Set the facets of posts, and the path of each that was ever published: the first that no other post has or had.

    A post keeps its earlier paths, so that old links redirect. ``are_new``: the posts were inserted with their facets.
    """
    published = [post for post in changed if post.published_at is not None]
    owners = sorted({post.organization_id for post in published})
    # The last lock of its transaction: a transaction that waits here holds nothing that the lock's holder needs.
    for owner in owners:
        dialect.lock(connection, f"paths/{owner}")
    paths = {
        id_: path
        for owner in owners
        for id_, path in _paths(connection, owner, [post for post in published if post.organization_id == owner])
    }
    facets = {} if are_new else {post.id: written_facets(post) for post in changed}
    for column, texts in ((posts.c.facets, facets), (posts.c.path, paths)):
        if texts:
            setting = setting_each(dialect, column)
            connection.execute(setting, {"ids": list(texts), "by_id": json_of(texts)})


def forget(connection: Connection, post_id: str) -> None:
    connection.execute(delete(post_paths).where(post_paths.c.post_id == post_id))


def _paths(connection: Connection, owner: str, published: Sequence[Post]) -> list[tuple[str, str]]:
    from contentsvc_core.content.public.paths import post_paths as paths_for  # noqa: PLC0415  # as above

    found: dict[str, str] = {}
    new: dict[str, str] = {}
    waiting = {post.id: paths_for(post) for post in published}
    while waiting:
        offered = {id_: list(islice(paths, _AT_ONCE)) for id_, paths in waiting.items()}
        names = sorted({path for paths in offered.values() for path in paths})
        holders = {row.path: row.post_id for row in connection.execute(_HOLDERS, {"owner": owner, "paths": names})}
        for id_, paths in offered.items():
            free = (path for path in paths if holders.get(path, new.get(path, id_)) == id_)
            if (path := next(free, None)) is not None:
                found[id_] = path
                if path not in holders:
                    new[path] = id_
                del waiting[id_]
    if new:
        values = [{"organization_id": owner, "path": path, "post_id": id_} for path, id_ in new.items()]
        connection.execute(_STORE, values)
    return list(found.items())
