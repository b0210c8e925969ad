import hashlib
from typing import Any

import msgspec

from contentsvc_adapters.sql.row import AnyRow, json_of, read_row, row_of
from contentsvc_core.content.posts import Label, Post


def post_row(post: Post, *, run_id: str | None, once: str | None, push: str | None = None) -> dict[str, Any]:
    """Return the row of a new post; ``run_id`` is the run that wrote it, and ``push`` the push that it reports."""
    source = post.source_metadata
    row = row_of(
        post,
        run_id=run_id,
        once_key=None if once is None else once_digest(once),
        source_metadata=None if source is None else json_of(dict(source)),
        brand_identity_id=(source or {}).get("brandIdentityId"),
        push_id=push,
        labels=written_labels(post.labels),
        facets=written_facets(post),
    )
    # Set in the same transaction: see `containment` and `addressing`.
    del row["contained_in"], row["path"]
    return row


def once_digest(once: str) -> bytes:
    return hashlib.blake2b(once.encode(), digest_size=16).digest()


def post_of(row: AnyRow) -> Post:
    return read_row(
        Post,
        row,
        source_metadata=None if row.source_metadata is None else msgspec.json.decode(row.source_metadata),
        labels=read_labels(row.labels),
    )


def written_labels(labels: tuple[Label, ...]) -> str | None:
    return " ".join(label.value for label in labels) or None


def written_facets(post: Post) -> str:
    from contentsvc_core.content.public.facets import facets_of  # noqa: PLC0415  # a list of posts does not need it

    return "".join(f"\n{each}" for each in facets_of(post)) + "\n"


def read_labels(text: str | None) -> tuple[Label, ...]:
    """Return the labels of their stored form; labels of later versions of the service are left out."""
    by_value = {label.value: label for label in Label}
    return tuple(by_value[each] for each in (text or "").split() if each in by_value)
