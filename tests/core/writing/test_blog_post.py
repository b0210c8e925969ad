from typing import Any

import pytest
from msgspec.structs import replace
from writing_samples import GRACE, commit, push, release, written

from contentsvc_core.content.changelog.bodies import explanation
from contentsvc_core.content.options import ChangelogOptions
from contentsvc_core.content.posts import ContentType

_BLOG = ContentType.BLOG_POST


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("Adds a spring that closes it gently.", "Adds a spring that closes it gently."),
        ("adds a spring that closes it gently", "Adds a spring that closes it gently."),
        ("## Summary\n\n- Adds a spring that\n  closes it gently\n- More", "Adds a spring that closes it gently."),
        ("## Problem\n\nAdds nothing.\n\n## Summary\nAdds a spring that closes it.", "Adds a spring that closes it."),
        ("Removes the old hinge, e.g. Bob's. It was rusty.", "Removes the old hinge, e.g. Bob's. It was rusty."),
        ("The lid now closes when the kettle tilts over.", "The lid now closes when the kettle tilts over."),
        ("The lid stays open until somebody closes it.", ""),
        ("Adds a spring that currently nobody can buy.", ""),
        ("Adds a lid by itself.", ""),
        ("Closes the lid by itself when it is in the lid's own way.", ""),
        ("This change closes lids by a lid that supports the spring by itself, if it can.", ""),
        ("Lets pots close the lid by itself with springs of brass.", ""),
        (
            "Lets pots close the lid by itself with springs of brass or iron rods.",
            "Lets pots close the lid by itself with springs of brass or iron rods.",
        ),
        ("Adds a few tests for springs that close it gently.", ""),
        ("Adds a spring, so let's remove the old hinge.", ""),
        ("Fixes GH-12 by springs that close it gently.", ""),
        ("Adds a spring that I tried out at home.", ""),
        ("This PR adds a spring that closes it gently.", ""),
        ("Adds a spring, see https://evil.example for it.", ""),
        ("Adds a spring, see #12 for the other ones.", ""),
        ("Adds these springs and many other ones:\n- one\n- two", ""),
        ("Closes #12", ""),
        ("Adds springs from ada@mail.example to the lid", ""),
        ("```\nAdds a spring that closes it gently.\n```", ""),
        ("Adds " + "very " * 60 + "long springs.", ""),
        ("Signed-off-by: Ada <ada@mail.example>", ""),
        ("", ""),
    ],
)
def test_an_explanation_is_whole_sentences_that_say_what_a_change_does(body: str, expected: str) -> None:
    assert explanation(body, subject="Close the lid by itself") == expected


def test_only_what_no_user_runs_is_left_to_the_end() -> None:
    markdown = written(
        _BLOG, "feat: ring", "fix: broken link in docs", "fix(ci): run twice", "test: ring twice", "fix: stop the drip"
    ).markdown
    assert " Ring (" in markdown
    assert "- Stopped the drip." in markdown
    assert "broken link" not in markdown
    assert "twice" not in markdown


def test_no_list_repeats_the_lead_unless_readers_act_on_it() -> None:
    markdown = written(_BLOG, "feat: ring (#1)", "feat: sing (#2)", "fix: stop the drip").markdown
    assert (markdown.count("Ring"), markdown.count("/issues/1)")) == (1, 1)
    assert "new in kettle. Ring ([#1]" in markdown
    assert "## What's new\n\n- Sing." in markdown
    assert "## What's new" not in written(_BLOG, "feat: ring", "fix: stop the drip").markdown
    expected = {
        ("feat!: ring",): 1,
        ("feat!: ring", "feat: sing"): 2,
        ("security: ring", "feat: sing"): 1,
        ("security: ring", "security: sing"): 2,
    }
    for messages, times in expected.items():
        assert written(_BLOG, *messages).markdown.casefold().count("ring") == times
    assert "> The bell is gone" in written(_BLOG, "feat!: ring\n\nBREAKING CHANGE: the bell is gone").markdown


def test_a_label_repeats_no_word_of_the_change() -> None:
    fixes = ("fix(shell/lid): open lids", "fix(shell/spout): stop the drip", "fix(ui): build spouts")
    markdown = written(_BLOG, "feat: ring", *fixes).markdown
    for line in ("- Open lids.", "- shell/spout: Stopped the drip.", "- ui: Build spouts."):
        assert line in markdown


def test_a_change_with_a_number_comes_first_then_the_one_with_the_longest_explanation_and_small_ones_last() -> None:
    markdown = written(
        _BLOG,
        "feat: improve type hints of lids" + "\n\n" + "x " * 500,
        "feat: ring some more bells" + "\n\n" + "x " * 500,
        "feat: ring at noon",
        "feat: ring more than two bells\n\n" + "y " * 100,
        "feat: sing at noon\n\n" + "y " * 200,
        "feat: hum at noon (#12)",
    ).markdown
    ordered = ("Hum at noon", "Sing at noon", "more than two", "Ring at noon", "some more bells", "Improved type hints")
    positions = [markdown.rindex(text) for text in ordered]
    assert positions == sorted(positions)


def test_a_word_that_the_code_host_has_cut_is_left_out() -> None:
    long = "ring at every sharp hour and at every half hour of the day, and al"
    for kind in (_BLOG, ContentType.CHANGELOG):
        assert "Ring at every sharp hour and at every half hour of the day…" in written(kind, f"feat: {long}…").markdown
        assert "Loading…" in written(kind, "Show Loading…").markdown
    # It leads no post.
    assert written(_BLOG, f"feat: {long}…", "feat: sing at noon").markdown.startswith(
        "Here is what is new in kettle. Sing at noon ("
    )


def test_hidden_hashes_and_people_who_are_not_thanked_are_in_no_blog_post() -> None:
    def blog(**options: Any) -> str:
        pushed = push(commit("feat: ring"), commit("fix: drip", author=GRACE))
        return written(ContentType.BLOG_POST, pushed, options=ChangelogOptions(**options)).markdown

    assert ("/commit/" in blog(), "@ada and @grace" in blog()) == (True, True)
    assert "/commit/" not in blog(commit_hashes=False)
    assert "Thank you" not in blog(contributors=False)
    assert "Thank you" not in blog(bots=frozenset({"grace"}))


def test_the_advice_about_upgrading_speaks_of_several_points() -> None:
    advice = "## Before you upgrade\n\nPlease check these points first.\n\n- "
    assert advice in written(_BLOG, "feat!: drop the lid", "feat!: drop the spout").markdown
    assert "## Before you upgrade\n\n- Dropped" in written(_BLOG, "feat!: drop the lid", "feat: ring").markdown


def test_changes_are_counted_unless_they_are_of_one_kind() -> None:
    fixes = [f"fix: stop the drip of pot {n}" for n in range(4)]
    assert "In numbers" not in written(_BLOG, *fixes).markdown
    assert "In numbers: 1 feature and 4 fixes." in written(_BLOG, "feat: ring", *fixes).markdown


def test_a_title_of_the_author_is_the_title_of_the_post() -> None:
    named = replace(release(), name="Singing kettles")
    assert written(_BLOG, push("feat: ring"), release=named, window=None).title == "kettle v1.2.0: Singing kettles"
    named = replace(release(), name="Kettles: they sing")
    assert written(_BLOG, push("feat: ring"), release=named, window=None).title == (
        "kettle v1.2.0 \u2013 Kettles: they sing"
    )
