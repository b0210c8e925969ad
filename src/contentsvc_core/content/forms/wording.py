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

#: What authors do to software, in the imperative, and how it is said once it is done.
_PAST: Final = {
    "add": "added", "adjust": "adjusted", "allow": "allowed", "avoid": "avoided", "bring": "brought",
    "centralize": "centralized", "clarify": "clarified", "consolidate": "consolidated", "convert": "converted",
    "correct": "corrected", "create": "created", "deprecate": "deprecated", "detect": "detected",
    "disable": "disabled", "disallow": "disallowed", "downgrade": "downgraded", "eliminate": "eliminated",
    "enable": "enabled", "enforce": "enforced", "enhance": "enhanced", "ensure": "ensured", "expand": "expanded",
    "expose": "exposed", "extend": "extended", "fix": "fixed", "harden": "hardened", "implement": "implemented",
    "improve": "improved", "include": "included", "increase": "increased", "integrate": "integrated",
    "introduce": "introduced", "lower": "lowered", "make": "made", "migrate": "migrated", "modernize": "modernized",
    "optimize": "optimized", "patch": "patched", "permit": "permitted", "prevent": "prevented", "raise": "raised",
    "reduce": "reduced", "reimplement": "reimplemented", "relax": "relaxed", "remove": "removed",
    "rename": "renamed", "replace": "replaced", "resolve": "resolved", "restore": "restored",
    "restrict": "restricted", "rewrite": "rewrote", "simplify": "simplified", "speed": "sped", "standardize":
    "standardized", "tighten": "tightened", "unify": "unified",
}  # fmt: skip
#: Verbs that are nouns as often; ``Update dialog is gone`` stays as it is.
_PAST_OR_NOUN: Final = {
    "change": "changed", "drop": "dropped", "handle": "handled", "limit": "limited", "move": "moved", "port": "ported",
    "support": "added support for", "switch": "switched", "update": "updated", "upgrade": "upgraded",
}  # fmt: skip
_PARTICIPLES: Final = frozenset({*_PAST.values(), *_PAST_OR_NOUN.values()})
_FIRST: Final = re.compile(r"([A-Za-z]+)( +)(?=(\S+))")
#: What follows a noun: then the first word was none of the verbs.
_AFTER_NOUN: Final = re.compile(
    r"(?:for|in|of|on|with|by|at|is|are|was|were|when|after|during|has|have|does|doesn't|and|or)\Z", re.IGNORECASE
)
_FINITE: Final = re.compile(r"\b(?:is|are|was|were|has|have|does|do|can|cannot|fails?|crash(?:es)?|breaks?)\b|n't\b")
#: Another imperative in the same subject would stay in the present.
_AND_VERB: Final = re.compile(r"(?:,| and| or| &|;|\. ) ?([A-Za-z]+)")


def in_past(text: str) -> str:
    """Return an English subject in the past tense; as it is when its first word is not surely an imperative."""
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
    """Return whether a subject begins with what was done, e.g. ``Fixed`` or ``Avoid``."""
    first = text.partition(" ")[0].casefold()
    return _is_verb(first) or first in _PARTICIPLES or first in {"don't", "do", "never", "no", "stop", "use"}


def _is_verb(word: str) -> bool:
    return word.casefold() in _PAST or word.casefold() in _PAST_OR_NOUN


#: So many of the most important changes may stand in front, when the first one is too long for it.
_CANDIDATES: Final = 3
#: How much of a change is read for its explanation: characters of a message, and commits.
_MESSAGE_READ: Final = 8_000
_COMMITS_READ: Final = 5
#: The longest list, in characters.
_LIST_LIMIT: Final = 8_000
#: Words that say a change's kind: no other word has to say so.
_SAYS: Final = {
    Section.BREAKING: re.compile(r"break|incompatib", re.IGNORECASE),
    Section.SECURITY: re.compile(r"secur|vulnerab|\bcve-|\bghsa-|\bxss\b|csrf|injection", re.IGNORECASE),
    Section.DEPRECATED: re.compile(r"deprecat", re.IGNORECASE),
    Section.REMOVED: re.compile(r"remov|drop|delet|no longer", re.IGNORECASE),
    Section.FIXED: re.compile(r"(?:\w+[ -])?fix|correct|resolv|bug", re.IGNORECASE),
    Section.REVERTED: re.compile(r"revert|restor|reinstat", re.IGNORECASE),
}


