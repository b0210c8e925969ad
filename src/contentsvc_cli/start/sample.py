from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha1
from typing import Any, Final
from uuid import NAMESPACE_URL, uuid5

import msgspec

from contentsvc_cli.develop.git import username
from contentsvc_cli.develop.native_bodies import HostedRepository, push_body, release_body
from contentsvc_cli.develop.recordings import RecordedDelivery
from contentsvc_core.events.normalized import Author, Commit

REPOSITORY: Final = "acme/lighthouse"
REPOSITORY_ID: Final = 4242
BRANCH: Final = "main"

_DELIVERIES: Final = uuid5(NAMESPACE_URL, "https://codehost.example/sample")
_BEGAN: Final = datetime(2025, 9, 1, 8, 30, tzinfo=UTC)
_BETWEEN_COMMITS: Final = timedelta(hours=5, minutes=20)


def _author(name: str, email: str) -> Author:
    return Author(name=name, email=email, username=username(email))


_MARA: Final = _author("Mara Lindqvist", "2041+maralind@users.noreply.codehost.example")
_TOBI: Final = _author("Tobi Adeyemi", "3377+tobi-a@users.noreply.codehost.example")
_INES: Final = _author("Ines Kaya", "ines@lighthouse.example")
_BOT: Final = _author("shelf-bot[bot]", "9001+shelf-bot[bot]@users.noreply.codehost.example")

_SLOW_BEAM: Final = "feat(beam): dim the beam while nobody is near (#18)"

_NOTES: Final = """\
The beam can be steered from outside.

- **New:** `lighthouse beam --colour` and an HTTP endpoint for harbour masters.
- **Changed:** angles are degrees everywhere. Radians in your configuration must be converted.
- **Security:** the remote console asks for a token; see LIGHT-2025-01.

Thanks to everyone who stood a night watch with the release candidate.
"""


def _id(message: str) -> str:
    # Fictional but constant: a revert names the reverted commit.
    return sha1(f"{REPOSITORY}\n{message}".encode(), usedforsecurity=False).hexdigest()


COMMITS: Final = 36
_STEPS: Final[tuple[tuple[tuple[Author, str], ...] | tuple[str, str | None], ...]] = (
    ((_MARA, "Initial commit"), (_MARA, "docs: say what a lighthouse is for")),
    (
        (_MARA, "feat(beam): turn the beam at a steady rate (#2)\n\nOne turn in ten seconds unless configured."),
        (_TOBI, "test(beam): measure a whole turn"),
    ),
    ((_TOBI, "feat(fog): sound the horn when visibility drops below a mile (#5)\n\nCloses #3"),),
    (
        (_INES, "fix(fog): stop the horn when the fog has lifted (#7)\n\nFixes #6"),
        (_INES, "refactor(fog): name the thresholds"),
    ),
    (
        (_BOT, "build(deps): bump tide-tables from 2.3.0 to 2.4.1 (#9)\n\nSigned-off-by: shelf-bot[bot]"),
        (_MARA, "perf(chart): read charts once, not for every ship (#10)"),
        (_MARA, "chore(release): 1.0.0"),
    ),
    ("v1.0.0", ""),
    (
        (_TOBI, "feat(beam): choose the beam's colour\n\n`lighthouse beam --colour green`"),
        (_TOBI, "docs(beam): list the colours and what sailors read into them"),
        (_MARA, "Merge pull request #14 from tobi-a/colours\n\nColours for the beam"),
    ),
    (
        (
            _INES,
            (
                "feat(api): let harbour masters steer the beam over HTTP (#15)\n\n"
                "POST /beam takes an angle and answers when the beam is there.\n\n"
                "Co-authored-by: Tobi Adeyemi <3377+tobi-a@users.noreply.codehost.example>"
            ),
        ),
    ),
    (
        (
            _MARA,
            (
                "feat(beam)!: give angles in degrees (#16)\n\n"
                "BREAKING CHANGE: `beam.angle` is read in degrees. Multiply radians by 57.2958."
            ),
        ),
        (_MARA, "docs: how to convert a configuration of 1.0"),
    ),
    ((_TOBI, _SLOW_BEAM), (_INES, "style: sort imports")),
    (
        (
            _INES,
            f'Revert "{_SLOW_BEAM}"\n\nThis reverts commit {_id(_SLOW_BEAM)}.\n\nShips far out saw no beam at all.',
        ),
        (_INES, "fix(api): refuse angles that are no number (#20)"),
    ),
    (
        (
            _TOBI,
            (
                "fix(security): ask for a token on the remote console (#21)\n\n"
                "Anyone in the harbour's network could switch the light off. LIGHT-2025-01."
            ),
        ),
    ),
    (
        (_MARA, "fix(chart): draw the date line once (#22)\n\nFixes #19"),
        (_BOT, "build(deps): bump fogsignal from 0.8.2 to 0.9.0 (#23)"),
        (_MARA, "ci: run the tests at night too"),
        (_MARA, "chore(release): 2.0.0"),
    ),
    ("v2.0.0", _NOTES),
    (
        (_TOBI, "feat(fog): tune the horn to the distance of the nearest ship (#26)"),
        (_TOBI, "test(fog): record the horn at three distances"),
    ),
    (
        (
            _INES,
            (
                "feat(api): report the beam's angle and colour (#27)\n\n"
                "GET /beam answers with both, so that harbour masters need not look up."
            ),
        ),
        (_BOT, "build(deps): bump tide-tables from 2.4.1 to 2.5.0 (#28)"),
    ),
    (
        (_MARA, "fix(beam): keep the beam from jumping at midnight (#29)"),
        (_MARA, "docs: draw the gears"),
        (_INES, "perf(chart): read all tides in one pass (#30)"),
    ),
    (
        (
            _INES,
            (
                "fix(security): refuse tokens that have expired (#31)\n\n"
                "The remote console took a token for ever once it was open. LIGHT-2025-02."
            ),
        ),
        (_BOT, "build(deps): bump fogsignal from 0.9.0 to 0.9.2 (#32)"),
        (_MARA, "ci: cache the charts"),
        (_MARA, "chore(release): 2.1.0"),
    ),
)


