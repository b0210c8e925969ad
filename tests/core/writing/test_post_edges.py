"""Posts at their edges: the first that is said, the last that is told, and what is left out between."""

from typing import Any, Final

import pytest
from attrs import evolve
from writing_samples import GRACE, HOST, brand, commit, of_several, push, release, written

from contentsvc_core.content.changelog.options import ChangelogOptions
from contentsvc_core.content.changelog.selection import Change, reported_changes
from contentsvc_core.content.forms.excerpts import excerpt, explanation
from contentsvc_core.content.forms.plain_text import inactive, plain_url
from contentsvc_core.content.posts import ContentType
from contentsvc_core.webhooks.events import MAX_COMMITS, Author

_BLOG, _LINKEDIN, _TWITTER = ContentType.BLOG_POST, ContentType.LINKEDIN_POST, ContentType.TWITTER_POST
_UPDATE = ContentType.INVESTOR_UPDATE
#: Nobody is thanked for its work.
_BOT: Final = Author(name="renovate[bot]", email="")
_SPRING: Final = "Adds a spring that closes it gently."


def _change(*messages: str) -> Change:
    (change,) = reported_changes(
        [push(*(commit(message, sha=f"{place:040x}") for place, message in enumerate(messages, 1)))],
        ChangelogOptions(),
    )
    return change


def _first_paragraph(content_type: ContentType, *given: Any, **more: Any) -> str:
    return written(content_type, *given, **more).markdown.partition("\n")[0]


class TestExcerpts:
    @pytest.mark.parametrize(
        ("body", "told"),
        [
            (f"{_SPRING}\n```\ncode\n```", _SPRING),
            (f"\r\n## Problem\r\n\r\nAdds a lid that falls off at noon.\r\n\r\n## What\r\n\r\n{_SPRING}\r\n", _SPRING),
            (f"## Problem\n\nAdds a lid that falls off at noon.\n\n\n## What\n{_SPRING}", _SPRING),
            ("\n\n\n## Problem\nAdds a lid that falls off at noon.", ""),
            ("## What\n\nAdds a spring that\ncloses it gently.", _SPRING),
            ("## What\nAdds a spring that\ncloses it gently.", _SPRING),
            (f"{_SPRING}\nOf steel\n- one\n- two", _SPRING),
            (f"Of steel\n{_SPRING}\n- one\n- two", ""),
            (f"* {_SPRING}\n* Adds another one", _SPRING),
            # What is too short to stand alone is followed by the next sentence, whatever that says.
            (f"{_SPRING} Nobody holds it any more.", f"{_SPRING} Nobody holds it any more."),
            (f"{_SPRING} See #12 for more.", _SPRING),
            ("Adds a spring that shut it gently by 1. More.", "Adds a spring that shut it gently by 1. More."),
            ("Adds a spring that shuts it gently by 1. More.", "Adds a spring that shuts it gently by 1."),
            (f"Nobody holds it any more. {_SPRING}", ""),
            (f"The old one was of tin.\n\n{_SPRING}", _SPRING),
            ("Adds springs for tea, coffee etc. Bob Hook made all of them.",) * 2,
            ("Adds a spring (of steel that closes it.", ""),
            ("Adds a spring `of steel that closes it.", ""),
            ("Adds a spring: steel `[[x]]` that closes it.", "Adds a spring: steel `[[x]]` that closes it."),
            *((f"Adds a spring that closes it gently{end}", "") for end in (":", ";", ",", "…", "-")),
            ("Adds " + "x" * 214 + ".", ""),
            ("Adds one two three " + "x" * 200 + ".", "Adds one two three " + "x" * 200 + "."),
            ("Adds one two three " + "x" * 201 + ".", ""),
        ],
    )
    def test_an_explanation_is_found_where_it_stands(self, body: str, told: str) -> None:
        assert explanation(body) == told

    @pytest.mark.parametrize(
        ("said", "told"),
        [
            ("adds two three", ""),
            ("adds two", "Adds two three f"),
            ("ADDS two threefold", ""),
            ("add two three", "Adds"),
        ],
    )
    def test_an_explanation_has_four_words_of_its_own(self, said: str, told: str) -> None:
        assert explanation("Adds two three four five six", said).startswith(told)
        assert (explanation("Adds two three four five six", said) == "") is (told == "")

    def test_what_stands_beyond_4000_characters_is_not_read(self) -> None:
        before = "The lid stays open.\n\n" * 190
        assert explanation(f"{before[: 4_000 - len(_SPRING)]}{_SPRING}") == ""
        aligned = f"{'x' * (3_998 - len(_SPRING))}\n\n"
        assert explanation(f"{aligned}{_SPRING} And more of it.") == _SPRING
        assert explanation(f"{'x' * 3_998}\n\n{_SPRING}") == ""
        subject = "feat: " + "y" * 5_000
        assert excerpt(_change(f"{subject}\n\n{_SPRING}")) == _SPRING
        assert excerpt(_change(f"{subject}{'y' * 3_000}\n\n{_SPRING}")) == ""

    def test_the_first_of_five_commits_that_explains_the_change_is_told(self) -> None:
        silent = [f"fix: drip\n\nDrip {number}." for number in range(5)]
        assert excerpt(_change(*silent[:4], f"fix: drip\n\n{_SPRING}")) == _SPRING
        assert excerpt(_change(*silent, f"fix: drip\n\n{_SPRING}")) == ""

    def test_an_explanation_that_says_what_the_subject_says_is_none(self) -> None:
        assert excerpt(_change("feat: add springs that close the lid\n\nAdds a spring that closes the lid.")) == ""


