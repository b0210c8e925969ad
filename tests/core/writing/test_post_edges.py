"""Posts at their limits: the first and last listed change, and the omitted ones."""

from typing import Any, Final

import pytest
from writing_samples import HOST, brand, commit, of_several, push, release, written

from contentsvc_core.content.changelog.bodies import explanation
from contentsvc_core.content.changelog.select import Change, reported_changes
from contentsvc_core.content.forms.news import excerpt
from contentsvc_core.content.options import ChangelogOptions
from contentsvc_core.content.phrases import ENGLISH, PHRASEBOOKS
from contentsvc_core.content.posts import ContentType
from contentsvc_core.events.normalized import MAX_COMMITS, Author

_BLOG, _LINKEDIN, _TWITTER = ContentType.BLOG_POST, ContentType.LINKEDIN_POST, ContentType.TWITTER_POST
_UPDATE = ContentType.INVESTOR_UPDATE
_SPRING: Final = "Adds a spring that closes it gently."


def _change(*messages: str) -> Change:
    (change,) = reported_changes(
        [push(*(commit(message, sha=f"{index:040x}") for index, message in enumerate(messages, 1)))], ChangelogOptions()
    )
    return change


class TestExcerpts:
    @pytest.mark.parametrize(
        ("body", "expected"),
        [
            (f"{_SPRING}\n```\ncode\n```", _SPRING),
            (f"\r\n## Problem\r\n\r\nAdds a lid that falls off at noon.\r\n\r\n## What\r\n\r\n{_SPRING}\r\n", _SPRING),
            (f"## Problem\n\nAdds a lid that falls off at noon.\n\n\n## What\n{_SPRING}", _SPRING),
            ("\n\n\n## Problem\nAdds a lid that falls off at noon.", ""),
            ("## What\n\nAdds a spring that\ncloses it gently.", _SPRING),
            ("## What\nAdds a spring that\ncloses it gently.", _SPRING),
            (f"{_SPRING}\nOf steel\n- one\n- two", _SPRING),
            (f"Of steel\n{_SPRING}\n- one\n- two", ""),
            (f"* {_SPRING}\n* Adds another one", ""),
            (f"{_SPRING}\n\n* fix: tests\n\nAdds even more of it.", _SPRING),
            (f"- fix(lid): tests\n- {_SPRING}", ""),
            (f"---------\n\n{_SPRING}", ""),
            (f"Signed-off-by: Ada\n\n{_SPRING}", ""),
            # After a sentence that is too short, the next one follows in any case.
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
    def test_an_explanation_is_found_where_it_stands(self, body: str, expected: str) -> None:
        assert explanation(body) == expected

    @pytest.mark.parametrize(
        ("subject", "expected"),
        [
            ("adds two three", ""),
            ("adds two", "Adds two three f"),
            ("ADDS two threefold", ""),
            ("add three two", "Adds"),
        ],
    )
    def test_an_explanation_has_four_words_of_its_own(self, subject: str, expected: str) -> None:
        assert explanation("Adds two three four five six", subject).startswith(expected)
        assert (explanation("Adds two three four five six", subject) == "") is (expected == "")

    def test_the_first_of_five_commits_that_explains_the_change_is_quoted(self) -> None:
        silent = [f"fix: drip\n\nDrip {number}." for number in range(5)]
        assert excerpt(_change(*silent[:4], f"fix: drip\n\n{_SPRING}"), ENGLISH) == _SPRING.replace("Adds", "Added")
        assert excerpt(_change(*silent, f"fix: drip\n\n{_SPRING}"), ENGLISH) == ""

    def test_an_english_explanation_has_the_tense_of_changes(self) -> None:
        body = "Replaces the old hinge and adds oil. Ensure that the lid closes by itself."
        expected = "Replaced the old hinge and added oil. Ensures that the lid closes by itself."
        assert excerpt(_change(f"fix: drip\n\n{body}"), ENGLISH) == expected
        assert excerpt(_change(f"fix: drip\n\n{body}"), PHRASEBOOKS["German"]) == body

    def test_an_explanation_that_says_what_the_subject_says_is_none(self) -> None:
        assert (
            excerpt(_change("feat: add springs that close the lid\n\nAdds a spring that closes the lid."), ENGLISH)
            == ""
        )


class TestBlogPosts:
    def test_a_breaking_change_has_its_notes_instead_of_its_explanation(self) -> None:
        notes = "\n".join(f"BREAKING CHANGE: note {number}" for number in range(12))
        markdown = written(_BLOG, f"feat!: drop the plug (#1)\n\n{_SPRING}\n\n{notes}").markdown
        quoted = "\n  >\n".join(f"  > Note {number}" for number in range(10))
        assert f"- **Dropped the plug.** ([#1]({HOST}/issues/1))\n{quoted}\n\n" in markdown
        assert "spring" not in markdown

    def test_a_push_of_the_maximum_size_is_marked_as_possibly_incomplete(self) -> None:
        many = push(*(commit("ci: boil", sha=f"{n:040x}") for n in range(MAX_COMMITS)), "docs: draw it")
        markdown = of_several(_BLOG, {"acme/lid": (push("feat: ring at noon"),), "acme/kettle": (many,)}).markdown
        assert (
            "\n\nThe code host sends at most 2,048 commits with one push, so this list may be incomplete.\n\n"
        ) in markdown
        update = of_several(_UPDATE, {"acme/lid": (push("feat: ring at noon"),), "acme/kettle": (many,)}).markdown
        assert "at most 2,048 commits with one push, so this list may be incomplete.\n" in update

    @pytest.mark.parametrize(("people", "thanked"), [(20, "P18 and P19."), (21, "P18, P19 and 1 more.")])
    def test_twenty_people_are_thanked_by_name(self, people: int, thanked: str) -> None:
        made = push(*(commit(f"feat: ring {n}", author=Author(name=f"P{n}", email="")) for n in range(people)))
        assert f"contributions: P0, P1, P2, {'P3, '}" in written(_BLOG, made).markdown
        assert f", {thanked}\n" in written(_BLOG, made).markdown


class TestLinkedInPosts:
    def test_hashtags_are_of_two_projects_and_none_is_too_long_or_repeated(self) -> None:
        def tags(*projects: str, **more: Any) -> str:
            events = {f"acme/{project}": (push(f"feat: ring {project} at noon"),) for project in projects}
            return of_several(_LINKEDIN, events, **more).markdown.splitlines()[-1]

        assert tags("a", "b", "c") == "#A #B"
        assert tags("a", "b", brand=brand(company="B")) == "#A #B"
        assert tags("a", "b", brand=brand(company="C")) == "#A #B #C"
        assert tags("x" * 39, "b") == f"#X{'x' * 38} #B"
        assert tags("x" * 40, "b") == "#B"


class TestInvestorUpdates:
    def test_twenty_risks_are_listed_and_the_others_counted(self) -> None:
        breaking = [f"feat!: drop plug {n} of the base" for n in range(21)]
        gone = [f"feat: deprecate song {n} of the book" for n in range(22)]
        markdown = written(_UPDATE, *breaking, *gone).markdown
        assert "21 breaking changes may require" in markdown
        assert "- Dropped plug 19 of the base.\n\n1 more change is not shown here.\n\n22 deprecations are" in markdown
        assert "- Deprecated song 19 of the book.\n\n2 more changes are not shown here.\n\nThis update" in markdown
        exactly = written(_UPDATE, *breaking[:20], *gone[:20]).markdown
        assert "not shown" not in exactly

    def test_twenty_releases_are_listed_and_the_earlier_ones_counted(self) -> None:
        markdown = written(_UPDATE, *(release(f"v{n}", prerelease=n < 1) for n in range(22))).markdown
        assert "## Releases\n\n- Earlier: 1 release and 1 pre-release\n- [v2](" in markdown
        assert "Earlier" not in written(_UPDATE, *(release(f"v{n}") for n in range(20))).markdown


@pytest.mark.parametrize(
    ("end", "title"),
    [
        ("spoon", "What's new in kettle: " + "boil " * 15 + "spoon, ring at noon"),
        ("spoons", "What's new in kettle: ring at noon"),
    ],
)
def test_a_title_takes_the_most_important_change_when_all_of_it_fits(end: str, title: str) -> None:
    long = f"feat: {'boil ' * 15}{end}\n\n{'x' * 900}"
    assert written(_BLOG, long, "feat: ring at noon").title == title
