"""Subjects as posts word them: imperatives, without the upkeep that came along."""

import re
from typing import Final

from contentsvc_core.content.changelog.critical import PLATFORM
from contentsvc_core.content.changelog.patterns import SUBORDINATE
from contentsvc_core.content.changelog.tenses import GERUNDS
from contentsvc_core.content.changelog.words import FIRST_VERBS, IMPERATIVES, VERBS
from contentsvc_core.content.sections import Section
from contentsvc_core.on_demand import late

#: Names that begin subjects, beside platforms: they keep their capital.
_NAMES: Final = """
    amazon ansible apache apple azure bash celery chinese discord docker emacs english french german git google grafana
    helm italian japanese jenkins jira jupyter kafka korean linux markdown microsoft nginx prometheus russian slack
    spanish sphinx stripe terraform unicode vim zsh
"""
_BEGIN_ENGLISH: Final = frozenset(IMPERATIVES.values())
_IMPERATIVES: Final = {**GERUNDS, **IMPERATIVES}
_NAME: Final = late(rf"(?:{PLATFORM}|{'|'.join(_NAMES.split())})(?:'s|[.-]\w+)?", re.IGNORECASE)
#: A name of several words, and what only German texts have: their nouns have capitals. English texts have others.
_NAMED_ON: Final = late(r"[A-Z][a-z]+\b(?![.(:_])")
_GERMAN: Final = late(
    r"\b(?:der|das|dem|und|mit|bei|von|vom|zum|zur|eine?[mnrs]?|nicht|wird|werden|ist|beim|nach|auf|im|wenn|sich|jetzt)\b"
    r"|[äöüß]|\w(?:iert|igt|ellt|setzt)\b"
)
_ENGLISH: Final = late(r"\b(?:the|for|of|with|to|and|when|is|are|from|by|on|not)\b")
#: Nouns with which new things end, maybe with a clause behind.
_NEW_THING: Final = late(
    r"(?:[^ ,;]+ ){0,4}?(?:ability|argument|backend|button|command|endpoint|field|filter|flag|helper|hook|integration"
    r"|lint|method|mode|option|parameter|plugin|provider|rule|setting|shortcut|support|syntax|theme|type)s?"
    r"(?:\Z| (?:for|from|in|of|on|that|to|which|with) .*)",
    re.IGNORECASE,
)
#: The noun, unlike "Support lids".
_SUPPORT: Final = late(r"(?:initial )?support for ", re.IGNORECASE)
#: A fault, or the faulty thing, without a verb: "Empty value error", "Lid not closing", "Lamp colour".
_FAULTY: Final = late(
    r"(?:[^ ,;]+ ){0,4}?(?:bug|crash|deadlock|drain|exception|failure|flicker(?:ing)?|freeze|issue|leak|loop"
    r"|mismatch|overflow|panic|problem|n\+1 quer(?:y|ies)|data race|race condition|regression|timeout"
    r"|detection|handling|parsing|rendering|resolution|validation|typos?|\w*error|npe|`?\w+(?:Error|Exception)`?)"
    r"(?:\Z| (?:after|and|at|by|during|for|from|if|in|of|on|when|while|with) .*)"
    r"|(?:[^ ,;]+ ){1,5}?(?:getting|not)(?: being)? \w+(?:ing|ed|ble)\b.*"
    r"|(?:[^ ,;]+ ){1,2}(?:alignment|colou?rs?|example|icons?|indentation|layout|margins?|padding|scripts?|spacing"
    r"|styles?|tests?|tooltips?|typings?|ui|workflow)",
    re.IGNORECASE,
)
#: A vulnerability without a verb: "XSS in notes".
_VULNERABILITY: Final = late(
    r"(?:[^ ,;]+ ){0,4}?(?:csrf|injection|open redirect|path traversal|rce|redos|ssrf|vulnerabilit(?:y|ies)|xss)"
    r"(?:\Z| (?:at|by|for|from|in|of|on|through|via|when|while|with) .*)",
    re.IGNORECASE,
)
#: Types that are the verb of their subject: "remove: the old lid".
_VERBS_AS_TYPES: Final = frozenset({"add", "change", "deprecate", "improve", "remove"})
_NAMED_WITHOUT_VERB: Final = {
    Section.FIXED: ("Fix", _FAULTY),
    Section.ADDED: ("Add", _NEW_THING),
    Section.SECURITY: ("Fix", _VULNERABILITY),
}
#: Words that may be verbs or adverbs: "Turning the lens", unlike "Turning error".
_MAY_DO: Final = late(
    r"(?!\w+ing (?:crash|error|exception|failure|leak|panic)\b)\w{2,}(?:i[sz]e|ify|ing|ly)\b", re.IGNORECASE
)
_FIRST_WORD: Final = late(r"[A-Za-z][a-z]+(?= (?P<next>\S+))")
#: Nouns of actions that begin subjects, by the imperative: "Removal of the lid".
_VERBAL_NOUNS: Final = late(
    r"(?:(?P<improve>improvements? (?:for|in|of|on|to))|(?P<add>addition of)|(?P<deprecate>deprecation of)"
    r"|(?P<introduce>introduction of)|(?P<remove>removal of)) ",
    re.IGNORECASE,
)
_VERBAL_NOUN_STARTS: Final = frozenset({"addi", "depr", "impr", "intr", "remo"})
#: A verb that is a noun or an adjective before such a word: "Changes to lids", unlike "Upgraded to iron".
_NO_VERB: Final = late(
    r"(?!(?:migrate|move|port|switch|upgrade) to\Z).* "
    r"(?:and|are|at|by|do|does|for|from|has|have|in|is|of|on|or|to|was|were|when|with)\Z"
)
_SIZES: Final = late(
    r"fixed[ -](?:amount|height|length|number|point|position|price|rate|schedule|size|width)", re.IGNORECASE
)
#: Another verb: "Removed lids are shown again". A clause about circumstances may have one.
_CLAUSE: Final = late(r" (?:after|because|before|but|if|since|so|that|unless|until|when|where|which|while|who)\b.*")
_FINITE: Final = late(
    r"\b(?:is|are|was|were|has|have|had|does|do|did|can|cannot|will|should|must|no longer|now|fails|works|causes"
    r"|crashes|breaks|gets|stays|remains|leads|drops|hangs|leaves|loses|produces|raises|returns|shows|throws)\b|n't\b",
    re.IGNORECASE,
)
#: Further words that may be verbs of the same form.
_FURTHER: Final = late(r"(?P<before>(?:,|;| and| &|, and) )(?P<verb>[A-Za-z][a-z]+)(?= \S)")
#: The end of a subject about tests and documents that came with the change.
_UPKEEP_TOO: Final = late(
    r"(?<=[\w`)\]\"'])(?:,? (?:and|&|\+)|[;,]) (?:(?:adapt|add|adjust|bump|change|extend|fix|improve|rewrite|update)"
    r"(?:s|e?d)? (?:[\w'-]+ ){0,3}?(?:tests?|specs?|docs?|documentation|docstrings?|workflows?|ci|change ?logs?|readme"
    r"|dependencies|deps|lock ?files?|snapshots?)|(?:its|their) (?:own )?tests?|document(?:s|ed)? [\w`].*)\Z",
    re.IGNORECASE,
)
#: Between upkeep and the change for users that came with it: "Refactor the lid and fix a crash".
_NEWS_TOO: Final = late(
    r"(?<=[\w`)\]\"'])(?:,? (?:and|&|\+)|[;,]) (?=(?:allow|correct|enable|fix|handle|prevent|support)(?:e?s|e?d)? )",
    re.IGNORECASE,
)


