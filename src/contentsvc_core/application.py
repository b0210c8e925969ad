from collections.abc import Awaitable, Callable
from functools import cached_property
from typing import TYPE_CHECKING, final

from attrs import frozen

from contentsvc_core.values import nothing

if TYPE_CHECKING:
    from contentsvc_core.content.site_addresses import SiteHost
    from contentsvc_core.ports import Clock, CodeHost, IdSource, MarkupRenderer, Offload, Repeatable, Shares, Stores
    from contentsvc_core.usecases.authenticate import Authenticator
    from contentsvc_core.usecases.brands import BrandEditor
    from contentsvc_core.usecases.briefs import Briefs
    from contentsvc_core.usecases.code_host_service import CodeHostService
    from contentsvc_core.usecases.connect import Connector
    from contentsvc_core.usecases.consents import Consents
    from contentsvc_core.usecases.diagnoses import Diagnoses
    from contentsvc_core.usecases.edit import PostEditor
    from contentsvc_core.usecases.generate import Generator, JobStarter
    from contentsvc_core.usecases.keyed_requests import Idempotency
    from contentsvc_core.usecases.limit import RateLimiter
    from contentsvc_core.usecases.operate import Operator
    from contentsvc_core.usecases.plan import Planner
    from contentsvc_core.usecases.preview_style import StylePreviews
    from contentsvc_core.usecases.publicize import ChangelogEditor
    from contentsvc_core.usecases.read_site import BrandGenerator
    from contentsvc_core.usecases.reconcile import Reconciler
    from contentsvc_core.usecases.replay import Replayer
    from contentsvc_core.usecases.replay_many import BulkReplayer
    from contentsvc_core.usecases.rotate import Rotator
    from contentsvc_core.usecases.sign_in import SignIn
    from contentsvc_core.usecases.subscribe import Subscriptions
    from contentsvc_core.usecases.trail import DeliveryTrails
    from contentsvc_core.usecases.triggers import TriggerEditor
    from contentsvc_core.usecases.webhook_endpoints import EndpointEditor


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
    def authenticator(self) -> "Authenticator":
        from contentsvc_core.usecases.authenticate import Authenticator

        return Authenticator(self.stores.keys, self.clock)

    @cached_property
    def limiter(self) -> "RateLimiter":
        from contentsvc_core.usecases.limit import RateLimiter

        return RateLimiter(self.stores.rate_limits, self.clock)

    @cached_property
    def idempotency(self) -> "Idempotency":
        from contentsvc_core.usecases.keyed_requests import Idempotency

        return Idempotency(self.stores.keyed_requests, self.clock, self.ids, self.repeatable)

    @cached_property
    def sign_in(self) -> "SignIn":
        from contentsvc_core.usecases.sign_in import SignIn

        return SignIn(self.authenticator, self.stores.keys, self.stores.sessions, self.clock, self.ids)

    @cached_property
    def operator(self) -> "Operator":
        from contentsvc_core.usecases.operate import Operator

        return Operator(self.stores.directory, self.stores.keys, self.clock, self.ids)

    @cached_property
    def code_host_service(self) -> "CodeHostService":
        from contentsvc_core.usecases.code_host_service import CodeHostService

        stores = self.stores
        return CodeHostService(self.hosts, stores.hooks, stores.journal, self.clock, self.ids, base_url=self.base_url)

    @cached_property
    def connector(self) -> "Connector":
        from contentsvc_core.usecases.connect import Connector

        return Connector(self.stores.directory, self.stores.hooks, self.code_host_service, self.clock, self.ids)

    @cached_property
    def rotator(self) -> "Rotator":
        from contentsvc_core.usecases.rotate import Rotator

        return Rotator(self.stores.directory, self.stores.hooks, self.code_host_service, self.clock, self.ids)

    @cached_property
    def reconciler(self) -> "Reconciler":
        from contentsvc_core.usecases.reconcile import Reconciler

        return Reconciler(self.stores.directory, self.stores.journal, self.code_host_service, self.clock)

    @cached_property
    def replayer(self) -> "Replayer":
        from contentsvc_core.usecases.replay import Replayer

        stores = self.stores
        return Replayer(
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
    def bulk_replayer(self) -> "BulkReplayer":
        from contentsvc_core.usecases.replay_many import BulkReplayer

        return BulkReplayer(self.replayer, self.stores.read_model, self.clock, share=self.shares.lists)

    @cached_property
    def diagnoses(self) -> "Diagnoses":
        from contentsvc_core.usecases.diagnoses import Diagnoses

        return Diagnoses(self.stores.read_model, self.stores.directory, self.stores.hooks)

    @cached_property
    def delivery_trails(self) -> "DeliveryTrails":
        from contentsvc_core.usecases.trail import DeliveryTrails

        stores = self.stores
        return DeliveryTrails(stores.read_model, stores.run_lists, stores.contexts, stores.directory, stores.posts)

    @cached_property
    def trigger_editor(self) -> "TriggerEditor":
        from contentsvc_core.usecases.triggers import TriggerEditor

        return TriggerEditor(self.stores.directory, self.stores.brands, self.clock, self.ids)

    @cached_property
    def planner(self) -> "Planner":
        from contentsvc_core.usecases.plan import Planner

        return Planner(self.stores.schedules, self.stores.directory, self.stores.brands, self.clock, self.ids)

    @cached_property
    def generator(self) -> "Generator":
        from contentsvc_core.usecases.generate import Generator

        return Generator(self._job_starter, self.stores.directory, self.stores.brands, self.clock)

    @cached_property
    def post_editor(self) -> "PostEditor":
        from contentsvc_core.usecases.edit import PostEditor

        return PostEditor(self.stores.posts, self.renderer, self.clock, self.ids, share=self.shares.heavy)

    @cached_property
    def brand_editor(self) -> "BrandEditor":
        from contentsvc_core.usecases.brands import BrandEditor

        return BrandEditor(self.stores.brands, self.clock, self.ids, opened=self.site_hosts)

    @cached_property
    def brand_generator(self) -> "BrandGenerator":
        from contentsvc_core.usecases.read_site import BrandGenerator

        return BrandGenerator(self._job_starter, self.stores.brands, opened=self.site_hosts)

    @cached_property
    def endpoint_editor(self) -> "EndpointEditor":
        from contentsvc_core.usecases.webhook_endpoints import EndpointEditor

        stores = self.stores
        return EndpointEditor(
            stores.endpoints,
            stores.outbox,
            self.consents,
            self.clock,
            self.ids,
            opened=self.outgoing_hosts,
            mails=self.mails,
        )

    @cached_property
    def consents(self) -> "Consents":
        from contentsvc_core.usecases.consents import Consents

        stores = self.stores
        return Consents(stores.recipients, stores.directory, self.limiter, self.clock, self.ids)

    @cached_property
    def changelog_editor(self) -> "ChangelogEditor":
        from contentsvc_core.usecases.publicize import ChangelogEditor

        return ChangelogEditor(self.stores.changelogs, self.clock, self.ids, share=self.shares.heavy)

    @cached_property
    def subscriptions(self) -> "Subscriptions":
        from contentsvc_core.usecases.subscribe import Subscriptions

        return Subscriptions(self.stores.subscribers, self.limiter, self.clock, self.ids)

    @cached_property
    def briefs(self) -> "Briefs":
        from contentsvc_core.usecases.briefs import Briefs

        return Briefs(self.stores.contexts, self.stores.brands)

    @cached_property
    def style_previews(self) -> "StylePreviews":
        from contentsvc_core.usecases.preview_style import StylePreviews

        return StylePreviews(self.briefs, self.stores.search, self.offload)

    @cached_property
    def _job_starter(self) -> "JobStarter":
        from contentsvc_core.usecases.generate import JobStarter

        return JobStarter(self.stores.jobs, self.clock, self.ids, notify=self.notify)
