"""Commit messages of any style, parsed into their parts."""

import re
from typing import Final, final

from msgspec import Struct

from contentsvc_core.content.changelog.bodies import BREAKING_TOKENS, Footer, breaking_notes, footers_of, whole_subject
from contentsvc_core.content.changelog.markdown import masked_line
from contentsvc_core.content.changelog.words import (
    AREAS,
    GITMOJI,
    INTERNAL_VERBS,
    RELEASE_SIGN,
    SHORTCODES,
    STANDARDS,
    TYPES,
    VERBS,
    VERBS_IN_SCOPES,
)
from contentsvc_core.on_demand import late

#: The longest subject, in characters; the rest is cut.
SUBJECT_LIMIT: Final = 400
#: The beginning and end of a message that are read, in characters: large messages cost no more.
_READ: Final = 16_384

# Conventional Commits 1.0.0, rules 1, 4, 5, 13. A type is a noun: one word. Without a space behind the colon, the word
# must be a known type. Chinese and Japanese have a wide colon.
_HEADER: Final = late(
    r"(?P<type>[A-Za-z][A-Za-z0-9_-]{0,39})(?:\((?P<scope>[^()]*(?:\([^()]*\)[^()]*)*)\))?(?P<mark>!)?"
    r"(?P<colon>: +|[:\uff1a](?![ :/\\]))"
    r"(?P<description>\S.*)"
)
#: References at the end of a subject: ``(#12)``, ``#12``, ``(fixes #12, #13)``, ``(GH-12)``, ``(!12)``, ``[#12]``.
_NUMBER: Final = late(
    r"[ ,.:-]*(?:(?<= )(?:and|&) )?[(\[]?(?:(?:close|fix|resolve)(?:[sd]|es|ed)? |refs? |see |issue |bug |pr |for |via "
    r"|part of |thanks? )?(?P<name>#|GH-|gh-|!|bpo-)(?P<number>[0-9]{1,10})[)\]]?[.,]?\Z",
    re.IGNORECASE,
)
_DIGIT_AT_END: Final = late(r"[0-9][)\]]?[.,]?\Z")
#: The lengths of titles that a code host cuts, in characters, and the words before the cut one that say nothing alone.
_CUT_LENGTHS: Final = range(60, 80)
_CUT_WORD: Final = late(r"[,;:]?(?: (?:an?|and|as|at|by|for|from|in|of|on|or|the|to|when|with))* [^ ]*…\Z")
#: The most characters between the first bracket of a reference and its sign: ``(resolved bpo-``.
_BEFORE_SIGN: Final = 14
#: The same at the beginning: ``Fixed #12 -- x``, ``[Fix #12] x``, ``gh-12: x``, ``!12 x``, ``Follow up to #12: x``.
_LEADING_NUMBER: Final = late(
    r"[(\[]?(?:(?:close|fix|resolve)(?:[sd]|es|ed)?|refs?|issue|bug|feature|minor|security|pr|ticket"
    r"|follow[- ]?ups? (?:for|of|on|to))?:? ?"
    r"(?:[\#!]|GH-|bpo-|issue-)(?P<number>[0-9]{1,10})[)\]]?(?: *(?:--|-|:|,|\u2013|\u2014|\|) *| )(?=[^\W\d_]|[`\"'])",
    re.IGNORECASE,
)
#: ``LAMP-12: x``, ``LAMP-12. x``, ``LAMP-12/x``, ``[LAMP-12][Core] x``, ``tdf#12 x``, ``AB#12 x``,
#: ``Bug 1234567 - Part 2: x``, ``Issue 12: x``, ``12: x`` unless the number is a status of HTTP. Bugs and tasks may
#: have numbers of their own. A single digit before words is a version: ``GPT-4 x``.
_TICKET: Final = late(
    rf"[(\[]?(?!{STANDARDS})[A-Z][A-Z0-9]{{1,9}}-[0-9]{{1,7}}[)\]]?(?: *[:;|-] *|\. |(?<!-[0-9]) |/|(?=[\[(]))(?=\S)"
    r"|(?:[a-z]{2,6}#[0-9]{3,7}|AB#[0-9]{1,8})[:, -]+(?=\S)"
    r"|(?![1-5][0-9]{2}:)[0-9]{1,7}: +(?=\S)"
    r"|Bug [0-9]{5,8} - (?:[Pp]art [0-9a-z]{1,3}[:.,] *)?(?=\S)"
    r"|(?i:(?:issue|pr|gh)[ -]?(?P<number>[0-9]{1,7})|(?:bug|story|task|ticket)[ -]?[0-9]{1,10})(?:: +| +- +)(?=\S)"
)
#: ``Issue #12 by ada, bob: x``.
_ISSUE: Final = late(r"Issue #(?P<number>[0-9]{4,10}) by [^:]{2,200}: (?=\S)")
#: ``; x`` (a small change), ``* lisp/lamp.el (light): x``, items of lists: ``* x``, ``+ x``, and git's own words.
_ITEM_OF_LOG: Final = late(
    r"Squashed commit of the following: *(?=\S)"
    r"|; (?=\S)|\* (?:[\w./-]+/)?(?P<file>[\w.-]+\.\w+)(?: \([^()]{1,80}\))*: (?=\S)|[*+] (?=[^\W\d_])"
)
#: ``name - text``, ``Long Name - text``: a scope if a known verb follows.
_DASHED: Final = late(r"(?P<scope>(?P<name>[\w./-]{2,40})(?: [A-Z]\w*){0,2}) - (?P<rest>(?P<verb>[A-Za-z]+)\b.*)")
_BREAKING_MARK: Final = late(
    r"\[!!!\] *(?=\S)|"
    r"(?:[*_]{2}|[\[(])?(?:(?:bc-)?breaking(?:[ -]change)?|bc[ -]break|backwards?[ -]incompatible|api[ -]break)s?"
    r"(?:[*_]{2}|[\])])?(?:[*_]{2})?(?: *[:-](?:[*_]{2})? *|(?<=[*\])]) )(?=\S)",
    re.IGNORECASE,
)
#: The name of a branch that became a title, e.g. `feature/LAMP-12 add a horn`, `Ada/fix the horn` or, with initials,
#: `Gm/the horn`; a type as in `feat - add a horn`; and the stage of a pull request.
_BRANCH: Final = late(
    r"(?P<type>feat|feature|fix|bugfix|hotfix|chore|docs|refactor|perf|ci|(?:add|enhancement|tweak|update)(?= - ))"
    r"(?:/(?:[A-Z]+-[0-9]{1,7}[ _:/-]+)?(?=[^:]+\Z)| - (?=\S))"
    r"|(?:draft|rfc)(?::| -) *(?=\S)"
    r"|(?-i:[A-Z])[a-z0-9]{1,15}/(?=(?:add|bugfix|change|chore|feat|feature|fix|improve|refactor|remove|update)[ /])"
    r"|(?-i:(?!(?:Cd|Css|Db|Dns|Ftp|Gh|Gpg|Html|Http|Js|Jvm|Kv|Lsp|Md|Npm|Pdf|Php|Pr|Qt|Rpc|Rpm|Rx|Sdk|Sql|Src|Ssh|Ssl"
    r"|Svg|Tcp|Tls|Ts|Ttl|Tx|Udp|Vm|Vpn|Wx|Xml)/)[A-Z](?<![AEIOUY])[b-df-hj-np-tv-xz]{1,2}/(?=[a-z]{2}))",
    re.IGNORECASE,
)
_SLUG: Final = late(r"[a-z0-9]+(?:-[a-z0-9]+)+")
#: A type of two words, one with its part in other signs, and one without a colon: ``Bug fix: x``, ``feat[horn]: x``,
#: ``fix/horn: x``, ``fix(horn) x``.
_UNUSUAL_TYPE: Final = late(
    r"(?P<type>(?:bug|hot)[ -]fix(?:es)?|new[ -]features?|neue funktion|nouvelle fonctionnalité|nueva funcionalidad"
    r"|nouveauté|corrección): +(?=\S)"
    r"|(?P<kind>build|chore|ci|docs|feat|fix|perf|refactor|style|test)"
    r"(?:[\[/](?P<part>[\w.-]{1,40})\]?: +|\((?P<scope>[\w./-]{1,40})\)!? :? *)(?=\S)",
    re.IGNORECASE,
)
#: The title that a code host gives to the merge request of an issue: ``Resolve "The horn is silent"``.
_RESOLVES: Final = late(r"Resolve \"(?P<rest>\S.*)\"")
#: ``ENH add a horn``, ``feat add a horn``.
_CAPITALS: Final = late(r"(?P<type>CI|CLN|DEP|DOC|EFF|ENH|FEA|FEAT|FIX|MAINT|MNT|PERF|TST|feat) (?=[\w`\"])")
_SYMFONY: Final = late(r"(?P<type>bug|feature|minor|security) #(?P<number>[0-9]{1,10}) (?=\S)")
_MARKS: Final = (
    _BREAKING_MARK, _SYMFONY, _BRANCH, _UNUSUAL_TYPE, _CAPITALS, _ISSUE, _LEADING_NUMBER, _TICKET, _ITEM_OF_LOG,
)  # fmt: skip
#: Words without a prefix: prefixes have one of these signs, or begin with one.
_NO_PREFIX: Final = late(r"(?!feat )[A-Za-z](?![A-Z]|[a-z]+\()[^:\uff1a#/-]*")
_TAG_ALONE: Final = late(r"\[[^\[\]]*\]")
_NUMBER_SCOPE: Final = late(rf"#(?P<number>[0-9]{{1,10}})|(?!{STANDARDS})[A-Z][A-Z0-9]{{1,9}}-[0-9]{{1,7}}|\W+")
_BOLD: Final = late(r"\A\*\*(?!(?:api|back|bc|break))([^*]+)\*\*", re.IGNORECASE)
_SKIP_MARK: Final = late(
    r" ?[\[(](?:skip[ -](?:ci|news|changelog|actions|netlify|travis|release)|(?:ci|changelog|news|actions) skip"
    r"|no[ -]?ci|nochangelog|skip)[\])]|\*\*\*NO_CI\*\*\*",
    re.IGNORECASE,
)
_BY: Final = late(
    r"\.? contributed by [^.]{2,80}\.?\Z"
    r"|,? r=[\w,.#!-]{2,80}\Z| [(\[](?:by:? |thanks? (?:to )?|via |h/t |@)[^()]{1,60}[)\]]\Z|(?<=\))"
    r" \([A-Za-z][\w, -]{2,60}\)\Z",
    re.IGNORECASE,
)

