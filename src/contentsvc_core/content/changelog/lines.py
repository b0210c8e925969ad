"""The voice of posts, and one change as a line: an entry of a changelog, a part of a title, a sentence of a post."""

import re
from collections.abc import Iterable, Sequence
from typing import Final, final

from contentsvc_core.content.brand import BrandIdentity, ToneProfile
from contentsvc_core.content.changelog.markdown import inline, link, masked_line, safe_url, sentence
from contentsvc_core.content.changelog.patterns import SUBORDINATE
from contentsvc_core.content.changelog.select import Change
from contentsvc_core.content.changelog.words import (
    INTERNAL_VERBS,
    VERBS,
    WORDS_WITHOUT_SPACES,
    continued,
    says_abroad,
)
from contentsvc_core.content.options import DEFAULT_OPTIONS, ChangelogOptions
from contentsvc_core.content.phrases import PHRASEBOOKS, Phrasebook, Toned, phrases_in
from contentsvc_core.content.sections import GRAVE, Section
from contentsvc_core.events.normalized import Commit
from contentsvc_core.on_demand import late
from contentsvc_core.values import Value

#: Limits of one line or list: linked commits and numbers, breaking notes, names.
_LINKED: Final = 50
_NOTES_SHOWN: Final = 10
_NAMES_SHOWN: Final = 100
_SHORT_SHA: Final = 7
#: A change of so few words is named with its part.
_FEW_WORDS: Final = 3

#: Verbs of deeds: posts tell them in the past, "Added a lid".
_DEEDS: Final = """
    add adjust adopt align apply centralize clarify configure consolidate convert correct create deduplicate define
    deprecate disable downgrade eliminate enable enhance escalate expand expose extend extract finalize finish fix
    formalize harden implement improve increase initialize integrate introduce lower migrate modernize modify
    normalize optimize overhaul parameterize patch redesign reduce refactor refine refresh reimplement relax
    recreate relocate remove rename reorder replace resolve restore restrict revamp revise rework shorten silence
    simplify stabilize standardize streamline tighten tune tweak unify widen
"""
#: Verbs of behaviour: posts tell them in the present, "Requires a lid".
_BEHAVIOUR: Final = """
    accept allow autoload avoid calculate consider constrain delegate dereference derive detect determine disallow
    emit enforce ensure evaluate exclude forbid generate hide honor honour identify ignore include infer inform inherit
    inject interpret invoke isolate mention notify obey omit perform permit persist populate prepend preserve prevent
    propagate protect provide raise recognize recommend refuse reject require respect retain retry sanitize serialize
    specify suppress tolerate truncate unwrap validate verify warn
"""


def _present(verb: str) -> str:
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}{'es' if verb.endswith(('s', 'sh', 'ch', 'x', 'z', 'o')) else 's'}"


