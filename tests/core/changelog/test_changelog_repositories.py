"""Changelogs about several repositories."""

from changelog_samples import HOST, commit, push, release

from contentsvc_core.content.changelog import write_changelog
from contentsvc_core.content.writing import Brief, Chapter, Draft
from contentsvc_core.events.normalized import Event


def _of(**events: tuple[Event, ...]) -> Draft:
    chapters = [Chapter(repository=f"acme/{name}", events=each) for name, each in events.items()]
    draft = write_changelog(Brief(chapters=chapters))
    assert draft is not None
    return draft


def test_each_repository_has_its_part_and_each_contributor_is_thanked_once() -> None:
    sha = "a" * 40
    lid = (push(commit("fix: it drips", sha="b" * 40)),)
    assert _of(kettle=(push(commit("feat: ring (#3)", sha=sha)), release()), lid=lid) == Draft(
        title="kettle v1.2.0: ring",
        markdown=f"""\
**2 January 2030** · 1 feature and 1 fix · 2 commits

## acme/kettle

### Releases

- [v1.2.0]({HOST}/releases/tag/v1.2.0)

### Added

- Ring ([#3]({HOST}/issues/3)) ([aaaaaaa]({HOST}/commit/{sha}))

## acme/lid

### Fixed

- It drips ([bbbbbbb]({HOST}/commit/{"b" * 40}))

## Contributors

@ada
""",
    )


def test_a_replayed_push_and_release_are_reported_once() -> None:
    events = (push(commit("feat: ring")), release())
    assert _of(kettle=(*events, *events)) == _of(kettle=events)


def test_releases_of_several_repositories_are_named_in_the_title() -> None:
    draft = _of(kettle=(release("v1"), release("v2")), lid=(release("v3"), release("v4"), push("feat: ring")))
    assert draft.title == "kettle v1 to v2 and lid v3 to v4; not released yet: ring"
    assert _of(kettle=(release("v1"),), lid=(release("v3"),)).title == "kettle v1 and lid v3 released"
    assert _of(**{f"lid{n}": (release("v1"),) for n in range(4)}).title == "lid0 v1, lid1 v1 and 2 more released"
    assert _of(kettle=(push("feat: ring"),), lid=(push("feat: sing"),)).title == ("kettle and lid: ring, sing")


def test_a_title_counts_only_what_the_releases_in_it_contain() -> None:
    ring, bell = push("feat: ring", "fix: drip"), push("feat!: no bell")
    assert _of(kettle=(ring, release(), push("feat: sing")), lid=(bell,)).title == "kettle v1.2.0: ring; Fix: drip"
    assert _of(kettle=(push("ci: wipe"), release()), lid=(bell,)).title == "kettle v1.2.0; lid \u2013 Breaking: no bell"
    beta = release("v2b1", prerelease=True)
    assert _of(kettle=(ring, beta), lid=(release("v3"),)).title == (
        "kettle v2b1 (pre-release) and lid v3: ring; Fix: drip"
    )
    many = tuple(release(f"v{n}") for n in range(4))
    assert _of(kettle=(ring, *many, beta), lid=()).title == ("kettle v0 to v2b1 (pre-release): ring; Fix: drip")
    assert (
        _of(kettle=(*many, beta), lid=(release("v9"),)).title == "kettle v0 to v2b1 (pre-release) and lid v9 released"
    )


def test_names_of_repositories_are_escaped() -> None:
    assert "## acme/\\<b>\\*x\\*\n" in _of(**{"<b>*x*": (push("feat: ring"),), "lid": ()}).markdown
