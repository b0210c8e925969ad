"""The state that all memory stores share."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Protocol, TypeVar, cast, final

import msgspec
from attrs import Factory, define, evolve, fields, frozen, has

from contentsvc_core.access.keys import ApiKey
from contentsvc_core.access.sessions import Session
from contentsvc_core.access.window import Window
from contentsvc_core.content.brand import BrandIdentity, no_such_brand
from contentsvc_core.content.posts import Post
from contentsvc_core.content.public.changelogs import PublicChangelog
from contentsvc_core.content.public.images import Image, ImageKind
from contentsvc_core.content.public.paths import post_paths
from contentsvc_core.errors import Unstorable
from contentsvc_core.journal import LogEntry
from contentsvc_core.organizations import Integration, Organization, Removed
from contentsvc_core.outgoing.endpoints import WebhookEndpoint
from contentsvc_core.outgoing.messages import Message, MessageStatus
from contentsvc_core.outgoing.subscribers import Announced, MailKind, Subscriber
from contentsvc_core.refusals import Refusal
from contentsvc_core.workflows.context import ContextRecord
from contentsvc_core.workflows.jobs import Job
from contentsvc_core.workflows.removals import Removal
from contentsvc_core.workflows.runs import RunStatus, Taken, WorkflowRun
from contentsvc_core.workflows.schedules import Schedule
from contentsvc_core.workflows.triggers import Trigger


@final
@frozen(kw_only=True)
class Secret:
    """A stored webhook secret."""

    sealed: str
    #: The end of a rotated secret; ``None``: the secret is the current one.
    expires_at: datetime | None = None

    def verifies(self, now: datetime) -> bool:
        """Check whether the secret verifies at ``now``."""
        return self.expires_at is None or self.expires_at > now


@final
@frozen(kw_only=True)
class Mail:
    """A stored mail."""

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
    """Everything that is stored. One event loop uses it; a change is atomic because nothing awaits in its middle.

    Steps that can fail come before the first change, so that nothing is half-written.
    """

    #: By id.
    organizations: dict[str, Organization] = Factory(dict[str, Organization])
    #: The version of each organization's configuration.
    versions: dict[str, int] = Factory(dict[str, int])
    #: By id.
    integrations: dict[str, Integration] = Factory(dict[str, Integration])
    #: The newest first, by the integration's id.
    secrets: dict[str, list[Secret]] = Factory(dict[str, list[Secret]])
    #: The code hosts' ids of hooks, and the sealed tokens for them; by the integration's id.
    hooks: dict[str, str] = Factory(dict[str, str])
    tokens: dict[str, str] = Factory(dict[str, str])
    #: By id.
    triggers: dict[str, Trigger] = Factory(dict[str, Trigger])
    #: By id.
    brands: dict[str, BrandIdentity] = Factory(dict[str, BrandIdentity])
    #: By id.
    schedules: dict[str, Schedule] = Factory(dict[str, Schedule])
    #: By prefix.
    keys: dict[str, ApiKey] = Factory(dict[str, ApiKey])
    #: By digest.
    sessions: dict[str, Session] = Factory(dict[str, Session])
    #: By the bucket's name.
    windows: dict[str, Window] = Factory(dict[str, Window])
    #: The time of the take, by the digest of the claim's key.
    claims: dict[bytes, datetime] = Factory(dict[bytes, datetime])
    #: By organization and custom id.
    contexts: dict[tuple[str, str], ContextRecord] = Factory(dict[tuple[str, str], ContextRecord])
    #: By id.
    runs: dict[str, WorkflowRun] = Factory(dict[str, WorkflowRun])
    #: The ids of runs that have not ended.
    unfinished: set[str] = Factory(set[str])
    #: The number of heartbeats of each executor.
    executors: dict[str, int] = Factory(dict[str, int])
    #: Results of finished steps by name, by the run's id.
    steps: dict[str, dict[str, str]] = Factory(dict[str, dict[str, str]])
    #: By the run's id.
    #: By id; their runs are in ``runs``.
    jobs: dict[str, Job] = Factory(dict[str, Job])
    #: By id.
    posts: dict[str, Post] = Factory(dict[str, Post])
    #: By organization and push: the ids of the posts that report the push, and of the releases' that contain the push.
    reports: dict[tuple[str, str], list[str]] = Factory(dict[tuple[str, str], list[str]])
    releases: dict[tuple[str, str], list[str]] = Factory(dict[tuple[str, str], list[str]])
    #: The pushes that the post of a release contains, by its id.
    released: dict[str, tuple[str, ...]] = Factory(dict[str, tuple[str, ...]])
    #: By id.
    changelogs: dict[str, PublicChangelog] = Factory(dict[str, PublicChangelog])
    #: The organization and the changelog that hold each slug which is or was public.
    slugs: dict[str, tuple[str, str]] = Factory(dict[str, tuple[str, str]])
    #: By changelog and kind.
    images: dict[tuple[str, ImageKind], Image] = Factory(dict[tuple[str, ImageKind], Image])
    #: The post that has or had a path, by organization and path.
    paths: dict[tuple[str, str], str] = Factory(dict[tuple[str, str], str])
    #: Organization and key of posts that must be unique.
    once: set[tuple[str, str]] = Factory(set[tuple[str, str]])
    #: By id.
    endpoints: dict[str, WebhookEndpoint] = Factory(dict[str, WebhookEndpoint])
    #: The newest first, by the endpoint's id.
    endpoint_secrets: dict[str, list[Secret]] = Factory(dict[str, list[Secret]])
    #: By id.
    messages: dict[str, Message] = Factory(dict[str, Message])
    #: By id; their sealed tokens by the same.
    subscribers: dict[str, Subscriber] = Factory(dict[str, Subscriber])
    subscriber_tokens: dict[str, str] = Factory(dict[str, str])
    #: Organization, publication and batch of the posts that subscribers get, by the post's id.
    announced: dict[str, tuple[str, Announced, str | None]] = Factory(dict[str, tuple[str, Announced, str | None]])
    #: By id.
    mails: dict[str, Mail] = Factory(dict[str, Mail])
    #: By organization and id.
    log: dict[tuple[str, str], LogEntry] = Factory(dict[tuple[str, str], LogEntry])

    def forget_mails(self, subscriber_id: str) -> None:
        for id_ in [each.id for each in self.mails.values() if each.subscriber_id == subscriber_id]:
            del self.mails[id_]

    def forget_subscriber(self, subscriber_id: str) -> None:
        """Delete a subscriber with its mails."""
        self.forget_mails(subscriber_id)
        self.subscriber_tokens.pop(subscriber_id, None)
        self.subscribers.pop(subscriber_id, None)

    def put_run(self, run: WorkflowRun) -> None:
        """Store a run."""
        self.runs[run.id] = run
        if run.status in {RunStatus.PENDING, RunStatus.RUNNING}:
            self.unfinished.add(run.id)
        else:
            self.unfinished.discard(run.id)
            self.steps.pop(run.id, None)

    def count_public(self, *posts: Post) -> None:
        """Count a change of posts, each as it was or is, in the changelog that shows or showed one of them."""
        for organization_id in {post.organization_id for post in posts if post.published_at is not None}:
            for changelog in self.changelogs_of(organization_id):
                self.changelogs[changelog.id] = evolve(changelog, revision=changelog.revision + 1)

    def changelogs_of(self, organization_id: str) -> list[PublicChangelog]:
        """List the changelogs of an organization, oldest first."""
        return of_organization(self.changelogs.values(), organization_id, newest_first=False)

    def address(self, post_id: str) -> None:
        post = self.posts[post_id]
        if post.published_at is None:
            return
        for path in post_paths(post):
            if self.paths.setdefault((post.organization_id, path), post.id) == post.id:
                self.posts[post.id] = evolve(post, path=path)
                return

    def work_left(self, status: RunStatus) -> list[WorkflowRun]:
        """List the runs with a status, pending or running."""
        return [run for id_ in self.unfinished if (run := self.runs[id_]).status is status]

    def held(self, run: WorkflowRun | Taken) -> WorkflowRun | None:
        """Return the stored run, if it is running and its last take is that of ``run``; else ``None``."""
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
        """Return the refusal of an unknown identity; ``None``: the identity exists, or none is named."""
        found = None if brand_id is None else self.brands.get(brand_id)
        is_there = found is not None and found.organization_id == organization_id
        return None if brand_id is None or is_there else no_such_brand(brand_id)

    def disable(self, organization_id: str, rule: Removal) -> Removed:
        """Disable the triggers and schedules that a removed resource leaves behind."""
        found = rule(
            of_organization(self.triggers.values(), organization_id),
            of_organization(self.schedules.values(), organization_id),
        )
        self.triggers.update((trigger.id, trigger) for trigger in found.triggers)
        self.schedules.update((schedule.id, schedule) for schedule in found.schedules)
        return found.removed

    def refuse_stranger(self, organization_id: str) -> None:
        """Refuse an unknown organization, as a foreign key of a database does.

        Raises:
            Unstorable: There is no such organization.
        """
        if organization_id not in self.organizations:
            message = f"there is no organization '{organization_id}'"
            raise Unstorable(message)


class _Dated(Protocol):
    @property
    def id(self) -> str: ...

    @property
    def organization_id(self) -> str: ...

    @property
    def created_at(self) -> datetime: ...


_Value = TypeVar("_Value", bound=_Dated)


def of_organization(
    values: Iterable[_Value], organization_id: str, *, newest_first: bool = True, limit: int | None = None
) -> list[_Value]:
    """List an organization's values by creation time and then id."""
    mine = [value for value in values if value.organization_id == organization_id]
    mine.sort(key=place, reverse=newest_first)
    return mine[:limit]


class _Placed(Protocol):
    @property
    def id(self) -> str: ...

    @property
    def created_at(self) -> datetime: ...


def place(value: _Placed) -> tuple[datetime, str]:
    """Return the sort key of a value in lists."""
    return value.created_at, value.id


def refuse_unstorable(*values: object) -> None:
    """Refuse values that databases cannot store, so that all stores behave alike.

    Raises:
        Unstorable: A text is no Unicode (a lone surrogate), or a number has more than 64 bits.
    """
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
            # Databases store it as JSON.
            msgspec.json.encode(dict(cast("Mapping[object, object]", value)))
        case _ if has(type(value)):
            for attribute in fields(type(value)):
                _try(getattr(value, attribute.name))
        case _:
            pass
