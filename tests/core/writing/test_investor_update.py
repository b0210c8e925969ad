import pytest
from writing_samples import GRACE, MONTH, brand, commit, of_several, push, release, written

from contentsvc_core.content.brand import ToneProfile
from contentsvc_core.content.posts import ContentType

_UPDATE = ContentType.INVESTOR_UPDATE


def test_every_commit_and_person_counts_once_in_one_sentence() -> None:
    shared = commit("feat: ring at noon", author=GRACE)
    other = (
        push(shared, commit("ci: boil thrice", author=GRACE)),
        release("v3", host="https://codehost.example/acme/lid"),
    )
    markdown = of_several(_UPDATE, {"acme/kettle": (push(shared), *MONTH), "acme/lid": other}).markdown
    assert "Behind it: 13 commits by 2 people." in markdown
    assert markdown.count("Ring at noon") == 1


def test_what_the_update_is_not_about_is_one_sentence() -> None:
    markdown = written(_UPDATE, "feat: ring").markdown
    assert markdown.endswith("\n\nThis update covers the software only, not revenue, customers or plans.\n")
    assert "No release was published." in markdown
    assert "No breaking change is known." in markdown


def test_a_breaking_change_has_its_authors_explanation() -> None:
    plug = "feat!: drop the plug\n\nAdds a socket that fits every kettle of the last ten years."
    markdown = written(_UPDATE, plug).markdown
    assert "they upgrade:\n\n- Dropped the plug. " in markdown
    assert "a socket that fits every kettle" in markdown


def test_what_is_not_released_yet_is_marked() -> None:
    markdown = written(_UPDATE, push("feat: ring"), release("v1.2.0"), push("fix: stop the drip")).markdown
    assert "- Ring.\n" in markdown
    assert "- Stopped the drip (not released yet).\n" in markdown


def test_fixes_have_their_authors_explanation() -> None:
    drip = "fix: avoid false alarms\n\nAdds the lamp to what `kettle` brings along. More of it."
    assert "- Avoids false alarms. Added the lamp to what kettle brings along.\n" in written(_UPDATE, drip).markdown


@pytest.mark.parametrize("audience", ["investors", "our customers"])
def test_readers_without_code_read_no_explanations_of_authors(audience: str) -> None:
    drip = "fix: avoid false alarms\n\nAdds the lamp to what `kettle` brings along. More of it."
    assert "- Avoids false alarms.\n" in written(_UPDATE, drip, brand=brand(audience=audience)).markdown


def test_an_update_is_sober_in_each_tone() -> None:
    plain, formal = (
        written(_UPDATE, *MONTH, brand=brand(tone=tone)) for tone in (ToneProfile.PROFESSIONAL, ToneProfile.FORMAL)
    )
    for tone in (ToneProfile.CONVERSATIONAL, ToneProfile.CASUAL):
        assert written(_UPDATE, *MONTH, brand=brand(tone=tone)) == plain
    assert "### New features" in formal.markdown
    assert "### What's new" in plain.markdown


def test_what_only_developers_notice_is_called_internal() -> None:
    markdown = written(_UPDATE, "fix: update yarn.lock", brand=brand(audience="investors")).markdown
    assert "the work was maintenance (1 internal change)." in markdown


def test_an_update_without_a_window_names_its_release_or_its_day() -> None:
    released = written(_UPDATE, push("feat: ring"), release("v1.2.0"), window=None)
    assert "This update is about kettle v1.2.0. Behind it" in released.markdown
    pushed = written(_UPDATE, push("feat: ring"), window=None)
    assert pushed.title == "kettle: investor update, 2 June 2030"
    assert "This update is about kettle (2 June 2030). No release was published." in pushed.markdown
