"""Histories at the edges of the rules of changelogs, written for these tests."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from attrs import evolve
from changelog_samples import HOST, push, release
from tests.builders import a_brand
from tests.core.changelog.styles import commit_of

from contentsvc_core.content.brand import ToneProfile
from contentsvc_core.content.options import ChangelogOptions
from contentsvc_core.content.packages import package_tag
from contentsvc_core.content.pull_requests import PullRequest
from contentsvc_core.content.sections import Section
from contentsvc_core.content.writing import Brief, Chapter, PackageRelease
from contentsvc_core.events.normalized import Author, Commit, Event, Push


def _push(*lines: str, first: int = 1) -> Push:
    """Return a push from lines: each is a message, and its files after a bar."""
    read = (line.partition(" | ") for line in lines)
    return push(*(_commit(message, number, paths) for number, (message, _, paths) in enumerate(read, first)))


def _brief(*events: Event, requests: Sequence[PullRequest] = (), undone: Mapping[str, str] | None = None) -> Brief:
    chapter = Chapter(
        repository="acme/kettle",
        events=events,
        pull_requests={request.number: request for request in requests},
        undone=undone or {},
    )
    return Brief(chapters=[chapter])


def _commit(message: str, number: int = 1, paths: str = "", **more: Any) -> Commit:
    day = f"2030-01-{1 + number % 28:02}T03:04:05Z"
    return evolve(commit_of(number, message, paths), timestamp=day, url=f"{HOST}/commit/{number:040x}", **more)


_FILES: Final = "src/a.py src/b.py"

#: Commits of the same branch, merged in all ways.
_MERGES: Final[Mapping[str, Brief]] = {
    "a merge brings the commits whose files it has": _brief(
        _push(
            "Ring at noon | src/a.py",
            "Ring at one | src/c.py",
            "wip | src/b.py",
            f"Merge pull request #1 from ada/bell\n\nA bell for the kettle | {_FILES}",
        )
    ),
    "two merges in one push": _brief(
        _push(
            "Ring at noon | src/a.py",
            "Merge pull request #1 from ada/bell\n\nA bell for the kettle | src/a.py",
            "Boil faster | src/b.py",
            "Stop the drip | src/c.py",
            "Merge pull request #2: A better boiler | src/b.py",
        )
    ),
    "a merge at the end without files brings the whole push": _brief(
        _push("Ring at noon", "Boil faster", "Merge pull request #1 from ada/bell\n\nA bell for the kettle")
    ),
    "a merge before the end without files brings nothing": _brief(
        _push("Ring at noon", "Merge pull request #1 from ada/bell\n\nA bell for the kettle", "Boil faster")
    ),
    "two merges without files bring nothing, and say their titles if no commit waits": _brief(
        _push(
            "Merge pull request #1 from ada/bell\n\nA bell for the kettle",
            "Boil faster",
            "Merge pull request #2 from ada/boil\n\nA better boiler",
        )
    ),
    "a merge without files, when no commit waits for one": _brief(
        _push(
            "Ring at noon | src/a.py",
            "Merge pull request #1 from ada/bell\n\nA bell for the kettle | src/a.py",
            "Merge pull request #2 from ada/boil\n\nA better boiler",
        )
    ),
    "a merge without a title takes that of its first commit": _brief(
        _push(
            "Ring at noon, in the kitchen | src/a.py",
            "Ring at one | src/b.py",
            f"Merge pull request #1 from ada/bell | {_FILES}",
        )
    ),
    "a merge without a title and without commits is nothing": _brief(
        _push("Boil faster | src/c.py", "Merge pull request #1 from ada/bell | src/a.py")
    ),
    "a commit with another number came with that pull request": _brief(
        _push(
            "Ring at noon (#7)\n\nIt is loud. | src/a.py",
            "Ring at one (#1) | src/a.py",
            "Ring at two (see #8) | src/a.py",
            "Merge pull request #1 from ada/bell\n\nA bell for the kettle | src/a.py",
        )
    ),
    "a commit whose files were cut comes with the only merge": _brief(
        push(
            _commit("Ring at noon", 1, "src/z.py", paths_cut=True),
            _commit("Boil faster", 2, "src/y.py"),
            _commit("Merge pull request #1 from ada/bell\n\nA bell for the kettle", 3, "src/a.py"),
        )
    ),
    "a commit whose files were cut does not come with one of two merges": _brief(
        push(
            _commit("Ring at noon", 1, "src/a.py", paths_cut=True),
            _commit("Merge pull request #1 from ada/bell\n\nA bell for the kettle", 2, "src/a.py"),
            _commit("Merge pull request #2 from ada/boil\n\nA better boiler", 3, "src/a.py"),
        )
    ),
    "sixty-four commits before a merge are looked at": _brief(
        _push(
            *(f"Ring in room {number} | src/a.py" for number in range(66)),
            "Merge pull request #1 from ada/bell\n\nA bell for the kettle | src/a.py",
            "Merge pull request #2 from ada/boil\n\nA better boiler | src/b.py",
        )
    ),
    "merges alone are counted": _brief(
        _push("Merge branch 'main' into bell", "Merge remote-tracking branch 'origin/main'"),
        _push("Merge pull request #1 from ada/bell", first=5),
    ),
    "merges beside commits are no entries": _brief(
        _push("Merge branch 'main' into bell | src/a.py", "Ring at noon | src/a.py")
    ),
    "merges of other hosts": _brief(
        _push(
            "Merge branch 'bell' into 'main'\n\nA bell for the kettle\n\nSee merge request acme/kettle!3",
            "Merged in ada/boil (pull request #4)\n\nA better boiler",
            "Merge PR #5: A lid that closes",
            "Merged PR 6: A spout that pours",
            "Auto merge of #7 - ada:handle, r=grace\n\nA handle that stays cold",
            "Merge #8\n\n8: A base that stands r=grace a=ada\n\nMore.",
            "Merge #9\n\nCo-authored-by: Ada <ada@mail.example>",
            "Merge #10\n\nSigned-off-by: Ada <ada@mail.example>",
            "Merge pull request 'A bell for each pot' (#11) from ada/bell into main",
            "Merged PR 13: A spout (#14)",
            "Merge branch 'spout' into 'main'\n\nSee merge request acme/kettle!12",
            "Merge pull request #15 from ada/cup (#16)\n\nA cup of tea",
        )
    ),
    "a merge keeps what breaks, from it or from its commits": _brief(
        _push(
            "feat!: ring twice | src/a.py",
            "Merge pull request #1 from ada/bell\n\nA bell for the kettle | src/a.py",
            "Boil faster | src/b.py",
            "Merge pull request #2 from ada/boil\n\nA better boiler\n\nBREAKING CHANGE: it needs gas | src/b.py",
        )
    ),
    "what leads is the first that tells": _brief(
        _push(
            "wip (#5) | src/a.py",
            "fix (#5) | src/a.py",
            "Ring at noon, not at one (#5) | src/a.py\n",
            "Ring at two, not at one (#5) | src/a.py",
        )
    ),
    "a merge has authors of its own": _brief(
        _push(
            "Ring at noon | src/a.py",
            "Merge pull request #1 from ada/bell\n\nA bell\n\nCo-authored-by: Grace <grace@mail.example> | src/a.py",
        )
    ),
    "a commit without files among others of its pull request": _brief(
        _push("Ring at noon (#5)", "Name the bell (#5) | docs/bell.md", "wip (#6)", "Boil faster (#6)")
    ),
    "commits that only remove files": _brief(
        push(
            _commit("Ring at noon", 5, "src/a.py", removed=("changes/9.added.md",)),
            _commit("Drop the page of spouts", 1, removed=("docs/spouts.md",)),
            _commit("Drop the spout", 2, "docs/a.md", removed=("src/spout.py",)),
            _commit("Drop each cup (#5)", 3, removed=("src/cup.py",)),
            _commit("Say that each cup is gone (#5)", 4, "docs/cups.md"),
        )
    ),
    "another commit of a pull request breaks": _brief(
        _push("Ring at noon (#5)", "feat!: ring twice (#5)", "Boil faster (#6)", "x (#6)\n\nBREAKING CHANGE: gas")
    ),
    "commits without a usual hash": _brief(
        push(
            *(evolve(_commit("Ring at noon (#5)", 1), id=id_) for id_ in ("", "ab*c_defgh")),
            *(evolve(_commit(f"Boil {id_}", 2), id=id_) for id_ in ("ABCDEF1", "abcdef1", "abcdef2")),
        )
    ),
    "nothing that tells": _brief(_push("wip (#5)", "more wip (#5)")),
}

_SAME: Final[Mapping[str, Brief]] = {
    "a commit that came before, or that is not distinct": _brief(
        push(_commit("Ring at noon", 0xABC), _commit("Boil faster", 2, distinct=False)),
        push(evolve(_commit("Ring at one", 3), id=f"{0xABC:040X}"), _commit("Stop the drip", 4)),
    ),
    "commits without a hash are all distinct": _brief(
        push(evolve(_commit("Ring at noon"), id=""), evolve(_commit("Boil faster"), id=""))
    ),
    "the same number again": _brief(
        _push("Ring at noon (#1)", "Boil faster (#2)", "Ring at noon, louder (#1)"),
        _push("Ring at noon, and softer (#1)", first=7),
    ),
    "a revert and a reapply with the same number are entries of their own": _brief(
        _push("Ring at noon (#1)", "Revert the bell (#1)", "Ring at one (#1)", "Reapply the bell (#1)")
    ),
    "a typed revert with the same number": _brief(_push("Ring at noon (#1)", "revert: no bells (#1)")),
    "the same words": _brief(
        _push(
            "fix(lid): close `it` ('now')",
            "fix(Lid): Close it (now) (#4)",
            "fix(spout): close it (now)",
            "fix: close it (now)",
            "feat(lid): close it (now)",
            "fix(lid): close it (now) (#6)",
        )
    ),
    "the same words, and one breaks": _brief(
        _push("fix: close it now (#1)", "fix!: close it now (#2)\n\nBREAKING CHANGE: it closes", "fix: close it now")
    ),
    "the same words, and the first one breaks": _brief(
        _push("fix!: close it now\n\nBREAKING CHANGE: it closes", "fix!: close it now (#2)\n\nBREAKING CHANGE: no")
    ),
    "the same words, and one has a sign": _brief(
        _push("🐛 Show each bell", "Show each bell (#1)", "🐛 Show each lid (#2)", "Show each lid")
    ),
    "the same files and words, with a number before or after": _brief(
        _push(
            "Ring the old bell at noon | src/a.py",
            "Ring the old bell at noon, twice (#1) | src/a.py",
            "Ring the old bell | src/a.py",
            "Boil the water in the pot (#2) | src/b.py",
            "Boil the water | src/b.py",
            "Boil the water | src/b.py src/a.py",
        )
    ),
    "a number of two entries, which is neither's own, is shown once": _brief(
        _push("Ring at noon (#77) (#1)", "Boil faster (#77) (#78) (#2)")
    ),
    "numbers of issues are shown once": _brief(
        _push(
            "Ring at noon (#9) (#1)",
            "Boil faster (#9) (#2)",
            "Stop the drip (#1) (#3)",
            "Fixed #9 -- Let it pour",
            "Pour slowly (#8) (#9)",
        )
    ),
}

_REQUESTS: Final[Mapping[str, Brief]] = {
    "pull requests by number, and by the commit of their merge": _brief(
        _push("bell things (#1)", "boil things", "Merge pull request #3 from ada/lid", "fix: stop the drip (#4)"),
        requests=(
            PullRequest(number=1, title="Ring at noon (#1)", body="This adds a bell to the lid of each kettle."),
            PullRequest(number=2, title="feat!: boil faster", labels=("bug",), merged_sha=f"{2:040X}"),
            PullRequest(number=3, title="wip", author="ada", first_contribution=True),
            PullRequest(number=4, title="Stop it", labels=("documentation",), author="grace"),
            PullRequest(number=5, title="Not here", merged_sha=f"{9:040x}"),
        ),
    ),
    "a described pull request is not found by its merge if its number is named": _brief(
        _push("Ring at noon (#2)", "Boil faster"),
        requests=(PullRequest(number=2, title="A bell for the kettle", merged_sha=f"{2:040x}"),),
    ),
    "the description says what breaks": _brief(
        _push("Ring at noon (#1)", "Boil it faster (#2)\n\nBREAKING CHANGE: it needs gas"),
        requests=(
            PullRequest(number=1, title="Ring at noon", body="BREAKING CHANGE: it rings"),
            PullRequest(number=2, title="feat: boil it faster", body="**Breaking**: it needs more gas"),
        ),
    ),
    "labels outweigh words, but no surely grave section": _brief(
        _push("feat!: ring (#1)", "Boil it faster (#2)", "ci: run twice (#3)", "fix: a CVE in oil (#4)", "Pour (#5)"),
        requests=(
            PullRequest(number=1, title="feat!: ring", labels=("docs",)),
            PullRequest(number=2, title="Boil it faster", labels=("skip changelog", "bug")),
            PullRequest(number=3, title="ci: run twice", labels=("kind/bug",)),
            PullRequest(number=4, title="fix: a CVE in oil", labels=("skip changelog",)),
            PullRequest(number=5, title="Pour", labels=("security", "area/docs")),
        ),
    ),
    "reverts of all forms": _brief(
        _push(
            *('revert: Revert "Ring at noon"', 'Revert "Revert the bell to wood"', "revert(bell): “ring at one”"),
            *("revert: feat: ring at two", f"revert: the bell\n\nThis reverts commit {'7' * 40}.", "Revert the lid"),
        )
    ),
    "a change that was undone, made again, and undone": _brief(
        _push("feat: ring", 'Revert "feat: ring"', 'Revert "Revert "feat: ring""', 'Revert "feat: ring"', "fix: drip")
    ),
    "a revert keeps its words": _brief(
        _push('Revert "Ring at noon" (#7)'), requests=(PullRequest(number=7, title="Take the bell away"),)
    ),
}

_CUT: Final = _brief(
    _push("feat: ring at noon", "docs: name the bell", "ci: run twice"),
    release("v1.0.0"),
    _push("feat(bell): ring at one", "feat(bell): ring at two", "feat(bell): ring at three", first=10),
    _push("feat(bell): ring at four", "feat(bell): ring at five", "feat(lid): close", first=20),
    release("v1.1.0-rc1", prerelease=True),
)

_KINDS: Final[Mapping[str, Brief]] = {
    "commits of a pull request decide what its title does not": _brief(
        _push("Bell things of all kinds (#1)", "feat: ring at noon (#1)", "Lid (#2)", "fix(security): lock it (#2)"),
        _push("docs: bell things (#3)", "feat: ring at one (#3)", "feat: pour (#4)", "fix!: pour twice (#4)", first=9),
        _push("Spout things of all kinds (#5)", "docs: the spout (#5)", "fix: a spout that pours (#5)", first=19),
        _push("Make the lid better (#6)", "fix(security): lock it (#6)", "docs: the lid (#6)", first=29),
        _push("Tend the lid of it (#8)", "feat: a lid that rings (#8)", first=49),
        _push("Update the lid of it (#7)", "docs: the lid (#7)", "feat: a lid that closes (#7)", first=39),
    ),
    "habits: entries without news are counted if others have it": _brief(
        _push(
            "Ring at noon | src/a.py +changes/1.added.md",
            "Ring at one | src/a.py +changes/2.added.md",
            "Ring at two | src/a.py +changes/3.added.md",
            "Polish the old handle | src/h.py",
            "Add a handle for the left hand (#9) | src/h.py",
            *("Polish the spout (#8) | src/s.py", "Polish it once more (#8) | src/s.py"),
            "fix: stop the drip | src/d.py",
            "Remove the old API | src/o.py",
            "Deprecate cups | src/o.py",
        )
    ),
    "habits: two entries with news are none": _brief(
        _push(
            "Ring at noon | src/a.py +changes/1.added.md",
            "Ring at one | src/a.py +changes/2.added.md",
            "Polish the old handle | src/h.py",
        )
    ),
    "habits: a small share with news is none": _brief(
        _push(
            *(f"Ring at {number} o'clock | src/a.py +changes/{number}.added.md" for number in range(3)),
            *(f"Add pot {number} to the shelf (#{number + 20}) | src/b.py" for number in range(13)),
            "Polish the old handle | src/h.py",
            *("Add a small shelf | src/h.py", "Deprecate the old shelf | src/h.py"),
        )
    ),
    "habits: entries without numbers are counted if others have them": _brief(
        _push(
            *(f"Add pot {number} to the shelf (#{number + 20}) | src/b.py" for number in range(7)),
            "Polish the old handle | src/h.py",
            "feat: pour at once | src/p.py",
            "Remove the old API | src/p.py",
            "bell: ring twice | src/p.py",
        )
    ),
    "habits: in a small window each change counts": _brief(
        _push(
            *(f"Add pot {number} to the shelf (#{number + 20}) | src/b.py" for number in range(6)),
            *("docs: name the pots (#31)", "docs: name the shelf (#32)", "Polish the old handle | src/h.py"),
        )
    ),
    "scopes that the heading or the line repeats": _brief(
        _push(
            *("fix(security): refuse unsigned water", "perf(perf): boil faster", "docs(docs): name it"),
            *("feat(lid): lid closes by itself", "feat(Lid): `lid` opens", "feat(lid): lids close", "fix( ): pour it"),
            *("feat(api): ring", "docs(api): name the bell"),
            *("chore(deps): bump oil from 1.0 to 2.0", "fix(docs): name the spout"),
        )
    ),
    "vulnerabilities that stay private, folders, and no words": _brief(
        _push(
            "Merge commit from fork",
            "feat: boil at once, update the docs",
            "Fix src/lamp/lens/: focus",
            *("(#4)", ""),
            "feat: move src/bell/ring.py to noon",
        )
    ),
    "updates of dependencies that other words name": _brief(
        _push(
            *("Stop the drip", "Upgrade the lower bound for jars from 1.1 to 1.4", "Bump to jugs 0.4.1"),
            *("Bump go version to 1.25", "Update development requirement for mugs from `^0.6` to `^0.7`"),
            *("Bump lids from 1.0 to 1.1.", "Bump lids", "chore(deps): pin", f"Bump rope from 1 to {'7' * 60}"),
        )
    ),
    "updates of dependencies": _brief(
        _push(
            *("chore(deps): bump oil from 1.0 to 2.0", "chore(deps): bump oil from 2.0 to 3.0", "Bump tea to v3"),
            *("Update dependency cup to v4.1", "build(deps): bump actions/cache from 4 to 5", "Bump lids from 1 to 2"),
            *("Bump Lids from 2 to 1", "Update all dependencies", "chore(deps): bump the pots group with 8 updates"),
            *("Bump cream from 1 to 2", "Bump milk from 1 to 2", "Bump sugar from 1 to 2", "Bump salt from 1 to 2"),
            "fix: stop the drip",
        )
    ),
    "scopes of many": _CUT,
    "a release of everything": evolve(_CUT, release=release("v2.0.0"), previous_tag="v1.0.0"),
    "reverts of a release before": _brief(
        _push('Revert "Ring at noon"', "Boil faster"), undone={f"{1:040x}": "v0.9.0"}
    ),
    "an author who is hidden nowhere": _brief(
        push(
            evolve(_commit("Ring at noon (#1)"), author=Author(name="Ada", email="ada@mail.example", username="ada")),
            evolve(_commit("Boil faster (#1)", 2), author=Author(name="bot", email="", username="bell[bot]")),
            _commit("Pour\n\nCo-authored-by: Grace <grace@mail.example>", 3),
        )
    ),
}

HISTORIES: Final[Mapping[str, Brief]] = {**_MERGES, **_SAME, **_REQUESTS, **_KINDS}


def _packages(*tags: str, **notes: str) -> list[PackageRelease]:
    made = [(release(tag, body=notes.get(tag.partition("@")[0])), package_tag(tag)) for tag in tags]
    return [PackageRelease(release=of, tag=tag, previous_tag=f"{tag.package}@0.1.0") for of, tag in made if tag]


_SERVED: Final = _push(
    "feat(bell)!: ring twice (#1)\n\nBREAKING CHANGE: it rings twice\nBREAKING CHANGE: at noon | packages/bell/a.py",
    "fix(lid): stop the drip (#2)\n\nKeeps each drop of tea in the pot, so that the table stays dry. | src/d.py",
    "docs: name the bell (#3) | docs/bell.md",
    "chore(deps): bump oil from 1.0 to 2.0 (#4) | uv.lock",
    "chore(deps): bump tea from 1.0 to 1.1 (#5) | uv.lock",
    "fix(security): lock the lid (#6) | vendor/lock.py",
    "Polish the old handle (#7) | vendor/handle.py",
    "feat: pour at once, and _only_ once (#8) | src/p.py",
    "chore(release): 1.2.0 | CHANGELOG.md",
)
_SERVING: Final = _brief(_SERVED)
_TOGETHER: Final = evolve(
    _SERVING,
    chapters=[Chapter(repository="acme/kettle", events=[_SERVED], packages=["bell", "lid", "pot", "cup"])],
    packages=_packages("bell@2.0.0", "lid@1.0.1", "pot@1.0.0", "cup@1.0.0", pot="# A pot\n\nIt *pours*."),
)
_TWO: Final = [
    Chapter(repository="acme/kettle", events=[_SERVED, release("v1.2.0", name="The loud one"), _push("fix: drip")]),
    Chapter(repository="acme/tea/pot", events=[_push("feat: pour (#1)", "fix: pour less", first=50)]),
]
_DRESSED: Final = a_brand(company_name="Acme `Tea`", tone_profile=ToneProfile.CONVERSATIONAL)

#: Briefs and options whose whole post is compared.
POSTS: Final[Mapping[str, tuple[Brief, ChangelogOptions]]] = {
    "as it is": (_SERVING, ChangelogOptions()),
    "nothing beside the lines": (
        _SERVING,
        ChangelogOptions(links=False, commit_hashes=False, details=False, contributors=False),
    ),
    "hashes without links": (_SERVING, ChangelogOptions(links=False)),
    "emoji, and a heading": (_SERVING, ChangelogOptions(emoji=True, headings={Section.FIXED: "*Mended* " * 20})),
    "upkeep is listed": (_SERVING, ChangelogOptions(fold_upkeep=False, hide_release_chores=False)),
    "fixes are counted": (_SERVING, ChangelogOptions(folded=frozenset({Section.FIXED, Section.BREAKING}))),
    "hidden scopes and paths": (
        _SERVING,
        ChangelogOptions(hidden=frozenset({"bell", "lid"}), hidden_paths=("vendor/*",)),
    ),
    "hidden authors": (_SERVING, ChangelogOptions(hidden_authors=frozenset({"Ada"}))),
    "a small page": (_SERVING, ChangelogOptions(longest=1_000)),
    "a page for nothing": (_SERVING, ChangelogOptions(longest=200)),
    "upkeep alone": (_brief(_push("docs: name it", "ci: run")), ChangelogOptions(upkeep_posts="write")),
    "of a company": (evolve(_SERVING, brand=_DRESSED), ChangelogOptions()),
    "for customers": (
        evolve(_SERVING, brand=evolve(_DRESSED, audience="customers", tone_profile=ToneProfile.FORMAL)),
        ChangelogOptions(),
    ),
    "in German": (evolve(_SERVING, brand=evolve(_DRESSED, language="de")), ChangelogOptions()),
    "two repositories, and earlier events": (evolve(_SERVING, chapters=_TWO, left_out=2), ChangelogOptions()),
    "of a company that is named as the project": (
        evolve(_SERVING, brand=evolve(_DRESSED, company_name="KETTLE")),
        ChangelogOptions(),
    ),
    "the same words of many commits, without hashes": (
        _brief(_push(*["fix: stop the drip"] * 52)),
        ChangelogOptions(commit_hashes=False),
    ),
    "packages together": (_TOGETHER, ChangelogOptions()),
    "packages without changes": (
        evolve(_TOGETHER, chapters=[evolve(_TOGETHER.chapters[0], events=[])]),
        ChangelogOptions(),
    ),
    "notes, and what they leave out": (
        evolve(_SERVING, release=release(body="# Loud\n\n- Ring (#1)\n- Stop the drip"), previous_tag="v1.1.0"),
        ChangelogOptions(notes="fill"),
    ),
    "notes that are cut": (
        evolve(_SERVING, release=release(body="One line of it.\n" * 40)),
        ChangelogOptions(longest=5_400),
    ),
    "a release of upkeep": (evolve(_brief(_push("ci: run")), release=release(name="Calm")), ChangelogOptions()),
    "a release of nothing": (evolve(_brief(), release=release("", prerelease=True)), ChangelogOptions()),
}
#: The histories that are compared in every content type.
IN_POSTS: Final = ("labels outweigh words, but no surely grave section", "scopes of many", "a release of everything")
#: The histories whose whole post is compared.
WRITTEN: Final = frozenset({
    *("a release of everything", "scopes of many", "updates of dependencies"),
    *("habits: entries without news are counted if others have it", "commits without a usual hash"),
})  # fmt: skip