def imperative(text: str) -> str:
    """Return an English subject in the imperative: ``Added a lid`` and ``Adding a lid`` as ``Add a lid``."""
    if text[:4].lower() in _VERBAL_NOUN_STARTS and (named := _VERBAL_NOUNS.match(text)):
        text = f"{(named.lastgroup or '').capitalize()} {text[named.end() :]}"
    verb = _IMPERATIVES.get(text.partition(" ")[0].casefold())
    first = _FIRST_WORD.match(text) if verb else None
    if (
        not first
        or not verb
        or _NO_VERB.match(f"{verb} {first['next']}")
        or _SIZES.match(text)
        or _FINITE.search(_CLAUSE.sub("", text[first.end() :]))
    ):
        return text
    rest = _FURTHER.sub(
        lambda found: found["before"] + _like(found["verb"], _IMPERATIVES.get(found["verb"].casefold())),
        text[first.end() :],
    )
    return f"{_like(first[0], verb)}{rest}"


def with_verb(text: str, section: Section, kind: str = "") -> str:
    """Add a verb to a fix or a new thing that is only named: ``Empty value error`` is ``Fix empty value error``.

    ``kind`` is the type of the subject; it may be the verb.
    """
    if section not in _NAMED_WITHOUT_VERB and kind not in _VERBS_AS_TYPES:
        return text
    first = text.partition(" ")[0].casefold()
    begins = first in FIRST_VERBS
    if kind in _VERBS_AS_TYPES:
        return text if begins or _MAY_DO.match(text) else f"{kind.capitalize()} {continued(text)}"
    verb, named = _NAMED_WITHOUT_VERB[section]
    begins = begins and not (first in {"initial", "support"} and _SUPPORT.match(text))
    if begins or _MAY_DO.match(text) or not named.fullmatch(text):
        return text
    return text if _FINITE.search(_CLAUSE.sub("", text)) or _GERMAN.search(text) else f"{verb} {continued(text)}"


def continued(text: str, *, german: bool = False) -> str:
    """Return a text without the capital of its first word, unless that may be a name or a German noun.

    ``german``: in a German post, only the words of English texts are certainly no nouns.
    """
    first, _, rest = text.partition(" ")
    if first.islower() or not rest or not (first[1:].islower() or first == "A"):
        return text
    if german and (_GERMAN.search(rest) or not (first.casefold() in _BEGIN_ENGLISH or _ENGLISH.search(rest))):
        return text
    if first.casefold() not in VERBS and (_NAME.fullmatch(first) or _NAMED_ON.match(rest) or _GERMAN.search(rest)):
        return text
    return f"{first.lower()} {rest}"


def _like(written: str, verb: str | None) -> str:
    return written if verb is None else verb.capitalize() if written[0].isupper() else verb


def without_upkeep(text: str) -> str:
    """Return a subject without the tests and documents at its end that came with the change."""
    more = _second(_UPKEEP_TOO, text)
    return text[: more.start()] if more else text


def news_behind(text: str) -> str:
    """Return the change for users that a subject names behind upkeep; empty: none."""
    between = _second(_NEWS_TOO, text)
    return text[between.end() :] if between else ""


def _second(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    # Most subjects have one action: looking for a second one costs more than for the sign before it.
    if not (" and " in text or "," in text or ";" in text or " & " in text or " + " in text):
        return None
    found = pattern.search(text)
    return found if found and not SUBORDINATE.search(text, 0, found.start()) else None