#: ``[x] text``, ``[`x`] text``, ``(x) text``, ``{x} text``.
_TAG: Final = late(
    r"(?:\[`?(?P<b>[^\]`\[]{1,40})`?\]|\((?P<p>[\w /.-]{1,30})\)|\{(?P<c>[\w /.-]{1,30})\})[:\s-]*(?P<rest>\S.*)"
)
#: Tags of branches, versions and stages, which describe no change.
_EMPTY_TAG: Final = late(
    r"v?\d+(?:\.(?:\d+|x))*(?:\.?x)?|[\w/-]*\d+[.-]x|backport.*|\w+ backport|(?:release|stable|branch)[/ -].*"
    r"|wip|draft|pr|mr|rfc|mrg.*|main|master|stable|develop|dev|next|trunk"
    r"|auto\w*|bot|robot|automated pr|copilot|codex|claude|minor|major|trivial|hotpatch|nfc|skip.*",
    re.IGNORECASE,
)
#: ``path/{name,other}: text``, ``File.ext: text``, ``name: text``, ``two words: text``, ``a, b: text``, ``a & b: x``.
_PART: Final = r"(?=[\w@.+*/#{-])[\w@.+*/#-]{0,60}(?:\{[\w.,*/-]{1,40}\}[\w@.+*/#-]{0,40})?"
_PATH: Final = late(
    rf"(?P<scope>{_PART}(?:(?:, ?| & ){_PART}){{0,3}}|[A-Za-z][\w-]{{1,20}} [\w-]{{1,20}})"
    r"(?P<mark>!)?: +(?P<rest>\S.*)"
)