def sample_history(
    repository: str = REPOSITORY,
    repository_id: int = REPOSITORY_ID,
    *,
    began: datetime = _BEGAN,
    pace: timedelta = _BETWEEN_COMMITS,
) -> Iterator[RecordedDelivery]:
    """Return the sample since ``began`` as deliveries, oldest first; deterministic for the same arguments."""
    hosted = _hosted(repository, repository_id)
    at = began
    for number, step in enumerate(_STEPS):
        match step:
            case (str() as tag, notes):
                body = release_body(hosted, tag=tag, notes=notes, published_at=_iso(at))
                yield _recorded(hosted, "release", number, body)
            case _:
                commits: list[Commit] = []
                for author, message in step:
                    at += pace
                    commits.append(_commit(author, message, at))
                yield _recorded(hosted, "push", number, push_body(hosted, commits))


def other_kinds(
    repository: str = REPOSITORY, repository_id: int = REPOSITORY_ID, *, when: datetime = _BEGAN + timedelta(days=30)
) -> list[RecordedDelivery]:
    """Return one delivery for each outcome other than processed, and a pre-release, which is processed."""
    hosted = _hosted(repository, repository_id)
    at = _iso(when)
    commit = _commit(_TOBI, "feat(fog): try a deeper horn", when)
    hook = {"type": "Repository", "id": 1, "name": "web", "active": True, "events": ["push", "release"]}
    pushed = push_body(hosted, [commit], ref="refs/heads/deeper-horn")
    tagged: dict[str, Any] = pushed | {"ref": "refs/tags/v2.0.0", "commits": []}
    deleted: dict[str, Any] = pushed | {"deleted": True, "commits": [], "head_commit": None}
    about = {"repository": pushed["repository"]}
    issue = {"id": 24, "number": 24, "title": "The horn is out of tune", "state": "open", "body": None}
    draft = release_body(hosted, tag="v2.2.0", notes=None, published_at=None, action="created", draft=True)
    kinds: Sequence[tuple[str, dict[str, Any]]] = (
        ("ping", {"zen": "Steady light, steady hands.", "hook_id": 1, "hook": hook, **about}),
        ("push", pushed),
        ("push", tagged),
        ("push", deleted),
        ("release", draft),
        ("release", release_body(hosted, tag="v2.0.0", notes=_NOTES, published_at=at, action="edited")),
        ("release", draft | {"action": "published"}),
        ("release", release_body(hosted, tag="v2.2.0-rc.1", notes=None, published_at=at, action="prereleased")),
        ("issues", {"action": "opened", "issue": issue, **about}),
        ("star", {"action": "created", "starred_at": at, **about}),
    )
    first = len(_STEPS)
    return [_recorded(hosted, event, first + number, body) for number, (event, body) in enumerate(kinds)]


def _hosted(full_name: str, repository_id: int) -> HostedRepository:
    return HostedRepository(
        id=repository_id,
        full_name=full_name,
        default_branch=BRANCH,
        html_url=f"https://codehost.example/{full_name}",
    )


def _commit(author: Author, message: str, at: datetime) -> Commit:
    return Commit(id=_id(message), message=message, author=author, timestamp=_iso(at), url="")


def _iso(at: datetime) -> str:
    return at.isoformat(timespec="seconds").replace("+00:00", "Z")


def _recorded(hosted: HostedRepository, event: str, number: int, body: dict[str, Any]) -> RecordedDelivery:
    delivery = uuid5(_DELIVERIES, f"{hosted.full_name} {hosted.id} {number}")
    return RecordedDelivery(event=event, delivery=str(delivery), body=msgspec.json.encode(body))
