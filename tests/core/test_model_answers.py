"""The reading of models' answers."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.prompting import UnusableDraft, read_draft
from contentsvc_core.content.prompting.facts import unfounded
from contentsvc_core.content.writing import Draft

CHANGELOG = ContentType.CHANGELOG
BODY = '{"title": "T", "markdown": "one\\n\\ntwo"}'
READ = Draft(title="T", markdown="one\n\ntwo\n")


@pytest.mark.parametrize(
    "answer",
    [
        BODY,
        f"\n {BODY} \n",
        f"```json\n{BODY}\n```",
        f"```\n{BODY}\n```\n",
        f"<think>Should I write {{}}?</think>\n\n{BODY}",
        '{"title": " T \\n", "markdown": "one\n\ntwo", "more": 1}',
        f'{{"title": "{" " * 200}T", "markdown": "one\n\ntwo"}}',
        '{"title": "T", "markdown": "# T\\r\\n\\r\\none\\r\\n\\r\\ntwo\\r\\n"}',
        '{"title": "# **T**", "markdown": "one\n\ntwo"}',
        "# T\n\none\n\ntwo\n",
        "```markdown\n# **T**\n\none\n\ntwo\n```",
    ],
)
def test_the_forms_in_which_models_answer_are_read(answer: str) -> None:
    assert read_draft(answer, CHANGELOG) == READ


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("", "neither JSON nor Markdown"),
        ("Sure! Here it is.\n\n# T\n\none", "neither JSON nor Markdown"),
        ("# \n\none", "neither JSON nor Markdown"),
        ("# T", "it has no text"),
        ('{"title": "T", "markdown": "o', "it is no JSON"),
        ('{"a":' * 100_000, "it is no JSON"),
        ('{"title": "T"}', "no texts"),
        ('{"title": "T", "markdown": ["one"]}', "no texts"),
        ('{"title": 1, "markdown": "one"}', "no texts"),
        ('{"title": "", "markdown": "one"}', "its title"),
        ('{"title": "\\u200f \\u0000", "markdown": ""}', "its title"),
        ('{"title": "…", "markdown": "one"}', "its title"),
        ('{"title": "T", "markdown": "…"}', "it has no text"),
        ('{"title": "a\\nb", "markdown": "one"}', "its title"),
        ('{"title": "T", "markdown": " \\n"}', "it has no text"),
        (json.dumps({"title": "T", "markdown": "x" * 100_000}), "longer than 100,000"),
    ],
)
def test_nonsense_is_unusable(answer: str, reason: str) -> None:
    unusable = read_draft(answer, CHANGELOG)

    assert isinstance(unusable, UnusableDraft)
    assert reason in unusable.reason


def test_the_longest_title_and_text_are_usable() -> None:
    answer = json.dumps({"title": "x" * 120, "markdown": "y" * 99_999})

    assert read_draft(answer, CHANGELOG) == Draft(title="x" * 120, markdown="y" * 99_999 + "\n")


def test_unstorable_characters_are_replaced() -> None:
    draft = read_draft('{"title": "a\\ud800b", "markdown": "c\\u0000\\udfffd"}', CHANGELOG)

    assert draft == Draft(title="a\ufffdb", markdown="c\ufffd\ufffdd\n")


@pytest.mark.parametrize(
    ("content_type", "limit"), [(ContentType.TWITTER_POST, 280), (ContentType.LINKEDIN_POST, 3_000)]
)
def test_a_draft_beyond_the_limit_of_its_network_is_unusable(content_type: ContentType, limit: int) -> None:
    fits = json.dumps({"title": "T", "markdown": "x" * limit})
    more = json.dumps({"title": "T", "markdown": "x" * (limit + 1)})

    assert isinstance(read_draft(fits, content_type), Draft)
    assert isinstance(read_draft(more, content_type), UnusableDraft)
    assert isinstance(read_draft(more, ContentType.BLOG_POST), Draft)


@given(text=st.text(alphabet='{}[]"`#<>/\\ \nthinkTitle:,é', max_size=200), content_type=st.sampled_from(ContentType))
def test_reading_is_total(text: str, content_type: ContentType) -> None:
    draft = read_draft(text, content_type)

    assert isinstance(draft, UnusableDraft) or (0 < len(draft.title) <= 120 and draft.markdown.strip())


@pytest.mark.parametrize(
    "answer",
    [
        f"Sure! Here is the post:\n\n```json\n{BODY}\n```\nI hope that helps.",
        f"Sure! Here is the post: {BODY} Enjoy!",
        f"{BODY}\n{BODY}",
    ],
)
def test_talk_around_an_answer_is_left_out(answer: str) -> None:
    assert read_draft(answer, CHANGELOG) == read_draft(BODY, CHANGELOG)


@pytest.mark.parametrize(
    ("markdown", "read"),
    [
        ("Here is your changelog:\n\none", "one"),
        ("Sure! Here's a LinkedIn post for the release:\n\none", "one"),
        ("Of course.\n\none", "one"),
        ("Hier ist Ihr Changelog:\none", "one"),
        ("```markdown\none\n```", "one"),
        ("one\n\nLet me know if you'd like a shorter version!", "one"),
        ("one\n\n---\n\nI hope this helps.", "one"),
        ("Here is what is new in version 2:\n\none", None),
        ("Here is the lamp you asked for:\n\none", None),
        ("Sure thing!\none", "one"),
        ("Sure footing at night!\n\none", None),
        ("one\n\n***\n\ntwo", None),
        ("one\n\nLet me know if you find a bug.", None),
        ("one\n\nPlease let me know if any changes are needed!", "one"),
        ("one\n\nLet me know if you want me to adjust the tone.", "one"),
        ("one\n\nWould you like me to adjust it?", "one"),
        ("one\n\nIf you'd like a longer version, let me know.", "one"),
        ("one\n\nFeel free to adjust the tone or length.", "one"),
        ("one\n\nFeel free to try the new version.", None),
        ("one\n\nFeel free to change the defaults.", None),
        ("one\n\nWould you like to try the new version? Update today.", None),
        ("one\n\nIf you would like shorter build times, update today.", None),
        ("one\n\nIf you'd like a different format, set `format`.", None),
        ("Here is the draft mode for lids.\n\none", None),
        ("Here's an article editor that saves by itself.\n\none", None),
        ("Here is the blog post for version 2.0:\n\none", "one"),
        ("Here are the release notes.\n\none", "one"),
        ("```sh\none\n```\n\nthen\n\n```sh\ntwo\n```", None),
        ("```markdown\none\n\n```sh\ntwo\n```\n\nthree\n```", "one\n\n```sh\ntwo\n```\n\nthree"),
    ],
)
def test_talk_inside_a_text_is_left_out(markdown: str, read: str | None) -> None:
    draft = read_draft(json.dumps({"title": "T", "markdown": markdown}), CHANGELOG)
    assert draft == Draft(title="T", markdown=f"{read or markdown}\n")


def test_a_title_that_only_announces_the_text_is_unusable() -> None:
    draft = read_draft('{"title": "Here is your changelog", "markdown": "one"}', CHANGELOG)
    assert isinstance(draft, UnusableDraft)
    assert "announces" in draft.reason


@pytest.mark.parametrize(
    ("content_type", "markdown", "read"),
    [
        (ContentType.LINKEDIN_POST, "one\n\n#A #B #C #D #E #F", "one\n\n#A #B #C"),
        (ContentType.LINKEDIN_POST, "one #A\n\n#B\n#C\n#D", "one #A\n\n#B\n#C"),
        (ContentType.LINKEDIN_POST, "#A #B #C #D one #E", "#A #B #C D one"),
        (ContentType.LINKEDIN_POST, "#A #B #C #D one", "#A #B #C D one"),
        (ContentType.LINKEDIN_POST, "one #1 #2 #3 #4", "one #1 #2 #3 #4"),
        (ContentType.TWITTER_POST, "one #A #B", "one #A"),
        (ContentType.TWITTER_POST, "a #A\n\n#B", "a #A"),
        (ContentType.BLOG_POST, "one #A #B #C #D", "one #A #B #C #D"),
    ],
)
def test_a_post_keeps_few_hashtags(content_type: ContentType, markdown: str, read: str) -> None:
    draft = read_draft(json.dumps({"title": "T", "markdown": markdown}), content_type)
    assert draft == Draft(title="T", markdown=f"{read}\n")


_FACTS = """{"url":"https://h.example/acme/lamp/commit/1?a=1&amp;b=2","date":"2030-06-02","tag":"v1.12.0"}
{"text":"Serve 12,000 lamps at 3.5 V with 0042","names":["@ada","@Bob"]}"""


def test_a_title_that_is_too_long_is_cut_at_a_word() -> None:
    draft = read_draft(json.dumps({"title": "boil " * 30, "markdown": "one"}), CHANGELOG)
    assert isinstance(draft, Draft)
    assert draft.title == "boil " * 23 + "boil…"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("v1.12.0 of 2 June 2030 serves 12000 lamps. Thanks @Ada and @bob! [x](https://h.example/acme/lamp)", None),
        ("https://h.example/acme/lamp/commit/1?a=1&b=2, at 3.5 V", None),
        ("https://h.example/acme/lamp/commit/1?a=1&amp;b=2 for 12,000", None),
        ("0 of 012", None),
        ("v9.9.9 is out", "9.9.9"),
        ("v1.12.0-rc1 is out", "1.12.0-rc1"),
        ("1.12 is out, not 1.13", "1.13"),
        (r"1\.13\.0 is out", "1.13.0"),
        ("for 13,000 teams", "13,000"),
        ("40https://h.example/acme/lamp", "40"),
        ("40 % faster", "40"),
        ("2 ways of 42", None),
        ("4 ways", "4"),
        ("see https://evil.example/acme.", "https://evil.example/acme"),
        ("[x](HTTPS://evil.example/acme)", "HTTPS://evil.example/acme"),
        ('[x](https://h.example/acme"@\u00ebvil.example)', 'https://h.example/acme"@\u00ebvil.example'),
        ('the page "https://h.example/acme/lamp" has it', None),
        ("see https://h.exam", "https://h.exam"),
        ("see https://h.example/LATEX*", "https://h.example/LATEX"),
        ("thanks @grace", "@grace"),
        ("thanks \uff20grace", "@grace"),
        (".@grace or /@grace", "@grace"),
        ("thanks @_grace", "@_grace"),
        ("see evil.example.", "evil.example"),
        ("see www.evil.example/x, or not", "www.evil.example/x"),
        ("write to grace@mail.evil.example", "mail.evil.example"),
        ("see H.example.", None),
        # Markdown reads character references in addresses, and renderers follow them.
        ("[lamps](https&colon;//evil.example/)", "https://evil.example/"),
        ("[lamps](https:&sol;&#x2f;evil.example/)", "https://evil.example/"),
        ("It doesn&#39;t blink", None),
        (f"&#{'9' * 5_000};", "9" * 5_000),
    ],
)
def test_facts_that_the_material_lacks_are_found(text: str, fault: str | None) -> None:
    assert unfounded(text, _FACTS) == fault


@pytest.mark.parametrize(
    ("items", "number", "is_allowed"),
    [
        (3, "0", True),
        (3, "3", True),
        (3, "4", False),
        (100_000, "100,000", True),
        (1_000_000, "1000000", False),
        # More digits than the interpreter converts.
        (3, "9" * 5_000, False),
    ],
)
def test_a_number_up_to_the_number_of_items_is_a_count(items: int, number: str, *, is_allowed: bool) -> None:
    assert unfounded(f"{number} lamps", "\n".join(["a lamp"] * items)) == (None if is_allowed else number)


@pytest.mark.parametrize("markdown", ["thanks @\u200bgrace", "thanks @**grace**", "thanks @`grace`"])
def test_a_post_for_a_network_is_checked_as_the_plain_text_that_is_posted(markdown: str) -> None:
    found = read_draft(json.dumps({"title": "T", "markdown": markdown}), ContentType.TWITTER_POST, _FACTS)
    assert isinstance(found, UnusableDraft)
    assert found.detail == "@grace"


def test_a_text_that_states_more_than_its_material_is_refused_without_being_repeated() -> None:
    answer = json.dumps({"title": "T", "markdown": "12,345 teams use it"})
    found = read_draft(answer, CHANGELOG, _FACTS)
    assert isinstance(found, UnusableDraft)
    assert "12,345" not in found.reason
    assert found.detail == "12,345"


@pytest.mark.parametrize(
    ("answer", "content_type", "read"),
    [
        ("## T #\n\none", ContentType.CHANGELOG, Draft(title="T", markdown="one\n")),
        ("# *`T`*\none\r\ntwo\rthree", ContentType.CHANGELOG, Draft(title="T", markdown="one\ntwo\nthree\n")),
        ("\ufeff# T\none", ContentType.CHANGELOG, Draft(title="T", markdown="one\n")),
        ("<thinking>\n# No\n</thinking># T\none", ContentType.CHANGELOG, Draft(title="T", markdown="one\n")),
        ('{"title":"T","markdown":"## t\\none"}', ContentType.CHANGELOG, Draft(title="T", markdown="one\n")),
        ('{"title":"T","markdown":"# U\\none"}', ContentType.CHANGELOG, Draft(title="T", markdown="# U\none\n")),
        (
            "# T\n[x](https://a.example/" + "y" * 300 + ") " + "z" * 255,
            ContentType.TWITTER_POST,
            "it has 281 characters, and a twitter_post takes 280",
        ),
        ("# T\n" + "x" * 3_001, ContentType.LINKEDIN_POST, "it has 3,001 characters, and a linkedin_post takes 3,000"),
        ("# T\n" + "x" * 100_000, ContentType.BLOG_POST, "it is longer than 100,000 characters"),
        ("### T\none", ContentType.BLOG_POST, "it is neither JSON nor Markdown that begins with a heading"),
        ("{}", ContentType.BLOG_POST, 'its JSON has no texts "title" and "markdown"'),
        ("{} x", ContentType.BLOG_POST, 'its JSON has no texts "title" and "markdown"'),
        ("{", ContentType.BLOG_POST, "it is no JSON"),
        ('{"title":"T","markdown":" "}', ContentType.BLOG_POST, "it has no text"),
    ],
)
def test_an_answer_is_read_or_refused_with_a_reason(answer: str, content_type: ContentType, read: Draft | str) -> None:
    expected = UnusableDraft(reason=read) if isinstance(read, str) else read
    assert read_draft(answer, content_type) == expected
