"""The tense of changes in posts: an imperative becomes an action in the past, or behaviour in the present."""

import re
from collections.abc import Sequence
from typing import Final

from contentsvc_core.content.changelog.patterns import SUBORDINATE, THING
from contentsvc_core.content.changelog.words import VERBS
from contentsvc_core.on_demand import late

#: Verbs of actions: posts have them in the past tense, "Added a lid".
_PAST_VERBS: Final = """
    adapt add adjust adopt align amend apply backport centralize clarify combine configure consolidate convert
    correct create declare decouple decrease deduplicate define deprecate disable downgrade eliminate enable enhance
    enlarge enrich escalate expand expose extend extract finalize finish fix formalize generalize harden
    implement improve increase initialize integrate introduce localize lower migrate minimize modernize modify
    normalise normalize optimise optimize overhaul parameterize patch recreate redesign reduce refactor refine
    refresh reimplement relax relicense relocate remove rename reorder reorganise reorganize replace reposition
    resolve restore restrict restyle revamp revert revise reword rework shorten silence simplify specialise stabilise
    stabilize standardize streamline synchronise synchronize tighten tune tweak unify widen
"""
#: Verbs of behaviour: posts have them in the present tense, "Requires a lid".
_PRESENT_VERBS: Final = """
    accept activate allocate allow analyze assign assume autoload avoid await calculate coerce compare
    concatenate consider constrain deactivate decrypt defer delegate deliver dereference derive deselect detect
    determine disallow distinguish distribute elide emit encrypt enforce enqueue ensure evaluate evict exclude
    exempt forbid generate hide honor honour hydrate identify ignore include infer inform inherit initialise
    inject instantiate interpret invalidate invoke isolate listen memoize mention navigate notify obey omit
    paginate perform permit persist populate prefer prepend preserve prevent prioritize propagate protect
    provide raise randomize recalculate recognize recommend recompute reconnect recover redact refocus refuse
    reject reopen require respect respond retain retry sanitize serialize specify stringify substitute suppress
    terminate throw tolerate traverse truncate unescape unlock unmount unregister unset unsubscribe unwrap
    validate verify warn
"""


def _present(verb: str) -> str:
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}{'es' if verb.endswith(('s', 'sh', 'ch', 'x', 'z', 'o')) else 's'}"


