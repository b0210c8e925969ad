"""Posts for X, once Twitter: the most important change in 280 characters, as X counts them."""

from typing import Final

from contentsvc_core.content.changelog.markdown import inline
from contentsvc_core.content.changelog.titles import plain
from contentsvc_core.content.changelog.wording import cut_at_word, with_period
from contentsvc_core.content.forms.news import News, besides, page
from contentsvc_core.content.forms.notes import first_sentence
from contentsvc_core.content.forms.plain_text import URL_WEIGHT, inactive, plain_url, weight
from contentsvc_core.content.forms.wording import alike, explained, line_of, opening, title_of
from contentsvc_core.content.writing import Draft

TWEET_LIMIT: Final = 280
#: Between the text and the address.
_GAP: Final = "\n\n"


def write_twitter_post(news: News) -> Draft:
    """Return a post for X."""
    found = page(news)
    text = _fitting(news, TWEET_LIMIT - (URL_WEIGHT + len(_GAP) if found else 0))
    blocks = [inline(text), *([plain_url(found[1])] if found else [])]
    return Draft(title=title_of(news), markdown=f"{_GAP.join(blocks)}\n")


def _fitting(news: News, room: int) -> str:
    """Return the fullest text that fits: the opening, and the most important change."""
    start = opening(news)
    shown = alike(news.announced)
    said = first_sentence(plain(news.lead))[0]
    texts = [f"{start} {said}"] if said else []
    for item in shown:
        line = with_period(f"{start} {line_of(item, news)}")
        more = explained(item, news)
        texts += [f"{line} {more}", line] if more else [line]
    if not shown and not said:
        texts.append(" ".join([start, *besides(news)]))
    fitting = (text for text in map(inactive, texts) if weight(text) <= room)
    return next(fitting, "") or _cut(texts[-1], room)


def _cut(text: str, room: int) -> str:
    cuts = (inactive(cut_at_word(text, limit)) for limit in range(room, 0, -1))
    return next(cut for cut in cuts if weight(cut) <= room)
