"""Values for tests. A test names the fields that matter to it; the others have these defaults."""

from datetime import datetime
from typing import Any

from contentsvc_core.content.brand import BrandIdentity
from contentsvc_core.content.posts import ContentType, Post, PostStatus
from contentsvc_core.events.normalized import Event, Release
from contentsvc_core.testing import START
from contentsvc_core.workflows.context import ContextRecord


def a_brand(at: datetime = START, **fields: Any) -> BrandIdentity:
    values: dict[str, Any] = {
        "id": "brand_1",
        "organization_id": "org_1",
        "name": "Lighthouse",
        "website_url": "https://acme.example/",
        "created_at": at,
        "updated_at": at,
    }
    return BrandIdentity(**values | fields)


def a_post(at: datetime = START, **fields: Any) -> Post:
    values: dict[str, Any] = {
        "id": "post_1",
        "organization_id": "org_1",
        "title": "A lamp",
        "content": "<p>A lamp.</p>",
        "markdown": "A lamp.",
        "content_type": ContentType.CHANGELOG,
        "source_metadata": {"repositories": ["acme/lighthouse"]},
        "status": PostStatus.DRAFT,
        "created_at": at,
        "updated_at": at,
    }
    return Post(**values | fields)


def a_release(tag_name: str = "v1", **fields: Any) -> Release:
    values: dict[str, Any] = {
        "action": "published",
        "name": None,
        "body": None,
        "prerelease": False,
        "draft": False,
        "published_at": None,
        "url": f"https://codehost.example/{tag_name}",
    }
    return Release(tag_name=tag_name, **values | fields)


def a_record(event: Event, **fields: Any) -> ContextRecord:
    values: dict[str, Any] = {
        "id": "ctx_1",
        "organization_id": "org_1",
        "provider": "codehost",
        "repository_id": 1,
        "repository": "acme/lighthouse",
        "delivery_id": "d-1",
        "created_at": START,
    }
    return ContextRecord(event=event, **values | fields)
