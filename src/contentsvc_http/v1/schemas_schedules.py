from typing import TypedDict, final

from contentsvc_core.workflows.bodies import ScheduleBody


@final
class ScheduleListBody(TypedDict):
    """All schedules, oldest first, and the names of their repositories by id."""

    schedules: list[ScheduleBody]
    repositoryMap: dict[str, str]


@final
class OneScheduleBody(TypedDict):
    """One schedule."""

    schedule: ScheduleBody


@final
class ScheduleRemovedBody(TypedDict):
    """The id of the deleted schedule."""

    id: str
