"""LinkedIn posts: a hook, the most important changes, one link, few hashtags; plain text with line breaks."""

from typing import Final

from contentsvc_core.content.changelog.wording import cut_at_word, with_period
from contentsvc_core.content.forms.news import Item, News, besides, figures, news_of, page
from contentsvc_core.content.forms.plain_text import hashtag, inert, plain_url
from contentsvc_core.content.forms.wording import alike, as_written, in_figures, line_of, opening, title_of
from contentsvc_core.content.sections import Section
from contentsvc_core.content.writing import Brief, Draft

#: What LinkedIn takes, in characters.
LINKEDIN_LIMIT: Final = 3_000
#: About what it shows before "see more".
HOOK_LIMIT: Final = 200
_BULLETS: Final = 5
_BULLET_LIMIT: Final = 240
_HASHTAGS: Final = 3
_THANKED_FROM: Final = 3
_TAG_LIMIT: Final = 40
#: A line break that Markdown keeps and nobody sees.
_BREAK: Final = "  \n"


def write_linkedin_post(brief: Brief) -> Draft | None:
    """Write a LinkedIn post; ``None`` when nothing but upkeep has happened, and no release."""
    news = news_of(brief)
    if not (news.items or news.releases):
        return None
    lead = _lead(news)
    start = [_hook(news, lead), *_figures(news)]
    end = [*as_written(news), *_warning(news), *_thanks(news), *_link(news), *_hashtags(news)]
    points = _bullets(news, lead)
    while True:
        paragraphs = [*start, *([_BREAK.join(points)] if points else []), *end]
        markdown = "\n\n".join(paragraphs) + "\n"
        if len(markdown) <= LINKEDIN_LIMIT or not points:
            return Draft(title=title_of(news), markdown=markdown)
        points = points[:-1]


def _lead(news: News) -> Item | None:
    """Choose the change for the hook: the most important one that is short enough to be read whole."""
    if not news.announced:
        return None
    room = HOOK_LIMIT - len(opening(news)) - 1
    candidates = alike(news.announced)
    return next((item for item in candidates if len(line_of(item, news)) < room), candidates[0])


def _hook(news: News, lead: Item | None) -> str:
    start = opening(news)
    if lead is None:
        return inert(start)
    # Never so short that nothing is said: a very long announcement is a long hook then.
    room = max(HOOK_LIMIT - len(start) - 2, _BULLET_LIMIT // 2)
    return inert(with_period(f"{start} {cut_at_word(line_of(lead, news), room)}"))


def _figures(news: News) -> list[str]:
    phrases = news.voice.phrases
    counted = figures(news, news.announced)
    said = [inert(each) for each in besides(news)]
    # One of one kind is told already.
    if len(counted) > 1 or len(news.announced) > 1:
        said.insert(0, in_figures(news, phrases.enumerated(counted)))
    return [" ".join(said)] if said else []


def _bullets(news: News, lead: Item | None) -> list[str]:
    items = [item for item in news.items if item is not lead and not item.minor] or [
        item for item in news.items if item is not lead
    ]
    return [inert(f"• {cut_at_word(line_of(item, news), _BULLET_LIMIT)}") for item in _mixed(items)]


def _mixed(items: list[Item]) -> list[Item]:
    """Choose what is shown: the most important ones, but not features alone when there are fixes, too."""
    shown = items[:_BULLETS]
    fixes = [item for item in items[_BULLETS:] if item.change.section is Section.FIXED]
    if fixes and all(item.change.section is not Section.FIXED for item in shown):
        shown[-1] = fixes[0]
    return shown


def _warning(news: News) -> list[str]:
    if any(item.change.section is Section.BREAKING for item in news.items):
        return [news.voice.phrases.breaking_warning.of(news.voice.tone)]
    return []


def _thanks(news: News) -> list[str]:
    phrases = news.voice.phrases
    # Fewer would have to be named, and nobody's account at LinkedIn is known.
    if len(news.people) < _THANKED_FROM:
        return []
    return [phrases.thanks_people.of(news.voice.tone).format(n=phrases.number(len(news.people)))]


def _link(news: News) -> list[str]:
    phrases = news.voice.phrases
    found = page(news)
    if found is None:
        return []
    release, url = found
    return [(phrases.more_in_notes if release else phrases.more_in_repository).format(url=plain_url(url))]


def _hashtags(news: News) -> list[str]:
    """Make hashtags of what is known: projects, company, and that it is a release or concerns security."""
    security = any(item.change.section is Section.SECURITY for item in news.items)
    released = any(not release.prerelease for _, release in news.releases)
    names = [
        *(part.project for part in news.active[:2]),
        news.voice.company,
        "Security" if security else "",
        "Release" if released else "",
    ]
    tags = {tag.casefold(): tag for name in names if (tag := hashtag(name)) and len(tag) <= _TAG_LIMIT}
    return [" ".join(list(tags.values())[:_HASHTAGS])] if tags else []
