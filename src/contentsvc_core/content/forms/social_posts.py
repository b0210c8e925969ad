"""Posts for LinkedIn and X: plain text with line breaks, without Markdown.

Such services link addresses, mentions of ``@name`` and ``#words``. Untrusted text is changed visibly so that they find
none.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from contentsvc_core.content.changelog.lines import plain
from contentsvc_core.content.changelog.markdown import cut_at_word, first_sentence, inline, with_period
from contentsvc_core.content.changelog.report import Item
from contentsvc_core.content.changelog.select import is_minor
from contentsvc_core.content.forms import news as wording
from contentsvc_core.content.forms.news import News
from contentsvc_core.content.plain import INVISIBLE
from contentsvc_core.content.sections import CRITICAL, Section
from contentsvc_core.content.writing import Draft
from contentsvc_core.text import storable

#: LinkedIn's limit of a post, in characters.
LINKEDIN_LIMIT: Final = 3_000
#: The characters that LinkedIn shows before "see more", about.
HOOK_LIMIT: Final = 200
_FEWEST_POINTS: Final = 2
_POINTS: Final = 5
#: The breaking changes that come before other news; more of them come after it.
_BREAKING: Final = 2
_POINT_LIMIT: Final = 240
_HASHTAGS: Final = 3
_TAG_LIMIT: Final = 40
#: Fewer people would have to be named, and their accounts at LinkedIn are unknown.
_THANKED_FROM: Final = 3
_BREAK: Final = "  \n"
#: X's limit of a post, in characters.
TWEET_LIMIT: Final = 280
_GAP: Final = "\n\n"
#: A post for X names up to this many other changes, and counts the rest.
_OTHERS: Final = 3
#: The weight of every address (docs.x.com, "Counting characters").
URL_WEIGHT: Final = 23
#: Code points of weight one; others weigh two (the same page: configuration 3 of twitter-text).
_LIGHT: Final = ((0x0000, 0x10FF), (0x2000, 0x200D), (0x2010, 0x201F), (0x2032, 0x2037))
#: Top-level domains that are hardly the ending of a file or a name in code.
_DOMAINS: Final = (
    "com|net|org|info|biz|io|co|ai|app|dev|xyz|top|site|online|shop|store|live|link|click|club|pro|tv|us|uk|eu|de|fr|es"
    "|it|nl|ru|cn|jp|kr|br|ch|at|be|se|fi|dk|cz|ly|gg|page|cloud|tech|blog|news|space|website|example"
)
#: A sign of a name in a domain: any but spaces and ASCII punctuation, such as a combining mark.
_SIGN: Final = r"[^\s\x00-,./:-@\[-^`{-\x7f]"
#: Addresses that services link, with or without a scheme.
# Possessive, without overlapping beginnings: each character is read a fixed number of times.
ADDRESS: Final = re.compile(
    r"(?<![\w+.-])[a-z][\w+.-]*+://\S*+|(?<![\w.])www\.\S*+"
    rf"|(?<!{_SIGN})(?<!\.){_SIGN}++(?:\.{_SIGN}++)*?\.(?:{_DOMAINS})(?![\w-])(?:\.{_SIGN}++)*+",
    re.IGNORECASE,
)
#: Words with a dot that the service may count as an address, e.g. ``README.md``.
_DOTTED: Final = re.compile(r"(?<![\w.-])[\w-]++(?:\.[\w-]++)*?\.[^\W\d_]{2,}+[\w/-]*+")
_MENTION: Final = re.compile(
    r"(?<![\w@\uff20$])[@\uff20$]++(?=[^\W\d]|(?<!\$)\w)|(?<![\w\uff03#])[\uff03#]++(?=\w*[^\W\d])"
)
_PLAIN: Final = re.compile(r"[*~_]")
_INVISIBLE: Final = re.compile(INVISIBLE)


def write_linkedin_post(news: News) -> Draft:
    lead = None if news.lead else _lead(news)
    points = _points(news, lead)
    while True:
        named = [*([lead] if lead else []), *points]
        counts = [*wording.also(news, named), *wording.besides(news, named)]
        explanation = wording.explained(lead, news) if lead else plain(first_sentence(news.lead)[1])
        listed = _BREAK.join(map(inline, _points_of(points, news, also=lead is not None)))
        paragraphs = [_hook(news, lead), inert(explanation), listed, inert(" ".join(counts))]
        markdown = "\n\n".join(filter(None, [*paragraphs, *_closing(news)])) + "\n"
        if len(markdown) <= LINKEDIN_LIMIT or not points:
            return Draft(title=wording.post_title(news, named), markdown=markdown)
        points = points[:-1]


def _lead(news: News) -> Item | None:
    budget = HOOK_LIMIT - len(wording.opening(news)) - 1
    candidates = wording.lead_candidates(news.announced)
    return next(
        (item for item in candidates if len(wording.sentence_of(item, news)) < budget), next(iter(candidates), None)
    )


def _hook(news: News, lead: Item | None) -> str:
    start = wording.opening(news)
    text = wording.sentence_of(lead, news) if lead else first_sentence(plain(news.lead))[0]
    # LinkedIn folds a long text itself.
    return inert(f"{start} {with_period(cut_at_word(text, _POINT_LIMIT))}" if text else start)


def _points(news: News, lead: Item | None) -> list[Item]:
    rest = sorted((item for item in news.items if item is not lead), key=lambda item: not item.released)
    items = [item for item in rest if not is_minor(item.change) or item.change.noted]
    # The number of few changes says less than the changes.
    items = rest if not items or len(rest) <= _POINTS + 1 else items
    # Readers also want to know why to upgrade.
    breaking = [item for item in items if item.change.section is Section.BREAKING]
    items = [*breaking[:_BREAKING], *(item for item in items if item not in breaking), *breaking[_BREAKING:]]
    points = items[:_POINTS]
    if len(rest) == len(points) + 1:
        points += [item for item in rest if item not in points]
    fixes = [item for item in items if item.change.section is Section.FIXED]
    if fixes and all(item.change.section is not Section.FIXED for item in points):
        points[-1] = fixes[0]
    return points


def _points_of(items: Sequence[Item], news: News, *, also: bool) -> list[str]:
    """Return the lines of changes beside the lead: a sentence for one change, a list for several."""
    if len(items) < _FEWEST_POINTS:
        return [inactive(with_period(wording.sentence_of(item, news, also=also))) for item in items]
    return [f"• {inactive(cut_at_word(wording.line_of(item, news), _POINT_LIMIT))}" for item in items]


def _closing(news: News) -> list[str]:
    phrases, voice, target = news.phrases, news.voice, wording.page(news)
    names = [*(part.project for part in news.active[:2]), voice.company]
    tags = {tag.casefold(): tag for name in names if (tag := hashtag(name)) and len(tag) <= _TAG_LIMIT}
    people = len(news.people)
    return [
        voice.format(phrases.breaking_warning) if news.of(Section.BREAKING) else "",
        voice.format(phrases.thanks_people, n=phrases.number(people)) if people >= _THANKED_FROM else "",
        wording.where_to_read(news, plain_url(target[1])) if target else "",
        " ".join(list(tags.values())[:_HASHTAGS]),
    ]


def write_twitter_post(news: News) -> Draft:
    target = wording.page(news)
    budget = TWEET_LIMIT - (URL_WEIGHT + len(_GAP) if target else 0)
    text, mentioned = _fitting(news, budget)
    more, named = _more(news, mentioned, budget - weight(text) - len(_GAP))
    if not more and len(news.announced) > len(mentioned):
        # The other changes say more than an explanation of one.
        text, mentioned = _fitting(news, budget, explains=False)
        more, named = _more(news, mentioned, budget - weight(text) - len(_GAP))
    lines = [_BREAK.join(map(inline, block)) for block in more]
    blocks = [inline(text), *lines, *([plain_url(target[1])] if target else [])]
    return Draft(title=wording.post_title(news, [*mentioned, *named]), markdown=f"{_GAP.join(blocks)}\n")


def _fitting(news: News, budget: int, *, explains: bool = True) -> tuple[str, list[Item]]:
    """Return the beginning of a post for X, and the change that it mentions.

    ``explains``: with the author's explanation, if it fits; a breaking change always has its note.
    """
    start = wording.opening(news)
    items = wording.lead_candidates(news.announced)
    leads = dict.fromkeys([plain(news.lead), first_sentence(plain(news.lead))[0]] if news.lead else [])
    texts: list[tuple[str, list[Item]]] = [(f"{start} {each}", []) for each in leads]
    for item in items:
        line = with_period(f"{start} {wording.sentence_of(item, news)}")
        more = wording.explained(item, news) if explains or item.change.notes else ""
        texts += [(each, [item]) for each in ([f"{line} {more}", line] if more else [line])]
    if not items and not leads:
        texts.append((" ".join([start, *wording.besides(news)]), []))
    for text, mentioned in texts:
        if weight(shown := inactive(text)) <= budget:
            return shown, mentioned
    last, mentioned = texts[-1]
    cuts = (inactive(cut_at_word(last, limit)) for limit in range(budget, 0, -1))
    return next(cut for cut in cuts if weight(cut) <= budget), mentioned


def _more(news: News, mentioned: list[Item], budget: int) -> tuple[list[list[str]], list[Item]]:
    """Return what else is new, as far as a post for X has space, and the changes that it names.

    The blocks of lines have the first changes, and the numbers of the rest.
    """
    others = [item for item in news.announced if item not in mentioned]
    named = [item for item in others if not is_minor(item.change) or item.change.noted]
    # The number of few changes says less than the changes.
    named = others if len(others) - len(named) == 1 or len(others) <= _OTHERS + 1 else named
    most = len(named) if len(named) == len(others) == _OTHERS + 1 else _OTHERS
    if any(item.change.section is Section.BREAKING for item in mentioned):
        named.sort(key=lambda item: item.change.section is Section.BREAKING)
    most = min(most, len(named))
    # A list of fewer changes reads better than sentences about more.
    lists = [(count, True) for count in range(most, _FEWEST_POINTS - 1, -1)]
    sentences = [(count, False) for count in range(min(most, _FEWEST_POINTS), -1, -1)]
    for count, in_list in lists + sentences:
        # What readers act on comes first, whichever is chosen.
        shown = sorted(named[:count], key=lambda item: item.change.section is not Section.BREAKING)
        rest = [item for item in others if item not in named[:count]]
        # Behind a link to all of them, the number of one says nothing.
        alone = len(rest) == 1 and rest[0].change.section not in CRITICAL and wording.page(news) is not None
        counts = [] if alone else list(map(inactive, wording.also(news, [*mentioned, *named[:count]])))
        for blocks in _arranged(shown, counts, news, in_list=in_list, also=bool(mentioned)):
            if blocks and weight(_GAP.join(map("\n".join, blocks))) <= budget:
                return blocks, named[:count]
    return [], []


def _arranged(
    shown: Sequence[Item], counts: list[str], news: News, *, in_list: bool, also: bool
) -> Iterator[list[list[str]]]:
    """Yield the blocks of changes and numbers; of all changes, in a list and in sentences, which need less space."""
    if in_list or not counts:
        yield list(filter(None, [_points_of(shown, news, also=also), counts]))
    if not (in_list and counts):
        lines = [inactive(with_period(wording.line_of(item, news))) for item in shown]
        yield [[" ".join([*lines, *counts])]] if lines or counts else []


def inert(text: str) -> str:
    """Return one line of untrusted text, plain in and Markdown out: no link, no mention, no hashtag, no structure."""
    return inline(inactive(text))


def inactive(text: str) -> str:
    """Return one line of plain text in which nothing is an address, a mention or a hashtag."""
    # First, because the plain text of the post does not have them.
    visible = _INVISIBLE.sub("", plain(text))
    return _MENTION.sub("", ADDRESS.sub(lambda found: found[0].replace("://", "[:]//").replace(".", "[.]"), visible))


def weight(text: str) -> int:
    """Return the weight of a text without addresses as X counts it, or more.

    Emoji and most scripts beyond Europe count as 2 a character.
    """
    dotted = sum(max(0, URL_WEIGHT - len(found[0])) for found in _DOTTED.finditer(text))
    return dotted + sum(1 if any(low <= ord(sign) <= high for low, high in _LIGHT) else 2 for sign in text)


def plain_url(url: str) -> str:
    """Return an address that :func:`safe_url` gave as text that no renderer changes."""
    scheme, _, rest = url.replace("&amp;", "&").partition("://")
    host, slash, path = rest.partition("/")
    # A bare ampersand begins no entity: that would need a semicolon, and `safe_url` leaves none.
    return f"{scheme}://{host}{slash}{_PLAIN.sub(lambda sign: f'%{ord(sign[0]):02X}', path)}"


def hashtag(name: str) -> str:
    """Return a hashtag made of a name: ``tea-kettle`` is ``#TeaKettle``; ``""`` if nothing is left of it."""
    words = re.findall(r"[^\W_]+", storable(name))
    tag = "".join(word if any(letter.isupper() for letter in word) else word.capitalize() for word in words)
    return f"#{tag}" if tag and not tag.isdigit() else ""
