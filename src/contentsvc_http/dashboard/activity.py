from collections.abc import Sequence
from typing import assert_never, final

from attrs import frozen

from contentsvc_core.events.normalized import Push
from contentsvc_core.events.summaries import EventSummary
from contentsvc_core.workflows.causes import Generation, ListedCause, ListedDelivery, SiteReading
from contentsvc_core.workflows.runs import ListedRun
from contentsvc_http.dashboard.context import Dashboard
from contentsvc_http.dashboard.run_words import Starters, output_of, starters_of, title_of


@final
@frozen(kw_only=True)
class Activity:
    run: ListedRun
    #: What caused the run, such as "acme/lamp released v2.0.0".
    sentence: str
    subject: str
    output: str
    #: The title of the run's post; ``None``: the run has no post, or the post was deleted.
    post: str | None


async def activity_of(dashboard: Dashboard, organization_id: str, runs: Sequence[ListedRun]) -> list[Activity]:
    ids = {run.post_id for run in runs if run.post_id}
    titles = await dashboard.app.stores.run_lists.post_titles(organization_id, ids)
    starters = await starters_of(dashboard, organization_id)
    return [_activity(run, titles.get(run.post_id or ""), starters) for run in runs]


def _activity(run: ListedRun, post: str | None, starters: Starters) -> Activity:
    sentence, subject = _words_of(run.cause)
    output = output_of(run.cause, starters)
    return Activity(run=run, sentence=sentence, subject=subject, output=output, post=post)


def _words_of(cause: ListedCause) -> tuple[str, str]:
    match cause:
        case ListedDelivery():
            return f"{cause.repository} {_happened(cause.event)}", _subject(cause.event)
        case Generation() | SiteReading():
            return title_of(cause), ""
        case _:
            assert_never(cause)


def _happened(event: EventSummary) -> str:
    if event.type != Push.type:
        return f"released {event.place}" if event.place else "published a release"
    commits = "1 commit" if event.commits == 1 else f"{event.commits:,} commits"
    return f"received {commits} on {event.place}" if event.place else "received a push"


def _subject(event: EventSummary) -> str:
    # Most releases are named after their tag.
    return "" if event.title == event.place else event.title