def title_of(news: News) -> str:
    """Say what is new: the releases or the projects, and the most important change that fits."""
    phrases = news.voice.phrases
    names = release_names(news)
    start = names or phrases.say(phrases.news_title, subject=subject(news.active, phrases))
    shown = alike(news.announced)
    if not shown and names:
        said = plain(first_sentence(news.lead)[0]).rstrip(".")
        if said and len(names) + len(said) + 2 <= TITLE_LIMIT:
            return plain_title(f"{names}: ", said, "", phrases)
        if not news.others:
            return plain_title("", phrases.say(phrases.released, names=names), "", phrases)
        # All the news is in no release: it is said where it is instead.
        elsewhere = [item for item in news.others if not news.pending(item)]
        shown = alike(elsewhere or news.others)
        start = f"{names}; {subject(parts_of(elsewhere), phrases) if elsewhere else phrases.not_released}"
    in_place = len(parts_of(shown)) == 1 and not any(item.released for item in shown) and bool(names)
    leads = [_after(line_of(item, news, placed=not in_place, marked=False), item, news) for item in shown]
    lead = next((lead for lead in leads if len(start) + len(lead) <= TITLE_LIMIT), leads[0] if leads else "")
    return plain_title(start, lead, "", phrases)


def _after(line: str, item: Item, news: News) -> str:
    """Put a dash before a line that has a colon of its own."""
    return f": {line}" if line.startswith(said_of(item, news)) else f" \u2013 {line}"


def alike(items: Sequence[Item]) -> tuple[Item, ...]:
    """Return the most important of some items, as far as they are of one kind: any of them may stand in front."""
    return tuple(
        item
        for item in items[:_CANDIDATES]
        if item.change.section is items[0].change.section and item.minor == items[0].minor
    )


def opening(news: News) -> str:
    """Announce the releases, or that there is news: plain, one sentence, in the brand's tone."""
    if names := release_names(news):
        return news.voice.announcement(names, many=len(news.releases) > 1)
    return news.voice.news(subject(news.active, news.voice.phrases))


def said_of(item: Item, news: News, *, code: bool = False) -> str:
    """Return what a change says: in English in the past tense where that is safe; plain, but for marks of code."""
    text = sentence(item.change.text)
    text = in_past(text) if news.voice.phrases is ENGLISH else text
    return text if code else plain(text)


def line_of(item: Item, news: News, *, placed: bool = True, marked: bool = True) -> str:
    """Return one change as a plain line; the kind is named where the words do not name it.

    ``placed``: its repository is named among several. ``marked``: it is said where it is not released yet.
    """
    change, phrases = item.change, news.voice.phrases
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
    """Return what a change's author says beyond its line, plain: what breaks, or how it works."""
    if notes := notes_of(item.change):
        return plain(with_period(notes[0]))
    return plain(excerpt(item.change)) if news.voice.technical else ""


def excerpt(change: Change) -> str:
    """Return what a commit's body says beyond its subject: plain, in whole sentences; ``""``: nothing fit to print."""
    for commit in change.commits[:_COMMITS_READ]:
        _, _, body = commit.message[:_MESSAGE_READ].partition("\n")
        if found := explanation(body, said=change.text):
            return found
    return ""


def listed(lines: Sequence[str], of: int, news: News) -> list[str]:
    """Return a list of as many lines as fit, and how many of all that are listed it leaves out."""
    shown = bounded(lines, _LIST_LIMIT)
    blocks = ["\n".join(shown)] if shown else []
    hidden = of - len(shown)
    return [*blocks, news.voice.phrases.count(hidden, news.voice.phrases.not_shown)] if hidden else blocks


def also(news: News, told: Sequence[Item]) -> list[str]:
    """Count what is announced and not told, in a sentence."""
    phrases = news.voice.phrases
    known = set(map(id, told))
    counts = counted_kinds([item for item in news.announced if id(item) not in known], phrases)
    return [phrases.say(phrases.also.of(news.voice.tone), counts=phrases.enumerated(counts))] if counts else []


def where_to_read(news: News, shown: str) -> str:
    """Send readers to the release's page, or to the repository; ``shown`` is its address, or a link to it."""
    phrases = news.voice.phrases
    found = page(news)
    more = phrases.more_in_notes if found is not None and found[0] else phrases.more_in_repository
    return phrases.say(more.of(news.voice.tone), url=shown)


def as_written(news: News) -> list[str]:
    """Say in a post in another language that the texts of commits are not translated, where any are told."""
    phrases = news.voice.phrases
    return [phrases.as_written] if phrases is not ENGLISH and (news.items or news.lead) else []