class TestBlogPosts:
    def test_one_change_by_nobody_is_told_like_this(self) -> None:
        assert written(_BLOG, push(commit("feat: ring at noon (#3)", author=_BOT))).markdown == (
            "News from kettle.\n\n"
            f"## Added\n\n- Ring at noon. ([#3]({HOST}/issues/3))\n\n"
            f"*This post is written from the commits and releases of [acme/kettle]({HOST}).*\n"
        )

    @pytest.mark.parametrize(
        ("number", "lead", "areas"), [(3, False, False), (4, True, False), (5, True, False), (6, True, True)]
    )
    def test_many_changes_have_one_to_begin_with_and_parts_of_the_code(
        self, number: int, *, lead: bool, areas: bool
    ) -> None:
        messages = [f"feat({'bell' if place % 2 else 'lid'}): ring at {place} sharp" for place in range(number)]
        said = _first_paragraph(_BLOG, *messages)
        assert ("The change to know about first: **Ring at 0 sharp (lid)**." in said) is lead
        assert said.endswith(" The parts with the most changes: lid (3) and bell (3).") is areas
        lay = _first_paragraph(_BLOG, *messages, brand=brand(audience="customers"))
        assert ("The change to know about first: **Ring at 0 sharp**." in lay) is lead
        assert "parts with" not in lay

    def test_parts_of_the_code_are_named_when_two_stand_out(self) -> None:
        rings = [f"feat({scope}): ring at {place} sharp" for place, scope in enumerate("aaaabbbccd")]
        assert _first_paragraph(_BLOG, *rings).endswith("most changes: a (4), b (3) and c (2).")
        assert "parts with" not in _first_paragraph(_BLOG, *rings[:5])
        assert "parts with" not in _first_paragraph(_BLOG, *(f"feat(a{n}): ring at {n} sharp" for n in range(6)))

    def test_a_breaking_change_is_told_by_its_notes_instead_of_its_explanation(self) -> None:
        notes = "\n".join(f"BREAKING CHANGE: note {number}" for number in range(12))
        markdown = written(_BLOG, f"feat!: drop the plug (#1)\n\n{_SPRING}\n\n{notes}").markdown
        told = "\n  >\n".join(f"  > Note {number}" for number in range(10))
        assert f"- **Drop the plug.** ([#1]({HOST}/issues/1))\n{told}\n\n" in markdown
        assert "spring" not in markdown

    def test_the_notes_of_a_release_are_shown_with_where_to_read_on(self) -> None:
        whole = written(_BLOG, release=release(body="It boils.")).markdown
        assert "## Release notes\n\nIt boils.\n\n## Releases\n\n" in whole
        long = written(_BLOG, release=release(body="It boils.\n" * 900)).markdown
        assert (
            "\nIt boils.\n\nThe notes are longer than a post may be; "
            f"[read on in the release]({HOST}/releases/tag/v1.2.0).\n\n## Releases\n"
        ) in long
        assert long.count("It boils.") == 800
        assert "## Release notes" not in written(_BLOG, release=release()).markdown

    def test_a_push_as_large_as_the_code_host_sends_is_said_to_be_one(self) -> None:
        many = push(*(commit("ci: boil", sha=f"{n:040x}") for n in range(MAX_COMMITS)), "docs: draw it")
        markdown = of_several(_BLOG, {"acme/lid": (push("feat: ring at noon"),), "acme/kettle": (many,)}).markdown
        assert (
            "\n\nBehind the scenes: 1 documentation change. "
            "The code host sends at most 2,048 commits with one push, so this list may be incomplete.\n\n"
        ) in markdown
        update = of_several(_UPDATE, {"acme/lid": (push("feat: ring at noon"),), "acme/kettle": (many,)}).markdown
        assert "at most 2,048 commits with one push, so the figures may be too low.\n\n## Risks" in update

    def test_repositories_without_a_release_are_not_among_the_releases(self) -> None:
        events = {"acme/lid": (push("feat: ring at noon"),), "acme/kettle": (release(),), "acme/base": (release("v9"),)}
        assert (
            f"## Releases\n\n**kettle**\n\n- [v1.2.0]({HOST}/releases/tag/v1.2.0)\n\n**base**\n\n- [v9]("
        ) in of_several(_BLOG, events).markdown

    @pytest.mark.parametrize(("people", "thanked"), [(100, "P98 and P99."), (101, "P98, P99, and 1 more.")])
    def test_a_hundred_people_are_thanked_by_name(self, people: int, thanked: str) -> None:
        made = push(*(commit(f"feat: ring {n}", author=Author(name=f"P{n}", email="")) for n in range(people)))
        assert f"contributions: P0, P1, P2, {'P3, '}" in written(_BLOG, made).markdown
        assert f", {thanked}\n\n*This post" in written(_BLOG, made).markdown

    @pytest.mark.parametrize(("number", "named"), [(5, " and [acme/kettle4]("), (6, "releases of 6 repositories.*")])
    def test_five_repositories_are_named_as_what_a_post_is_written_from(self, number: int, named: str) -> None:
        events = {f"acme/kettle{n}": (push(f"feat: ring at {n} sharp"),) for n in range(number)}
        assert named in of_several(_BLOG, events).markdown.splitlines()[-1]

    def test_a_company_without_a_description_signs_and_no_more(self) -> None:
        markdown = written(_BLOG, "feat: ring at noon", brand=brand(company="Acme")).markdown
        assert markdown.startswith("News from Acme about kettle. In figures, 1\u201330 June 2030: 1 feature and 1 ")
        assert "\n\nThe Acme team\n\n*This post" in markdown
        assert written(_BLOG, "feat: ring", brand=brand(company="Kettle")).markdown.startswith("News from kettle. ")


