import re

import pytest
from changelog_samples import (
    HOST,
    RENDERERS,
    announced,
    commit,
    draft_of,
    entries,
    headings,
    push,
    release,
    tokens,
    written,
)
from hypothesis import given
from hypothesis import strategies as st

from contentsvc_core.content.changelog import ChangelogOptions

NOTES = "## Highlights\n\n- It **rings**. See [the manual](https://docs.example/bell).\n\n```\ncode\n```"


def test_the_authors_own_notes_are_kept_as_they_are() -> None:
    assert announced(release(body=NOTES), push("feat: something else")).markdown == f"{NOTES}\n"


def test_line_ends_and_blank_lines_of_the_notes_are_made_plain() -> None:
    assert announced(release(body="\r\n one\r\n \t\r\ntwo\rthree\r\n\r\n")).markdown == "one\n\ntwo\nthree\n"


def test_raw_html_in_notes_stays_text_when_rendered() -> None:
    draft = announced(release(body="<b>bold</b> <script>alert(1)</script>"))
    for renderer in RENDERERS:
        html = renderer.render(draft.markdown)
        assert "<b>" not in html
        assert "<script>" not in html


def test_notes_get_a_compare_link_when_the_previous_tag_is_known() -> None:
    markdown = announced(release("v1.2.0", body="text"), previous_tag="v1.1.0").markdown
    assert markdown == f"text\n\n**Full changelog:** [v1.1.0...v1.2.0]({HOST}/compare/v1.1.0...v1.2.0)\n"


def test_notes_that_have_a_compare_link_get_no_second_one() -> None:
    body = f"text\n\n**Full Changelog**: {HOST}/compare/v1.1.0...v1.2.0"
    assert announced(release(body=body), previous_tag="v1.1.0").markdown == f"{body}\n"


def test_a_compare_link_to_another_repository_does_not_count() -> None:
    body = "cup: https://codehost.example/acme/cup/compare/v1...v2"
    assert "**Full changelog:**" in announced(release(body=body), previous_tag="v1.1.0").markdown


def test_tags_are_encoded_in_a_compare_link() -> None:
    draft = announced(release("lid/v1 (b)#é", body="x", url=f"{HOST}/releases/tag/lid"), previous_tag="cup@1?<>\\")
    assert f"({HOST}/compare/cup%401%3F%3C%3E%5C...lid%2Fv1%20%28b%29%23%C3%A9)" in draft.markdown
    assert len([token for token in tokens(draft.markdown) if token.type == "link_open"]) == 1


@pytest.mark.parametrize("previous_tag", [None, "", "v1.2.0", "v" * 300])
def test_there_is_no_compare_link_without_two_proper_tags(previous_tag: str | None) -> None:
    assert announced(release("v1.2.0", body="text"), previous_tag=previous_tag).markdown == "text\n"


@pytest.mark.parametrize("body", [None, "", " \r\n\t", "<!-- only a comment -->"])
def test_a_release_without_notes_is_written_from_the_pushes_before_it(body: str | None) -> None:
    draft = announced(release(body=body), push("feat: ring"), push("chore(release): v1.2.0"), previous_tag="v1.1.0")
    assert draft.title == "kettle v1.2.0: ring"
    assert headings(draft.markdown) == ["Added", "Contributors"]
    assert entries(draft.markdown) == ["Ring"]
    compare = f"{HOST}/compare/v1.1.0...v1.2.0"
    assert draft.markdown.startswith(f"**2 January 2030** · 1 feature · [2 commits]({compare})\n\n## Added\n")


def test_a_release_without_notes_and_pushes_says_so_and_links_its_page() -> None:
    assert announced(release()).markdown == (
        f"v1.2.0 was published without release notes. See the [release page]({HOST}/releases/tag/v1.2.0).\n"
    )


def test_a_release_of_upkeep_alone_says_so() -> None:
    draft = announced(release(), push("ci: run twice"), previous_tag="v1.1.0")
    assert draft.title == "kettle v1.2.0: 1 internal change"
    page = f"{HOST}/compare/v1.1.0...v1.2.0"
    assert draft.markdown.startswith(
        f"**2 January 2030** · [1 commit]({page})\n\n"
        f"v1.2.0 contains maintenance work only: 1 internal change ([all commits]({page})).\n"
    )


def test_without_an_address_of_the_repository_nothing_is_linked() -> None:
    draft = announced(release(url="javascript:alert(1)"), push(commit("fix: x (#1)", url="")), previous_tag="v1.1.0")
    assert not [token for token in tokens(draft.markdown) if token.type == "link_open"]
    assert "(#1)" in draft.markdown


def test_the_repositorys_address_is_read_from_commits_too() -> None:
    draft = draft_of(commit("fix: x (#1)", url=""), commit("fix: y"))
    assert f"[#1]({HOST}/issues/1)" in draft.markdown