_TOLD: Final = {
    verb: f"{verb[:-1]}ied" if verb.endswith("y") else f"{verb.removesuffix('e')}ed" for verb in _DEEDS.split()
} | {verb: _present(verb) for verb in _BEHAVIOUR.split()} | {
    "bring": "brought", "make": "made", "rewrite": "rewrote", "speed": "sped",
}  # fmt: skip
#: Verbs that are often nouns, as in ``Update dialog is gone``.
_TOLD_OR_NOUN: Final = {
    "bump": "bumped", "change": "changed", "document": "documented", "drop": "dropped", "handle": "handles",
    "keep": "keeps", "limit": "limits", "move": "moved", "port": "ported", "show": "shows", "skip": "skips",
    "stop": "stopped",
    "support": "added support for", "switch": "switched", "take": "takes", "update": "updated",
    "upgrade": "upgraded", "use": "uses",
}  # fmt: skip
#: Verbs that are mostly nouns, unless a word such as "the" follows: ``Exit code``, ``Read timeout``.
_BEFORE_ARTICLE: Final = """
    abort append cache check clear close color colour compute copy delete discard display escape exit export fetch
    filter find highlight import load log map match merge open parse pass prefer prefix print read register remember
    render report reset return reuse run scope send set sort split start store strip surface swap throw treat trigger
    trust turn wrap write
"""
_TOLD_BEFORE_ARTICLE: Final = {verb: _present(verb) for verb in _BEFORE_ARTICLE.split()} | {"cleanup": "cleaned up"}
#: The prepositions with which such verbs go on, behind their object: ``Map lids to pots``.
_GOES_ON: Final = {
    verb: late(rf" (?:{'|'.join(words.split())}) ", re.IGNORECASE)
    for verb, words in {
        "abort": "early", "copy": "from into to", "export": "as from to", "fetch": "from in", "highlight": "as with",
        "import": "from on only", "load": "from", "map": "to", "merge": "into", "parse": "as from", "pass": "to",
        "prefix": "with", "print": "to using", "read": "from", "register": "as in with", "run": "in on with",
        "send": "to", "sort": "by using", "split": "into over", "store": "in", "strip": "from in", "treat": "as",
        "wrap": "in", "write": "in into to",
    }.items()
}  # fmt: skip
#: Verbs and their prepositions, with nothing between: ``Exit with an error``, ``Copy over lids``.
_PHRASAL: Final = {
    "clean up": "cleaned", "copy over": "copies", "depend on": "depends", "exit with": "exits", "fall back": "falls",
    "flesh out": "fleshed", "match against": "matches", "opt out": "opts", "rely on": "relies", "turn off": "turns",
    "turn on": "turns",
}  # fmt: skip
#: Adjectives: the word before one is a verb, not a noun.
_ADJECTIVE: Final = (
    r"absolute|actual|additional|appropriate|built-?in|concrete|correct|custom|default|different|duplicated?|empty|existing"
    r"|explicit|external|extra|full|global|incorrect|initial|internal|invalid|large|leading|local|long|missing|native|new"
    r"|nested|non-\w+|old|original|own|partial|plain|private|proper|public|raw|relative|relevant|remote|repeated|same"
    r"|separate|short|single|small|specific|stale|trailing|unknown|unused|valid|whole|wrong"
)
#: Nouns with which such verbs are nouns, too: ``Load order``, ``Escape key``.
_OF_A_NOUN: Final = late(
    r"(?:api|bar|box|buffer|button|cache|case|code|command|config\w*|dialog|error|event|failure|file|format|function|handler"
    r"|handling|hook|icon|job|key|layout|level|limit|list|lock|loop|margin|menu|message|method|mode|name|operation|option"
    r"|order|page|path|picker|point|policy|position|preview|query|queue|request|response|result|rule|scheme|script"
    r"|sequence|setting|size|state|statement|status|style|table|test|theme|time|timeout|tree|type|value|view)(?:s|es)?\Z",
    re.IGNORECASE,
)
#: The adverb behind an object: ``Load lids lazily``.
_ADVERB_LAST: Final = late(r" \w{3,}ly\Z", re.IGNORECASE)
#: "Updating all images" is a deed, too.
_GERUNDS: Final = {
    f"{verb.removesuffix('e')}ing": told for verb, told in _TOLD.items() if told.endswith("ed") and verb != "speed"
} | {
    "bumping": "bumped", "changing": "changed", "documenting": "documented", "dropping": "dropped", "moving": "moved",
    "updating": "updated", "upgrading": "upgraded",
}  # fmt: skip
_ARTICLE: Final = late(
    r"(?:the|an?|all|any|both|each|every|its|their|this|that|these|those|no|more|only|multiple|\d\S*"
    rf"|{_ADJECTIVE}|[^\W_]*+[_.:(`]++\w\S*)\Z",
    re.IGNORECASE,
)
#: First words of subjects that name the deed: no label is needed.
_DOES: Final = _TOLD.keys() | _TOLD_OR_NOUN.keys() | {*_TOLD.values(), *_TOLD_OR_NOUN.values()} | {
    "don't", "do", "never", "no", "stop", "use",
}  # fmt: skip
#: The verb of an imperative, with an adverb before it, and the next word.
_FIRST: Final = late(
    r"((?:(?:actually|always|automatically|consistently|correctly|directly|explicitly|finally|fully|gracefully|lazily"
    r"|only|optionally|properly|recursively|silently|slightly|temporarily) +|(?:auto|re)-)?)([A-Za-z]+) +(?=(\S+))",
    re.IGNORECASE,
)
#: Adverbs of behaviour: the verb behind one is in the present.
_HABITS: Final = frozenset(
    {"always", "auto", "automatically", "consistently", "gracefully", "lazily", "only", "optionally", "recursively"}
    | {"silently"}
)
_AFTER_NOUN: Final = late(
    r"(?:for|in|of|on|with|by|at|is|are|was|were|when|after|during|has|have|does|doesn't|and|or)\Z", re.IGNORECASE
)
#: Beginnings of subjects that are not imperatives, or whose verb has another meaning.
_OTHERWISE: Final = late(r"(?:use cases?|support (?:only|min(?:imum|imal)?))\b", re.IGNORECASE)
#: A deed, unlike ``Raise an error``.
_RAISES_BOUND: Final = late(r"raise (?:the )?(?:\w+ )?(?:min|max|limit|lower|upper|floor|bound|version)", re.IGNORECASE)
#: What follows a verb that may be a noun: ``and upgrade Oil``, ``and switch to oil``, unlike ``and update dialogs``.
_OBJECT: Final = late(rf" (?:to|from|the|an?|all|its|it|their|them|more|minimum|{_ADJECTIVE})(?: |\Z)| [`A-Z0-9]")
_FINITE: Final = late(r"\b(?:is|are|was|were|has|have|does|do|can|cannot|fails?|crash(?:es)?|breaks?)\b|n't\b")
#: Another verb behind ``Fix``: "Fix lid stays open".
_STATES: Final = late(
    r"(?! (?:how|what|whatever|where|why|whether)\b).* (?:is|are|was|were|has|have|does|do|did|can|cannot|breaks"
    r"|disappears|fails|stays|\w+n't)(?: |\Z)",
    re.IGNORECASE,
)
_CLAUSE: Final = late(r" (?:after|as|because|before|but|if|since|so|that|unless|until|when|where|which|while|who)\b.*")
_CODE: Final = late(r"`[^`]*`")
_TO: Final = late(r"\bto ([A-Za-z]+)\b")
_TO_A_THING: Final = late(r"\bto (?=(?:the|an?|all|its|their) |[`A-Z])")
#: After a comma: the object of a verb that is not told, ``, start splitting lids``.
_ANOTHER: Final = late(r" \w+ing ")
#: What the software no longer does.
_DO_NOT: Final = late(
    r"(?P<d>d)(?:on['\u2019]t|o not) (?P<verb>(?!(?:always|be|even|ever|have|just|\w+ly)\b)[a-z]+)(?= )", re.IGNORECASE
)
#: Another imperative in the same subject, and the word before it.
_AND_VERB: Final = late(r"(?<![\w`)\]])([\w`)\]]++)(,?(?: and| or| &| \+)|[,;.]) ([A-Za-z]+)")
#: Words that name a section: without them a line gets a label.
_SAYS: Final = {
    Section.BREAKING: late(r"\bbreak(?:s|ing|age)?\b|incompatib", re.IGNORECASE),
    Section.SECURITY: late(r"secur|vulnerab|\bcve-|\bghsa-|\bxss\b|csrf|injection", re.IGNORECASE),
    Section.DEPRECATED: late(r"deprecat", re.IGNORECASE),
    Section.REMOVED: late(r"remov|drop|delet|no longer", re.IGNORECASE),
    Section.FIXED: late(
        rf"\b(?:hot|bug)?fix(?:es|ed|ing)?\b|\bcorrect|\bresolv|\bbugs?\b|\bbehoben\b|{WORDS_WITHOUT_SPACES[Section.FIXED]}",
        re.IGNORECASE,
    ),
    Section.REVERTED: late(r"revert|restor|reinstat", re.IGNORECASE),
    Section.DOCUMENTATION: late(r"\bdoc(?:s|ument|umentation)?\b", re.IGNORECASE),
}
_SHORTER: Final = (
    (late(r"\A(?:Add(?:s|ed)?|Introduce[sd]?|Implement(?:s|ed)?) (?=(?:\w+ )?support\b)", re.IGNORECASE), ""),
    (late(r"\ASupport(?:s|ed)? (?!for )(?=\S)", re.IGNORECASE), "support for "),
)
#: A reference to an advisory, an issue or a page at the end of a change: titles have no room for it.
_REFERENCE: Final = late(r"[;,.]? [(\[]?see (?:also )?(?=[^ ]*[\d#/])[^ ]+\Z", re.IGNORECASE)
#: The author's remark about a change, behind a semicolon or a dash: titles have no room for it either.
_REMARK: Final = late(r"(?<=\w)(?:;| \u2014) (?=[a-z]).*")
_GERMAN: Final = PHRASEBOOKS["German"]
_COMPANY_LIMIT: Final = 60
_UNTECHNICAL: Final = late(r"\b(?:non|nicht|no)[- ]?(?:technical|technisch|technique|técnic)", re.IGNORECASE)
_LAY: Final = late(
    r"\b(?:customers?|clients?|clientes?|kund|business|executives?|managers?|management|marketing|leadership|stakeholders?"
    r"|investors?|investoren|investisseurs?|inversores|anleger|shareholders?|consumers?|end[- ]users?|general public"
    r"|endnutzer|utilisateurs|usuarios)",
    re.IGNORECASE,
)
_TECHNICAL: Final = late(
    r"\b(?:developers?|engineers?|programmers?|devops|sysadmins?|administrators?|maintainers?|contributors?|architects?"
    r"|entwickler|programmierer|développeur|ingénieur|desarrollador|ingenier|programador)",
    re.IGNORECASE,
)


