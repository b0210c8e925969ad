"""Announcements of releases: only their real content, and pre-releases are marked."""

from typing import Final

import pytest
from writing_samples import brand, of_several, push, release, written

from contentsvc_core.content.brand import ToneProfile
from contentsvc_core.content.phrases import PHRASEBOOKS
from contentsvc_core.content.posts import PLAIN_TYPES, ContentType
from contentsvc_core.events.normalized import Event

_BLOG, _LINKEDIN, _TWITTER = ContentType.BLOG_POST, ContentType.LINKEDIN_POST, ContentType.TWITTER_POST
_UPDATE = ContentType.INVESTOR_UPDATE
_BETA: Final = release("v2.0.0-rc1", prerelease=True)
_LAMP: Final[tuple[Event, ...]] = (push("feat!: drop the old plug", "fix: stop the drip"), _BETA)
_LID: Final[tuple[Event, ...]] = (push("feat: sing at noon", "feat: ring at noon"), push("fix: close the lid again"))


def test_a_release_is_not_credited_with_what_other_repositories_did() -> None:
    events = {"acme/kettle": _LAMP, "acme/lid": _LID}
    twitter = of_several(_TWITTER, events)
    assert twitter.markdown.partition("\n")[0] == (
        "kettle v2.0.0-rc1 (pre-release) is available. Breaking: it drops the old plug."
    )
    linkedin = of_several(_LINKEDIN, events).markdown
    assert "• Stopped the drip  \n• Sing at noon (lid)  \n• Ring at noon (lid)  \n" in linkedin
    assert "In lid: 2 features and 1 fix." in of_several(_BLOG, events).markdown
    assert all("drop the old plug" in of_several(each, events).title for each in (_BLOG, _LINKEDIN, _TWITTER))


def test_what_came_after_the_last_release_is_not_credited_to_it() -> None:
    later = (*_LAMP, push("feat: sing at noon", *(f"fix: close lid {n} again" for n in range(5))))
    linkedin = written(_LINKEDIN, *later).markdown
    assert "• Stopped the drip  \n• Sing at noon (not released yet)  \n" in linkedin
    assert "\n\nNot released yet: 2 fixes.\n" in linkedin
    assert "- Sing at noon (not released yet)." in written(_BLOG, *later).markdown


@pytest.mark.parametrize("content_type", [_BLOG, _LINKEDIN, _TWITTER])
def test_news_beside_a_release_of_upkeep_is_not_the_releases(content_type: ContentType) -> None:
    quiet: tuple[Event, ...] = (push("chore: wipe"), release())
    draft = of_several(content_type, {"acme/kettle": quiet, "acme/lid": _LID})
    assert draft.title == "kettle v1.2.0; lid: sing at noon, ring at noon, close the lid again"
    assert (
        draft.markdown.startswith("kettle v1.2.0 is available. In lid: 2 features and 1 fix.") or "•" in draft.markdown
    )
    after = written(content_type, *quiet, "feat: sing at noon")
    before = written(content_type, push("chore: wipe"), release(), push("feat: sing at noon"))
    assert (after.title, before.title) == (
        "kettle v1.2.0: sing at noon",
        "kettle v1.2.0; not released yet: sing at noon",
    )


@pytest.mark.parametrize("language", PHRASEBOOKS)
@pytest.mark.parametrize("content_type", [each for each in ContentType if each not in PLAIN_TYPES])
def test_a_pre_release_is_called_one_in_every_language_and_tone(content_type: ContentType, language: str) -> None:
    for tone in ToneProfile:
        draft = written(content_type, *_LAMP, brand=brand(tone=tone, language=language, company="Acme"))
        mark = f"v2.0.0-rc1 ({PHRASEBOOKS[language].pre_release})"
        assert mark in draft.title or content_type is _UPDATE
        assert mark in draft.markdown or content_type is ContentType.CHANGELOG


def test_releases_and_pre_releases_are_counted_separately() -> None:
    events = (release("v1"), _BETA, release("v2.0.0-rc2", prerelease=True), push("fix: stop the drip"), release("v2"))
    assert "It covers 2 releases and 2 pre-releases: kettle v1 to v2." in written(_UPDATE, *events).markdown
