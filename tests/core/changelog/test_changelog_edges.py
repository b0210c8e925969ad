"""The small rules of changelogs at their limits: the last accepted value, and the first refused one."""

from typing import Any, Final

import pytest
from changelog_samples import HOST, commit, push, release

from contentsvc_core.content.changelog import write_changelog
from contentsvc_core.content.changelog.lines import bounded, entry, references, voice_of
from contentsvc_core.content.changelog.markdown import cut_at_word, masked_line, with_period, without_period
from contentsvc_core.content.changelog.people import contributors
from contentsvc_core.content.changelog.release_notes import clean
from contentsvc_core.content.changelog.report import Part, report_of
from contentsvc_core.content.changelog.select import Change, authors_of, reported_changes
from contentsvc_core.content.changelog.titles import plain_title, releases_named
from contentsvc_core.content.changelog.writer import blocks_of, page_of
from contentsvc_core.content.options import ChangelogOptions
from contentsvc_core.content.phrases import ENGLISH
from contentsvc_core.content.writing import Brief, Chapter
from contentsvc_core.events.normalized import Author, Commit

_OPTIONS: Final = ChangelogOptions()


def _changes(*messages: Commit | str) -> tuple[Change, ...]:
    return reported_changes([push(*messages)], _OPTIONS)


def _change(message: Commit | str) -> Change:
    (change,) = _changes(message)
    return change


class TestWords:
    @pytest.mark.parametrize(
        ("text", "limit", "cut"),
        [
            ("boil the tea", 12, "boil the tea"),
            ("boil old tea", 11, "boil old…"),
            ("boil old tea", 9, "boil old…"),
            ("boil old tea", 8, "boil…"),
            # Words that need another word are cut, too.
            ("boil the tea", 11, "boil…"),
            ("boil tea and pour milk", 14, "boil tea…"),
            ("boil tea and pour milk", 18, "boil tea…"),
            ("boil tea, with milk", 17, "boil tea…"),
            # A text is only cut at a space of its second half.
            ("a boilingboiling", 10, "a boiling…"),
            ("a boilingboiling", 11, "a boilingb…"),
            ("boil, the tea", 6, "boil…"),
            ("boil - the tea", 8, "boil…"),
            ("four fivesix", 8, "four…"),
            ("four fivesix", 10, "four five…"),
            ("four fivesix", 9, "four…"),
        ],
    )
    def test_a_line_is_cut_at_a_word_in_its_second_half(self, text: str, limit: int, cut: str) -> None:
        assert cut_at_word(text, limit) == cut
        assert len(cut) <= limit

    @pytest.mark.parametrize(
        ("text", "without"),
        [
            ("Done.", "Done"),
            ("It (works).", "It (works)"),
            ("See `x`.", "See `x`"),
            ("Wait...", "Wait..."),
            ("Knobs, e.g.", "Knobs, e.g."),
            ("v1.2 is here.", "v1.2 is here"),
            ("Why?.", "Why?."),
            (".", "."),
        ],
    )
    def test_a_line_loses_its_period_and_nothing_else(self, text: str, without: str) -> None:
        assert without_period(text) == without

    @pytest.mark.parametrize(
        ("text", "with_it"),
        [
            ("ring", "ring."),
            ("修复登录问题", "修复登录问题。"),
            ("ログイン(修正)", "ログイン(修正)。"),
            ("修复 login", "修复 login."),
            ("로그인 수정", "로그인 수정."),
        ],
    )
    def test_a_sentence_gets_the_period_of_its_script_once(self, text: str, with_it: str) -> None:
        assert with_period(text) == with_period(with_it) == with_it
        assert without_period(with_it) == text

    def test_a_word_that_may_be_half_an_address_is_not_shown(self) -> None:
        assert masked_line("ask " + "x " * 30 + "ada@mail.example", 20) == "ask x x x x x x x x…"
        assert masked_line("ask ada@mail.example", 60) == "ask (email-hidden)"
        assert masked_line("y" * 79 + " ada.byron@mail.example", 20) == "y" * 19 + "…"
        assert masked_line("a@mail.example " * 6, 20) == "(email-hidden)…"


