"""The relation between a push's post and the release's post that contains it.

The transaction that writes, publishes, withdraws or deletes either post sets it, so that lists omit contained posts by
their index. Such transactions of one organization are serialized if one concerns a release.
"""

from collections.abc import Collection, Iterable, Sequence
from itertools import islice
from typing import Final

from sqlalchemy import Connection, bindparam, delete, select, update

from contentsvc_adapters.sql.dialects import Dialect
from contentsvc_adapters.sql.schema.content import posts, released_pushes
from contentsvc_adapters.sql.schema.directory import organizations
from contentsvc_core.content.posts import PostStatus

#: Pushes in one statement: databases limit the parameters of a statement.
_PART: Final = 500
_release: Final = posts.alias("release")
_CONTAINING: Final = (
    select(_release.c.id)
    .join(released_pushes, released_pushes.c.post_id == _release.c.id)
    .where(
        released_pushes.c.organization_id == posts.c.organization_id,
        released_pushes.c.push_id == posts.c.push_id,
        _release.c.status == PostStatus.PUBLISHED.value,
        _release.c.content_type == posts.c.content_type,
    )
    .order_by(_release.c.occurred_at, _release.c.id)
    .limit(1)
    .correlate(posts)
    .scalar_subquery()
)
_SETTING: Final = (
    update(posts)
    .where(
        posts.c.organization_id.in_(bindparam("owners", expanding=True)),
        posts.c.push_id.in_(bindparam("pushes", expanding=True)),
        posts.c.contained_in.is_distinct_from(_CONTAINING),
    )
    .values(contained_in=_CONTAINING)
)
_OF_RELEASE: Final = select(released_pushes.c.push_id).where(released_pushes.c.post_id == bindparam("release"))


def lock(connection: Connection, owners: Collection[str], *, releases: bool) -> None:
    """Lock out other transactions of these organizations that change releases, before the first write to posts.

    Without ``releases``, transactions that write pushes do not wait for it.
    """
    rows = select(organizations.c.id).where(organizations.c.id.in_(sorted(owners))).order_by(organizations.c.id)
    connection.execute(rows.with_for_update(key_share=True) if releases else rows.with_for_update(read=True)).all()


def contain(connection: Connection, owners: Collection[str], pushes: Iterable[str]) -> None:
    waiting = iter(dict.fromkeys(pushes))
    while some := list(islice(waiting, _PART)):
        connection.execute(_SETTING, {"owners": sorted(owners), "pushes": some})


def note_released(connection: Connection, dialect: Dialect, released: Sequence[tuple[str, str, str]]) -> None:
    """Store which pushes the posts of releases contain, as triples of organization, push and post."""
    waiting = iter(dict.fromkeys(released))
    while some := list(islice(waiting, _PART)):
        rows = [dict(zip(("organization_id", "push_id", "post_id"), each, strict=True)) for each in some]
        connection.execute(dialect.insert(released_pushes).values(rows))


def contain_again(connection: Connection, owner: str, release_id: str, *, is_gone: bool = False) -> None:
    contain(connection, [owner], connection.scalars(_OF_RELEASE, {"release": release_id}).all())
    if is_gone:
        connection.execute(delete(released_pushes).where(released_pushes.c.post_id == release_id))
