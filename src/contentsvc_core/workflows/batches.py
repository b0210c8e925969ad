from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from contentsvc_core.content.windows import Lookback, LookbackWindow
from contentsvc_core.workflows.automations import Firing
from contentsvc_core.workflows.causes import Generation, Source, source_type
from contentsvc_core.workflows.filters import Batch
from contentsvc_core.workflows.runs import WorkflowRun
from contentsvc_core.workflows.triggers import Trigger, latest_end, window_end

#: The time between the end of a window and its run: a delivery that arrived before the end is stored by then.
BATCH_DELAY: Final = timedelta(seconds=60)
_LOOKBACKS: Final = {Batch.DAILY: Lookback.YESTERDAY, Batch.WEEKLY: Lookback.LAST_7_DAYS}


def batch_firing(
    trigger: Trigger, now: datetime, zone: ZoneInfo, *, sources: Iterable[Source], run_id: str
) -> Firing | None:
    """Return the firing of a trigger whose window has ended; it covers all windows that ended while no server ran."""
    if trigger.due_at is None or trigger.since is None or not trigger.enabled or trigger.due_at > now:
        return None
    batch = trigger.options.batch
    until = max(trigger.due_at, latest_end(batch, now, zone))
    watched = [each for each in sources if trigger.watches(source_type(each.provider), each.repository_id)]
    return Firing(
        automation_id=trigger.id,
        due_at=trigger.due_at,
        slot=until,
        zone=zone,
        next_due_at=window_end(batch, until, zone),
        run=WorkflowRun(
            id=run_id,
            organization_id=trigger.organization_id,
            cause=Generation(
                trigger_id=trigger.id,
                content_type=trigger.output_type,
                lookback=_LOOKBACKS[batch],
                window=LookbackWindow(since=trigger.since, until=until),
                sources=watched,
                **trigger.post_settings(),
            ),
            created_at=now,
            due_at=max(now, until + BATCH_DELAY),
        ),
    )
