"""Builders of values. A test sets the relevant fields; the other fields have defaults."""

from datetime import datetime
from typing import Any, Final

from contentsvc_core.content.brand import BrandIdentity
from contentsvc_core.content.posts import ContentType, Post, PostStatus
from contentsvc_core.events.normalized import Event, Release
from contentsvc_core.journal import LogEntry, LogStatus
from contentsvc_core.testing import START
from contentsvc_core.workflows.context import ContextRecord
from contentsvc_core.workflows.schedules import Schedule
from contentsvc_core.workflows.slots import Cron, Frequency
from contentsvc_core.workflows.triggers import Trigger

#: Levels of arrays in JSON that no version of Python reads. From 3.14 on, the stack is the limit: 8 MiB hold 260,000.
TOO_DEEP: Final = 400_000


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


def an_entry(at: datetime = START, **fields: Any) -> LogEntry:
    values: dict[str, Any] = {
        "id": "log_1",
        "organization_id": "org_1",
        "integration_id": "int_1",
        "repository_id": 1,
        "reference_id": None,
        "title": "Processed push event",
        "integration_type": "codehost",
        "status": LogStatus.SUCCESS,
        "status_code": 200,
        "created_at": at,
    }
    return LogEntry(**values | fields)


def a_trigger(at: datetime = START, **fields: Any) -> Trigger:
    values: dict[str, Any] = {
        "id": "trg_1",
        "organization_id": "org_1",
        "source_type": "codehost_webhook",
        "repository_ids": (1,),
        "event_types": (),
        "output_type": ContentType.CHANGELOG,
        "created_at": at,
    }
    return Trigger(**values | fields)


def a_schedule(at: datetime = START, **fields: Any) -> Schedule:
    values: dict[str, Any] = {
        "id": "sch_1",
        "organization_id": "org_1",
        "name": "Every morning",
        "cron": Cron(frequency=Frequency.DAILY, hour=9, minute=0),
        "repository_ids": (1,),
        "output_type": ContentType.CHANGELOG,
        "created_at": at,
        "updated_at": at,
        "due_at": at,
    }
    return Schedule(**values | fields)


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
