from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final, TypeAlias

from contentsvc_core.content.windows import LookbackWindow
from contentsvc_core.events.normalized import Event
from contentsvc_core.events.summaries import EventSummary
from contentsvc_core.journal import ListedEntry, LogStatus
from contentsvc_core.ports import ContextLibrary
from contentsvc_core.read_model import LogSearch
from contentsvc_core.workflows.causes import source_type
from contentsvc_core.workflows.triggers import Trigger, matching
from contentsvc_http.dashboard.choices import connected
from contentsvc_http.dashboard.session import DashboardSession

_LOOKED_AT: Final = 200
_SHOWN: Final = 10
_SHOWN_LEFT_OUT: Final = 5
_MOST_BYTES: Final = 2 * 1024 * 1024
#: Times have whole milliseconds.
_MOMENT: Final = timedelta(milliseconds=1)


async def preview_of(session: DashboardSession, trigger: Trigger) -> dict[str, Any]:
    """Return the processed deliveries that a trigger would have matched, and why its filters exclude others."""
    organization_id = trigger.organization_id
    stores = session.app.stores
    entries = await stores.read_model.log(organization_id, LogSearch(statuses=(LogStatus.SUCCESS,)), limit=_LOOKED_AT)
    processed = [(entry, entry.event) for entry in entries if entry.event is not None]
    watched = [(entry, event) for entry, event in processed if _watches(trigger, entry, event)]
    others = await stores.triggers.all_of(organization_id)
    excluded: dict[str, str] = {}
    if trigger.filter is not None or any(other.options.branches for other in others):
        full = await _full_events([entry for entry, _ in watched], stores.contexts)
        for entry, _ in watched:
            event = full.get(_key(entry))
            exclusion = None if event is None else trigger.why_left_out(event)
            if exclusion is not None:
                excluded[entry.id] = exclusion.reason
    matched = [(entry, event) for entry, event in watched if entry.id not in excluded]
    missed = [(entry, event) for entry, event in watched if entry.id in excluded]
    has = await connected(session)
    return {
        "message": "",
        "looked_at": len(processed),
        "matched": len(matched),
        "newest": matched[:_SHOWN],
        "excluded": len(missed),
        "newest_excluded": missed[:_SHOWN_LEFT_OUT],
        "why": excluded,
        "repository": has.repository,
    }


def _watches(trigger: Trigger, entry: ListedEntry, event: EventSummary) -> bool:
    return bool(
        matching(
            [trigger],
            organization_id=entry.organization_id,
            source_type=source_type(entry.integration_type),
            repository_id=entry.repository_id,
            event_type=event.type,
        )
    )


_Key: TypeAlias = tuple[str, int, str | None]


def _key(entry: ListedEntry) -> _Key:
    return entry.integration_type, entry.repository_id, entry.reference_id


async def _full_events(entries: Sequence[ListedEntry], contexts: ContextLibrary) -> dict[_Key, Event]:
    if not entries:
        return {}
    window = LookbackWindow(since=entries[-1].created_at, until=entries[0].created_at + _MOMENT)
    events: dict[_Key, Event] = {}
    for provider, repository_id in dict.fromkeys((entry.integration_type, entry.repository_id) for entry in entries):
        records, _ = await contexts.within(
            entries[0].organization_id,
            provider=provider,
            repository_id=repository_id,
            window=window,
            limit=_LOOKED_AT,
            max_bytes=_MOST_BYTES,
        )
        events |= {(provider, repository_id, record.delivery_id): record.event for record in records}
    return events