class TestNotes:
    @pytest.mark.parametrize(
        ("body", "limit", "shown", "cut"),
        [
            ("12345", 5, "12345", False),
            ("123456", 5, "12", True),
            ("one two", 5, "one", True),
            ("one\ntwo", 5, "one", True),
            ("one\ntwo three", 9, "one", True),
            ("```\nx\ny\nz", 6, "```\nx\n```", True),
            ("```\nx\n```\ny\n\n\n", 12, "```\nx\n```\ny", False),
            ("a" + " " * 19, 5, "a", False),
            ("a" + " " * 20, 5, "a", True),
            ("<!-- 1 -->ab", 3, "ab", False),
            # Only four times the limit is read.
            ("<!-- 1234567890 -->ab", 5, "a", True),
        ],
    )
    def test_notes_are_cut_at_a_line_else_at_a_word(self, body: str, limit: int, shown: str, *, cut: bool) -> None:
        assert clean(body, limit) == (shown, cut)

    @pytest.mark.parametrize(
        ("body", "shown"),
        [
            ("a <!-- b -->c<!-- d\ne --> f <!-- g -->", "a c f"),
            ("a\n<!-- b -->\nc", "a\nc"),
            ("a\n  <!-- b\n-->\nc", "a\nc"),
            ("`a` <!-- b --> `c <!-- d --> e` <!-- f -->", "`a`  `c <!-- d --> e`"),
            ("<!-- a\n```\nb -->\nc", "c"),
            ("```a\n<!-- b -->\n``\n````\n<!-- c -->d", "```a\n<!-- b -->\n``\n````\nd"),
            ("```\n<!-- b -->\n``` x\n```\nc", "```\n<!-- b -->\n``` x\n```\nc"),
            ("```a`b\n<!-- c -->d", "```a`b\nd"),
            ("~~~a`b\n<!-- c -->d", "~~~a`b\n<!-- c -->d\n~~~"),
            ("    ```\n<!-- a -->b", "```\nb\n```"),
            ("a<!---->b", "ab"),
            ("a -->b<!-- c", "a -->b<!-- c"),
            ("- [x] a\n  1. [ ] b\n- [x]\n`- [x] c`", "- \u2611 a\n  1. \u2610 b\n- [x]\n`- [x] c`"),
            ("```\n- [x] a\n```", "```\n- [x] a\n```"),
        ],
    )
    def test_comments_vanish_tasks_have_boxes_and_code_stays(self, body: str, shown: str) -> None:
        assert clean(body, 1_000) == (shown, False)


class TestTitles:
    @pytest.mark.parametrize(("number", "named"), [(3, "kettle0, kettle1 and kettle2"), (4, "4 repositories")])
    def test_three_repositories_are_named_at_the_beginning(self, number: int, named: str) -> None:
        chapters = [Chapter(repository=f"acme/kettle{n}", events=[push(f"feat: ring {n}")]) for n in range(number)]
        draft = write_changelog(Brief(chapters=chapters))
        assert draft is not None
        assert draft.title == f"{named}: ring 0, ring 1, ring 2"

    def test_a_title_with_little_space_counts_all_others_together(self) -> None:
        project = "a-very-long-name-of-a-kettle-for-two-tea"
        tags = ["v1.0.0-with-a-long-tag", "v1.0.1-with-a-long-tag"]
        draft_title = plain_title(f"{project}: ", "Ring at noon and at midnight", ", plus 1 fix", ENGLISH)
        assert draft_title == f"{project}: Ring at noon and at midnight, plus 1 fix"
        assert releases_named([release("@acme/kettle@2.27.8")], "", ENGLISH) == "@acme/kettle 2.27.8"
        assert releases_named([release(tags[0])], project, ENGLISH) == f"{project} {tags[0]}"
        assert releases_named([release(tag) for tag in tags], project, ENGLISH) == (
            f"{project} v1.0.0-with-a-long… and v1.0.1-with-a-long…"
        )
        assert releases_named([release(tag) for tag in (*tags, "v2")], project, ENGLISH) == (
            f"{project} v1.0.0-with-a-long…, v1.0.1-with-a-long… and v2"
        )
        assert releases_named([release(tag) for tag in (*tags, "v2.0.0-rc")], project, ENGLISH) == (
            f"{project} v1.0.0-with-a-long… to v2.0.0-rc"
        )

    @pytest.mark.parametrize(
        ("start", "lead", "tail", "title"),
        [
            ("x" * 108, "Ring at noon", "", "x" * 108 + "Ring at noon"),
            ("x" * 107 + ": ", "Ring at noon", "", "x" * 107),
            ("", "Ring", "y" * 119, "…" + "y" * 119),
            ("kettle: ", "`Ring` at noon", ", plus `1`", "kettle: Ring at noon, plus 1"),
            ("", "", "", "Changes"),
            ("", "x" * 121, "", "x" * 119 + "…"),
        ],
    )
    def test_a_title_has_at_most_120_characters(self, start: str, lead: str, tail: str, title: str) -> None:
        assert plain_title(start, lead, tail, ENGLISH) == title

    @pytest.mark.parametrize(
        ("tags", "named"),
        [
            ([], ""),
            ([""], "New release of kettle"),
            (["v1"], "kettle v1"),
            (["kettle-v1"], "kettle v1"),
            (["kettles-v1"], "kettle kettles v1"),
            (["v1", ""], "kettle v1"),
            (["v1", "v2", "v3"], "kettle v1, v2 and v3"),
            (["v1", "v2", "v3", "v4"], "kettle v1 to v4"),
        ],
    )
    def test_releases_are_named_up_to_three(self, tags: list[str], named: str) -> None:
        assert releases_named([release(tag) for tag in tags], "kettle", ENGLISH) == named