class TestLinkedInPosts:
    def test_one_change_is_told_like_this(self) -> None:
        assert written(_LINKEDIN, "feat: ring at noon").markdown == (
            f"News from kettle. New: Ring at noon.\n\nRepository: {HOST}\n\n#Kettle\n"
        )

    def test_without_a_known_address_nothing_is_linked(self) -> None:
        nowhere = push(commit("feat: ring at noon", host="javascript:alert(1)"))
        assert written(_LINKEDIN, nowhere).markdown == "News from kettle. New: Ring at noon.\n\n#Kettle\n"

    def test_two_of_one_kind_are_counted(self) -> None:
        assert written(_LINKEDIN, "feat: ring at noon", "feat: sing at noon").markdown == (
            "News from kettle. New: Ring at noon.\n\nIn figures, 1\u201330 June 2030: 2 features.\n\n"
            f"• New: Sing at noon\n\nRepository: {HOST}\n\n#Kettle\n"
        )

    def test_small_changes_are_points_when_there_are_no_others(self) -> None:
        small = ("fix: show warnings of the lid", "fix: show imports of the lid")
        points = [line for line in written(_LINKEDIN, "feat: ring at noon", *small).markdown.split("\n") if "•" in line]
        assert points == ["• Fix: Show warnings of the lid  ", "• Fix: Show imports of the lid"]
        many = written(_LINKEDIN, "feat: ring at noon", "feat: sing at noon", *small).markdown
        assert [line for line in many.split("\n") if "•" in line] == ["• New: Sing at noon"]

    @pytest.mark.parametrize(("end", "told"), [(" boils", " boils"), (" boilers", "…"), (" boils it", "…")])
    def test_a_point_has_at_most_240_characters(self, end: str, told: str) -> None:
        words = ("boil " * 46).strip()
        markdown = written(_LINKEDIN, "feat: ring at noon\n\n" + "x" * 900, f"feat: {words}{end}").markdown
        assert f"\n• New: B{words[1:]}{told}\n" in markdown

    def test_a_fix_takes_the_last_place_of_five_features_only_when_it_has_none(self) -> None:
        songs = [f"feat: sing song {n} of ten" for n in range(6)]

        def points(*messages: str) -> list[str]:
            lines = written(_LINKEDIN, *messages).markdown.splitlines()
            return [line.strip(" •") for line in lines if line.startswith("•")]

        assert points(*songs) == [f"New: Sing song {n} of ten" for n in range(1, 6)]
        assert points(*songs, "fix: stop the drip now") == [
            *(f"New: Sing song {n} of ten" for n in range(1, 5)),
            "Fix: Stop the drip now",
        ]
        assert points(*songs[:4], "fix: stop the drip now", "fix: stop the drop now", "perf: boil it in a minute") == [
            *(f"New: Sing song {n} of ten" for n in range(1, 4)),
            "Fix: Stop the drip now",
            "Fix: Stop the drop now",
        ]

    def test_hashtags_are_of_two_projects_and_none_is_too_long_or_said_twice(self) -> None:
        def tags(*projects: str, **more: Any) -> str:
            events = {f"acme/{project}": (push(f"feat: ring {project} at noon"),) for project in projects}
            return of_several(_LINKEDIN, events, **more).markdown.splitlines()[-1]

        assert tags("a", "b", "c") == "#A #B"
        assert tags("a", "b", brand=brand(company="B")) == "#A #B"
        assert tags("a", "b", brand=brand(company="C")) == "#A #B #C"
        assert tags("x" * 39, "b") == f"#X{'x' * 38} #B"
        assert tags("x" * 40, "b") == "#B"
        security = push("feat: ring", "security: lock it all"), release()
        assert written(_LINKEDIN, *security).markdown.splitlines()[-1] == "#Kettle #Security #Release"


