"""What the operations of ``/v1`` drive."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from contentsvc_adapters.aside import shares as make_shares
from contentsvc_adapters.markup import SafeMarkdown
from contentsvc_core.content.site_addresses import read_site_hosts
from contentsvc_core.ports import Clock, CodeHost, IdSource, Shares
from contentsvc_core.usecases.authenticate import Authenticator
from contentsvc_core.usecases.brands import BrandEditor
from contentsvc_core.usecases.connect import Connector
from contentsvc_core.usecases.edit import PostEditor
from contentsvc_core.usecases.generate import Generator, JobStarter
from contentsvc_core.usecases.limit import RateLimiter
from contentsvc_core.usecases.plan import Planner
from contentsvc_core.usecases.publicize import ChangelogEditor
from contentsvc_core.usecases.read_site import BrandGenerator
from contentsvc_core.usecases.replay import Replayer
from contentsvc_core.usecases.triggers import TriggerEditor
from contentsvc_core.usecases.webhook_endpoints import EndpointEditor
from contentsvc_http.client_address import Proxies
from contentsvc_http.rate_limiting import RateLimits
from contentsvc_http.settings import Settings
from contentsvc_http.v1.gate import Gate
from contentsvc_http.v1.routes import Api
from contentsvc_http.wiring.code_hosts import host_calls, no_hosts

if TYPE_CHECKING:
    from contentsvc_adapters.memory import MemoryStores
    from contentsvc_adapters.sql import SqlStores


def open_api(
    settings: Settings,
    stores: "SqlStores | MemoryStores",
    clock: Clock,
    ids: IdSource,
    *,
    nudge: Callable[[], None],
    hosts: Callable[[str], Awaitable[CodeHost | None]] = no_hosts,
    shares: Shares | None = None,
) -> Api:
    """Create the use cases.

    Args:
        settings: Of the process.
        stores: What the use cases read and write.
        clock: Reads the time.
        ids: Creates ids.
        nudge: Called after a run was stored.
        hosts: Returns the code host of a provider.
        shares: Of the process; ``None``: those of a pool of the usual size.
    """
    authenticator = Authenticator(stores.keys, clock)
    shares = shares or make_shares()
    starter = JobStarter(stores.jobs, clock, ids, nudge=nudge)
    opened = read_site_hosts(settings.site_hosts)
    calls = host_calls(settings, stores, clock, ids, hosts)
    return Api(
        gate=Gate(authenticator, stores.directory, hosted=settings.hosted_client == "on"),
        limits=RateLimits(
            RateLimiter(stores.rate_limits, clock), authenticator, Proxies.read(settings.trusted_proxies)
        ),
        posts=stores.posts,
        post_editor=PostEditor(stores.posts, SafeMarkdown(), clock, share=shares.heavy),
        trigger_editor=TriggerEditor(stores.directory, stores.brands, clock, ids),
        journal=stores.journal,
        replayer=Replayer(
            stores.deliveries,
            stores.journal,
            stores.contexts,
            stores.endpoints,
            stores.outbox,
            clock,
            ids,
            nudge=nudge,
        ),
        changelogs=ChangelogEditor(stores.changelogs, clock, ids),
        base_url=settings.base_url,
        endpoints=stores.endpoints,
        endpoint_editor=EndpointEditor(
            stores.endpoints, stores.outbox, clock, ids, opened=read_site_hosts(settings.outgoing_hosts)
        ),
        generator=Generator(starter, stores.directory, stores.brands, clock),
        jobs=stores.jobs,
        brands=stores.brands,
        brand_editor=BrandEditor(stores.brands, clock, opened=opened),
        brand_generator=BrandGenerator(starter, stores.brands, opened=opened),
        planner=Planner(stores.schedules, stores.directory, stores.brands, clock, ids),
        schedules=stores.schedules,
        directory=stores.directory,
        contexts=stores.contexts,
        search=stores.search,
        connector=Connector(stores.directory, stores.hooks, calls, clock, ids),
        shares=shares,
    )
