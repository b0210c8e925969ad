"""Posts for X, once Twitter: the one most important thing in 280 characters, as that place counts them."""

from typing import Final

from contentsvc_core.content.changelog.markdown import inline
from contentsvc_core.content.changelog.wording import cut_at_word, with_period
from contentsvc_core.content.forms.news import News, besides, news_of, page
from contentsvc_core.content.forms.plain_text import inactive, plain_url
from contentsvc_core.content.forms.wording import alike, line_of, opening, rest_of, title_of
from contentsvc_core.content.writing import Brief, Draft

TWEET_LIMIT: Final = 280
#: Every address counts as one of this length (docs.x.com, "Counting characters").
URL_WEIGHT: Final = 23
#: Code points that count as one; every other one counts as two (the same page: configuration 3 of twitter-text).
_LIGHT: Final = ((0x0000, 0x10FF), (0x2000, 0x200D), (0x2010, 0x201F), (0x2032, 0x2037))
#: What stands between the text and the address.
_GAP: Final = "\n\n"


def write_twitter_post(brief: Brief) -> Draft | None:
    """Write a post for X; ``None`` when nothing but upkeep has happened, and no release."""
    news = news_of(brief)
    if not (news.items or news.releases):
        return None
    found = page(news)
    text = _fitting(news, TWEET_LIMIT - (URL_WEIGHT + len(_GAP) if found else 0))
    blocks = [inline(text), *([plain_url(found[1])] if found else [])]
    return Draft(title=title_of(news), markdown=f"{_GAP.join(blocks)}\n")


def weight(text: str) -> int:
    """Count a text without addresses as X does: 2 for each sign of most scripts beyond Europe's and for emoji.

    An emoji of several code points counts as 2 there and as more here: never too little.
    """
    return sum(1 if any(low <= ord(sign) <= high for low, high in _LIGHT) else 2 for sign in text)


def _fitting(news: News, room: int) -> str:
    """Give the fullest text that fits: what is announced, the most important change, and how many others there are."""
    start = opening(news)
    others = besides(news)
    shown = alike(news.announced)
    for item in shown:
        line = f"{start} {line_of(item, news)}"
        counted = with_period(f"{line}{rest_of(item, news)}")
        for text in (" ".join([counted, *others]), counted, with_period(line)):
            if weight(inactive(text)) <= room:
                return inactive(text)
    if not shown:
        text = inactive(" ".join([start, *others]))
        return text if weight(text) <= room else _cut(start, room)
    return _cut(f"{start} {line_of(shown[0], news)}", room)


def _cut(text: str, room: int) -> str:
    cuts = (inactive(cut_at_word(text, limit)) for limit in range(room, 0, -1))
    return next(cut for cut in cuts if weight(cut) <= room)
