"""The use cases of a service over its stores: what every driver calls."""

from collections.abc import Awaitable, Callable
from functools import cached_property
from typing import TYPE_CHECKING, final

from attrs import frozen

if TYPE_CHECKING:
    from contentsvc_core.content.site_addresses import SiteHost
    from contentsvc_core.ports import Aside, Clock, CodeHost, IdSource, MarkupRenderer, Shares, Stores
    from contentsvc_core.usecases.authenticate import Authenticator
    from contentsvc_core.usecases.brands import BrandEditor
    from contentsvc_core.usecases.briefs import Briefs
    from contentsvc_core.usecases.connect import Connector
    from contentsvc_core.usecases.edit import PostEditor
    from contentsvc_core.usecases.generate import Generator, JobStarter
    from contentsvc_core.usecases.host_calls import HostCalls
    from contentsvc_core.usecases.limit import RateLimiter
    from contentsvc_core.usecases.operate import Operator
    from contentsvc_core.usecases.plan import Planner
    from contentsvc_core.usecases.preview_style import StylePreviews
    from contentsvc_core.usecases.publicize import ChangelogEditor
    from contentsvc_core.usecases.read_site import BrandGenerator
    from contentsvc_core.usecases.reconcile import Reconciler
    from contentsvc_core.usecases.replay import Replayer
    from contentsvc_core.usecases.rotate import Rotator
    from contentsvc_core.usecases.sign_in import SignIn
    from contentsvc_core.usecases.subscribe import Subscriptions
    from contentsvc_core.usecases.trail import Trails
    from contentsvc_core.usecases.triggers import TriggerEditor
    from contentsvc_core.usecases.webhook_endpoints import EndpointEditor


async def no_hosts(_provider: str) -> "CodeHost | None":
    """Return no code host: none is configured."""
    return None


def nothing() -> None:
    """Do nothing: there is no engine to notify."""


@final
@frozen(kw_only=True, slots=False, eq=False)
class Application:
    """The use cases of a service. Each is created, and its module imported, when it is first used.

    So a command that issues a key does not wait for the modules of other use cases. A server calls :meth:`load`.
    """

    stores: "Stores"
    clock: "Clock"
    ids: "IdSource"
    renderer: "MarkupRenderer"
    #: Bounds the work that runs at once, by kind.
    shares: "Shares"
    #: Runs long computations.
    aside: "Aside"
    #: Returns the code host of a provider; ``None``: its API is not configured.
    hosts: "Callable[[str], Awaitable[CodeHost | None]]" = no_hosts
    #: Called after a run was stored.
    nudge: Callable[[], None] = nothing
    #: The address at which code hosts reach this service; no trailing slash.
    base_url: str
    #: Hosts that may be read though they are not public.
    site_hosts: "frozenset[SiteHost]" = frozenset()
    #: Hosts that webhooks may be sent to though they are not public.
    outgoing_hosts: "frozenset[SiteHost]" = frozenset()

    def load(self) -> None:
        """Create all use cases: a server imports no modules while it answers requests."""
        for name, each in vars(type(self)).items():
            if isinstance(each, cached_property):
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
    def sign_in(self) -> "SignIn":
        from contentsvc_core.usecases.sign_in import SignIn

        return SignIn(self.authenticator, self.stores.keys, self.stores.sessions, self.clock, self.ids)

    @cached_property
    def operator(self) -> "Operator":
        from contentsvc_core.usecases.operate import Operator

        return Operator(self.stores.directory, self.stores.keys, self.clock, self.ids)

    @cached_property
    def host_calls(self) -> "HostCalls":
        from contentsvc_core.usecases.host_calls import HostCalls

        stores = self.stores
        return HostCalls(self.hosts, stores.hooks, stores.journal, self.clock, self.ids, base_url=self.base_url)

    @cached_property
    def connector(self) -> "Connector":
        from contentsvc_core.usecases.connect import Connector

        return Connector(self.stores.directory, self.stores.hooks, self.host_calls, self.clock, self.ids)

    @cached_property
    def rotator(self) -> "Rotator":
        from contentsvc_core.usecases.rotate import Rotator

        return Rotator(self.stores.directory, self.stores.hooks, self.host_calls, self.clock, self.ids)

    @cached_property
    def reconciler(self) -> "Reconciler":
        from contentsvc_core.usecases.reconcile import Reconciler

        return Reconciler(self.stores.directory, self.stores.journal, self.host_calls, self.clock)

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
            nudge=self.nudge,
        )

    @cached_property
    def trails(self) -> "Trails":
        from contentsvc_core.usecases.trail import Trails

        stores = self.stores
        return Trails(stores.insights, stores.contexts, stores.directory, stores.posts)

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

        return PostEditor(self.stores.posts, self.renderer, self.clock, share=self.shares.heavy)

    @cached_property
    def brand_editor(self) -> "BrandEditor":
        from contentsvc_core.usecases.brands import BrandEditor

        return BrandEditor(self.stores.brands, self.clock, opened=self.site_hosts)

    @cached_property
    def brand_generator(self) -> "BrandGenerator":
        from contentsvc_core.usecases.read_site import BrandGenerator

        return BrandGenerator(self._job_starter, self.stores.brands, opened=self.site_hosts)

    @cached_property
    def endpoint_editor(self) -> "EndpointEditor":
        from contentsvc_core.usecases.webhook_endpoints import EndpointEditor

        stores = self.stores
        return EndpointEditor(stores.endpoints, stores.outbox, self.clock, self.ids, opened=self.outgoing_hosts)

    @cached_property
    def changelog_editor(self) -> "ChangelogEditor":
        from contentsvc_core.usecases.publicize import ChangelogEditor

        return ChangelogEditor(self.stores.changelogs, self.clock, self.ids)

    @cached_property
    def subscriptions(self) -> "Subscriptions":
        from contentsvc_core.usecases.subscribe import Subscriptions

        return Subscriptions(self.stores.subscribers, self.clock, self.ids)

    @cached_property
    def briefs(self) -> "Briefs":
        from contentsvc_core.usecases.briefs import Briefs

        return Briefs(self.stores.contexts, self.stores.brands)

    @cached_property
    def style_previews(self) -> "StylePreviews":
        from contentsvc_core.usecases.preview_style import StylePreviews

        return StylePreviews(self.briefs, self.stores.search, self.aside)

    @cached_property
    def _job_starter(self) -> "JobStarter":
        from contentsvc_core.usecases.generate import JobStarter

        return JobStarter(self.stores.jobs, self.clock, self.ids, nudge=self.nudge)