class TestTweets:
    _ADDRESS: Final = f"\n\n{HOST}\n"

    @pytest.mark.parametrize(
        ("words", "end"),
        [
            (37, " (kettle), plus 1 fix. In lid: 1 feature."),
            (38, " (kettle), plus 1 fix."),
            # Beside the address, which counts as 23, and two line feeds there is room for 255.
            (41, " (kettle), plus 1 fix."),
            (42, " (kettle)."),
            (43, " (kettle)."),
            (44, " boil…"),
        ],
    )
    def test_a_post_says_as_much_as_fits(self, words: int, end: str) -> None:
        told = "boil " * words
        events = {
            "acme/kettle": (push(f"feat: {told}", "fix: stop the drip"), release("v1")),
            "acme/lid": (push("feat: sing at noon"),),
        }
        text = of_several(_TWITTER, events).markdown.partition("\n")[0]
        start = "kettle v1 is available. New: Boil "
        assert text.startswith(start)
        assert text.endswith(end)

    def test_what_counts_twice_is_cut_sooner(self) -> None:
        markdown = written(_TWITTER, "feat: " + "水" * 200).markdown
        # 23 signs of the announcement, 115 that count as two, and two for the dots that stand for the others.
        assert markdown == f"News from kettle. New: {'水' * 115}…{self._ADDRESS}"

    def test_of_several_changes_the_first_that_fits_is_told(self) -> None:
        long = "feat: " + "boil " * 60 + "\n\n" + "x" * 900
        assert written(_TWITTER, long, "feat: ring at noon").markdown == (
            f"News from kettle. New: Ring at noon, plus 1 more feature.{self._ADDRESS}"
        )

    def test_a_release_without_news_says_what_is_elsewhere(self) -> None:
        events = {"acme/kettle": (release(),), "acme/lid": (push("feat: sing at noon"),)}
        assert of_several(_TWITTER, events).markdown == (
            f"kettle v1.2.0 is available. In lid: 1 feature.\n\n{HOST}/releases/tag/v1.2.0\n"
        )

    def test_foreign_words_do_nothing(self) -> None:
        assert inactive("ask @ada #now $x at a.bc or 1.5 and https://a.b") == (
            "ask @\u200bada #\u200bnow $\u200bx at a.\u200bbc or 1.5 and https:\u200b//a.b"
        )
        assert plain_url("https://h.example/a_b*c~d?e=1&amp;f") == "https://h.example/a%5Fb%2Ac%7Ed?e=1&f"
        assert plain_url("https://h_h.example") == "https://h_h.example"


