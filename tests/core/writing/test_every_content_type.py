"""Rules for posts of every content type."""

import re
from itertools import product

import pytest
from writing_samples import MONTH, brand, brief, commit, of_several, push, release, written

from contentsvc_core.content.brand import ToneProfile
from contentsvc_core.content.forms import write_content
from contentsvc_core.content.phrases import PHRASEBOOKS
from contentsvc_core.content.posts import MARKDOWN_LIMIT, PLAIN_TYPES, ContentType
from contentsvc_core.content.writing import Draft, Silence
from contentsvc_core.events.normalized import Author

_POSTS = [each for each in ContentType if each is not ContentType.CHANGELOG]
_SHORT = [ContentType.BLOG_POST, ContentType.LINKEDIN_POST, ContentType.TWITTER_POST]


@pytest.mark.parametrize("content_type", ContentType)
@pytest.mark.parametrize("messages", [(), ("Release v1.2",), ("feat: a", 'Revert "feat: a"'), ("chore: bump to v1.2",)])
def test_there_is_no_post_when_nothing_is_left_to_report(content_type: ContentType, messages: tuple[str, ...]) -> None:
    assert isinstance(write_content(brief(content_type, push(*messages))), Silence)


@pytest.mark.parametrize("content_type", _SHORT)
def test_upkeep_alone_is_no_news(content_type: ContentType) -> None:
    upkeep = (
        "docs: spell it right",
        "chore(deps): bump cup from 1 to 2",
        "refactor: one thermostat",
        "fix(docs): mend a typo",
    )
    assert isinstance(write_content(brief(content_type, push(*upkeep))), Silence)
    assert isinstance(write_content(brief(content_type, push(*upkeep, "fix: stop the drip"))), Draft)


def test_an_investor_update_counts_upkeep_if_there_is_nothing_else() -> None:
    markdown = written(
        ContentType.INVESTOR_UPDATE, "docs: spell it right", "chore(deps): bump cup from 1 to 2"
    ).markdown
    assert (
        "Users notice no change: the work was maintenance (1 documentation change and 1 dependency change)." in markdown
    )


@pytest.mark.parametrize("content_type", ContentType)
def test_every_tone_and_language_gives_a_clean_text_and_the_same_bytes_twice(content_type: ContentType) -> None:
    languages = ["English"] if content_type in PLAIN_TYPES else PHRASEBOOKS
    for tone, language in product(ToneProfile, languages):
        voice = brand(tone=tone, language=language, company="Acme", description="We make kettles.")
        draft = written(content_type, *MONTH, brand=voice)
        assert draft == written(content_type, *MONTH, brand=voice)
        assert 1 <= len(draft.title) <= 120
        assert "{" not in draft.title + draft.markdown
        assert draft.markdown.endswith("\n")
        assert not draft.markdown.endswith("\n\n")
        assert re.search(r" ,|\.\.\s|,,|\( |(?<=\S)  [^\n]", draft.markdown) is None


@pytest.mark.parametrize("content_type", ContentType)
def test_a_commit_or_a_release_that_is_stored_twice_is_reported_once(content_type: ContentType) -> None:
    assert written(content_type, *MONTH, *MONTH) == written(content_type, *MONTH)


@pytest.mark.parametrize("content_type", ContentType)
def test_a_repository_that_is_connected_twice_is_reported_once(content_type: ContentType) -> None:
    once = written(content_type, *MONTH)
    assert of_several(content_type, {"acme/kettle": MONTH, "Acme/Kettle": MONTH}) == once


@pytest.mark.parametrize("content_type", _POSTS)
def test_no_commit_id_and_no_address_of_a_person_is_shown_outside_changelogs(content_type: ContentType) -> None:
    markdown = written(content_type, *MONTH).markdown
    assert "mail.example" not in markdown
    assert "/commit/" not in markdown


@pytest.mark.slow("writes or reads very large texts")
@pytest.mark.parametrize("content_type", ContentType)
def test_very_much_fits_into_a_post(content_type: ContentType) -> None:
    host = "https://codehost.example/" + "a" * 600
    wide = "`*[" * 120
    kinds = ("feat", "fix", "feat!", "security", "perf", "sweep")
    note = f"\n\nBREAKING CHANGE: {wide}\n\nRefs: x"
    commits = [
        commit(
            f"{kind}(lid {n}): {wide} {n}{''.join(f' (#{n}{k})' for k in range(40))}{note if '!' in kind else ''}",
            author=Author(name=f"{'*' * 50}{kind}{n}", email=""),
            host=host,
        )
        for n in range(60)
        for kind in kinds
    ]
    events = (push(*commits), *(release(f"v{'*' * 70}{n}", host=host) for n in range(60)))
    draft = of_several(content_type, {f"acme/kettle{'*' * 80}{n}": events for n in range(1)})
    assert len(draft.markdown) <= MARKDOWN_LIMIT
    several = of_several(
        content_type,
        {f"acme/{'*' * 80}{n}": (push(f"feat: ring {n}"), release(f"v{n}", host=host)) for n in range(400)},
    )
    assert len(several.markdown) <= MARKDOWN_LIMIT
