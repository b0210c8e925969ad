from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Protocol, TypeVar, cast, final

import msgspec
from attrs import Factory, define, evolve, fields, frozen, has

from contentsvc_core.access.keyed_requests import KeyedRequest
from contentsvc_core.access.keys import ApiKey
from contentsvc_core.access.sessions import Session
from contentsvc_core.access.window import Window
from contentsvc_core.content.brand import BrandIdentity, no_such_brand
from contentsvc_core.content.posts import Post
from contentsvc_core.content.public.changelogs import PublicChangelog
from contentsvc_core.content.public.images import Image, ImageKind
from contentsvc_core.content.public.paths import post_paths
from contentsvc_core.content.versions import PostVersion
from contentsvc_core.errors import Unstorable
from contentsvc_core.journal import LogEntry
from contentsvc_core.lists.cursors import Cursor
from contentsvc_core.organizations import Integration, Organization
from contentsvc_core.outgoing.endpoints import WebhookEndpoint
from contentsvc_core.outgoing.failing import IntegrationAlert
from contentsvc_core.outgoing.messages import Message, MessageStatus
from contentsvc_core.outgoing.recipients import Recipient
from contentsvc_core.outgoing.subscribers import AnnouncedPost, MailKind, Subscriber
from contentsvc_core.ports import SecretSealer
from contentsvc_core.refusals import Refusal
from contentsvc_core.workflows.context import ContextRecord
from contentsvc_core.workflows.jobs import Job
from contentsvc_core.workflows.removals import Removal, Removed
from contentsvc_core.workflows.runs import RunStatus, Taken, WorkflowRun
from contentsvc_core.workflows.schedules import Schedule
from contentsvc_core.workflows.triggers import Trigger


@final
@frozen(kw_only=True)
class Secret:
    sealed: str
    #: The end of a rotated secret; ``None``: the secret is the current one.
    expires_at: datetime | None = None

    def verifies(self, now: datetime) -> bool:
        return self.expires_at is None or self.expires_at > now


@final
@frozen(kw_only=True)
class Mail:
    id: str
    organization_id: str
    subscriber_id: str
    kind: MailKind
    batch_id: str | None = None
    status: MessageStatus = MessageStatus.PENDING
    attempts: int = 0
    takes: int = 0
    created_at: datetime
    due_at: datetime
    error: str | None = None


