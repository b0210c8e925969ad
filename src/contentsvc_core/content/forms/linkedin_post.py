"""LinkedIn posts: a hook, three to five points, a closing line, few hashtags; plain text with line breaks."""

from typing import Final

from contentsvc_core.content.changelog.titles import plain
from contentsvc_core.content.changelog.wording import cut_at_word, with_period
from contentsvc_core.content.forms.news import Item, News, besides, page
from contentsvc_core.content.forms.notes import first_sentence
from contentsvc_core.content.forms.plain_text import hashtag, inert, plain_url
from contentsvc_core.content.forms.wording import alike, also, explained, line_of, opening, title_of, where_to_read
from contentsvc_core.content.sections import Section
from contentsvc_core.content.writing import Draft

#: What LinkedIn takes, in characters.
LINKEDIN_LIMIT: Final = 3_000
#: About what it shows before "see more".
HOOK_LIMIT: Final = 200
_FEWEST_POINTS: Final = 3
_POINTS: Final = 5
_POINT_LIMIT: Final = 240
_HASHTAGS: Final = 3
_THANKED_FROM: Final = 3
_TAG_LIMIT: Final = 40
#: A line break that Markdown keeps and nobody sees.
_BREAK: Final = "  \n"


def write_linkedin_post(news: News) -> Draft:
    """Write a LinkedIn post."""
    lead = None if news.lead else _lead(news)
    points = _points(news, lead)
    while True:
        told = [*([lead] if lead else []), *points]
        paragraphs = [
            _hook(news, lead),
            *_explained(news, lead),
            *_listed(points, news),
            *_counted(news, told),
            *_warning(news),
            *_thanks(news),
            *_link(news),
            *_hashtags(news),
        ]
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
    # Never so short that nothing is said: a very long announcement is a long hook then.
    room = max(HOOK_LIMIT - len(start) - 2, _POINT_LIMIT // 2)
    said = line_of(lead, news) if lead else first_sentence(plain(news.lead))[0]
    return inert(f"{start} {with_period(cut_at_word(said, room))}" if said else start)


def _explained(news: News, lead: Item | None) -> list[str]:
    """Return the author's explanation of the change in the hook."""
    more = explained(lead, news) if lead else plain(first_sentence(news.lead)[1])
    return [inert(more)] if more else []


def _points(news: News, lead: Item | None) -> list[Item]:
    """Choose the points: the most important changes, but not features alone when there are fixes, too."""
    rest = [item for item in news.items if item is not lead]
    items = [item for item in rest if not item.minor or item.noted] or rest
    shown = items[:_POINTS]
    fixes = [item for item in items[_POINTS:] if item.change.section is Section.FIXED]
    if fixes and all(item.change.section is not Section.FIXED for item in shown):
        shown[-1] = fixes[0]
    return shown


def _listed(points: list[Item], news: News) -> list[str]:
    """Return the points as a list; too few for a list are sentences."""
    lines = [cut_at_word(line_of(item, news), _POINT_LIMIT) for item in points]
    if len(lines) < _FEWEST_POINTS:
        return [inert(" ".join(map(with_period, lines)))] if lines else []
    return [_BREAK.join(inert(f"• {line}") for line in lines)]


def _counted(news: News, told: list[Item]) -> list[str]:
    said = [*also(news, told), *besides(news)]
    return [inert(" ".join(said))] if said else []


def _warning(news: News) -> list[str]:
    if any(item.change.section is Section.BREAKING for item in news.items):
        return [news.voice.phrases.breaking_warning.of(news.voice.tone)]
    return []


def _thanks(news: News) -> list[str]:
    phrases = news.voice.phrases
    # Fewer would have to be named, and nobody's account at LinkedIn is known.
    if len(news.people) < _THANKED_FROM:
        return []
    return [phrases.say(phrases.thanks_people.of(news.voice.tone), n=phrases.number(len(news.people)))]


def _link(news: News) -> list[str]:
    found = page(news)
    return [where_to_read(news, plain_url(found[1]))] if found else []


def _hashtags(news: News) -> list[str]:
    """Return hashtags of the names of projects and company."""
    names = [*(part.project for part in news.active[:2]), news.voice.company]
    tags = {tag.casefold(): tag for name in names if (tag := hashtag(name)) and len(tag) <= _TAG_LIMIT}
    return [" ".join(list(tags.values())[:_HASHTAGS])] if tags else []