@final
class Voice(Value, frozen=True, kw_only=True):
    phrases: Phrasebook
    tone: ToneProfile
    #: Whether posts name parts of the code, numbers and commits.
    technical: bool
    #: Plain, one line, not escaped; may be empty.
    company: str

    def say(self, phrase: Toned | str, **values: str) -> str:
        return self.phrases.say(phrase.of(self.tone) if isinstance(phrase, Toned) else phrase, **values)

    def heading(self, section: Section) -> str:
        """Return the heading of a changelog's section: the usual word, or the heading of blog posts in the tone."""
        phrases = self.phrases
        if self.plain or section not in {Section.ADDED, Section.FIXED, *phrases.themes}:
            return phrases.headings[section]
        return self.theme(section)

    def theme(self, section: Section) -> str:
        toned = {Section.ADDED: self.phrases.new, Section.FIXED: self.phrases.fixes}.get(section)
        return self.say(toned) if toned else self.phrases.themes[section]

    @property
    def plain(self) -> bool:
        """Whether changelogs have the usual headings and no opening: in the professional tone, the default."""
        return self.tone is ToneProfile.PROFESSIONAL

    def announcement(self, names: str, *, many: bool) -> str:
        """Return the sentence that announces releases: plain."""
        phrases = self.phrases
        if self.company:
            return self.say(phrases.announced_by, company=self.company, names=names)
        return self.say(phrases.announced_many if many else phrases.announced_one, names=names)

    def news(self, subject: str) -> str:
        """Return the sentence that opens a post about changes without a release: plain."""
        if self.company and self.company.casefold() != subject.casefold():
            return self.say(self.phrases.news_by, company=self.company, subject=subject)
        return self.say(self.phrases.news, subject=subject)


