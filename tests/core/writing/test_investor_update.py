from attrs import evolve
from writing_samples import GRACE, MONTH, brand, commit, of_several, push, release, written

from contentsvc_core.content.posts import ContentType
from contentsvc_core.webhooks.events import MAX_COMMITS

_UPDATE = ContentType.INVESTOR_UPDATE


def test_figures_count_every_commit_and_person_once_in_a_table() -> None:
    shared = commit("feat: ring at noon", author=GRACE)
    other = (
        push(shared, commit("ci: boil thrice", author=GRACE)),
        release("v3", host="https://codehost.example/acme/lid"),
    )
    markdown = of_several(_UPDATE, {"acme/kettle": (push(shared), *MONTH), "acme/lid": other}).markdown
    assert (
        "| Repository | Commits | Contributors | Releases |\n"
        "| --- | ---: | ---: | ---: |\n"
        "| acme/kettle | 12 | 2 | 1 |\n"
        "| acme/lid | 1 | 1 | 1 |\n"
        "| Total | 13 | 2 | 2 |\n"
    ) in markdown
    assert markdown.count("Ring at noon") == 1


def test_what_is_unknown_is_said() -> None:
    markdown = written(_UPDATE, "feat: ring").markdown
    assert "This update is written from repository activity alone." in markdown
    assert "No release was published." in markdown
    assert "No change is marked as breaking by its author." in markdown


def test_a_push_as_large_as_the_code_host_sends_makes_figures_doubtful() -> None:
    commits = [commit(f"fix: drip {n}") for n in range(MAX_COMMITS)]
    assert (
        "at most 2,048 commits with one push, so the figures may be too low."
        in written(_UPDATE, push(*commits)).markdown
    )
    assert "too low" not in written(_UPDATE, push(*commits[:2])).markdown


def test_days_of_releases_are_told_where_the_code_host_says_them() -> None:
    assert "(20 June 2030)" in written(_UPDATE, release()).markdown
    for unknown in (None, "", "soon", "9999-99-99T00:00:00Z"):
        markdown = written(_UPDATE, evolve(release(prerelease=True), published_at=unknown)).markdown
        assert "/v1.2.0) (pre-release)\n" in markdown


def test_the_company_is_named_in_the_title() -> None:
    assert written(_UPDATE, *MONTH, brand=brand(company="Acme")).title == "Acme: investor update, 1\u201330 June 2030"
    assert written(_UPDATE, *MONTH, window=None).title == "kettle: investor update"


def test_fixes_are_said_to_be_corrected_with_their_authors_explanation() -> None:
    drip = "fix: lamp is not installed\n\nAdds the lamp to what `kettle` brings along. More of it."
    markdown = written(_UPDATE, drip, "fix: btn ui").markdown
    assert "- Corrected: Lamp is not installed. Adds the lamp to what kettle brings along.\n" in markdown
    assert "- Corrected: Btn ui\n" in markdown
    both = {"acme/kettle": (push("fix: btn ui"),), "acme/lid": (push("fix: lid ui"),)}
    assert "- Corrected: Btn ui (kettle)\n" in of_several(_UPDATE, both).markdown


def test_how_many_commits_are_behind_the_counted_changes_is_said_unless_all_are() -> None:
    markdown = written(_UPDATE, "feat: ring", "ci: boil", "ci: boil twice").markdown
    assert "Of 3 commits, 1 stands behind the changes counted above; merges, " in markdown
    assert "Of 3 commits, 2 stand behind" in written(_UPDATE, "feat: ring", "fix: drip", "ci: boil").markdown
    assert "Of 1 commit, 0 stand behind" in written(_UPDATE, "ci: boil", release()).markdown
    assert "stand" not in written(_UPDATE, "feat: ring", "fix: drip").markdown


def test_a_breaking_change_alone_is_not_called_maintenance() -> None:
    markdown = written(_UPDATE, "feat!: no handle", "chore: wipe").markdown
    assert "maintenance" not in markdown
    assert "The work comprises 1 breaking change and 1 internal change." in markdown