@final
@define(kw_only=True)
class State:
    """All stored data. A change is atomic: it awaits nothing, and raises before its first write, if at all."""

    organizations: dict[str, Organization] = Factory(dict[str, Organization])
    versions: dict[str, int] = Factory(dict[str, int])
    integrations: dict[str, Integration] = Factory(dict[str, Integration])
    #: The newest first, by the integration's id.
    secrets: dict[str, list[Secret]] = Factory(dict[str, list[Secret]])
    #: The code hosts' ids of hooks, and the sealed tokens for them; by the integration's id.
    hooks: dict[str, str] = Factory(dict[str, str])
    tokens: dict[str, str] = Factory(dict[str, str])
    triggers: dict[str, Trigger] = Factory(dict[str, Trigger])
    brands: dict[str, BrandIdentity] = Factory(dict[str, BrandIdentity])
    schedules: dict[str, Schedule] = Factory(dict[str, Schedule])
    keys: dict[str, ApiKey] = Factory(dict[str, ApiKey])
    sessions: dict[str, Session] = Factory(dict[str, Session])
    #: Windows and their ends in Unix milliseconds, by the names of buckets.
    windows: dict[str, tuple[Window, int]] = Factory(dict[str, tuple[Window, int]])
    #: By the prefix of the API key, and idempotency key.
    keyed_requests: dict[tuple[str, str], KeyedRequest] = Factory(dict[tuple[str, str], KeyedRequest])
    #: The time of the take, by the digest of the claim's key.
    claims: dict[bytes, datetime] = Factory(dict[bytes, datetime])
    #: By organization and custom id.
    contexts: dict[tuple[str, str], ContextRecord] = Factory(dict[tuple[str, str], ContextRecord])
    runs: dict[str, WorkflowRun] = Factory(dict[str, WorkflowRun])
    #: The ids of runs that have not ended.
    unfinished: set[str] = Factory(set[str])
    executors: dict[str, int] = Factory(dict[str, int])
    steps: dict[str, dict[str, str]] = Factory(dict[str, dict[str, str]])
    jobs: dict[str, Job] = Factory(dict[str, Job])
    posts: dict[str, Post] = Factory(dict[str, Post])
    post_versions: dict[str, tuple[PostVersion, ...]] = Factory(dict[str, tuple[PostVersion, ...]])
    #: By organization and push: the ids of the posts that report the push, and of the releases' that contain the push.
    reports: dict[tuple[str, str], list[str]] = Factory(dict[tuple[str, str], list[str]])
    releases: dict[tuple[str, str], list[str]] = Factory(dict[tuple[str, str], list[str]])
    released: dict[str, tuple[str, ...]] = Factory(dict[str, tuple[str, ...]])
    changelogs: dict[str, PublicChangelog] = Factory(dict[str, PublicChangelog])
    slugs: dict[str, tuple[str, str]] = Factory(dict[str, tuple[str, str]])
    images: dict[tuple[str, ImageKind], Image] = Factory(dict[tuple[str, ImageKind], Image])
    paths: dict[tuple[str, str], str] = Factory(dict[tuple[str, str], str])
    once: set[tuple[str, str]] = Factory(set[tuple[str, str]])
    alerts: dict[str, IntegrationAlert] = Factory(dict[str, IntegrationAlert])
    endpoints: dict[str, WebhookEndpoint] = Factory(dict[str, WebhookEndpoint])
    endpoint_secrets: dict[str, list[Secret]] = Factory(dict[str, list[Secret]])
    messages: dict[str, Message] = Factory(dict[str, Message])
    #: By organization and address; and their sealed tokens.
    recipients: dict[tuple[str, str], Recipient] = Factory(dict[tuple[str, str], Recipient])
    recipient_tokens: dict[tuple[str, str], str] = Factory(dict[tuple[str, str], str])
    subscribers: dict[str, Subscriber] = Factory(dict[str, Subscriber])
    subscriber_tokens: dict[str, str] = Factory(dict[str, str])
    #: Organization, publication and batch of the posts that subscribers get, by the post's id.
    announced: dict[str, tuple[str, AnnouncedPost, str | None]] = Factory(
        dict[str, tuple[str, AnnouncedPost, str | None]]
    )
    mails: dict[str, Mail] = Factory(dict[str, Mail])
    log: dict[tuple[str, str], LogEntry] = Factory(dict[tuple[str, str], LogEntry])

    def forget_mails(self, subscriber_id: str) -> None:
        for id_ in [each.id for each in self.mails.values() if each.subscriber_id == subscriber_id]:
            del self.mails[id_]

    def forget_subscriber(self, subscriber_id: str) -> None:
        self.forget_mails(subscriber_id)
        self.subscriber_tokens.pop(subscriber_id, None)
        self.subscribers.pop(subscriber_id, None)

    def put_run(self, run: WorkflowRun) -> None:
        self.runs[run.id] = run
        if run.status in {RunStatus.PENDING, RunStatus.RUNNING}:
            self.unfinished.add(run.id)
        else:
            self.unfinished.discard(run.id)
            self.steps.pop(run.id, None)

    def count_public(self, *posts: Post) -> None:
        for organization_id in {post.organization_id for post in posts if post.published_at is not None}:
            for changelog in self.changelogs_of(organization_id):
                self.changelogs[changelog.id] = evolve(changelog, revision=changelog.revision + 1)

    def changelogs_of(self, organization_id: str) -> list[PublicChangelog]:
        return of_organization(self.changelogs.values(), organization_id, newest_first=False)

    def address(self, post_id: str) -> None:
        post = self.posts[post_id]
        if post.published_at is None:
            return
        for path in post_paths(post):
            if self.paths.setdefault((post.organization_id, path), post.id) == post.id:
                self.posts[post.id] = evolve(post, path=path)
                return

    def unfinished_runs(self, status: RunStatus) -> list[WorkflowRun]:
        return [run for id_ in self.unfinished if (run := self.runs[id_]).status is status]

    def owned_by_taker(self, run: WorkflowRun | Taken) -> WorkflowRun | None:
        stored = self.runs.get(run.id)
        if (
            stored is None
            or stored.organization_id != run.organization_id
            or stored.takes != run.takes
            or stored.status is not RunStatus.RUNNING
        ):
            return None
        return stored

    def unknown_brand(self, organization_id: str, brand_id: str | None) -> Refusal | None:
        brand = None if brand_id is None else self.brands.get(brand_id)
        is_there = brand is not None and brand.organization_id == organization_id
        return None if brand_id is None or is_there else no_such_brand(brand_id)

    def disable(self, organization_id: str, rule: Removal) -> Removed:
        disabled = rule(
            of_organization(self.triggers.values(), organization_id),
            of_organization(self.schedules.values(), organization_id),
        )
        self.triggers.update((trigger.id, trigger) for trigger in disabled.triggers)
        self.schedules.update((schedule.id, schedule) for schedule in disabled.schedules)
        return disabled.removed

    def refuse_stranger(self, organization_id: str) -> None:
        if organization_id not in self.organizations:
            raise Unstorable.of_no_organization(organization_id)


