"""Titles and lines that the kinds of content share."""

import re
from collections.abc import Sequence
from typing import Final

from contentsvc_core.content.changelog.bodies import explanation
from contentsvc_core.content.changelog.page import bounded, notes_of
from contentsvc_core.content.changelog.select import Change
from contentsvc_core.content.changelog.titles import TITLE_LIMIT, plain, plain_title
from contentsvc_core.content.changelog.wording import sentence, with_period
from contentsvc_core.content.forms.news import Item, News, counted_kinds, page, parts_of, release_names, subject
from contentsvc_core.content.forms.notes import first_sentence
from contentsvc_core.content.phrases import ENGLISH
from contentsvc_core.content.sections import Section

#: Imperatives of subjects with a regular past tense, and the others with theirs.
_REGULAR: Final = """
    add adjust allow avoid centralize clarify consolidate convert correct create deprecate detect disable disallow
    downgrade eliminate enable enforce enhance ensure expand expose extend fix harden implement improve include
    increase integrate introduce lower migrate modernize optimize patch prevent raise reduce reimplement relax
    remove rename replace resolve restore restrict simplify standardize tighten unify
"""
_PAST: Final = {
    verb: f"{verb[:-1]}ied" if verb.endswith("y") else f"{verb.removesuffix('e')}ed" for verb in _REGULAR.split()
}
_PAST.update(bring="brought", make="made", permit="permitted", rewrite="rewrote", speed="sped")
#: Verbs that are often nouns, as in ``Update dialog is gone``.
_PAST_OR_NOUN: Final = {
    "change": "changed", "drop": "dropped", "handle": "handled", "limit": "limited", "move": "moved", "port": "ported",
    "support": "added support for", "switch": "switched", "update": "updated", "upgrade": "upgraded",
}  # fmt: skip
_PARTICIPLES: Final = frozenset({*_PAST.values(), *_PAST_OR_NOUN.values()})
_FIRST: Final = re.compile(r"([A-Za-z]+)( +)(?=(\S+))")
#: Words that follow a noun.
_AFTER_NOUN: Final = re.compile(
    r"(?:for|in|of|on|with|by|at|is|are|was|were|when|after|during|has|have|does|doesn't|and|or)\Z", re.IGNORECASE
)
_FINITE: Final = re.compile(r"\b(?:is|are|was|were|has|have|does|do|can|cannot|fails?|crash(?:es)?|breaks?)\b|n't\b")
#: Another imperative in the same subject: it would keep the present tense.
_AND_VERB: Final = re.compile(r"(?:,| and| or| &|;|\. ) ?([A-Za-z]+)")


def in_past(text: str) -> str:
    """Return an English subject in the past tense, or unchanged unless its first word is surely an imperative."""
    first = _FIRST.match(text)
    if first is None or _AFTER_NOUN.match(first[3]):
        return text
    word = first[1].casefold()
    past = _PAST.get(word)
    if past is None and not _FINITE.search(text):
        past = _PAST_OR_NOUN.get(word)
    if past is None or any(_is_verb(found[1]) for found in _AND_VERB.finditer(text)):
        return text
    return f"{past.capitalize() if first[1][0].isupper() else past}{text[first.end(1) :]}"


def says_what_was_done(text: str) -> bool:
    """Return whether a subject begins with a verb, e.g. ``Fixed`` or ``Avoid``."""
    first = text.partition(" ")[0].casefold()
    return _is_verb(first) or first in _PARTICIPLES or first in {"don't", "do", "never", "no", "stop", "use"}


def _is_verb(word: str) -> bool:
    return word.casefold() in _PAST or word.casefold() in _PAST_OR_NOUN


#: The candidates for the first place, for the case that the most important change is too long.
_CANDIDATES: Final = 3
#: Limits of the search for an explanation: characters of a message, and commits.
_MESSAGE_READ: Final = 8_000
_COMMITS_READ: Final = 5
#: The longest list, in characters.
_LIST_LIMIT: Final = 8_000
#: Words that name a section: without them a line gets a label.
_SAYS: Final = {
    Section.BREAKING: re.compile(r"break|incompatib", re.IGNORECASE),
    Section.SECURITY: re.compile(r"secur|vulnerab|\bcve-|\bghsa-|\bxss\b|csrf|injection", re.IGNORECASE),
    Section.DEPRECATED: re.compile(r"deprecat", re.IGNORECASE),
    Section.REMOVED: re.compile(r"remov|drop|delet|no longer", re.IGNORECASE),
    Section.FIXED: re.compile(r"(?:\w+[ -])?fix|correct|resolv|bug", re.IGNORECASE),
    Section.REVERTED: re.compile(r"revert|restor|reinstat", re.IGNORECASE),
}


