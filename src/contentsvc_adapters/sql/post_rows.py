import hashlib
from typing import Any

import msgspec

from contentsvc_adapters.sql.row import AnyRow, json_of
from contentsvc_core.content.posts import ContentType, Label, Post, PostStatus
from contentsvc_core.timestamps import from_ms, to_ms


def post_row(post: Post, *, run_id: str | None, once: str | None, push: str | None = None) -> dict[str, Any]:
    """Return the row of a new post; ``run_id`` is the run that wrote it, and ``push`` the push that it reports."""
    return {
        "id": post.id,
        "organization_id": post.organization_id,
        "run_id": run_id,
        "once_key": None if once is None else once_digest(once),
        "title": post.title,
        "content": post.content,
        "markdown": post.markdown,
        "content_type": post.content_type.value,
        "source_metadata": None if post.source_metadata is None else json_of(dict(post.source_metadata)),
        "brand_identity_id": (post.source_metadata or {}).get("brandIdentityId"),
        "status": post.status.value,
        "created_at": to_ms(post.created_at),
        "updated_at": to_ms(post.updated_at),
        "published_at": None if post.published_at is None else to_ms(post.published_at),
        "release_tag": post.release_tag,
        "occurred_at": to_ms(post.occurred_at),
        "push_id": push,
        "summary": post.summary,
        "labels": written_labels(post.labels),
        "publish_at": None if post.publish_at is None else to_ms(post.publish_at),
        "facets": written_facets(post),
    }


def once_digest(once: str) -> bytes:
    return hashlib.blake2b(once.encode(), digest_size=16).digest()


def post_of(row: AnyRow) -> Post:
    status = PostStatus(row.status)
    return Post(
        id=row.id,
        organization_id=row.organization_id,
        title=row.title,
        content=row.content,
        markdown=row.markdown,
        content_type=ContentType(row.content_type),
        source_metadata=None if row.source_metadata is None else msgspec.json.decode(row.source_metadata),
        status=status,
        created_at=from_ms(row.created_at),
        updated_at=from_ms(row.updated_at),
        published_at=None if row.published_at is None else from_ms(row.published_at),
        release_tag=row.release_tag,
        occurred_at=from_ms(row.created_at if row.occurred_at is None else row.occurred_at),
        contained_in=row.contained_in,
        path=row.path,
        summary=row.summary,
        labels=read_labels(row.labels),
        # A node of the previous version publishes a draft without ending its schedule.
        publish_at=None if row.publish_at is None or status is PostStatus.PUBLISHED else from_ms(row.publish_at),
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