#: Usual subjects, which the other patterns would read the same: an optional type, scope and number.
_USUAL: Final = re.compile(
    r"(?:(?P<type>[a-z][a-z-]{0,39}+)(?:\((?P<scope>(?!no-?c|[^)]*skip)[a-z0-9_./-]*+)\))?(?P<mark>!)?: )?"
    r"(?P<words>(?!(?i:break|bc|back|feat |api[ -]b|[a-z]++/))[A-Za-z][\w,.'`/+? -]*)(?<=[A-Za-z`'])"
    r"(?:(?<=[a-z])(?<!equest) \(#(?P<number>[0-9]{1,10})\))?",
    re.ASCII,
)
#: In the words of a subject that is not usual.
_ARTICLES: Final = ("a ", "all ", "an ", "the ")
_UNUSUAL: Final = late(r"-(?![a-z])")
_SIGN: Final = late(
    rf"(?:(?P<sign>[{''.join(GITMOJI)}{RELEASE_SIGN}]|[\U0001F300-\U0001FAFF\u2600-\u27BF\u2B00-\u2BFF\u23E9-\u23FA])"
    r"[\ufe0e\ufe0f\u200d\U0001F3FB-\U0001F3FF\u2640\u2642\U0001F4BB]*|:(?P<code>[a-z0-9_+-]{2,40}):)\s*(?=\S)"
)