class TestInvestorUpdates:
    def test_five_notes_of_a_breaking_change_are_told(self) -> None:
        notes = "\n".join(f"BREAKING CHANGE: note {number}" for number in range(7))
        markdown = written(_UPDATE, f"feat!: drop the `plug`\n\n{notes}\nBREAKING CHANGE: Drop the `plug`").markdown
        told = "".join(f"\n  - Note {number}" for number in range(5))
        assert f"\n\n- Drop the plug{told}\n\n## What this" in markdown

    def test_twenty_risks_are_told_and_the_others_counted(self) -> None:
        breaking = [f"feat!: drop plug {n} of the base" for n in range(21)]
        gone = [f"feat: deprecate song {n} of the book" for n in range(22)]
        markdown = written(_UPDATE, *breaking, *gone).markdown
        assert "21 changes are marked as breaking" in markdown
        assert "- Drop plug 19 of the base\n\n1 more change is not shown here.\n\n22 deprecations are" in markdown
        assert "- Deprecate song 19 of the book\n\n2 more changes are not shown here.\n\n## What this" in markdown
        exactly = written(_UPDATE, *breaking[:20], *gone[:20]).markdown
        assert "not shown" not in exactly

    def test_six_of_each_theme_are_told(self) -> None:
        markdown = written(_UPDATE, *(f"feat: sing song {n} of ten" for n in range(6))).markdown
        assert "- Sing song 5 of ten\n\n## Activity" in markdown

    def test_twenty_releases_are_listed_and_the_earlier_ones_counted(self) -> None:
        markdown = written(_UPDATE, *(release(f"v{n}", prerelease=n < 1) for n in range(22))).markdown
        assert "## Releases\n\n- Earlier: 1 release and 1 pre-release\n- [v2](" in markdown
        assert "Earlier" not in written(_UPDATE, *(release(f"v{n}") for n in range(20))).markdown

    def test_a_release_has_its_name_and_what_kind_it_is(self) -> None:
        named = evolve(release("v2-rc", prerelease=True), name="The `big` *one*", published_at=None)
        markdown = written(_UPDATE, named, evolve(release(""), published_at=None, url="")).markdown
        assert (
            f"## Releases\n\n- [v2-rc]({HOST}/releases/tag/v2-rc): The big \\*one\\* (pre-release)\n- New release\n\n##"
        ) in markdown

    def test_a_table_that_grows_too_long_counts_its_last_rows(self) -> None:
        events = {f"acme/{'k' * 240}{n:03}": (push(f"feat: ring at {n} sharp"),) for n in range(65)}
        lines = of_several(_UPDATE, events).markdown.splitlines()
        rows = [line for line in lines if line.startswith("| acme/")]
        assert len(rows) == 60
        assert lines[lines.index(rows[-1]) + 1 :][:2] == ["| 5 more |  |  |  |", "| Total | 65 | 1 | 0 |"]

    def test_without_a_window_no_time_is_named(self) -> None:
        draft = written(_UPDATE, "feat: ring at noon", window=None)
        assert draft.markdown.startswith(
            "## Summary\n\nThis update covers the work on kettle. No release was published. The work comprises 1 feat"
        )

    def test_upkeep_alone_is_said_to_be_maintenance(self) -> None:
        markdown = written(_UPDATE, "docs: draw it").markdown
        assert (
            "## What was completed\n\nThe commits contain maintenance only: 1 documentation change.\n\n##" in markdown
        )


@pytest.mark.parametrize(
    ("days", "said"),
    [
        (("2030-06-01", "2030-07-01"), "In figures, 1"),
        (("2030-05-31",), "In figures: "),
        (("2030-06-01", "2030-07-02"), "In figures: "),
    ],
)
def test_releases_of_the_first_and_the_last_day_are_of_the_window(days: tuple[str, ...], said: str) -> None:
    releases = [evolve(release(f"v{n}"), published_at=f"{day}T00:00:00Z") for n, day in enumerate(days)]
    assert said in written(_BLOG, "feat: ring at noon", *releases).markdown


@pytest.mark.parametrize(
    ("end", "title"),
    [
        ("teaspoon", "What's new in kettle: B" + ("boil " * 18)[1:] + "teaspoon"),
        ("teaspoons", "What's new in kettle: Ring at noon"),
    ],
)
def test_a_title_takes_the_most_important_change_when_all_of_it_fits(end: str, title: str) -> None:
    long = f"feat: {'boil ' * 18}{end}\n\n{'x' * 900}"
    assert written(_BLOG, long, "feat: ring at noon").title == title
    assert len(title) in {120, 34}


def test_a_fix_with_an_explanation_is_corrected_and_explained() -> None:
    fix = push(commit(f"fix: lid stays open\n\n{_SPRING}", author=GRACE))
    assert f"- Corrected: Lid stays open. {_SPRING}\n" in written(_UPDATE, fix).markdown
