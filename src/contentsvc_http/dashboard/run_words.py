from collections.abc import Mapping
from typing import Any, assert_never, final

from attrs import frozen

from contentsvc_core.events.normalized import Push
from contentsvc_core.workflows.causes import Generation, ListedCause, ListedDelivery, SiteReading
from contentsvc_core.workflows.runs import ListedRun
from contentsvc_core.workflows.triggers import Trigger
from contentsvc_http.dashboard.session import DashboardSession
from contentsvc_http.words import CONTENT, LOOKBACKS, some_of


@final
@frozen(kw_only=True)
class PageLink:
    text: str
    #: The path below the dashboard's root; ``None``: no page.
    path: str | None = None


@final
@frozen(kw_only=True)
class Starters:
    triggers: Mapping[str, Trigger]
    schedules: Mapping[str, str]

    def of(self, cause: ListedCause) -> PageLink:
        match cause:
            case ListedDelivery() | Generation(trigger_id=str()):
                trigger = self.triggers.get(cause.trigger_id or "")
                if trigger is None:
                    return PageLink(text="a trigger that was deleted")
                text = f"trigger {trigger.name}" if trigger.name else "a trigger without a name"
                return PageLink(text=text, path=f"/triggers/{trigger.id}")
            case Generation(schedule_id=str() as schedule_id):
                name = self.schedules.get(schedule_id)
                if name is None:
                    return PageLink(text="a schedule that was deleted")
                return PageLink(text=f"schedule {name}", path=f"/schedules/{schedule_id}")
            case Generation() | SiteReading():
                return PageLink(text="a request")
            case _:
                assert_never(cause)


async def starters_of(session: DashboardSession) -> Starters:
    triggers = await session.app.stores.triggers.all_of(session.organization_id)
    schedules = await session.app.stores.schedules.all_of(session.organization_id)
    return Starters(
        triggers={trigger.id: trigger for trigger in triggers},
        schedules={schedule.id: schedule.name for schedule in schedules},
    )


def line_of(run: ListedRun, starters: Starters) -> dict[str, Any]:
    """Return a run in words. Its ``output`` is empty if that is unknown, since its trigger was deleted."""
    return {
        "run": run,
        "about": title_of(run.cause),
        "detail": run.cause.event.about if isinstance(run.cause, ListedDelivery) else "",
        "starter": starters.of(run.cause),
        "output": output_of(run.cause, starters),
    }


def title_of(cause: ListedCause) -> str:
    match cause:
        case ListedDelivery():
            what = "push to" if cause.event.type == Push.type else "release of"
            return f"{f'Replayed {what}' if cause.replayed else what.capitalize()} {cause.repository}"
        case Generation():
            where = some_of([source.full_name for source in cause.sources])
            return f"{CONTENT[cause.content_type]} of {where}, {LOOKBACKS[cause.lookback]}"
        case SiteReading():
            return f"Brand identity of {cause.website_url}"
        case _:
            assert_never(cause)


def output_of(cause: ListedCause, starters: Starters) -> str:
    match cause:
        case ListedDelivery():
            # A run uses its trigger's content type when it begins.
            trigger = starters.triggers.get(cause.trigger_id)
            return "" if trigger is None else CONTENT[trigger.output_type]
        case Generation():
            return CONTENT[cause.content_type]
        case SiteReading():
            return "Brand identity"
        case _:
            assert_never(cause)