@final
class CommitMessage(Struct, frozen=True, kw_only=True, gc=False):
    #: The first line as one clean line, without the numbers at its end.
    subject: str
    #: In lower case one of :data:`~contentsvc_core.content.changelog.words.TYPES`; ``""``: none.
    kind: str = ""
    scope: str | None = None
    sign: str = ""
    #: The subject without sign, type, scope and references.
    description: str
    breaking: bool = False
    #: The breaking footers, each as one line.
    breaking_notes: tuple[str, ...] = ()
    #: Pull requests and issues that the subject names, without ``#``; the pull request of the change comes last.
    numbers: tuple[str, ...] = ()
    #: The text after the first line, cut. It is never printed unchanged.
    body: str = ""
    #: The whole message: trailers are read from it.
    source: str = ""
    #: Whether it may be a revert.
    may_undo: bool = False

    @property
    def request(self) -> str:
        """The number of the pull request that the change came with, ``""`` for none."""
        return self.numbers[-1] if self.numbers else ""

    @property
    def footers(self) -> tuple[Footer, ...]:
        return footers_of(self.source)


def parse(message: str) -> CommitMessage:
    """Return the parts of a message. A subject without a known style is all description."""
    first_line, _, body = message[:_READ].replace("\r\n", "\n").lstrip().partition("\n")
    first_line, body = whole_subject(first_line, body) if body else (first_line, body)
    breaking, notes = breaking_notes(body) if body else (False, ())
    if "BREAKING" in message:
        notes = (*(footer.value for footer in footers_of(message) if footer.token in BREAKING_TOKENS), *notes)
    if notes:
        lines = dict.fromkeys(filter(None, (masked_line(note, 1_000) for note in notes)))
        # A footer may have a list, before which the note of the body ends.
        notes = tuple(line for line in lines if not any(each.startswith(f"{line} ") for each in lines))
        breaking = True
    usual = _USUAL.fullmatch(first_line) if len(first_line) <= SUBJECT_LIMIT else None
    if usual is not None:
        kind, scope, mark, words, number = usual.groups()
        known = kind is None or (kind in TYPES and kind != "breaking")
        if known and not (words[:2].isupper() or "  " in words or ("-" in words and _UNUSUAL.search(words))):
            if scope in VERBS_IN_SCOPES and words.startswith(_ARTICLES):
                scope, words = None, f"{scope} {words}"
            return CommitMessage(
                subject=first_line[: usual.end("words")],
                kind=kind or "",
                scope=scope or (kind if kind in AREAS else None),
                description=words,
                breaking=breaking or mark is not None,
                breaking_notes=notes,
                numbers=(number,) if number else (),
                body=body,
                source=message,
                # A quoted subject is not usual.
                may_undo=kind == "revert",
            )
    subject, numbers = _subject(first_line, body)
    if subject.startswith("Resolve ") and (issue := _RESOLVES.fullmatch(subject)):
        subject = issue["rest"]
    read = _prefixes(subject)
    kind = (read.kind or "").casefold()
    return CommitMessage(
        subject=subject,
        kind=kind,
        scope=read.scope or (kind if kind in AREAS else None),
        sign=read.sign,
        description=read.rest,
        breaking=read.breaking or breaking,
        breaking_notes=notes,
        numbers=tuple(dict.fromkeys((*read.numbers, *numbers))),
        body=body,
        source=message,
        may_undo=kind == "revert" or subject[:3].lower() in _MAY_UNDO,
    )


