"""Titles and lines that the kinds of content share."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from contentsvc_core.content.changelog.titles import TITLE_LIMIT, headline, plain, plain_title
from contentsvc_core.content.forms.news import Item, News, parts_of, release_names, subject
from contentsvc_core.content.phrases import ENGLISH

#: So many of the most important changes may give the title, when the first one is too long for it.
_CANDIDATES: Final = 3


def title_of(news: News) -> str:
    """Say what is new: the releases or the projects, and the most important change that fits."""
    phrases = news.voice.phrases
    names = release_names(news)
    if not news.items:
        return plain_title("", phrases.released.format(names=names), "", phrases)
    start = names or phrases.news_title.format(subject=subject(news.active, phrases))
    shown = alike(news.announced)
    if not shown:
        # All the news is in no release: it is said where it is instead.
        elsewhere = [item for item in news.others if not news.pending(item)]
        shown = alike(elsewhere or news.others)
        start = f"{names}; {subject(parts_of(elsewhere), phrases) if elsewhere else phrases.not_released}"
    leads = [f"{_separator(item, news)}{title_line(item, news)}" for item in shown]
    lead = next((lead for lead in leads if len(start) + len(lead) <= TITLE_LIMIT), leads[0])
    return plain_title(start, lead, "", phrases)


def _separator(item: Item, news: News) -> str:
    """Give a dash before a line that has a colon of its own."""
    lead = news.voice.phrases.title_leads.get(item.change.section, "{text}")
    return ": " if title_line(item, news).startswith(plain(item.change.text)) or lead == "{text}" else " \u2013 "


def alike(items: Sequence[Item]) -> tuple[Item, ...]:
    """Give the most important of some items, as far as they are of one kind: any of them may stand in front."""
    return tuple(
        item
        for item in items[:_CANDIDATES]
        if item.change.section is items[0].change.section and item.minor == items[0].minor
    )


def title_line(item: Item, news: News) -> str:
    """Say one change in a title, plain."""
    if news.voice.technical:
        return headline(item.change, news.voice.phrases)
    lead = news.voice.phrases.title_leads.get(item.change.section, "{text}")
    return lead.format(text=plain(item.change.text if lead == "{text}" else item.change.continuation))


def opening(news: News) -> str:
    """Announce the releases, or that there is news: plain, one sentence, in the brand's tone."""
    voice = news.voice
    phrases = voice.phrases
    names = release_names(news)
    if names and voice.company:
        return phrases.announced_by.of(voice.tone).format(company=voice.company, names=names)
    if names:
        announced = phrases.announced_many if len(news.releases) > 1 else phrases.announced_one
        return announced.of(voice.tone).format(names=names)
    of = subject(news.active, phrases)
    if voice.company and voice.company.casefold() != of.casefold():
        return phrases.news_by.of(voice.tone).format(company=voice.company, subject=of)
    return phrases.news.of(voice.tone).format(subject=of)


def line_of(item: Item, news: News) -> str:
    """Say one change in a line of its own where no heading stands above it, plain."""
    change = item.change
    lead = news.voice.phrases.leads[change.section]
    said = plain(lead.format(text=change.text))
    places = [item.part.project] if news.several else []
    scope = plain(change.scope)
    if news.voice.technical and scope and scope.casefold() not in said.casefold():
        places.append(scope)
    if news.pending(item):
        places.append(news.voice.phrases.not_released)
    return f"{said} ({', '.join(places)})" if places else said


def rest_of(item: Item, news: News) -> str:
    """Count the other changes by kind, to be put behind one change; ``""`` when it is the only one.

    Behind releases only what they contain counts.
    """
    phrases = news.voice.phrases
    kinds = Counter(other.change.section for other in news.announced if other is not item)
    counted = [
        phrases.count(number, (phrases.more_kinds if section is item.change.section else phrases.kinds)[section])
        for section, number in kinds.items()
    ]
    return phrases.plus.format(parts=phrases.enumerated(counted)) if counted else ""


def in_figures(news: News, counts: str) -> str:
    """Say figures, and of which time they are if that is known of all of them."""
    phrases = news.voice.phrases
    if news.window is None or not news.dated:
        return phrases.figures.format(counts=counts)
    return phrases.figures_in.format(counts=counts, period=phrases.period(news.window))


def as_written(news: News) -> list[str]:
    """Say in a post in another language that the texts of commits are not translated, where any are told."""
    phrases = news.voice.phrases
    return [phrases.as_written] if phrases is not ENGLISH and news.items else []