class TestLists:
    def test_an_entry_has_its_label_its_links_and_its_notes(self) -> None:
        change = _change(
            commit("feat(*lid*)!: close it (#1)\n\nBREAKING CHANGE: it <closes>\nBREAKING CHANGE: Close.", sha="a" * 40)
        )
        technical = voice_of(None)
        assert entry(change, HOST, technical) == (
            f"- **\\*lid\\*:** Close it ([#1]({HOST}/issues/1)) ([aaaaaaa]({HOST}/commit/{'a' * 40}))\n"
            "  > It \\<closes>"
        )
        assert entry(change, None, technical) == (
            f"- **\\*lid\\*:** Close it (#1) ([aaaaaaa]({HOST}/commit/{'a' * 40}))\n  > It \\<closes>"
        )

    def test_fifty_numbers_are_linked_and_of_a_pull_request_the_first_commit(self) -> None:
        many = [commit(f"fix: drip (#{n})", sha=f"{n:040x}", url="") for n in range(1, 53)]
        (change,) = _changes(*many)
        numbers, shas = references(change, None, ENGLISH)
        assert numbers == f"({', '.join(f'#{n}' for n in range(1, 51))})"
        assert shas == "(0000000)"
        assert references(change, None, ENGLISH, commits=False) == [numbers]

    def test_fifty_commits_without_a_pull_request_are_linked_and_the_others_counted(self) -> None:
        many = [commit("fix: drip", sha=f"{n:040x}", url="") for n in range(1, 53)]
        (change,) = _changes(*many)
        assert references(change, None, ENGLISH) == [f"({', '.join(['0000000'] * 50)}, 2 more)"]

    def test_lines_are_shown_as_far_as_they_fit_with_their_ends(self) -> None:
        assert bounded(["ab", "c", "d"], 5) == ["ab", "c"]
        assert bounded(["ab", "c", "d"], 7) == ["ab", "c", "d"]
        assert bounded(["ab", "c", "d"], 6) == ["ab", "c"]
        assert bounded(["abc", "d"], 3) == []


class TestPeople:
    @pytest.mark.parametrize(
        ("authors", "shown"),
        [
            ([("Ned", "", None), ("Ned", "ned@x.example", None)], ("Ned",)),
            ([("Ned", "ned@x.example", None), ("N.", "NED@x.example", "ned")], ("@ned",)),
            ([("N.", "ned@x.example", "ned"), ("Ned", "ned@x.example", None)], ("@ned",)),
            ([("N.", "", "ned"), ("O.", "", "@Ned")], ("@ned",)),
            ([("Ned", "12+ned@users.noreply.codehost.example", None)], ("@ned",)),
            ([("Ned", "ned@users.noreply.codehost.example", None)], ("Ned",)),
            ([("*Ned* ned@x.example", "", None)], ("\\*Ned\\*",)),
            ([("", "", None), (" ", "x@x.example", None)], ()),
            ([("x", "1+snyk@users.noreply.codehost.example", None)], ()),
            ([("Kettle", "", "tea-bot"), ("Renovate", "", None), (" Weblate ", "", None)], ()),
            ([("x" * 61, "", None)], ("x" * 59 + "…",)),
        ],
    )
    def test_each_contributor_is_named_once(
        self, authors: list[tuple[str, str, str | None]], shown: tuple[str, ...]
    ) -> None:
        assert contributors(Author(name=name, email=email, username=user) for name, email, user in authors) == shown

    def test_of_very_many_co_authors_fifty_are_thanked(self) -> None:
        trailers = "\n".join(f"Co-authored-by: P{n:02} <p{n}@x.example>" for n in range(52))
        change = _change(f"fix: drip\n\n{trailers}")
        assert [author.name for author in authors_of([change])] == ["Ada Byron", *(f"P{n:02}" for n in range(50))]

    def test_a_co_author_is_read_however_the_trailer_is_written(self) -> None:
        change = _change("fix: drip\n\nCo-Authored-By:  Ned Ludd < n@x.example >\nCo-authored-by: Zoe\nReviewed-by: X")
        _, *others = authors_of([change])
        assert others == [Author(name="Ned Ludd", email="n@x.example"), Author(name="Zoe", email="")]