def test_notes_that_are_too_long_are_cut_at_a_line_and_say_where_to_read_on() -> None:
    draft = announced(release(body="```\n" + "a line of code\n" * 20_000), previous_tag="v1.1.0")
    assert len(draft.markdown) <= 100_000
    assert "a line of code\n```\n\nThe notes are longer than a post may be; [read on in the release](" in draft.markdown


def test_several_releases_have_their_changes_or_their_notes_the_newest_first() -> None:
    draft = written(
        release("v1.0", name="Kettle *one*", body="# Louder\n\n- it `rings`"),
        push("feat: ring"),
        release("v1.1b1", prerelease=True),
        release("v1.1b1", prerelease=True, action="prereleased"),
        release("v0.9", action="deleted"),
        release("v2.0", draft=True),
        push("fix: the drip"),
        release("v1.0", body="once more"),
    )
    assert draft is not None
    blocks = [block.partition(" ([")[0] for block in draft.markdown.split("\n\n")]
    assert blocks == [
        *("## Not released yet", "### Fixed", "- The drip"),
        *(f"## [v1.1b1]({HOST}/releases/tag/v1.1b1) (pre-release)", "### Added", "- Ring"),
        *(f"## [v1.0]({HOST}/releases/tag/v1.0): Kettle \\*one\\*", "> # Louder\n>\n> - it `rings`"),
        *("## Contributors", "@ada\n"),
    ]


def test_notes_of_one_among_several_releases_that_are_too_long_are_cut() -> None:
    draft = written(release("v1.0", body="line\n" * 2_000), push("feat: ring"), release("v1.1"))
    assert draft is not None
    assert len(draft.markdown) < 8_000
    assert "> line\n\nThe notes are longer than a post may be; [read on" in draft.markdown


def test_many_releases_and_changes_fit_into_a_post_and_nothing_is_forgotten() -> None:
    events = [each for n in range(300) for each in (push(f"feat: ring {n} {'x' * 380}"), release(f"v1.{n}"))]
    draft = written(*events, *(release(f"v2.{n}") for n in range(40)))
    assert draft is not None
    assert len(draft.markdown) <= 100_000
    listed = draft.markdown.count("- Ring ")
    assert f"\n{300 - listed} more changes are not shown here.\n" in draft.markdown
    assert "\nEarlier: 20 releases\n" in draft.markdown


@given(st.lists(st.sampled_from(["feat: a", "feat: b", "fix: c", "ci: d", "release", "pre"]), max_size=12))
def test_every_change_is_listed_once_under_the_first_release_after_it(happened: list[str]) -> None:
    events = [
        release(f"v{index}", prerelease=each == "pre") if each in {"release", "pre"} else push(each)
        for index, each in enumerate(happened)
    ]
    draft = written(*events)
    wanted = {each[-1].upper() for each in happened if each[:2] == "fe" or each[:2] == "fi"}
    assert sorted(re.findall(r"^- ([A-Z])\b", draft.markdown if draft else "", re.MULTILINE)) == sorted(wanted)


@given(body=st.text(), cut=st.integers(0, 50))
def test_any_notes_leave_the_compare_link_a_link(body: str, cut: int) -> None:
    for text in (body, f"{body[:cut]}\n```\n{body}", f"<!--{body}-->{body}", f"~~~~\n{body}"):
        draft = announced(release(body=text), previous_tag="v1.1.0")
        assert draft.markdown.endswith("\n")
        hrefs = [token.attrs["href"] for token in tokens(draft.markdown) if token.type == "link_open"]
        assert hrefs[-1:] == [f"{HOST}/compare/v1.1.0...v1.2.0"]


LISTED = (
    "## Highlights\n\n- The lid closes by itself ([#1](https://codehost.example/acme/kettle/pull/1))\n"
    "- Boils milk without burning the pot\n- Ring at noon (abc1234)\n"
)


def test_notes_are_the_whole_changelog_of_a_release_unless_more_is_asked_for() -> None:
    pushes = push(
        *("feat: close the lid (#1)", "feat: boil milk without burning a pot"),
        commit("feat: ring at noon", sha="abc1234" + "0" * 33),
        *("fix: stop the drip (#2)", "feat!: report kelvin", "docs: spell kettle"),
    )

    alone = announced(release("v2.0", body=LISTED), pushes)
    filled = announced(
        release("v2.0", body=LISTED), pushes, options=ChangelogOptions(notes="fill", commit_hashes=False)
    )

    assert alone.markdown.startswith(LISTED.strip())
    assert "Also in this release" not in alone.markdown
    assert filled.title == alone.title
    assert filled.markdown.startswith(LISTED.strip())
    more = filled.markdown.partition("## Also in this release\n\n")[2]
    assert more.startswith("### Breaking changes\n\n- Report kelvin\n\n### Fixed\n\n- Stop the drip ([#2]")
    assert all(word not in more for word in ("lid", "milk", "noon", "spell"))


def test_nothing_follows_notes_that_leave_nothing_out() -> None:
    filled = announced(
        release("v2.0", body=LISTED), push("feat: close the lid (#1)"), options=ChangelogOptions(notes="fill")
    )

    assert "Also in this release" not in filled.markdown
