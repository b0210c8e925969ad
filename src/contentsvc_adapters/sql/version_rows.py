from collections.abc import Sequence
from typing import Final

from sqlalchemy import Connection, bindparam, delete, insert, select

from contentsvc_adapters.sql.post_rows import read_labels, written_labels
from contentsvc_adapters.sql.row import AnyRow
from contentsvc_adapters.sql.schema.content import post_versions
from contentsvc_core.content.posts import Post, PostText
from contentsvc_core.content.versions import PostVersion, versions_after
from contentsvc_core.timestamps import from_ms, to_ms

_KEPT: Final = (
    select(post_versions).where(post_versions.c.post_id == bindparam("post")).order_by(post_versions.c.number.desc())
)
_DROPPED: Final = delete(post_versions).where(
    post_versions.c.post_id == bindparam("post"), post_versions.c.number < bindparam("oldest")
)


def versions_of(connection: Connection, post_id: str) -> list[PostVersion]:
    return [_version_of(row) for row in connection.execute(_KEPT, {"post": post_id})]


def keep_versions(connection: Connection, before: Post, after: Post, author: str | None) -> None:
    """Add the versions of a change, and delete the versions beyond the bounds. The row of the post is locked."""
    if before.text == after.text:
        return
    added, versions = versions_after(versions_of(connection, after.id), before, after, author)
    add_versions(connection, after.id, added)
    connection.execute(_DROPPED, {"post": after.id, "oldest": versions[-1].number})


def add_versions(connection: Connection, post_id: str, versions: Sequence[PostVersion]) -> None:
    for version in versions:
        values = {
            "post_id": post_id,
            "number": version.number,
            "title": version.text.title,
            "markdown": version.text.markdown,
            "summary": version.text.summary,
            "labels": written_labels(version.text.labels),
            "saved_at": to_ms(version.saved_at),
            "author": version.author,
        }
        connection.execute(insert(post_versions).values(values))


def _version_of(row: AnyRow) -> PostVersion:
    text = PostText(title=row.title, markdown=row.markdown, summary=row.summary, labels=read_labels(row.labels))
    return PostVersion(number=row.number, text=text, saved_at=from_ms(row.saved_at), author=row.author)