def _parts(*events: Any, repository: str = "acme/kettle", **more: Any) -> tuple[Part, ...]:
    return report_of(Brief(chapters=[Chapter(repository=repository, events=events)], **more))


class TestReports:
    def test_the_announced_release_is_the_last_one(self) -> None:
        v1, v2 = release("v1"), release("v2")
        (part,) = _parts(v1, push("feat: ring"), v2, release=v2)
        assert part.releases == (v1, v2)
        assert [stage.release for stage in part.stages] == [v1, v2]

    def test_a_commit_that_two_repositories_share_is_reported_in_the_first_one(self) -> None:
        shared = commit("feat: ring", sha="AB" * 20)
        copy = commit("feat: ring", sha="ab" * 20)
        parts = report_of(
            Brief(
                chapters=[
                    Chapter(repository="acme/kettle", events=[push(shared)]),
                    Chapter(repository="acme/lid", events=[push(copy, commit("fix: drip", sha=""))]),
                ]
            )
        )
        assert [[change.text for change in part.changes] for part in parts] == [["Ring"], ["Drip"]]
        assert [len(part.commits) for part in parts] == [1, 1]

    def test_names_are_one_clean_line(self) -> None:
        (part,) = _parts(repository=f"acme/`{'k' * 45}")
        assert part.project == "k" * 38 + "…"
        assert part.name == f"acme/`{'k' * 45}"
        assert _parts(repository="kettle")[0].project == "kettle"


class TestPages:
    def _page(self, limit: int, *events: Any, several: bool = False) -> str:
        voice = voice_of(None)
        (part,) = _parts(*events)
        return page_of([], blocks_of(part, voice, _OPTIONS, several=several), ["The end."], voice, limit)

    def test_entries_beyond_the_limit_are_counted(self) -> None:
        commits = [commit(f"fix: drip {n}", sha="", url="") for n in range(5)]
        whole = "## Fixed\n\n- Drip 0\n- Drip 1\n- Drip 2\n- Drip 3\n- Drip 4\n\nThe end.\n"
        assert self._page(1_000, push(*commits)) == whole
        # 100 characters and the end with two line feeds are reserved; a heading takes two more than its length.
        longest = 100 + len("The end.") + 2 + len("## Fixed") + 2 + 5 * len("- Drip 0\n")
        assert self._page(longest, push(*commits)) == whole
        assert self._page(longest - 1, push(*commits)) == whole.replace(
            "- Drip 4\n", "\n1 more change is not shown here.\n"
        )

    def test_stages_beyond_the_limit_are_counted_and_their_releases_named_together(self) -> None:
        ring = push(commit("feat: ring", sha="", url=""))
        drip = push(commit("fix: drip", sha="", url=""))
        events = (release("v1", url=""), release("v2", url="", body="It *boils*.\n\nTea."), ring, release("v3"), drip)
        assert self._page(1_000, *events) == (
            "## Not released yet\n\n### Fixed\n\n- Drip\n\n"
            f"## [v3]({HOST}/releases/tag/v3)\n\n### Added\n\n- Ring\n\n"
            "## v2\n\n> It *boils*.\n>\n> Tea.\n\n"
            "## v1\n\nv1 was published without release notes. See the release page.\n\nThe end.\n"
        )

    def test_of_many_releases_without_changes_the_newest_twenty_are_listed(self) -> None:
        quiet = [release(f"v{n}", url="", body=f"Note {n}.") for n in range(22)]
        ring = push(commit("feat: ring", sha="", url=""))
        markdown = self._page(10_000, *quiet, ring, release("v99", url="", prerelease=True))
        assert markdown.startswith("## v99 (pre-release)\n\n### Added\n\n- Ring\n\n## v21\n\n> Note 21.\n\n## v20\n")
        assert markdown.endswith("## v3\n\n> Note 3.\n\nEarlier: 3 releases\n\nThe end.\n")


def test_several_scopes_have_a_space_behind_each_comma() -> None:
    pushed = push(commit("fix(lid,spout): stop the drip"), commit("fix(cup, mug,): stop the leak"))
    assert [change.label for change in reported_changes([pushed], ChangelogOptions())] == ["lid, spout", "cup, mug"]