def title_of(news: News) -> str:
    """Return the title: the releases or the projects, and the most important change that fits."""
    phrases = news.phrases
    names = release_names(news)
    start = names or phrases.say(phrases.news_title, subject=subject(news.active, phrases))
    shown = alike(news.announced)
    if not shown and names:
        said = plain(first_sentence(news.lead)[0]).rstrip(".")
        if said and len(names) + len(said) + 2 <= TITLE_LIMIT:
            return plain_title(f"{names}: ", said, "", phrases)
        if not news.others:
            return plain_title("", phrases.say(phrases.released, names=names), "", phrases)
        # No release contains news: the title names the place of the news.
        elsewhere = [item for item in news.others if not news.pending(item)]
        shown = alike(elsewhere or news.others)
        start = f"{names}; {subject(parts_of(elsewhere), phrases) if elsewhere else phrases.not_released}"
    in_place = len(parts_of(shown)) == 1 and not any(item.released for item in shown) and bool(names)
    leads = [_after_start(line_of(item, news, placed=not in_place, marked=False), item, news) for item in shown]
    lead = next((lead for lead in leads if len(start) + len(lead) <= TITLE_LIMIT), leads[0] if leads else "")
    return plain_title(start, lead, "", phrases)


def _after_start(line: str, item: Item, news: News) -> str:
    # A line with a label has a colon: a dash comes before it.
    return f": {line}" if line.startswith(said_of(item, news)) else f" \u2013 {line}"


def alike(items: Sequence[Item]) -> tuple[Item, ...]:
    """Return the most important items, as far as they have the section of the first one."""
    return tuple(
        item
        for item in items[:_CANDIDATES]
        if item.change.section is items[0].change.section and item.minor == items[0].minor
    )


def opening(news: News) -> str:
    """Return the first sentence of a post in the brand's tone, plain."""
    if names := release_names(news):
        return news.voice.announcement(names, many=len(news.releases) > 1)
    return news.voice.news(subject(news.active, news.phrases))


def said_of(item: Item, news: News, *, code: bool = False) -> str:
    """Return the text of a change, in English in the past tense where that is safe; ``code`` keeps marks of code."""
    text = sentence(item.change.text)
    text = in_past(text) if news.phrases is ENGLISH else text
    return text if code else plain(text)


def line_of(item: Item, news: News, *, placed: bool = True, marked: bool = True) -> str:
    """Return a change as a plain line, with a label where its words do not name the section.

    ``placed`` names the repository, among several; ``marked`` says that the change is not released yet.
    """
    change, phrases = item.change, news.phrases
    said = said_of(item, news)
    known = _SAYS.get(change.section)
    clear = known is None or known.search(said) or (change.section is Section.FIXED and says_what_was_done(said))
    if not clear and (lead := phrases.title_leads.get(change.section)):
        said = phrases.say(lead, text=plain(change.continuation))
    places = [item.part.project] if news.several and placed else []
    scope = plain(change.scope)
    if news.voice.technical and scope and scope.casefold() not in said.casefold():
        places.append(scope)
    if marked and news.pending(item):
        places.append(phrases.not_released)
    return f"{said} ({', '.join(places)})" if places else said


def explained(item: Item, news: News) -> str:
    """Return the author's explanation of a change, plain: a breaking note, or prose of the body."""
    if notes := notes_of(item.change):
        return plain(with_period(notes[0]))
    return plain(excerpt(item.change)) if news.voice.technical else ""


def excerpt(change: Change) -> str:
    """Return an explanation from the body of a commit: plain, whole sentences; may be empty."""
    bodies = (commit.message[:_MESSAGE_READ].partition("\n")[2] for commit in change.commits[:_COMMITS_READ])
    return next(filter(None, (explanation(body, said=change.text) for body in bodies)), "")


def listed(lines: Sequence[str], of: int, news: News) -> list[str]:
    """Return a list of the lines that fit, and the number of items that are missing in it."""
    shown = bounded(lines, _LIST_LIMIT)
    blocks = ["\n".join(shown)] if shown else []
    hidden = of - len(shown)
    return [*blocks, news.phrases.count(hidden, news.phrases.not_shown)] if hidden else blocks


def also(news: News, told: Sequence[Item]) -> list[str]:
    """Return a sentence with the numbers of announced changes that are not listed."""
    known = set(map(id, told))
    counts = counted_kinds([item for item in news.announced if id(item) not in known], news.phrases)
    return [news.voice.say(news.phrases.also, counts=counts)] if counts else []


def where_to_read(news: News, shown: str) -> str:
    """Return the link to the release's page, or to the repository; ``shown`` is its address, or Markdown."""
    found = page(news)
    release = found is not None and found[0]
    return news.voice.say(news.phrases.more_in_notes if release else news.phrases.more_in_repository, url=shown)


def as_written(news: News) -> list[str]:
    """Return the hint that texts of commits are not translated, where it applies."""
    foreign = news.phrases is not ENGLISH and (news.items or news.lead)
    return [news.phrases.as_written] if foreign else []
