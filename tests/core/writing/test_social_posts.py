"""The limits of LinkedIn and X, and their counting."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from writing_samples import MONTH, brand, commit, push, release, rendered, written

from contentsvc_core.content.brand import ToneProfile
from contentsvc_core.content.forms import write_content
from contentsvc_core.content.forms.social_posts import (
    HOOK_LIMIT,
    LINKEDIN_LIMIT,
    TWEET_LIMIT,
    URL_WEIGHT,
    hashtag,
    weight,
)
from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.writing import Brief, Chapter, Draft
from contentsvc_core.events.normalized import Author, Event

_LINKEDIN, _TWITTER = ContentType.LINKEDIN_POST, ContentType.TWITTER_POST
_LINK = re.compile(r"https://\S+")
_TEXTS = st.text(max_size=300) | st.sampled_from(
    ["水" * 300, "🫖" * 200, "boil " * 80, "b" * 400, "a.bc " * 60, "@a #b " * 40]
)


def _counted(markdown: str) -> int:
    """Return the length of a post as X counts it: its text, and 23 for its URL."""
    text = rendered(markdown).text.strip()
    link = _LINK.search(text)
    return weight(_LINK.sub("", text)) + (URL_WEIGHT + 1 if link else 0)


@pytest.mark.parametrize(
    ("text", "counted"),
    [
        ("kettle", 6),
        ("éñ", 2),
        ("水", 2),
        ("🫖", 2),
        ("“a”", 3),
        ("\u200b", 1),
        ("…", 2),
        ("", 0),
        ("a.bc", 23),
        ("v1.5", 4),
    ],
)
def test_signs_weigh_what_x_says(text: str, counted: int) -> None:
    assert weight(text) == counted


@pytest.mark.slow("a short campaign over generated examples")
@given(subject=_TEXTS, other=_TEXTS, project=_TEXTS, company=_TEXTS, tag=_TEXTS, tone=st.sampled_from(ToneProfile))
@settings(max_examples=60)
def test_posts_fit_whatever_is_in_them(
    subject: str, other: str, project: str, company: str, tag: str, tone: ToneProfile
) -> None:
    pushed = push(commit(f"feat({other}): {subject}"), *(commit(f"fix: {other} {n}") for n in range(9)))
    voice = brand(company=company, tone=tone)
    events: tuple[Event, ...] = (pushed, release(tag))
    lines = [
        write_content(
            Brief(content_type=kind, brand=voice, chapters=[Chapter(repository=f"acme/{project}", events=events)])
        )
        for kind in (_TWITTER, _LINKEDIN)
    ]
    markdown = [draft.markdown for draft in lines if isinstance(draft, Draft)]
    if len(markdown) < len(lines):
        return
    tweet, linkedin = markdown
    assert _counted(tweet) <= TWEET_LIMIT
    assert len(linkedin) <= LINKEDIN_LIMIT
    assert linkedin.count("•") <= 6 or "•" in subject + other + project + company + tag


def test_the_hook_is_seen_before_the_fold() -> None:
    for tone in ToneProfile:
        markdown = written(_LINKEDIN, *MONTH, brand=brand(tone=tone, company="Acme")).markdown
        hook = markdown.partition("\n")[0]
        assert "reports temperatures in kelvin" in hook
        assert len(hook) <= HOOK_LIMIT


def test_a_hook_beyond_the_fold_is_not_cut() -> None:
    lead = "ring " * 42 + "twice"
    assert f"Ring {lead[5:]}.\n" in written(_LINKEDIN, f"feat: {lead}").markdown


def test_a_hook_takes_a_change_that_is_short_enough_to_be_read_whole() -> None:
    long = "feat: " + "boil " * 60 + "\n\n" + "x " * 400
    markdown = written(_LINKEDIN, long, "feat: ring at noon").markdown
    assert markdown.startswith("Here is what is new in kettle. Ring at noon.\n")
    assert "\n\nBoil boil" in markdown


def test_fixes_are_among_the_points_even_of_many_features() -> None:
    markdown = written(_LINKEDIN, *(f"feat: ring at {n} sharp" for n in range(9)), "fix: stop the drip").markdown
    points = [line for line in markdown.splitlines() if line.startswith("•")]
    assert len(points) == 5
    assert points[-1] == "• Stopped the drip"
    assert all(line.endswith("  ") for line in points[:-1])
    assert "br" in rendered(markdown).tags
    mixed = [
        *(f"feat: ring at {n} sharp" for n in range(3)),
        "fix: stop the drip",
        *(f"perf: boil {n}" for n in range(2)),
    ]
    assert written(_LINKEDIN, *mixed).markdown.count("Stopped the drip") == 1


def test_a_post_for_x_names_a_feature_beside_breaking_changes() -> None:
    markdown = written(_TWITTER, push("feat!: drop one cup", "feat!: drop one mug", "feat: ring at noon")).markdown
    assert "\n\n• Breaking: dropped one mug  \n• Ring at noon\n" in markdown


def test_a_post_for_x_names_other_changes_rather_than_an_explanation_of_one() -> None:
    ring = f"feat: ring at noon\n\nAdds a bell that rings {'softly and ' * 15}loudly."
    alone = written(_TWITTER, push(ring)).markdown
    assert "Ring at noon. Added a bell" in alone
    beside = written(_TWITTER, push(ring, "fix: stop the drip")).markdown
    assert "Ring at noon.\n\nStopped the drip.\n" in beside
    breaking = f"feat!: ring at noon\n\nBREAKING CHANGE: The bell rings {'softly and ' * 15}loudly."
    assert "The bell rings softly" in written(_TWITTER, push(breaking, "fix: stop the drip")).markdown


def test_the_second_of_two_changes_of_a_release_is_a_sentence_of_its_own() -> None:
    for kind in (_TWITTER, _LINKEDIN):
        markdown = written(
            kind, push("feat: add a bell", "fix: stop the drip"), release=release(), window=None
        ).markdown
        assert markdown.startswith("kettle v1.2.0 is available. It adds a bell.\n\nIt also stops the drip.\n\n")


def test_small_changes_are_points_of_a_post_without_many_others() -> None:
    small = ("fix: log messages", "fix: more logs", "feat: add tea")
    points = written(_LINKEDIN, "feat: ring at noon", *small).markdown.split("\n\n")[1]
    assert points == "• Added tea  \n• Fix: log messages  \n• Fix: more logs"


def test_an_explanation_that_repeats_the_change_is_left_out_of_a_social_post() -> None:
    again = "feat: add a bell of brass\n\nAdds a loud bell, made of brass and iron, that can ring at noon."
    more = "feat: add a bell of brass\n\nAdds a loud bell of brass. Without it, nobody heard the kettle boil over."
    new = "feat: add a bell of brass\n\nThe kettle now rings at noon, at midnight and when the water boils."
    for kind in (_TWITTER, _LINKEDIN):
        assert "iron" not in written(kind, again).markdown
        assert "bell of brass. Without it, nobody heard" in " ".join(written(kind, more).markdown.split())
        assert "midnight" in written(kind, new).markdown
    assert "iron" in written(ContentType.BLOG_POST, again).markdown


def test_the_only_change_beside_the_points_is_one_of_them() -> None:
    rings = [f"feat: ring at {n} sharp" for n in range(6)]
    assert written(_LINKEDIN, *rings, "fix: log messages").markdown.count("•") == 6
    markdown = written(_LINKEDIN, *rings, "fix: log messages", "fix: more logs").markdown
    assert markdown.count("•") == 5
    assert "Also included: 2 fixes." in markdown


def test_features_are_among_the_points_even_of_many_breaking_changes() -> None:
    broken = [f"feat!: drop the lid of pot {n}" for n in range(4)]
    markdown = written(_LINKEDIN, *broken, "feat: ring at noon sharp", "fix: stop the drip").markdown
    assert [line.strip() for line in markdown.splitlines() if line.startswith("•")] == [
        "• Breaking: dropped the lid of pot 1",
        "• Breaking: dropped the lid of pot 2",
        "• Ring at noon sharp",
        "• Stopped the drip",
        "• Breaking: dropped the lid of pot 3",
    ]


def test_a_linkedin_post_has_one_link_and_at_most_three_hashtags() -> None:
    markdown = written(_LINKEDIN, *MONTH, brand=brand(company="Acme")).markdown
    assert _LINK.findall(markdown) == ["https://codehost.example/acme/kettle/releases/tag/v1.2.0"]
    assert markdown.splitlines()[-1] == "#Kettle #Acme"
    assert re.search(r"[*`\[\]\\<>]|^#+ ", markdown, re.MULTILINE) is None


@pytest.mark.parametrize(("people", "thanked"), [(1, False), (2, False), (3, True)])
def test_people_are_thanked_by_number_because_their_accounts_are_unknown(people: int, thanked: bool) -> None:
    made = push(*(commit(f"feat: ring {n}", author=Author(name=f"P{n}", email="")) for n in range(people)))
    assert (f"Thank you to all {people} contributors." in written(_LINKEDIN, made).markdown) is thanked


@pytest.mark.parametrize(
    ("name", "tag"),
    [
        ("tea-kettle", "#TeaKettle"),
        ("kettle_2", "#Kettle2"),
        ("iKettle", "#iKettle"),
        ("Größe", "#Größe"),
        ("42", ""),
        ("--", ""),
        ("<b>", "#B"),
    ],
)
def test_a_hashtag_is_made_of_words(name: str, tag: str) -> None:
    assert hashtag(name) == tag


def test_without_a_known_address_nothing_is_linked() -> None:
    made = commit("feat: ring at noon", host="javascript:alert(1)")
    text = "Here is what is new in kettle. Ring at noon.\n"
    assert written(_TWITTER, push(made)).markdown == text
    assert written(_LINKEDIN, push(made)).markdown == f"{text}\n#Kettle\n"


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (["fix: stop the drip"], "Stopped the drip."),
        (["fix: stop the drip", "perf: heat the water faster"], "• Stopped the drip  \n• Heats the water faster"),
        (
            ["feat: close the lid", "fix: stop the drip", "perf: boil faster"],
            "• Closes the lid  \n• Stopped the drip  \n• Boil faster",
        ),
        (
            ["feat: close the lid", "fix: stop the drip", *(f"perf: boil {n} faster" for n in range(3))],
            "• Closes the lid  \n• Stopped the drip  \n• Boil 0 faster\n\nAlso included: 2 performance improvements.",
        ),
        (["fix: log messages"], "Fix: log messages."),
        (["fix: log messages", "fix: more logs"], "• Fix: log messages  \n• Fix: more logs"),
        ([f"fix: log {n} messages" for n in range(5)], "Also included: 5 fixes."),
        # A list of fewer changes comes before sentences about more, which come before a number.
        (
            [
                "feat: close the lid",
                f"fix: stop the {'l' * 64} drip",
                f"fix: stop the {'o' * 64} drip",
                "fix: x",
                "fix: y",
            ],
            f"• Closes the lid  \n• Stopped the {'l' * 64} drip\n\nAlso included: 3 fixes.",
        ),
        # Sentences fit where a list does not.
        (
            [f"fix: stop the {'l' * 86} drip", f"fix: stop the {'o' * 86} drip"],
            f"Stopped the {'l' * 86} drip. Stopped the {'o' * 86} drip.",
        ),
    ],
)
def test_a_post_for_x_names_other_changes_as_far_as_they_fit_and_counts_the_rest_if_it_is_more_than_one(
    more: list[str], expected: str
) -> None:
    markdown = written(_TWITTER, push("feat: ring at noon", *more)).markdown
    first, second = markdown.split("\n\n", 1)
    assert first == "Here is what is new in kettle. Ring at noon."
    assert second.startswith(f"{expected}\n\nhttps:")
    assert _counted(markdown) <= TWEET_LIMIT


def test_a_post_for_x_counts_one_change_only_if_it_is_grave_or_nothing_is_linked() -> None:
    long = f"stop the {'long ' * 48}drip"
    assert "included" not in written(_TWITTER, "feat: ring at noon", f"fix: {long}").markdown
    assert "Also included: 1 security change." in written(_TWITTER, "feat!: ring at noon", f"security: {long}").markdown
    made = [commit(message, host="javascript:alert(1)") for message in ("feat: ring at noon", f"fix: {long}")]
    assert "Also included: 1 fix." in written(_TWITTER, push(*made)).markdown


@pytest.mark.parametrize("content_type", [_LINKEDIN, _TWITTER])
def test_a_title_names_no_change_that_the_text_leaves_out(content_type: ContentType) -> None:
    small = ("feat: add honey", *(f"feat: add sugar{n}" for n in range(5)))
    draft = written(content_type, "feat: ring at noon sharp", *small, "fix: stop the slow drip")
    assert "honey" not in draft.markdown
    assert draft.title == "What's new in kettle: ring at noon sharp, stop the slow drip"


@pytest.mark.parametrize(
    ("sign", "weighs"),
    [
        *((sign, 1) for sign in (0x0000, 0x10FF, 0x2000, 0x200D, 0x2010, 0x201F, 0x2032, 0x2037)),
        *((sign, 2) for sign in (0x1100, 0x1FFF, 0x200E, 0x200F, 0x2020, 0x2031, 0x2038)),
    ],
)
def test_a_sign_weighs_one_or_two_and_each_range_has_its_ends(sign: int, weighs: int) -> None:
    assert weight(chr(sign)) == weighs


def test_a_change_fills_a_post_for_x_to_the_last_character_and_is_cut_behind_it() -> None:
    messages = (f"feat: {'ring ' * (size // 5)}{'a' * (size % 5)}" for size in range(150, 300))
    posts = [written(_TWITTER, message).markdown for message in messages]

    assert max(_counted(markdown) for markdown in posts if "…" not in markdown) == TWEET_LIMIT
    assert max(map(_counted, posts)) <= TWEET_LIMIT
    assert all("ring ring" in markdown for markdown in posts)