def voice_of(brand: BrandIdentity | None) -> Voice:
    """Return the voice of a brand identity; without one, plain professional English."""
    if brand is None:
        return Voice(phrases=phrases_in(None), tone=ToneProfile.PROFESSIONAL, technical=True, company="")
    return Voice(
        phrases=phrases_in(brand.language),
        tone=brand.tone_profile,
        technical=_is_technical(brand.audience or ""),
        company=masked_line(brand.company_name or "", _COMPANY_LIMIT).replace("`", ""),
    )


def _is_technical(audience: str) -> bool:
    audience = audience[:500]
    if _UNTECHNICAL.search(audience):
        return False
    return _TECHNICAL.search(audience) is not None or _LAY.search(audience) is None


def narrated(text: str) -> str:
    """Return an English subject as posts tell it, or unchanged unless its first word is surely an imperative.

    Deeds are in the past ("Added a lid"), what the software does is in the present ("Requires a lid").
    """
    refused = _DO_NOT.match(text)
    if refused and not any(_may_be_verb(found[3].casefold()) for found in _AND_VERB.finditer(text)):
        return f"{'N' if refused['d'] == 'D' else 'n'}o longer {_present(refused['verb'])}{text[refused.end() :]}"
    first = _FIRST.match(text)
    told = _told(first, text) if first else None
    if first is None or told is None:
        return text
    rest = text[first.end(2) :]
    further = [found for found in _AND_VERB.finditer(text) if _is_verb(found[3])]
    if further and _infinitive(text, further[0].start(3)):
        # "Allow to add and remove lids": the others are infinitives.
        further = []
    if (further and not _are_imperatives(further, text)) or any(map(_is_untold, _AND_VERB.finditer(text))):
        return text
    if further:
        rest = _AND_VERB.sub(_retold, text)[first.end(2) :]
    elif told == "fixed" and _STATES.match(_CODE.sub("", _CLAUSE.sub("", rest))):
        return f"{first[2]}:{rest}"
    return f"{first[1]}{told.capitalize() if first[2][0].isupper() else told}{rest}"


