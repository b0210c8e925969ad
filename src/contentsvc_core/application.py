from collections.abc import Awaitable, Callable
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar, cast, final

from attrs import frozen

import contentsvc_core as core
from contentsvc_core.values import nothing

if TYPE_CHECKING:
    from contentsvc_core.content.site_addresses import SiteHost
    from contentsvc_core.ports import Clock, CodeHost, IdSource, MarkupRenderer, Offload, Repeatable, Shares, Stores


_UseCase = TypeVar("_UseCase")


async def no_hosts(_provider: str) -> "CodeHost | None":
    return None


def _use_case(make: "Callable[[Application], _UseCase]") -> _UseCase:
    """Return a cached property; to the type checker it is an attribute."""
    return cast("_UseCase", cached_property(make))


@final
@frozen(kw_only=True, slots=False, eq=False)
class Application:
    """The use cases of a service. Each is created, and its module imported, when it is first used."""

    stores: "Stores"
    clock: "Clock"
    ids: "IdSource"
    renderer: "MarkupRenderer"
    shares: "Shares"
    offload: "Offload"
    #: Gives an execution the time and the ids of an earlier one.
    repeatable: "Repeatable"
    #: Returns the code host of a provider; ``None``: its API is not configured.
    hosts: "Callable[[str], Awaitable[CodeHost | None]]" = no_hosts
    notify: Callable[[], None] = nothing
    #: The address at which code hosts reach this service; no trailing slash.
    base_url: str
    #: Hosts that may be read though they are not public.
    site_hosts: "frozenset[SiteHost]" = frozenset()
    #: Hosts that webhooks may be sent to though they are not public.
    outgoing_hosts: "frozenset[SiteHost]" = frozenset()
    mails: bool = False

    def load(self) -> None:
        """Create all use cases: a server imports no modules while it answers requests."""
        for name, attribute in vars(type(self)).items():
            if isinstance(attribute, cached_property):
                getattr(self, name)

    authenticator = _use_case(lambda self: core.Authenticator(self.stores.keys, self.clock))
    limiter = _use_case(lambda self: core.RateLimiter(self.stores.rate_limits, self.clock))
    idempotency = _use_case(
        lambda self: core.Idempotency(self.stores.keyed_requests, self.clock, self.ids, self.repeatable)
    )
    sign_in = _use_case(
        lambda self: core.SignIn(self.authenticator, self.stores.keys, self.stores.sessions, self.clock, self.ids)
    )
    operator = _use_case(lambda self: core.Operator(self.stores.directory, self.stores.keys, self.clock, self.ids))
    code_host_service = _use_case(
        lambda self: core.CodeHostService(
            self.hosts, self.stores.hooks, self.stores.journal, self.clock, self.ids, base_url=self.base_url
        )
    )
    connector = _use_case(
        lambda self: core.Connector(
            self.stores.directory, self.stores.hooks, self.code_host_service, self.clock, self.ids
        )
    )
    rotator = _use_case(
        lambda self: core.Rotator(
            self.stores.directory, self.stores.hooks, self.code_host_service, self.clock, self.ids
        )
    )
    reconciler = _use_case(
        lambda self: core.Reconciler(self.stores.directory, self.stores.journal, self.code_host_service, self.clock)
    )
    replayer = _use_case(
        lambda self: core.Replayer(
            self.stores.deliveries,
            self.stores.journal,
            self.stores.contexts,
            self.stores.endpoints,
            self.stores.outbox,
            self.clock,
            self.ids,
            notify=self.notify,
        )
    )
    bulk_replayer = _use_case(
        lambda self: core.BulkReplayer(self.replayer, self.stores.read_model, self.clock, share=self.shares.lists)
    )
    diagnoses = _use_case(lambda self: core.Diagnoses(self.stores.read_model, self.stores.directory, self.stores.hooks))
    delivery_trails = _use_case(
        lambda self: core.DeliveryTrails(
            self.stores.read_model, self.stores.run_lists, self.stores.contexts, self.stores.triggers, self.stores.posts
        )
    )
    trigger_editor = _use_case(
        lambda self: core.TriggerEditor(self.stores.triggers, self.stores.directory, self.clock, self.ids)
    )
    planner = _use_case(lambda self: core.Planner(self.stores.schedules, self.stores.directory, self.clock, self.ids))
    generator = _use_case(
        lambda self: core.Generator(self._job_starter, self.stores.directory, self.stores.brands, self.clock)
    )
    post_editor = _use_case(
        lambda self: core.PostEditor(self.stores.posts, self.renderer, self.clock, self.ids, share=self.shares.heavy)
    )
    brand_editor = _use_case(
        lambda self: core.BrandEditor(self.stores.brands, self.clock, self.ids, opened=self.site_hosts)
    )
    brand_generator = _use_case(
        lambda self: core.BrandGenerator(self._job_starter, self.stores.brands, opened=self.site_hosts)
    )
    endpoint_editor = _use_case(
        lambda self: core.EndpointEditor(
            self.stores.endpoints,
            self.stores.outbox,
            self.consents,
            self.clock,
            self.ids,
            opened=self.outgoing_hosts,
            mails=self.mails,
        )
    )
    consents = _use_case(
        lambda self: core.Consents(self.stores.recipients, self.stores.directory, self.limiter, self.clock, self.ids)
    )
    changelog_editor = _use_case(
        lambda self: core.ChangelogEditor(self.stores.changelogs, self.clock, self.ids, share=self.shares.heavy)
    )
    subscriptions = _use_case(
        lambda self: core.Subscriptions(self.stores.subscribers, self.limiter, self.clock, self.ids)
    )
    briefs = _use_case(lambda self: core.Briefs(self.stores.contexts, self.stores.brands))
    style_previews = _use_case(lambda self: core.StylePreviews(self.briefs, self.stores.search, self.offload))
    _job_starter = _use_case(lambda self: core.JobStarter(self.stores.jobs, self.clock, self.ids, notify=self.notify))
