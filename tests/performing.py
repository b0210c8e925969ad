"""Performers over any stores."""

from collections.abc import Callable
from typing import Protocol

from contentsvc_adapters.markup import SafeMarkdown
from contentsvc_core.ports import (
    BrandIdentities,
    Clock,
    ContentWriter,
    ContextLibrary,
    Directory,
    IdSource,
    Jobs,
    MarkupRenderer,
    RunLedger,
    Schedules,
    Triggers,
)
from contentsvc_core.usecases.briefs import Briefs
from contentsvc_core.usecases.perform import Performer
from contentsvc_core.usecases.pull_requests import PullRequestReader
from contentsvc_core.usecases.read_site import BrandReader
from contentsvc_core.values import nothing
from contentsvc_core.workflows.runs import RunStatus


class PerformingStores(Protocol):
    """The stores that a performer needs."""

    @property
    def ledger(self) -> RunLedger: ...
    @property
    def jobs(self) -> Jobs: ...
    @property
    def contexts(self) -> ContextLibrary: ...
    @property
    def brands(self) -> BrandIdentities: ...
    @property
    def triggers(self) -> Triggers: ...
    @property
    def schedules(self) -> Schedules: ...
    @property
    def directory(self) -> Directory: ...


def performer_over(
    stores: PerformingStores,
    clock: Clock,
    ids: IdSource,
    writer: ContentWriter,
    *,
    fallback: ContentWriter | None = None,
    renderer: MarkupRenderer | None = None,
    ledger: RunLedger | None = None,
    sites: BrandReader | None = None,
    pull_requests: PullRequestReader | None = None,
    ended: Callable[[RunStatus], None] = nothing,
) -> Performer:
    return Performer(
        ledger=ledger or stores.ledger,
        jobs=stores.jobs,
        briefs=Briefs(stores.contexts, stores.brands),
        directory=stores.directory,
        triggers=stores.triggers,
        schedules=stores.schedules,
        sites=sites,
        pull_requests=pull_requests,
        writer=writer,
        fallback=fallback,
        renderer=renderer or SafeMarkdown(),
        clock=clock,
        ids=ids,
        ended=ended,
    )