def without_numbers(line: str) -> tuple[str, tuple[str, ...]]:
    """Return a line without the references at its end, and their numbers: ``text (#1) (#2)`` has ``1`` and ``2``."""
    numbers: list[str] = []
    # Most lines do not end with a reference. In other lines, the match begins near the sign.
    while _DIGIT_AT_END.search(line[-3:]):
        sign_at = max(map(line.rfind, "#!-"))
        start = len(line[: max(0, sign_at - _BEFORE_SIGN)].rstrip(" ,.:-"))
        if (match := _NUMBER.search(line, start)) is None:
            break
        before, sign = line[: match.start()], match[0][:1]
        # `Fix #12` has no other words, and `acme/lid#12` names another repository's number.
        last = before.rstrip(" ,.:-([").rpartition(" ")[2].lstrip("([").casefold()
        bare = last in _NEEDS_NUMBER and match[0].lstrip(" ,.:-")[0] not in "(["
        if not _TAG_ALONE.sub("", before).strip() or bare or (sign in "#!" and before[-1:].isalnum()):
            break
        numbers.append(match["number"])
        line = line[: match.start()].rstrip()
    return line, tuple(reversed(numbers))


_NEEDS_NUMBER: Final = frozenset({
    "fix", "fixes", "fixed", "close", "closes", "resolve", "issue", "revert", "see", "merge", "bug", "to", "request",
    "of", "about",
})  # fmt: skip


def _subject(first_line: str, body: str) -> tuple[str, tuple[str, ...]]:
    # Some subjects are items of a list.
    line = first_line[: 8 * SUBJECT_LIMIT].removeprefix("- ").removeprefix("\u2022 ")
    if "skip" in (lower := line.lower()) or "no" in lower:
        line = _SKIP_MARK.sub("", line)
    line, numbers = without_numbers(masked_line(_BOLD.sub(r"\1", line), SUBJECT_LIMIT))
    if line.endswith((")", "]")) or " r=" in line or "ontributed by " in line:
        line, more = without_numbers(_BY.sub("", line))
        numbers = more + numbers
    # A code host that cuts a long title puts its rest at the beginning of the body; a body of the author replaces it.
    if line.endswith("…") and body.lstrip().startswith("…"):
        rest = body.lstrip()[1:].partition("\n")[0]
        line, more = without_numbers(masked_line(line[:-1] + rest, SUBJECT_LIMIT))
        numbers += more
    elif line.endswith("…") and len(line) in _CUT_LENGTHS:
        line = _CUT_WORD.sub("…", line)
    return line, numbers