def _told(first: "re.Match[str]", text: str) -> str | None:
    """Return the first verb of a subject as posts tell it; ``None`` unless it is surely an imperative."""
    word, following = first[2].casefold(), first[3].casefold()
    if told := _PHRASAL.get(f"{word} {following}"):
        return told
    if first[1].casefold().rstrip(" -") in _HABITS and _may_be_verb(word):
        return _present(word)
    if _AFTER_NOUN.match(following) or _OTHERWISE.match(text):
        return None
    if told := "raised" if _RAISES_BOUND.match(text) else _TOLD.get(word):
        return told
    may_be, mostly = _TOLD_OR_NOUN.get(word) or _GERUNDS.get(word), _TOLD_BEFORE_ARTICLE.get(word)
    if may_be and (first[1] or not _FINITE.search(_CLAUSE.sub("", text))):
        return may_be
    return mostly if mostly and (first[1] or _has_object(word, first, text)) else None


def _has_object(verb: str, first: "re.Match[str]", text: str) -> bool:
    if _ARTICLE.match(first[3]):
        return True
    rest = _CLAUSE.sub("", text[first.end(2) :])
    if _FINITE.search(rest):
        return False
    if _ADVERB_LAST.search(rest):
        return True
    goes_on = _GOES_ON.get(verb)
    return goes_on is not None and _OF_A_NOUN.match(first[3]) is None and goes_on.search(rest) is not None


def _infinitive(text: str, end: int) -> bool:
    return any(_may_be_verb(found[1].casefold()) for found in _TO.finditer(text, 0, end))


def _is_untold(found: "re.Match[str]") -> bool:
    listed = found[2][-1] in ",;" and found[3].casefold() in VERBS and not _is_verb(found[3])
    return listed and _ANOTHER.match(found.string, found.end()) is not None


def _may_be_verb(word: str) -> bool:
    return word in VERBS or word in _TOLD_BEFORE_ARTICLE or _is_verb(word)


def _is_verb(word: str) -> bool:
    return word.casefold() in _TOLD or word.casefold() in _TOLD_OR_NOUN


def _are_imperatives(further: Sequence["re.Match[str]"], text: str) -> bool:
    """Check that verbs after a conjunction are imperatives of their own, not nouns or parts of a clause."""
    return (
        all(_is_imperative(found, text) and (not found.start() or not _is_verb(found[1])) for found in further)
        and SUBORDINATE.search(_TO_A_THING.sub(" ", text[: further[-1].start(3)])) is None
    )


def _is_imperative(found: "re.Match[str]", text: str) -> bool:
    verb = found[3].casefold()
    return verb in _TOLD or (verb in _TOLD_OR_NOUN and _OBJECT.match(text, found.end()) is not None)


def _retold(found: "re.Match[str]") -> str:
    verb = found[3].casefold()
    told = _TOLD.get(verb) or _TOLD_OR_NOUN.get(verb, found[3])
    return f"{found[1]}{found[2]} {told.capitalize() if found[3][0].isupper() else told}"


def labelled(change: Change, text: str, phrases: Phrasebook) -> str:
    """Return a plain text of a change, with the label of its section unless its words name the section."""
    pattern = _SAYS.get(change.section)
    first = text.partition(" ")[0].casefold()
    if pattern is None or pattern.search(text) or says_abroad(change.section, text):
        return text
    is_narrated = text != plain(change.text)
    if change.section is Section.FIXED and (is_narrated or first in _DOES):
        return text
    # A narrated text begins with its verb, which is no name.
    said = plain(change.continuation)
    if phrases is not _GERMAN:
        said = f"{text[0].lower()}{text[1:]}" if is_narrated else continued(said)
    return phrases.title_leads[change.section].format(text=said)


def headline(change: Change, phrases: Phrasebook) -> str:
    """Return one change without a heading above: plain, with the part of the code."""
    text = plain(change.text)
    return f"{_unreferred(labelled(change, text, phrases))}{_place(change, text)}"


def _unreferred(text: str) -> str:
    return _REFERENCE.sub("", text) if "see " in text.casefold() else text


def _place(change: Change, text: str) -> str:
    scope = plain(change.scope)
    return f" ({scope})" if scope and scope.casefold() not in text.casefold() else ""


