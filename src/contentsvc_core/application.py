from collections.abc import Awaitable, Callable
from functools import cached_property
from typing import TYPE_CHECKING, final

from attrs import frozen

import contentsvc_core as core
from contentsvc_core.values import nothing

if TYPE_CHECKING:
    from contentsvc_core.content.site_addresses import SiteHost
    from contentsvc_core.ports import Clock, CodeHost, IdSource, MarkupRenderer, Offload, Repeatable, Shares, Stores


async def no_hosts(_provider: str) -> "CodeHost | None":
    return None


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

    @cached_property
    def authenticator(self) -> "core.Authenticator":
        return core.Authenticator(self.stores.keys, self.clock)

    @cached_property
    def limiter(self) -> "core.RateLimiter":
        return core.RateLimiter(self.stores.rate_limits, self.clock)

    @cached_property
    def idempotency(self) -> "core.Idempotency":
        return core.Idempotency(self.stores.keyed_requests, self.clock, self.ids, self.repeatable)

    @cached_property
    def sign_in(self) -> "core.SignIn":
        return core.SignIn(self.authenticator, self.stores.keys, self.stores.sessions, self.clock, self.ids)

    @cached_property
    def operator(self) -> "core.Operator":
        return core.Operator(self.stores.directory, self.stores.keys, self.clock, self.ids)

    @cached_property
    def code_host_service(self) -> "core.CodeHostService":
        stores = self.stores
        return core.CodeHostService(
            self.hosts, stores.hooks, stores.journal, self.clock, self.ids, base_url=self.base_url
        )

    @cached_property
    def connector(self) -> "core.Connector":
        return core.Connector(self.stores.directory, self.stores.hooks, self.code_host_service, self.clock, self.ids)

    @cached_property
    def rotator(self) -> "core.Rotator":
        return core.Rotator(self.stores.directory, self.stores.hooks, self.code_host_service, self.clock, self.ids)

    @cached_property
    def reconciler(self) -> "core.Reconciler":
        return core.Reconciler(self.stores.directory, self.stores.journal, self.code_host_service, self.clock)

    @cached_property
    def replayer(self) -> "core.Replayer":
        stores = self.stores
        return core.Replayer(
            stores.deliveries,
            stores.journal,
            stores.contexts,
            stores.endpoints,
            stores.outbox,
            self.clock,
            self.ids,
            notify=self.notify,
        )

    @cached_property
    def bulk_replayer(self) -> "core.BulkReplayer":
        return core.BulkReplayer(self.replayer, self.stores.read_model, self.clock, share=self.shares.lists)

    @cached_property
    def diagnoses(self) -> "core.Diagnoses":
        return core.Diagnoses(self.stores.read_model, self.stores.directory, self.stores.hooks)

    @cached_property
    def delivery_trails(self) -> "core.DeliveryTrails":
        stores = self.stores
        return core.DeliveryTrails(stores.read_model, stores.run_lists, stores.contexts, stores.triggers, stores.posts)

    @cached_property
    def trigger_editor(self) -> "core.TriggerEditor":
        return core.TriggerEditor(self.stores.triggers, self.stores.directory, self.stores.brands, self.clock, self.ids)

    @cached_property
    def planner(self) -> "core.Planner":
        return core.Planner(self.stores.schedules, self.stores.directory, self.stores.brands, self.clock, self.ids)

    @cached_property
    def generator(self) -> "core.Generator":
        return core.Generator(self._job_starter, self.stores.directory, self.stores.brands, self.clock)

    @cached_property
    def post_editor(self) -> "core.PostEditor":
        return core.PostEditor(self.stores.posts, self.renderer, self.clock, self.ids, share=self.shares.heavy)

    @cached_property
    def brand_editor(self) -> "core.BrandEditor":
        return core.BrandEditor(self.stores.brands, self.clock, self.ids, opened=self.site_hosts)

    @cached_property
    def brand_generator(self) -> "core.BrandGenerator":
        return core.BrandGenerator(self._job_starter, self.stores.brands, opened=self.site_hosts)

    @cached_property
    def endpoint_editor(self) -> "core.EndpointEditor":
        stores = self.stores
        return core.EndpointEditor(
            stores.endpoints,
            stores.outbox,
            self.consents,
            self.clock,
            self.ids,
            opened=self.outgoing_hosts,
            mails=self.mails,
        )

    @cached_property
    def consents(self) -> "core.Consents":
        stores = self.stores
        return core.Consents(stores.recipients, stores.directory, self.limiter, self.clock, self.ids)

    @cached_property
    def changelog_editor(self) -> "core.ChangelogEditor":
        return core.ChangelogEditor(self.stores.changelogs, self.clock, self.ids, share=self.shares.heavy)

    @cached_property
    def subscriptions(self) -> "core.Subscriptions":
        return core.Subscriptions(self.stores.subscribers, self.limiter, self.clock, self.ids)

    @cached_property
    def briefs(self) -> "core.Briefs":
        return core.Briefs(self.stores.contexts, self.stores.brands)

    @cached_property
    def style_previews(self) -> "core.StylePreviews":
        return core.StylePreviews(self.briefs, self.stores.search, self.offload)

    @cached_property
    def _job_starter(self) -> "core.JobStarter":
        return core.JobStarter(self.stores.jobs, self.clock, self.ids, notify=self.notify)
