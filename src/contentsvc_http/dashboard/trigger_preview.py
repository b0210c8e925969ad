"""The preview of a trigger: the stored deliveries that it would match."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, final

from attrs import field, frozen

from contentsvc_core.events.summaries import EventSummary
from contentsvc_core.insights import LogSearch
from contentsvc_core.journal import ListedEntry, LogStatus
from contentsvc_core.workflows.triggers import Trigger, matching, source_type
from contentsvc_http.dashboard.choices import FormSources, connected
from contentsvc_http.dashboard.context import Dashboard

#: The number of log entries that are checked.
_LOOKED_AT: Final = 200
_SHOWN: Final = 10


@final
@frozen(kw_only=True)
class Match:
    """A delivery that the trigger would have matched."""

    log_id: str
    title: str
    about: str
    repository: str
    created_at: datetime


@final
@frozen(kw_only=True)
class TriggerPreview:
    """The result of a preview."""

    #: Why nothing was checked; may be empty.
    says: str = ""
    looked_at: int = 0
    matched: int = 0
    #: The newest matching deliveries, newest first.
    newest: tuple[Match, ...] = field(converter=tuple, default=())


async def preview_of(dashboard: Dashboard, trigger: Trigger) -> TriggerPreview:
    """Return the newest stored deliveries that a trigger would match."""
    mine = trigger.organization_id
    entries = await dashboard.app.stores.insights.log(mine, LogSearch(statuses=(LogStatus.SUCCESS,)), limit=_LOOKED_AT)
    processed = [(entry, entry.event) for entry in entries if entry.event is not None]
    found = [(entry, event) for entry, event in processed if _matches(trigger, entry, event)]
    has = await connected(dashboard, mine)
    return TriggerPreview(looked_at=len(processed), matched=len(found), newest=_told(found[:_SHOWN], has))


def _matches(trigger: Trigger, entry: ListedEntry, event: EventSummary) -> bool:
    return bool(
        matching(
            [trigger],
            organization_id=entry.organization_id,
            source_type=source_type(entry.integration_type),
            repository_id=entry.repository_id,
            event_type=event.type,
        )
    )


def _told(found: Sequence[tuple[ListedEntry, EventSummary]], has: FormSources) -> list[Match]:
    return [
        Match(
            log_id=entry.id,
            title=entry.title,
            about=event.about,
            repository=has.repository(entry.integration_type, entry.repository_id),
            created_at=entry.created_at,
        )
        for entry, event in found
    ]