def lead(change: Change, phrases: Phrasebook, *, marked: bool = True) -> str:
    """Return a change as titles name it among others: plain, without the capital.

    ``marked``: with the label of a breaking or security change, and of a fault that was fixed or a thing that is gone.
    """
    # In German, nouns have capitals.
    said = change.continuation if phrases is _GERMAN else continued(change.continuation)
    small = _unreferred(plain(said))
    if ";" in small or "\u2014" in small:
        small = _REMARK.sub("", small)
    for pattern, instead in _SHORTER if change.section is Section.ADDED else ():
        small = pattern.sub(instead, small, count=1)
    if change.section in GRAVE:
        marked = marked and not _SAYS[change.section].match(small)
    else:
        marked = marked and _needs_mark(change.section, small)
    if len(small.split()) <= _FEW_WORDS:
        # "Add Lean" says nothing without its part: a file type.
        small += _place(change, small)
    return phrases.title_leads[change.section].format(text=small) if marked else small


def _needs_mark(section: Section, text: str) -> bool:
    """Check that a text only names a fault, or a thing that is gone: a title would announce it."""
    first = text.partition(" ")[0].casefold()
    if section is Section.FIXED:
        does = first in VERBS or first in INTERNAL_VERBS or first in _DOES
    elif section in {Section.REMOVED, Section.DEPRECATED, Section.REVERTED}:
        does = VERBS.get(first) is section or says_abroad(section, text)
    else:
        return False
    return not (does or _SAYS[section].search(text))


def plain(text: str) -> str:
    return text.replace("`", "")


def entry(change: Change, base: str | None, voice: Voice, options: ChangelogOptions = DEFAULT_OPTIONS) -> str:
    """Return the lines of one change: ``- **scope:** description ([#12](…)) ([abc1234](…))``, notes, details."""
    label = f"**{inline(change.label)}:** " if change.label and voice.technical else ""
    line = f"- {label}{inline(change.text)}"
    if voice.technical:
        base = base if options.links else None
        linked = references(change, base, voice.phrases, commits=options.commit_hashes, links=options.links)
        line = " ".join([line, *linked])
    if change.notes and (notes := quoted_notes(change)):
        return f"{line}{notes}"
    details = change.details if options.details and voice.technical else ""
    return f"{line}\n  {inline(details)}" if details else line


def notes_of(change: Change, first: int | None = None) -> list[str]:
    """Return the breaking footers of a change as plain sentences, without repetitions of its line."""
    return [sentence(note) for note in change.notes[:first] if note.casefold() != change.text.casefold()]


def quoted_notes(change: Change) -> str:
    """Return the breaking footers of a change as quotations below its line; empty: none."""
    return "\n  >".join(f"\n  > {inline(note)}" for note in notes_of(change, _NOTES_SHOWN))


def references(
    change: Change, base: str | None, phrases: Phrasebook, *, commits: bool = True, links: bool = True
) -> list[str]:
    """Return the pull requests and issues of a change, and its commits; of a pull request the first one."""
    parts: list[str] = []
    if change.numbers:
        page = f"{base}/issues/" if base else None
        numbers = [link(f"#{number}", page and page + number) for number in change.numbers[:_LINKED]]
        parts.append(f"({', '.join(numbers)})")
    referenced = change.commits[:1] if change.numbers else change.commits
    shas = [_sha(commit, links=links) for commit in referenced[:_LINKED] if commit.id] if commits else []
    if (hidden := len(referenced) - _LINKED) > 0 and commits:
        shas.append(phrases.more_commits.format(n=phrases.number(hidden)))
    return [*parts, f"({', '.join(shas)})"] if shas else parts


def _sha(commit: Commit, *, links: bool) -> str:
    sha = commit.id[:_SHORT_SHA] if commit.id.isalnum() else inline(masked_line(commit.id, 64)[:_SHORT_SHA])
    return link(sha, safe_url(commit.url) if links else None)


def bounded(lines: Sequence[str], limit: int) -> list[str]:
    """Return the first lines, up to ``limit`` characters."""
    fitting: list[str] = []
    for line in lines:
        limit -= len(line) + 1
        if limit < 0:
            break
        fitting.append(line)
    return fitting


def named(names: Sequence[str], phrases: Phrasebook) -> list[str]:
    """Return the names that fit into a post, and the number of others."""
    listed = list(names[:_NAMES_SHOWN])
    if hidden := len(names) - len(listed):
        listed.append(phrases.more_people.format(n=phrases.number(hidden)))
    return listed


def joined(blocks: Iterable[str]) -> str:
    """Return blocks of Markdown as a text that ends with one newline."""
    return "\n\n".join(blocks) + "\n"
