from datetime import datetime, timedelta
from pathlib import Path
from typing import Final, final

import msgspec
from attrs import frozen

from contentsvc_cli.develop.git import Checkout
from contentsvc_cli.develop.history import deliveries, hosted_repository
from contentsvc_cli.develop.native_bodies import HostedRepository, release_body
from contentsvc_cli.develop.recordings import RecordedDelivery
from contentsvc_cli.start.sample import BRANCH, COMMITS, sample_history
from contentsvc_cli.start.sample import REPOSITORY as SAMPLE_REPOSITORY
from contentsvc_cli.start.sample import REPOSITORY_ID as SAMPLE_ID
from contentsvc_core.timestamps import iso_ms

#: The maximum number of a history's deliveries, the newest: the demo stays under a minute.
_MOST: Final = 120
#: The time between two commits of the sample: its releases are months apart.
_PACE: Final = timedelta(days=4)
#: The delivery id of the release that the demo makes.
RELEASE: Final = "00000000-0000-4000-8000-000000000099"


@final
@frozen(kw_only=True)
class DemoHistory:
    repository: str
    repository_id: int
    branch: str
    deliveries: tuple[RecordedDelivery, ...]
    #: The release that the demo publishes, without notes.
    next_tag: str
    #: The publication time of that release, ISO 8601; ``None``: its arrival.
    released_at: str | None


def history_of(path: Path) -> DemoHistory:
    repository = Checkout(path)
    line = repository.line()
    hosted = hosted_repository(origin=repository.origin(), folder=repository.folder_name, branch=line.branch)
    recorded = tuple(deliveries(hosted, repository.pushes(line.tip), repository.tags(), repository.commits))
    return DemoHistory(
        repository=hosted.full_name,
        repository_id=hosted.id,
        branch=line.branch,
        deliveries=recorded[-_MOST:],
        next_tag="next",
        released_at=None,
    )


def sample(now: datetime) -> DemoHistory:
    """Return the sample as a history of some months that ends today; its last release has no version of its own."""
    began = now.replace(microsecond=0) - (COMMITS + 1) * _PACE
    return DemoHistory(
        repository=SAMPLE_REPOSITORY,
        repository_id=SAMPLE_ID,
        branch=BRANCH,
        deliveries=tuple(sample_history(began=began, pace=_PACE)),
        next_tag="v2.1.0",
        released_at=iso_ms(now - _PACE / 2),
    )


def release_without_notes(history: DemoHistory) -> RecordedDelivery:
    page = f"https://codehost.example/{history.repository}"
    hosted = HostedRepository(
        id=history.repository_id, full_name=history.repository, default_branch=history.branch, html_url=page
    )
    at, tag = history.released_at, history.next_tag
    body = release_body(hosted, tag=tag, notes=None, published_at=at, prerelease=False)
    return RecordedDelivery(event="release", delivery=RELEASE, body=msgspec.json.encode(body))
