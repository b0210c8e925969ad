"""What is said of releases: only what they contain, and that a pre-release is one."""

from typing import Final

import pytest
from attrs import evolve
from writing_samples import JUNE, brand, brief, of_several, push, release, written

from contentsvc_core.content.brand import ToneProfile
from contentsvc_core.content.forms import write_content
from contentsvc_core.content.phrases import PHRASEBOOKS
from contentsvc_core.content.posts import ContentType
from contentsvc_core.webhooks.events import Event

_BLOG, _LINKEDIN, _TWITTER = ContentType.BLOG_POST, ContentType.LINKEDIN_POST, ContentType.TWITTER_POST
_UPDATE = ContentType.INVESTOR_UPDATE
_BETA: Final = release("v2.0.0-rc1", prerelease=True)
_LAMP: Final[tuple[Event, ...]] = (push("feat!: drop the old plug", "fix: stop the drip"), _BETA)
_LID: Final[tuple[Event, ...]] = (push("feat: sing at noon", "feat: ring at noon"), push("fix: close the lid again"))


def test_a_release_is_not_credited_with_what_other_repositories_did() -> None:
    events = {"acme/kettle": _LAMP, "acme/lid": _LID}
    twitter = of_several(_TWITTER, events)
    assert twitter.markdown.partition("\n")[0] == (
        "kettle v2.0.0-rc1 (pre-release) is available. Breaking change: Drop the old plug (kettle), plus 1 fix."
        " In lid: 2 features and 1 fix."
    )
    said = "1 pre-release, 1 breaking change and 1 fix. In lid: 2 features and 1 fix."
    assert said in of_several(_LINKEDIN, events).markdown
    assert said in of_several(_BLOG, events).markdown
    assert all("drop the old plug" in of_several(each, events).title for each in (_BLOG, _LINKEDIN, _TWITTER))


def test_what_came_after_the_last_release_is_not_credited_to_it() -> None:
    later = (*_LAMP, push("feat: sing at noon", "fix: close the lid again"))
    assert (
        "(pre-release) is available. Breaking change: Drop the old plug, plus 1 fix. Not released yet: 1 feature"
        in (written(_TWITTER, *later).markdown)
    )
    linkedin = written(_LINKEDIN, *later).markdown
    assert "1 breaking change and 1 fix. Not released yet: 1 feature and 1 fix." in linkedin
    assert "• New: Sing at noon (not released yet)" in linkedin
    assert "• Fix: Stop the drip  \n" in linkedin
    assert "- Sing at noon (not released yet)." in written(_BLOG, *later).markdown


@pytest.mark.parametrize("content_type", [_BLOG, _LINKEDIN, _TWITTER])
def test_news_beside_a_release_of_upkeep_is_not_the_releases(content_type: ContentType) -> None:
    quiet: tuple[Event, ...] = (push("chore: wipe"), release())
    draft = of_several(content_type, {"acme/kettle": quiet, "acme/lid": _LID})
    assert draft.title == "kettle v1.2.0; lid: Sing at noon"
    assert draft.markdown.startswith("kettle v1.2.0 is available.")
    assert "In lid: 2 features and 1 fix." in draft.markdown
    after = written(content_type, *quiet, "feat: sing at noon")
    before = written(content_type, push("chore: wipe"), release(), push("feat: sing at noon"))
    assert (after.title, before.title) == (
        "kettle v1.2.0: Sing at noon",
        "kettle v1.2.0; not released yet: Sing at noon",
    )


@pytest.mark.parametrize("window", [JUNE, None])
@pytest.mark.parametrize("content_type", ContentType)
def test_an_announced_release_contains_all_that_its_brief_tells(content_type: ContentType, window: object) -> None:
    announced = evolve(brief(content_type, _LAMP[0], window=window), release=_BETA)
    draft = write_content(announced)
    assert draft is not None
    assert "not released yet" not in (draft.title + draft.markdown).casefold()
    assert "pre-release" in draft.title or content_type is _UPDATE


@pytest.mark.parametrize("language", PHRASEBOOKS)
@pytest.mark.parametrize("content_type", ContentType)
def test_a_pre_release_is_called_one_in_every_language_and_tone(content_type: ContentType, language: str) -> None:
    phrases = PHRASEBOOKS[language]
    for tone in ToneProfile:
        voice = brand(tone=tone, language=language, company="Acme")
        draft = written(content_type, *_LAMP, brand=voice)
        mark = f"v2.0.0-rc1 ({phrases.pre_release})"
        if content_type is _UPDATE:
            assert phrases.count(1, phrases.pre_released_versions, tags="kettle v2.0.0-rc1") in draft.markdown
        else:
            assert mark in draft.title
        if content_type in {_BLOG, _LINKEDIN, _TWITTER}:
            assert mark in draft.markdown.partition("\n")[0]
        full = f"{phrases.count(1, phrases.release_count)} "
        assert full not in draft.markdown.replace(phrases.count(1, phrases.pre_release_count), "")
        assert "#Release" not in draft.markdown


def test_releases_and_pre_releases_are_counted_apart() -> None:
    events = (release("v1"), _BETA, release("v2.0.0-rc2", prerelease=True), push("fix: stop the drip"), release("v2"))
    assert "2 releases, 2 pre-releases and 1 fix." in written(_LINKEDIN, *events).markdown
    assert "#Release" in written(_LINKEDIN, *events).markdown
    update = written(_UPDATE, *events).markdown
    assert (
        "2 releases were published: kettle v1 and v2. 2 pre-releases were published: kettle v2.0.0-rc1 and v2.0.0-rc2."
    ) in update
    assert "| acme/kettle | 1 | 1 | 2, plus 2 pre-releases |" in update


def test_releases_of_other_days_are_not_said_to_be_of_the_window() -> None:
    late = evolve(release(), published_at="2029-12-24T10:00:00Z")
    ring = push("feat: ring at noon", "fix: stop the drip")
    for content_type in (_BLOG, _LINKEDIN):
        assert "In figures, 1\u201330 June 2030: 1 release" in written(content_type, ring, release()).markdown
        assert "In figures: 1 release" in written(content_type, ring, late).markdown
    update = written(_UPDATE, ring, late).markdown
    assert "1 release was received: kettle v1.2.0." in update
    assert "(24 December 2029)" in update
    assert "published" not in update


@pytest.mark.parametrize("content_type", [ContentType.CHANGELOG, _BLOG, _UPDATE])
@pytest.mark.parametrize(("number", "said"), [(0, None), (1, "1 earlier event"), (3, "3 earlier events")])
def test_what_was_too_much_to_be_read_is_said(content_type: ContentType, number: int, said: str | None) -> None:
    markdown = written(content_type, "feat: ring at noon", left_out=number).markdown
    assert ("of this time" in markdown) is (said is not None)
    assert said is None or f"{said} of this time {'is' if number == 1 else 'are'} not covered here." in markdown


@pytest.mark.parametrize("language", PHRASEBOOKS)
@pytest.mark.parametrize("content_type", [each for each in ContentType if each is not _TWITTER])
def test_posts_in_other_languages_say_once_that_commits_are_not_translated(
    content_type: ContentType, language: str
) -> None:
    markdown = written(content_type, *_LAMP, brand=brand(language=language)).markdown
    assert markdown.count(PHRASEBOOKS[language].as_written) == (language != "English")
    alone = written(content_type, release(), brand=brand(language=language)).markdown
    assert PHRASEBOOKS[language].as_written not in alone
