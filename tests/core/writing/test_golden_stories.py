"""Golden posts: each story in every content type, in a file of its own."""

from pathlib import Path
from typing import Final

import pytest
from attrs import evolve
from writing_samples import ADA, GRACE, JUNE, brand, check_golden, commit, push, release

from contentsvc_core.content.brand import ToneProfile
from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.writing import Brief, Chapter
from contentsvc_core.events.normalized import Author

_FOLDER: Final = Path(__file__).parent / "stories"
_LID: Final = "https://codehost.example/acme/lid"
_SPOUT: Final = "https://codehost.example/acme/spout"
_BASE: Final = "https://codehost.example/acme/base"
_NED: Final = Author(name="Ned Ludd", email="")

#: Four repositories of a company in one month: one with a release and later work, one with a pre-release, one
#: without a release, and one with upkeep alone; a fifth one has no events.
_FLEET: Final = Brief(
    chapters=[
        Chapter(
            repository="acme/kettle",
            events=[
                push("feat(lid): close by itself (#12)", "fix: stop the drip (#14)"),
                release("v1.0.0"),
                push(
                    commit("feat!: measure in litres\n\nBREAKING CHANGE: cups are gone", author=GRACE),
                    "fix(spout): pour straight",
                ),
            ],
        ),
        Chapter(
            repository="acme/lid",
            events=[
                push(
                    commit("perf(hinge): open faster\n\nUses a lighter hinge, which opens in half the time.", host=_LID)
                ),
                release("v2.0.0-rc1", prerelease=True, host=_LID),
            ],
        ),
        Chapter(
            repository="acme/spout",
            events=[
                push(
                    commit("security: refuse unsigned water", author=_NED, host=_SPOUT),
                    commit("sweep the workshop", host=_SPOUT),
                )
            ],
        ),
        Chapter(repository="acme/quiet", events=[]),
        Chapter(
            repository="acme/base",
            events=[
                push(
                    *(
                        commit(message, host=_BASE)
                        for message in (
                            *("docs: draw the base", "docs: draw the plug"),
                            *("chore(deps): bump cup from 1 to 2", "test: heat it dry"),
                        )
                    )
                )
            ],
        ),
    ],
    window=JUNE,
    left_out=3,
    brand=brand(company="Acme *Ltd*", description="We boil water.", website="https://acme.example/about"),
)

#: One repository without a release, for customers, in a casual tone.
_CUSTOMERS: Final = Brief(
    chapters=[
        Chapter(
            repository="acme/kettle",
            events=[
                push(
                    commit("feat(bell): ring at noon (#3)\n\nAdds a bell that rings at noon on every day of the week."),
                    commit("fix(lid)!: let the lid close (#4)\n\nBREAKING CHANGE: the old lids fit no longer"),
                    commit("deprecate the whistle in the lid", author=GRACE),
                    commit("perf: boil two cups in one minute (#5)", author=_NED),
                    "polish the old handle",
                    "docs: show the bell",
                )
            ],
        )
    ],
    window=evolve(JUNE, since=JUNE.since.replace(day=20), until=JUNE.until.replace(day=2)),
    brand=brand(tone=ToneProfile.CONVERSATIONAL, company="Acme", audience="customers of our shops"),
)

#: One pre-release, announced in French with all changes since the previous tag.
_CANDIDATE: Final = Brief(
    chapters=[
        Chapter(
            repository="acme/kettle",
            events=[
                push(
                    commit("feat: sing at noon\n\nThis adds three songs, one for each hour at which people drink tea."),
                    commit("fix(security): lock the lid of the kettle", author=GRACE),
                    "fix: `boil_now()` returns at once",
                ),
                push("feat: ring at noon", "ci: run twice"),
            ],
        )
    ],
    release=release("v2.0.0-rc1", prerelease=True),
    previous_tag="v1.9.0",
    brand=brand(tone=ToneProfile.FORMAL, language="French", company="Acme"),
)

#: Releases alone, some with notes, one of another month; in Spanish.
_RELEASES: Final = Brief(
    chapters=[
        Chapter(
            repository="acme/kettle",
            events=[
                release("v1.0", body="# First\n\nIt *boils*.\n\n- at once"),
                evolve(release("v1.1"), name="The quiet one", published_at="2029-12-24T10:00:00Z"),
                release("v2.0b1", prerelease=True),
            ],
        ),
        Chapter(repository="acme/lid", events=[release("lid-v3", host=_LID), push("ci: run")]),
    ],
    window=JUNE,
    brand=brand(tone=ToneProfile.CASUAL, language="Spanish"),
)

#: More changes than a list shows: each kind is listed up to a limit, and counted beyond it.
_BUSY: Final = Brief(
    chapters=[
        Chapter(
            repository="acme/kettle",
            events=[
                push(
                    *(
                        commit(
                            f"feat({'bell' if n % 2 else 'lid'}): play song {n} of the book\n\n"
                            f"Adds song {n} of the old book to whatever the kettle sings by itself.",
                            author=(ADA, GRACE, _NED)[n % 3],
                        )
                        for n in range(1, 22)
                    ),
                    *(f"fix(lid): tighten screw {n} of the lid (#{n})" for n in range(1, 8)),
                    *(
                        f"feat!: drop plug {n} of the base\n\nBREAKING CHANGE: use socket {n}\n"
                        f"BREAKING CHANGE: drop plug {n} of the base"
                        for n in range(1, 3)
                    ),
                )
            ],
        )
    ],
    brand=brand(language="German", audience="Entwickler"),
)

_UNDOING: Final = push(
    'Revert "feat(lid): close by itself (#12)" (#18)\n\nThis reverts commit 0123456789abcdef.',
    "feat: sing at noon (#17)",
)
#: A release that reverts a change of an earlier release.
_UNDONE: Final = Brief(
    chapters=[Chapter(repository="acme/kettle", events=[_UNDOING], undone={_UNDOING.commits[0].id: "v1.1.0"})],
    release=release("v1.2.0"),
    previous_tag="v1.1.1",
)

_STORIES: Final = {
    "fleet": _FLEET,
    "customers": _CUSTOMERS,
    "candidate": _CANDIDATE,
    "releases": _RELEASES,
    "busy": _BUSY,
    "undone": _UNDONE,
}


@pytest.mark.parametrize("content_type", ContentType)
@pytest.mark.parametrize("story", _STORIES)
def test_a_story_reads_like_this(story: str, content_type: ContentType) -> None:
    check_golden(_FOLDER / story / f"{content_type.value}.txt", evolve(_STORIES[story], content_type=content_type))