_VERB_FORMS: Final = {
    verb: f"{verb[:-1]}ied" if verb.endswith("y") else f"{verb.removesuffix('e')}ed" for verb in _PAST_VERBS.split()
} | {verb: _present(verb) for verb in _PRESENT_VERBS.split()} | {
    "bring": "brought", "make": "made", "plug": "plugged", "rebuild": "rebuilt", "rewrite": "rewrote", "speed": "sped",
}  # fmt: skip
#: Verbs that are often nouns, as in ``Update dialog is gone``.
_VERB_FORMS_OR_NOUN: Final = {
    "bump": "bumped", "change": "changed", "document": "documented", "drop": "dropped", "handle": "handles",
    "keep": "keeps", "limit": "limits", "move": "moved", "port": "ported", "show": "shows", "skip": "skips",
    "stop": "stopped",
    "support": "added support for", "switch": "switched", "take": "takes", "update": "updated",
    "upgrade": "upgraded", "use": "uses",
}  # fmt: skip
_KNOWN_FORMS: Final = _VERB_FORMS | _VERB_FORMS_OR_NOUN
#: Verbs that are mostly nouns, unless a word such as "the" follows: ``Exit code``, ``Read timeout``.
_BEFORE_ARTICLE: Final = """
    abort access address aggregate animate annotate append archive assert associate attach attempt back balance
    batch begin bind block broadcast buffer build bundle bypass cache call cancel cap capture cast catch center
    chain check chunk clamp clear clone close collapse collect color colour compile complete compress compute
    connect construct contain continue control copy count cover crop cut debounce decode delay delete describe
    detach dim discard disconnect dismiss dispatch display divide double download draw duplicate edit embed
    emphasize encode enter erase escape estimate eval exit explain export fail favor feed fetch fill filter find
    fire flag flatten flip flush focus fold follow force forward freeze gate get give grant group guard
    highlight hook import index inline inspect install iterate join jump kill launch leave let lift link list
    load lock log loop map mark match merge mirror mock mount nest nudge offer open order override
    pad parse pass paste pause pick pin place poll post prefix preload prepare press print process produce
    profile promote prompt prune publish pull purge push put query queue quote read receive record redirect
    reference reflect register reload remap remember render repair replay report rerun reset resize restart
    resume return reuse reverse roll rotate round route run save scale scan schedule scope scroll seal search
    secure seed select send separate serve set shadow share shift ship shrink shuffle sign skip slice slow snap
    sort spawn split squash stage start store stream strip style submit subscribe subtract suggest surface
    suspend swap sync tag target teach throttle tie time toggle track transform translate trap treat trigger
    trim trust try turn undo unfold upload vary visit wait wake watch weigh wire withdraw wrap write yield zoom
"""
_VERB_FORMS_BEFORE_ARTICLE: Final = {verb: _present(verb) for verb in _BEFORE_ARTICLE.split()}
#: Verbs among them that are nouns before few words, ``Send button``: they have any other object. Not ``write``,
#: ``render`` or ``compute``: write access, render targets and compute units are things.
_WITH_ANY_OBJECT: Final = frozenset({
    "describe", "discard", "dismiss", "erase", "explain", "follow", "inspect", "receive", "remember", "send",
})  # fmt: skip
#: The prepositions with which such verbs go on, behind their object: ``Map lids to pots``.
_GOES_ON: Final = {
    verb: late(rf" (?:{'|'.join(words.split())}) ", re.IGNORECASE)
    for verb, words in {
        "abort": "early", "attach": "to", "batch": "into", "chunk": "by into", "close": "in on",
        "compress": "on with", "connect": "to", "copy": "from into to", "decode": "as from",
        "display": "from in on only", "encode": "as", "escape": "in", "export": "as from to", "fetch": "from in",
        "find": "from", "forward": "to", "get": "from", "group": "by", "highlight": "as with",
        "import": "from on only", "inline": "into", "install": "from in into on with", "link": "against into",
        "load": "from", "map": "to", "mark": "as", "merge": "into", "parse": "as from", "pass": "to",
        "prefix": "with", "print": "to using", "publish": "to", "pull": "from", "push": "to", "read": "from",
        "redirect": "from to", "register": "as in with", "report": "as in to", "return": "from in instead to",
        "run": "in on with", "save": "in to", "send": "to", "separate": "from", "sort": "by using",
        "split": "into over", "store": "in", "strip": "from in", "sync": "to with", "translate": "into to",
        "treat": "as", "upload": "as from to", "wrap": "in", "write": "in into to",
    }.items()
}  # fmt: skip
#: The same of any such verb, behind several things: ``Chunk lids using a table``.
_GOES_ON_ANYWAY: Final = late(
    r" (?:[\w-]+ ){0,2}?[\w-]*[^s\W]s (?:automatically|by default|in batches|in parallel|instead|once|twice|using)\b",
    re.IGNORECASE,
)
#: Verbs and their prepositions, with nothing between: ``Exit with an error``, ``Copy over lids``.
_PHRASAL: Final = {
    "account for": "accounts", "allow for": "allows", "check for": "checks", "clean up": "cleaned",
    "copy over": "copies", "default to": "defaults", "depend on": "depends", "exit with": "exits",
    "fall back": "falls", "flesh out": "fleshed", "guard against": "guards", "mark as": "marks",
    "match against": "matches", "opt out": "opts", "reject with": "rejects", "rely on": "relies",
    "support min": "supports", "support minimal": "supports", "support minimum": "supports",
    "throw on": "throws", "throw when": "throws",
    "turn off": "turns", "turn on": "turns", "wait for": "waits", "warn on": "warns", "warn when": "warns",
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
#: Names of parts of a product, whose beginnings look like verbs: "Copy to clipboard button", "Read only mode".
_NAME: Final = late(
    r"(?: (?!(?:the|an?|any|each|every|its|no|new|this|that|their|your|missing|non-\w+)\b)[\w-]+){1,4}"
    r" (?:button|checkbox|dialog|error|field|link|menu(?: item)?|mode|option|page|pop-?up|screen|setting|shortcut|tab"
    r"|toggle|view)\Z",
    re.IGNORECASE,
)
#: The adverb behind an object: ``Load lids lazily``.
_ADVERB_LAST: Final = late(r" \w{3,}ly\Z", re.IGNORECASE)
#: Gerunds of actions, by the imperative: "Updating all images" is an action, too.
GERUNDS: Final = {f"{verb.removesuffix('e')}ing": verb for verb in _PAST_VERBS.split()} | {
    "bumping": "bump", "changing": "change", "documenting": "document", "dropping": "drop", "making": "make",
    "moving": "move", "switching": "switch", "updating": "update", "upgrading": "upgrade", "using": "use",
}  # fmt: skip
_ARTICLE: Final = late(
    r"(?:the|an?|all|any|both|each|every|its|their|this|that|these|those|no|more|only|multiple|\d\S*"
    rf"|{_ADJECTIVE}|[^\W_]*+[_.:(`]++\w\S*|(?-i:[A-Z]\w*[a-z][A-Z]\w*))\Z",
    re.IGNORECASE,
)
#: First words of subjects that name the action: no label is needed.
DOES: Final = {*_KNOWN_FORMS, *_KNOWN_FORMS.values(), "don't", "do", "never", "no"}
#: The verb of an imperative, with an adverb before it, and the next word.
_FIRST: Final = late(
    r"((?:(?:actually|always|automatically|consistently|correctly|directly|explicitly|finally|fully|gracefully|lazily"
    r"|only|optionally|properly|recursively|silently|slightly|temporarily) +|(?:auto|re)-)?)([A-Za-z]+) +(?=(\S+))",
    re.IGNORECASE,
)
#: Adverbs of behaviour: the verb behind one is in the present.
_ADVERBS_OF_BEHAVIOUR: Final = frozenset({
    "always", "auto", "automatically", "consistently", "gracefully", "lazily", "only", "optionally", "recursively",
    "silently",
})  # fmt: skip
_AFTER_NOUN: Final = late(
    r"(?:for|in|of|on|with|by|at|is|are|was|were|when|after|during|has|have|does|doesn't|and|or)\Z", re.IGNORECASE
)
#: Two verbs with one object: ``Add or change the lid``.
_TWO_VERBS: Final = late(r"([A-Za-z]+) (and|or|&) ([a-z]+) (?!(?:and|or|&) )(?=\S)")
#: Beginnings of subjects that are not imperatives, or whose verb has another meaning.
_NOT_IMPERATIVE: Final = late(r"(?:use cases?|support only)\b", re.IGNORECASE)
#: An action, unlike ``Raise an error``.
_RAISES_BOUND: Final = late(r"raise (?:the )?(?:\w+ )?(?:min|max|limit|lower|upper|floor|bound|version)", re.IGNORECASE)
#: What follows a verb that may be a noun: ``and upgrade Oil``, ``and switch to oil``, unlike ``and update dialogs``.
_OBJECT: Final = late(rf" (?:to|from|the|an?|all|its|it|their|them|more|minimum|{_ADJECTIVE})(?: |\Z)| [`A-Z0-9]")
#: Words behind a verb, hardly behind a noun.
_DEFINITE: Final = late(r" (?:the|an?|all|its|it|their|them) ")
#: Words in front of an article that are no verbs of the software: function words, hints such as ``See the manual``, and
#: endings of Romance verbs, whose articles look the same.
_NO_VERB: Final = """
    about above across after again against ahead all almost along alongside already also although always amid amidst
    among amongst and another any anyway apart around aside atop away because before behind below beneath beside between
    beyond both but consult could despite double down due during each either else elsewhere enough even ever everywhere
    except first fixup for from furthermore fyi given half hardly hence here how however inside instead into just last
    later less like many may maybe meanwhile might minus more moreover most must near neither never next none nor not
    note notwithstanding now off often okay once one only onto opposite otherwise outside over overall past per please
    plus quite rather round second see should since so somehow somewhere soon still such than that then there therefore
    third though three thrice through throughout till today together too toward twice two under underneath unless unlike
    until upon upto via what whatever when whenever where whereby wherever whether which whichever while whilst who
    whose why wip with within without would yet \\w*a \\w*ar \\w*ir \\w*(?:aught|ought)
"""
#: Irregular verbs in the past, without their beginnings: ``rewrote``, ``undid``.
_IN_THE_PAST: Final = """
    arose ate became began bent blew bore broke built came chose clung crept dealt did drank drew drove fell felt flew
    forgot froze gave gone got grew had held hid kept knew laid led left lent lit lost made meant met paid ran rode rose
    said sank saw sent shone shook shot shrank shrunk slept slid sold spent spoke spun stole stood strode struck stuck
    swam swept swore taken threw told took tore understood was went were woke won wore wove wrote
"""
#: A word that is a verb in front of an article, though no table has it: ``Sound the horn``.
_RARE_VERB: Final = late(
    rf"(?!(?:{'|'.join(_NO_VERB.split())}|(?:fore|mis|out|over|re|un|under|with)?(?:{'|'.join(_IN_THE_PAST.split())}))\Z)"
    r"(?:[a-z]ing|[a-z]{2,}(?:[^\Wsdgy]|[^\We]d|[^\Wn]g|[^\Wl]y|ss))\Z",
    re.IGNORECASE,
)
_BEHIND_VERB: Final = late(r" (?:the|an?) ")
#: Verbs that are hardly nouns behind "and", and the words behind which they are.
_HARDLY_NOUN: Final = frozenset({"bump", "keep", "support", "take", "use"})
_AS_NOUN: Final = late(r" (?:as|by|cases?|for|from|in|is|of|on|when|with)(?: |\Z)| \w+\Z")
_FINITE: Final = late(r"\b(?:is|are|was|were|has|have|does|do|can|cannot|fails?|crash(?:es)?|breaks?)\b|n't\b")
#: Another verb behind ``Fix``: "Fix lid stays open".
_STATES: Final = late(
    r"(?! (?:how|what|whatever|where|why|whether)\b).* (?:is|are|was|were|has|have|does|do|did|can|cannot|breaks"
    r"|disappears|fails|stays|\w+n't)(?: |\Z)",
    re.IGNORECASE,
)
_CLAUSE: Final = late(r" (?:after|as|because|before|but|if|since|so|that|unless|until|when|where|which|while|who)\b.*")
_CODE: Final = late(r"`[^`]*`|\"[^\"]*\"")
_TO: Final = late(r"\bto ([A-Za-z]+)\b")
#: No other verb follows such words: ``to the lid``, ``instead of lids``.
_TO_NOUN: Final = late(r"\bto (?=(?:the|an?|all|its|their) |[`A-Z])|\binstead of ")
#: After a comma: the object of a verb without a known form, ``, start splitting lids``.
_ANOTHER: Final = late(r" \w+ing ")
#: What the software no longer does. Behind "no longer", adjectives are no verbs.
_DO_NOT: Final = late(
    r"d(?:on['\u2019]?t|o not) (?P<verb>(?!(?:always|be|even|ever|have|just|\w+ly)\b)[a-z]+)(?= |\Z)"
    r"|no longer (?P<does>(?!(?:an?|be|empty|hidden|in|new|on|open|part|private|safe|the|true)\b"
    r"|\w*(?:ible|al|ant|ary|[^e]ed|[^v]ent|ing|[^p]ly|[^s]s|[aeiou]tic|active|public|valid)\b"
    r"|(?!(?:dis|en)able)\w*able\b)[a-z]{2,})(?= )",
    re.IGNORECASE,
)
#: Another imperative in the same subject, and the word before it.
_AND_VERB: Final = late(
    r"(?<![\w`)\]])(?!(?:[Cc]opy|[Cc]ut|[Dd]rag|[Ff]ind|[Ss]earch) and )([\w`)\]]++)"
    r"(,?(?: and| or| &| \+)(?= \w+ )|[,;.]) ([A-Za-z]+)(?![\w(])"
)


def conjugated(text: str, *, present: bool = False) -> str:
    """Return an English subject in the tense of posts, or unchanged unless its first word is surely an imperative.

    Actions are in the past ("Added a lid"), behaviour of the software is in the present ("Requires a lid"). With
    ``present``, actions are in the present, too, as behind "It": "Adds a lid".
    """
    refused = _DO_NOT.match(text)
    if refused and not any(_may_be_verb(found[3].casefold()) for found in _AND_VERB.finditer(text)):
        verb = _present(refused["verb"] or refused["does"])
        return f"{'N' if text[0].isupper() else 'n'}o longer {verb}{text[refused.end() :]}"
    if (two := _TWO_VERBS.match(text)) and (both := _both_verbs(two, text[two.end() :], present=present)):
        return both
    first = _FIRST.match(text)
    verb_form = _verb_form(first, text) if first else None
    if first is None or verb_form is None:
        return text
    rest = text[first.end(2) :]
    further = [
        found for found in _AND_VERB.finditer(text) if (_is_verb(found[3]) or _acts(found)) and not _advises(found)
    ]
    if further and _infinitive(text, further[0].start(3)):
        # "Allow to add and remove lids": the others are infinitives.
        further = []
    if (further and not _are_imperatives(further, text)) or any(map(_is_unknown_imperative, _AND_VERB.finditer(text))):
        return text
    if not present and verb_form.endswith("s") and not all(_form_of(found).endswith("s") for found in further):
        # "Uses a lid, dropped the spout" reads worse than two imperatives.
        return text
    if further:
        form = _present_match if present else _conjugated_match
        rest = _AND_VERB.sub(form, text)[first.end(2) :]
    elif verb_form == "fixed" and _STATES.match(_CODE.sub("", _CLAUSE.sub("", rest))):
        return f"{first[2]}:{rest}"
    if present:
        verb_form = _present(first[2].casefold())
    return f"{first[1]}{verb_form.capitalize() if first[2][0].isupper() else verb_form}{rest}"


def _both_verbs(two: "re.Match[str]", rest: str, *, present: bool) -> str:
    """Return a subject with two verbs of one object, if they have one tense; empty: one of them is no imperative."""
    verb, _, end = conjugated(f"{two[1]} {rest}", present=present).partition(" ")
    other, _, same = conjugated(f"{two[3]} {rest}", present=present).partition(" ")
    if end != same or verb == two[1] or other == two[3]:
        return ""
    return f"{verb} {two[2]} {other} {end}" if verb.endswith("s") == other.endswith("s") else two.string


def _verb_form(first: "re.Match[str]", text: str) -> str | None:
    """Return the first verb of a subject in the tense of posts; ``None`` unless it is surely an imperative."""
    word, following = first[2].casefold(), first[3].casefold()
    behaves = first[1].casefold().rstrip(" -") in _ADVERBS_OF_BEHAVIOUR and _may_be_verb(word)
    verb_form, mostly = _PHRASAL.get(f"{word} {following}"), _VERB_FORMS_BEFORE_ARTICLE.get(word)
    rest = _CLAUSE.sub("", text[first.end(2) :]) if verb_form or behaves or mostly else ""
    if verb_form:
        # "Mark as read button" is a name, and "as" begins no clause.
        named = _NAME.fullmatch(text, first.end(2)) is not None
        return None if named or _names_or_states(rest) else verb_form
    if behaves:
        # Each other verb would need the same form: "Automatically add and remove lids".
        others = any(_may_be_verb(found[3].casefold()) for found in _AND_VERB.finditer(text))
        return None if others or _FINITE.search(rest) else _present(word)
    if _NOT_IMPERATIVE.match(text) or THING.search(text) or _AFTER_NOUN.match(following):
        return None
    if verb_form := "raised" if _RAISES_BOUND.match(text) else _VERB_FORMS.get(word):
        return verb_form
    may_be = _VERB_FORMS_OR_NOUN.get(word)
    if may_be and (first[1] or not _FINITE.search(_CLAUSE.sub("", text))):
        return may_be
    if _is_rare_verb(word, text, first.end(2)) and not _FINITE.search(_CLAUSE.sub("", text)):
        return _present(word)
    return mostly if mostly and (first[1] or _has_object(word, first, text, rest)) else None


def _is_rare_verb(word: str, text: str, end: int) -> bool:
    return not _may_be_verb(word) and bool(_BEHIND_VERB.match(text, end) and _RARE_VERB.match(word))


def _names_or_states(rest: str) -> bool:
    return _NAME.fullmatch(rest) is not None or _FINITE.search(rest) is not None


def _has_object(verb: str, first: "re.Match[str]", text: str, rest: str) -> bool:
    if _names_or_states(rest):
        return False
    if _ARTICLE.match(first[3]) or _ADVERB_LAST.search(rest):
        return True
    if _OF_A_NOUN.match(first[3]):
        return False
    if verb in _WITH_ANY_OBJECT:
        return True
    goes_on = _GOES_ON.get(verb)
    on = _GOES_ON_ANYWAY.match(text, first.end(2)) or (goes_on and goes_on.search(text, first.end(2)))
    return on is not None


def _infinitive(text: str, end: int) -> bool:
    return any(_may_be_verb(found[1].casefold()) for found in _TO.finditer(text, 0, end))


def _is_unknown_imperative(found: "re.Match[str]") -> bool:
    """Return whether a verb without a known form follows: ``, start splitting lids`` or ``, and record lids``."""
    word = found[3].casefold()
    if _is_verb(word) or _acts(found):
        return False
    if found[2][-1] not in ",;." and _is_rare_verb(word, found.string, found.end()):
        return True
    if found[2][-1] in ",;":
        return word in VERBS and _ANOTHER.match(found.string, found.end()) is not None
    # The last one of several things may look like a verb: "of lids, pots, and records".
    return found[2][0] == "," and _may_be_verb(word) and found.string.find(",", 0, found.start(2)) < 0


def _may_be_verb(word: str) -> bool:
    return word in VERBS or word in _VERB_FORMS_BEFORE_ARTICLE or _is_verb(word)


def _is_verb(word: str) -> bool:
    return word.casefold() in _KNOWN_FORMS


def _are_imperatives(further: Sequence["re.Match[str]"], text: str) -> bool:
    """Check that verbs after a conjunction are imperatives of their own, not nouns or parts of a clause."""
    return (
        all(_is_imperative(found, text) and (not found.start() or not _is_verb(found[1])) for found in further)
        and SUBORDINATE.search(_TO_NOUN.sub(" ", text[: further[-1].start(3)])) is None
    )


def _is_imperative(found: "re.Match[str]", text: str) -> bool:
    verb = found[3].casefold()
    if verb in _HARDLY_NOUN and _AS_NOUN.match(text, found.end()) is None:
        return True
    return (
        verb in _VERB_FORMS
        or _acts(found)
        or (verb in _VERB_FORMS_OR_NOUN and _OBJECT.match(text, found.end()) is not None)
    )


def _acts(found: "re.Match[str]") -> bool:
    """Return whether a verb that is mostly a noun has an object: ``and close the lid``."""
    return found[3].casefold() in _VERB_FORMS_BEFORE_ARTICLE and _DEFINITE.match(found.string, found.end()) is not None


def _advises(found: "re.Match[str]") -> bool:
    """Return whether a verb tells readers what to do: ``; use pots instead``."""
    return found[2][-1] in ",;." and found[3].casefold() == "use" and found.string.find(" instead", found.end()) > 0


def _form_of(found: "re.Match[str]") -> str:
    verb = found[3].casefold()
    return _KNOWN_FORMS.get(verb) or (_VERB_FORMS_BEFORE_ARTICLE[verb] if _acts(found) else found[3])


def _conjugated_match(found: "re.Match[str]") -> str:
    return _with_form(found, found[3] if _advises(found) else _form_of(found))


def _present_match(found: "re.Match[str]") -> str:
    keeps = _advises(found) or not (_is_verb(found[3]) or _acts(found))
    return _with_form(found, found[3] if keeps else _present(found[3].casefold()))


def _with_form(found: "re.Match[str]", verb_form: str) -> str:
    return f"{found[1]}{found[2]} {verb_form.capitalize() if found[3][0].isupper() else verb_form}"