def _prefixes(subject: str) -> "_Head":
    head = _Head(rest=subject)
    for _ in range(_PREFIXES):
        # After the type `revert` comes the undone subject.
        if _NO_PREFIX.fullmatch(head.rest) or (head.kind or "").casefold() == "revert":
            break
        if not any(read(head) for read in _READERS):
            break
    if head.scope and (reference := _NUMBER_SCOPE.fullmatch(head.scope)):
        # `fix(#481): …` names an issue and `feat(*): …` the whole, not a part of the code.
        head.scope = None
        head.numbers[:0] = filter(None, [reference["number"]])
    if head.scope and head.rest.startswith(_ARTICLES) and head.scope.casefold() in VERBS_IN_SCOPES:
        head.scope, head.rest = None, f"{head.scope} {head.rest}"
    return head


@final
class _Head(Struct, kw_only=True):
    rest: str
    sign: str = ""
    kind: str | None = None
    scope: str | None = None
    breaking: bool = False
    #: Whether the scope was read as a path: a second one may follow.
    path: bool = False
    numbers: list[str] = []


def _read_sign(head: _Head) -> bool:
    match = None if head.sign else _SIGN.match(head.rest)
    sign = match and (match["sign"] or SHORTCODES.get(match["code"]))
    if not match or not sign:
        return False
    head.sign, head.rest = sign, head.rest[match.end() :]
    return True


def _read_mark(head: _Head) -> bool:
    for pattern in _MARKS:
        if match := pattern.match(head.rest):
            fields = match.groupdict()
            kind = fields.get("type") or fields.get("kind")
            head.kind = head.kind or (kind and kind.replace(" ", "-"))
            head.scope = head.scope or fields.get("file") or fields.get("part") or fields.get("scope")
            head.breaking = head.breaking or pattern is _BREAKING_MARK
            head.numbers += filter(None, [fields.get("number")])
            head.rest = head.rest[match.end() :]
            if match[0].endswith("/") and _SLUG.fullmatch(head.rest):
                head.rest = head.rest.replace("-", " ")
            return True
    return False


def _read_tag(head: _Head) -> bool:
    match = _TAG.fullmatch(head.rest) if head.rest.startswith(("[", "(", "{")) else None
    if match is None:
        return False
    word = (match["b"] or match["p"] or match["c"]).strip()
    if word.casefold().replace(" ", "-") in TYPES:
        word = word.replace(" ", "-")
        head.kind = word if word.casefold() == "security" else head.kind or word
    elif not _EMPTY_TAG.fullmatch(word):
        head.scope = head.scope or word
    head.rest = match["rest"]
    return True


def _read_header(head: _Head) -> bool:
    match = _HEADER.fullmatch(head.rest)
    if match is None:
        return False
    if match["type"].casefold() in TYPES:
        if head.kind is not None:
            return False
        head.kind, head.scope = match["type"], (match["scope"] or "").strip() or head.scope
    elif match["colon"][-1] != " ":
        return False
    elif head.scope is None:
        head.scope, head.path = match["type"], True
    elif head.path and head.kind is None:
        # `net: phy: add x`, as kernels write it.
        head.scope = f"{head.scope}: {match['type']}"
    else:
        return False
    head.breaking = head.breaking or match["mark"] is not None
    head.rest = match["description"]
    return True


def _read_part(head: _Head) -> bool:
    if head.scope and not (head.path and head.kind is None and " - " in head.rest):
        return False
    if not head.scope and (match := _PATH.fullmatch(head.rest)) and _names_a_part(match["scope"]):
        head.breaking = head.breaking or match["mark"] is not None
    else:
        match = _DASHED.fullmatch(head.rest)
        if match is None or match["verb"].casefold() not in VERBS or match["name"].casefold() in VERBS:
            return False
    head.scope = f"{head.scope}: {match['scope']}" if head.scope else match["scope"]
    head.path, head.rest = True, match["rest"]
    return True


_READERS: Final = (_read_sign, _read_mark, _read_tag, _read_header, _read_part)
_PREFIXES: Final = 6
#: The beginnings of "Revert" and "Reapply".
_MAY_UNDO: Final = frozenset({"rev", "rea"})


def _names_a_part(scope: str) -> bool:
    first, _, second = scope.casefold().partition(" ")
    return not second or second.startswith("-") or not (first in VERBS or first in INTERNAL_VERBS)