class MemoryStore:
    """A store of a state in memory, which seals the secrets of its values."""

    def __init__(self, state: State, sealer: SecretSealer) -> None:
        self._state = state
        self._sealer = sealer


class _Identified(Protocol):
    @property
    def id(self) -> str: ...


class _Dated(_Identified, Protocol):
    @property
    def organization_id(self) -> str: ...

    @property
    def created_at(self) -> datetime: ...


_Key = TypeVar("_Key")
_Value = TypeVar("_Value", bound=_Dated)


def of_organization(
    values: Iterable[_Value], organization_id: str, *, newest_first: bool = True, limit: int | None = None
) -> list[_Value]:
    found = [value for value in values if value.organization_id == organization_id]
    found.sort(key=Cursor.of, reverse=newest_first)
    return found[:limit]


def remove_first(values: dict[_Key, Any], expired: Iterable[tuple[Any, _Key]], limit: int) -> int:
    """Remove at most ``limit`` values by their keys, in the order of the times before the keys; return their number."""
    keys = [key for _, key in sorted(expired)[:limit]]
    for key in keys:
        del values[key]
    return len(keys)


def own(values: Mapping[str, _Value], organization_id: str, id_: str) -> _Value | None:
    value = values.get(id_)
    return value if value is not None and value.organization_id == organization_id else None


def refuse_another(values: Mapping[str, _Identified], value: _Identified) -> bool:
    """Raise ``Unstorable`` if the value's id is that of another one; return whether the value itself is stored."""
    stored = values.get(value.id)
    if stored is not None and stored != value:
        raise Unstorable.of_another(value.id)
    return stored is not None


def refuse_unstorable(*values: object) -> None:
    """Raise ``Unstorable`` for what databases cannot store: lone surrogates, numbers of more than 64 bits."""
    try:
        _try(values)
    except (UnicodeEncodeError, OverflowError) as exc:
        message = f"no store can hold the value: {exc}"
        raise Unstorable(message) from exc


def _try(value: object) -> None:
    match value:
        case str():
            value.encode()
        case int():
            value.to_bytes(8, "big", signed=True)
        case tuple():
            for part in cast("tuple[object, ...]", value):
                _try(part)
        case Mapping():
            msgspec.json.encode(dict(cast("Mapping[object, object]", value)))
        case _ if has(type(value)):
            for attribute in fields(type(value)):
                if attribute.init:
                    _try(getattr(value, attribute.name))
        case _:
            pass
