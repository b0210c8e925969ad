"""What the demo sends: this project's own history where it is at hand, else the sample."""

from importlib.metadata import version
from pathlib import Path
from typing import Final, final

import msgspec
from attrs import frozen

from contentsvc_cli.git import GitFailed, Repository
from contentsvc_cli.history import deliveries, hosted_repository
from contentsvc_cli.recordings import RecordedDelivery
from contentsvc_cli.sample import BRANCH, sample_history
from contentsvc_cli.sample import REPOSITORY as SAMPLE_REPOSITORY
from contentsvc_cli.sample import REPOSITORY_ID as SAMPLE_ID

#: At most so many deliveries of a history are sent, the newest: the demo stays under a minute.
_MOST: Final = 120


@final
@frozen(kw_only=True)
class DemoHistory:
    """What the demo sends."""

    repository: str
    repository_id: int
    branch: str
    deliveries: tuple[RecordedDelivery, ...]
    #: The release that the demo makes itself, without notes.
    next_tag: str


def demo_history() -> DemoHistory:
    """Take this project's own history where it is at hand, else the sample."""
    root = Path(__file__).resolve().parents[2]
    try:
        # Installed, this file lies in somebody else's folders, and so perhaps in somebody else's repository.
        if not (root / "src" / __name__.split(".")[0]).is_dir():
            return _SAMPLE
        repository = Repository(root)
        line = repository.line()
        hosted = hosted_repository(origin=None, folder="contentsvc", branch=line.branch, full_name="acme/contentsvc")
        told = deliveries(hosted, repository.pushes(line.tip), repository.tags(), repository.commits)
        own = tuple(told)[-_MOST:]
    except GitFailed:
        return _SAMPLE
    return DemoHistory(
        repository=hosted.full_name,
        repository_id=hosted.id,
        branch=line.branch,
        deliveries=own,
        next_tag=f"v{version('contentsvc')}",
    )


_SAMPLE: Final = DemoHistory(
    repository=SAMPLE_REPOSITORY,
    repository_id=SAMPLE_ID,
    branch=BRANCH,
    deliveries=tuple(sample_history()),
    next_tag="v3.0.0",
)


def release_without_notes(history: DemoHistory) -> RecordedDelivery:
    """Make a release without notes: its post is written from the pushes that were stored before it."""
    page = f"https://codehost.example/{history.repository}"
    body = {
        "action": "published",
        "release": {
            "tag_name": history.next_tag,
            "name": history.next_tag,
            "body": None,
            "draft": False,
            "prerelease": False,
            "published_at": "2026-01-01T12:00:00Z",
            "html_url": f"{page}/releases/tag/{history.next_tag}",
        },
        "repository": {"id": history.repository_id, "full_name": history.repository, "html_url": page},
    }
    delivery = "00000000-0000-4000-8000-000000000099"
    return RecordedDelivery(event="release", delivery=delivery, body=msgspec.json.encode(body))
