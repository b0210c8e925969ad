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

#: LinkedIn's limit for a post, in characters.
LINKEDIN_LIMIT: Final = 3_000
#: The characters that LinkedIn shows before "see more", about.
HOOK_LIMIT: Final = 200
_FEWEST_POINTS: Final = 3
_POINTS: Final = 5
_POINT_LIMIT: Final = 240
_HASHTAGS: Final = 3
_TAG_LIMIT: Final = 40
#: Fewer people would have to be named, and their accounts at LinkedIn are unknown.
_THANKED_FROM: Final = 3
#: A line break of Markdown.
_BREAK: Final = "  \n"


def write_linkedin_post(news: News) -> Draft:
    """Return a LinkedIn post with as many points as fit."""
    lead = None if news.lead else _lead(news)
    points = _points(news, lead)
    while True:
        counts = [*also(news, [*([lead] if lead else []), *points]), *besides(news)]
        paragraphs = [_hook(news, lead), _explanation(news, lead), _listed(points, news), inert(" ".join(counts))]
        markdown = "\n\n".join(filter(None, [*paragraphs, *_closing(news)])) + "\n"
        if len(markdown) <= LINKEDIN_LIMIT or not points:
            return Draft(title=title_of(news), markdown=markdown)
        points = points[:-1]


def _lead(news: News) -> Item | None:
    """Return the change for the hook: the most important one that is short enough to be read whole."""
    room = HOOK_LIMIT - len(opening(news)) - 1
    candidates = alike(news.announced)
    return next((item for item in candidates if len(line_of(item, news)) < room), next(iter(candidates), None))


def _hook(news: News, lead: Item | None) -> str:
    start = opening(news)
    # A very long opening makes a long hook: the hook always has some of the change.
    room = max(HOOK_LIMIT - len(start) - 2, _POINT_LIMIT // 2)
    said = line_of(lead, news) if lead else first_sentence(plain(news.lead))[0]
    return inert(f"{start} {with_period(cut_at_word(said, room))}" if said else start)


def _explanation(news: News, lead: Item | None) -> str:
    return inert(explained(lead, news) if lead else plain(first_sentence(news.lead)[1]))


def _points(news: News, lead: Item | None) -> list[Item]:
    """Return the most important changes; one of them is a fix if there are fixes."""
    rest = [item for item in news.items if item is not lead]
    items = [item for item in rest if not item.minor or item.noted] or rest
    shown = items[:_POINTS]
    fixes = [item for item in items[_POINTS:] if item.change.section is Section.FIXED]
    if fixes and all(item.change.section is not Section.FIXED for item in shown):
        shown[-1] = fixes[0]
    return shown


def _listed(points: list[Item], news: News) -> str:
    """Return the points as a list, or as sentences if they are too few for a list."""
    lines = [cut_at_word(line_of(item, news), _POINT_LIMIT) for item in points]
    if len(lines) < _FEWEST_POINTS:
        return inert(" ".join(map(with_period, lines)))
    return _BREAK.join(inert(f"• {line}") for line in lines)


def _closing(news: News) -> list[str]:
    """Return the last paragraphs: a warning, thanks, the address, hashtags of projects and company."""
    phrases, voice, found = news.phrases, news.voice, page(news)
    names = [*(part.project for part in news.active[:2]), voice.company]
    tags = {tag.casefold(): tag for name in names if (tag := hashtag(name)) and len(tag) <= _TAG_LIMIT}
    people = len(news.people)
    return [
        voice.say(phrases.breaking_warning) if news.of(Section.BREAKING) else "",
        voice.say(phrases.thanks_people, n=phrases.number(people)) if people >= _THANKED_FROM else "",
        where_to_read(news, plain_url(found[1])) if found else "",
        " ".join(list(tags.values())[:_HASHTAGS]),
    ]
