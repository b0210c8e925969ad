"""What agents drive."""

from importlib.util import find_spec
from typing import TYPE_CHECKING

from contentsvc_adapters.aside import shares as make_shares
from contentsvc_core.ports import Clock, IdSource, Shares
from contentsvc_core.usecases.authenticate import Authenticator
from contentsvc_core.usecases.edit import PostEditor
from contentsvc_core.usecases.generate import Generator
from contentsvc_core.usecases.limit import RateLimiter
from contentsvc_core.usecases.trail import Trails
from contentsvc_http.agents import Agents
from contentsvc_http.settings import Settings
from contentsvc_http.v1.routes import Api
from contentsvc_mcp.toolbox import Toolbox

if TYPE_CHECKING:
    from contentsvc_adapters.memory import MemoryStores
    from contentsvc_adapters.sql import SqlStores


def is_installed() -> bool:
    """Tell whether the extra is there that agents need; nothing of it is imported."""
    try:
        return find_spec("mcp") is not None
    except ValueError:
        return False


def open_agents(
    settings: Settings, stores: "SqlStores | MemoryStores", clock: Clock, ids: IdSource, *, api: Api
) -> Agents | None:
    """Build what ``/mcp`` drives; ``None``: it is switched off, or the extra is not installed."""
    if settings.mcp == "off" or not is_installed():
        return None
    return Agents(
        toolbox=open_toolbox(stores, clock, ids, editor=api.post_editor, generator=api.generator, shares=api.shares),
        authenticator=Authenticator(stores.keys, clock),
        base_url=settings.base_url,
    )


def open_toolbox(
    stores: "SqlStores | MemoryStores",
    clock: Clock,
    ids: IdSource,
    *,
    editor: PostEditor,
    generator: Generator,
    shares: Shares | None = None,
) -> Toolbox:
    """Create the use cases of the tools, beside those that other drivers have created."""
    return Toolbox(
        search=stores.search,
        contexts=stores.contexts,
        posts=stores.posts,
        post_editor=editor,
        insights=stores.insights,
        trails=Trails(stores.insights, stores.contexts, stores.directory, stores.posts),
        directory=stores.directory,
        brands=stores.brands,
        generator=generator,
        jobs=stores.jobs,
        limiter=RateLimiter(stores.rate_limits, clock),
        ids=ids,
        shares=shares or make_shares(),
    )
