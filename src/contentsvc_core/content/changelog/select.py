"""The listed changes, and the changes that are only counted."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, final

from msgspec import Struct
from msgspec.structs import replace

from contentsvc_core.content.changelog import patterns, words
from contentsvc_core.content.changelog.bodies import explanation
from contentsvc_core.content.changelog.classify import PRIVATE_FIX, Breaks, Kind, classify, classify_news
from contentsvc_core.content.changelog.combine import Entry, combine
from contentsvc_core.content.changelog.critical import MOVED_LIMIT, RAISED, raises_compiler
from contentsvc_core.content.changelog.labels import SKIP, section_of_labels
from contentsvc_core.content.changelog.markdown import masked_line, sentence, without_period
from contentsvc_core.content.changelog.merges import Group
from contentsvc_core.content.changelog.people import authors
from contentsvc_core.content.changelog.read import CommitMessage
from contentsvc_core.content.changelog.reverts import Undoing, undoing
from contentsvc_core.content.changelog.subjects import imperative, with_verb, without_upkeep
from contentsvc_core.content.changelog.tables import tables_of
from contentsvc_core.content.options import ChangelogOptions
from contentsvc_core.content.phrases import ENGLISH, Phrasebook
from contentsvc_core.content.sections import CRITICAL, UPKEEP, Section
from contentsvc_core.events.normalized import Author, Commit, Push
from contentsvc_core.on_demand import late

if TYPE_CHECKING:
    from contentsvc_core.content.pull_requests import PullRequest

#: A habit of news fragments: the entries and their share from which changes without news are only counted.
#: Vague changes without a number are only counted from this number of entries on; the share does not matter.
_NOTED_LEAST: Final = 3
_NOTED_SHARE: Final = 0.2
#: The same for pull requests and issues; in a window of fewer changes every change counts.
_REQUESTED_OF: Final = 8
_REQUESTED_SHARE: Final = 0.5
_VERSION: Final = late(r"(?P<major>\d{1,9})\.(?P<minor>\d{1,9})(?:\.(?P<patch>\d{1,9}))?")
_TAG_LIMIT: Final = 40
_RUST: Final = {"msrv": "rust", "rustc": "rust", "rust-version": "rust", "node.js": "node", "nodejs": "node"}
#: Scopes of requirements that hold for the whole project.
_WHOLE: Final = frozenset({"", "msrv", "cargo", "engines"}) | words.SCOPES.keys()
_VAGUE: Final = frozenset({Section.OTHER, Section.CHANGED}) | UPKEEP
_NOT_INFERRED: Final = UPKEEP | {Section.REVERTED}
_MAY_REQUIRE: Final = frozenset({Section.BREAKING, Section.CHANGED})
#: Shown without a number, too, where most changes have one: readers may want it, met the fault, or used it.
_NOTICED: Final = CRITICAL | {Section.ADDED, Section.DEPRECATED, Section.REMOVED, Section.FIXED}
#: Packages of builds alone: actions of a code host, base images.
_ACTION: Final = late(
    r"(?:actions|github|docker|codecov|pypa|softprops|peter-evans|goreleaser|golangci|peaceiris|dorny|step-security|ossf"
    r"|aquasecurity|taiki-e|dtolnay|shivammathur|ruby|gradle|astral-sh|sigstore|slsa-framework|reviewdog|crate-ci"
    r"|stefanzweifel|actions-rs|swatinem|oven-sh|pnpm|denoland|cachix|changesets|release-drafter)/[\w./-]+|\S+-action(?:/\S+)?",
    re.IGNORECASE,
)
_NAMES: Final = ("name", "among", "named", "listed", "tool", "module", "newer", "bounded")
_BEGINS: Final = ("begin", "lowest")
_ENDS: Final = ("end", "tooled", "newest", "least")
_NAME: Final = late(r"[\w@./+-]{1,100}")


@final
class Bump(Struct, frozen=True, kw_only=True, gc=False):
    #: Empty: the subject names no package.
    name: str
    begin: str
    end: str

    @property
    def builds(self) -> bool:
        return _ACTION.fullmatch(self.name) is not None


@final
class Change(Struct, frozen=True, kw_only=True, gc=False):
    section: Section
    #: The bold text before the line: a scope or packages; may be empty.
    label: str
    #: The named part of the code; empty if unknown, or if the heading names it.
    scope: str
    #: One line, plain and not escaped, with a capital and without its period.
    text: str
    #: The same without the capital, for use after a colon.
    continuation: str
    body: str = ""
    notes: tuple[str, ...]
    #: Pull requests and issues, without ``#``; the change's own pull request comes last.
    numbers: tuple[str, ...]
    reads: Group
    kind: str
    #: Whether the change is listed. Otherwise it is counted.
    shown: bool = True
    bump: Bump | None = None
    #: The account whose first pull request in this repository it is; may be empty.
    newcomer: str = ""
    #: Whether the change is an entry of release notes, which their author has sorted. Otherwise it comes from commits.
    noted: bool = False

    @property
    def details(self) -> str:
        """The author's explanation: plain, whole sentences; may be empty."""
        is_explained = self.shown and self.body and self.section not in UPKEEP
        return explanation(self.body, subject=self.continuation) if is_explained else ""

    @property
    def commits(self) -> list[Commit]:
        return [read.commit for read in self.reads]

    @property
    def messages(self) -> list[CommitMessage]:
        return [read.message for read in self.reads]


def reported_changes(
    pushes: Iterable[Push],
    options: ChangelogOptions,
    phrases: Phrasebook = ENGLISH,
    *,
    tag: str = "",
    requests: "Mapping[int, PullRequest] | None" = None,
    undone: Mapping[str, str] | None = None,
) -> tuple[Change, ...]:
    """Return the changes of some pushes, in the order of arrival, without release work and hidden changes.

    ``tag`` names the release with the changes; may be empty. ``undone`` has the tags of releases with the targets of
    reverts, by the hashes of the reverts. Labels of ``requests`` outweigh words.
    """
    reported: list[tuple[Entry, Kind]] = []
    breaks = breaks_of(tag)
    hides = bool(options.hidden or options.hidden_authors or options.hidden_paths)
    for combined in combine(pushes, requests):
        message, kind = classify_news(combined.message, combined.touched, breaks)
        entry = combined if message is combined.message else replace(combined, message=message)
        if len(entry.reads) > 1:
            kind = _of_commits(entry, kind)
        label = section_of_labels(entry.request.labels) if entry.request else None
        if label is not None and not (kind.sure and kind.section in CRITICAL):
            if label == SKIP:
                continue
            kind = Kind(label, sure=True)
        if not (kind.empty and options.hide_release_chores) and not (hides and _hidden(entry, kind, options)):
            reported.append((entry, kind))
    reported = _last_required(reported)
    habits = _habits([entry for entry, kind in reported if kind.section not in UPKEEP])
    changes = [_change(entry, kind, phrases, shown=_shown(entry, kind, options, habits)) for entry, kind in reported]
    return tuple(_dated(change, undone, phrases) for change in changes) if undone else tuple(changes)


def _dated(change: Change, undone: Mapping[str, str], phrases: Phrasebook) -> Change:
    tag_name = next((undone[commit.id.casefold()] for commit in change.commits if commit.id.casefold() in undone), "")
    tag = masked_line(tag_name, _TAG_LIMIT)
    if not tag or change.section is not Section.REVERTED:
        return change
    suffix = f" ({phrases.released_in.format(tag=tag)})"
    return replace(change, text=change.text + suffix, continuation=change.continuation + suffix)


def _last_required(reported: Sequence[tuple[Entry, Kind]]) -> list[tuple[Entry, Kind]]:
    """Join a change that only raises a requirement with the last one that raises it: only that one still holds."""
    last: dict[tuple[str, str], int] = {}
    retained = dict(enumerate(reported))
    for index in range(len(reported) - 1, -1, -1):
        entry, kind = reported[index]
        if kind.section not in _MAY_REQUIRE:
            continue
        what, scope = entry.message.description, (entry.message.scope or "").casefold()
        raised, moved = RAISED.match(what), MOVED_LIMIT.match(what) if what[-1:].isdecimal() else None
        if kind.section is Section.CHANGED and (raised or moved) and not raises_compiler(scope, what):
            raised = moved
        if raised is None:
            continue
        what = raised["what"].casefold()
        at = last.setdefault(("" if scope in _WHOLE else scope, _RUST.get(what, what)), index)
        if at != index and not raised["more"] and not entry.message.breaking_notes:
            later = retained[at][0]
            del retained[index]
            numbers = (*(number for number in entry.numbers if number not in later.numbers), *later.numbers)
            retained[at] = (replace(later, reads=later.reads + entry.reads, numbers=numbers), kind)
    return list(retained.values())


def breaks_of(tag: str) -> Breaks:
    match = next(reversed([*_VERSION.finditer(tag)]), None)
    if match is None or int(match["patch"] or 0):
        return Breaks.NOT
    steps = {(True, False): Breaks.MAJOR, (False, True): Breaks.EARLY}
    return steps.get((int(match["major"]) > 0, int(match["minor"]) > 0), Breaks.NOT)


def _of_commits(entry: Entry, kind: Kind) -> Kind:
    if kind.section in CRITICAL:
        return kind
    # Commits of a pull request decide about security, and where the title decides nothing.
    inner = [classify(read.message, entry.touched) for read in entry.reads if read.message is not entry.message]
    for section in (Section.BREAKING, Section.SECURITY):
        if any(each.section is section and each.sure for each in inner):
            return Kind(section, sure=True)
    if kind.section in _VAGUE and (kind.section is Section.OTHER or not kind.sure):
        return next((each for each in inner if each.sure and each.section not in _NOT_INFERRED), kind)
    return kind


def _habits(entries: Sequence[Entry]) -> tuple[bool, bool, bool]:
    noted = sum(entry.touched.noted for entry in entries)
    requested = sum(bool(entry.numbers) for entry in entries)
    of_requests = len(entries) >= _REQUESTED_OF and requested >= _REQUESTED_SHARE * len(entries)
    some_news = noted >= _NOTED_LEAST
    return some_news and noted >= _NOTED_SHARE * len(entries), some_news, of_requests


def _shown(entry: Entry, kind: Kind, options: ChangelogOptions, habits: tuple[bool, bool, bool]) -> bool:
    if kind.section in UPKEEP or options.folds(kind.section):
        return not options.fold_upkeep
    if (kind.section in CRITICAL and kind.sure) or kind.section is Section.DEPRECATED:
        return True
    message = entry.message
    typed = words.TYPES.get(message.kind) or words.GITMOJI.get(message.sign)
    if _is_reference(message):
        return bool(_instead(message))
    if entry.touched.noted or not (typed is None or typed in UPKEEP):
        return True
    of_fragments, some_news, of_requests = habits
    if some_news and not entry.numbers and kind == Kind(Section.CHANGED, sure=False):
        return False
    past = of_requests and not entry.numbers and not message.kind and not kind.sure
    if kind.section is Section.ADDED and entry.numbers and len(entry.reads) > 1:
        # The news of a merged branch may come in a commit of their own.
        return True
    return not of_fragments and not (past and kind.section not in _NOTICED)


def _hidden(entry: Entry, kind: Kind, options: ChangelogOptions) -> bool:
    if kind.section in CRITICAL:
        return False
    hidden, message, first = options.hidden, entry.message, entry.reads[0].commit
    names = (kind.section.name.casefold(), message.kind, (message.scope or "").casefold()) if hidden else ()
    return not hidden.isdisjoint(names) or options.hides_author(first.author) or options.hides_paths(first)


def _change(entry: Entry, kind: Kind, phrases: Phrasebook, *, shown: bool) -> Change:
    message = entry.message
    undone = undoing(message) if message.may_undo else None
    text = without_period(message.description) if undone is None else _undone(message, undone)
    if text[:1] in "Mm" and message.subject.casefold().startswith(PRIVATE_FIX):
        text = phrases.private_fix
    if text[:4] in {"Bump", "bump"}:
        text = patterns.HASHES.sub(r"Update \g<what>", text)
    if kind.section not in UPKEEP:
        text = without_upkeep(text)
    # Upkeep that is only counted keeps its words: no post prints them.
    if undone is None and (shown or kind.section not in UPKEEP):
        text = with_verb(imperative((_is_reference(message) and _instead(message)) or text), kind.section, message.kind)
    # Robots mark the update of a vulnerable dependency; the section says it.
    text = text.removesuffix(" [security]")
    if text[:11] in {"Security up", "security up"} and kind.section is Section.SECURITY:
        text = text.removeprefix(text[:9])
    name = undone.scope if undone and undone.quoted else message.scope
    scope = _scope(name, kind.section, text) if name else ""
    newcomer = entry.request.author if entry.request and entry.request.first_contribution else None
    return Change(
        section=kind.section,
        label=scope,
        scope=scope,
        text=sentence(text) or phrases.no_message,
        continuation=text or phrases.no_message,
        body=message.body,
        notes=message.breaking_notes,
        numbers=entry.numbers,
        reads=entry.reads,
        kind=message.kind,
        shown=shown,
        bump=bump_of(message) if kind.section is Section.DEPENDENCIES else None,
        newcomer=newcomer or "",
    )


def _is_reference(message: CommitMessage) -> bool:
    return message.description[-1:].isdecimal() and patterns.REFERENCE_ALONE.fullmatch(message.description) is not None


def _instead(message: CommitMessage) -> str:
    # The first commit of a squashed branch is an item that may only refer, too.
    return without_period(explanation(message.body.lstrip().removeprefix("* ")))


def _undone(message: CommitMessage, undone: Undoing) -> str:
    if undone.quoted and not undone.description.casefold().startswith("revert"):
        return f"{'Reapply' if undone.again else 'Revert'} “{without_period(undone.description)}”"
    line = without_period(message.description)
    return line if undone.quoted or message.description.casefold().startswith("revert") else f"Revert: {line}"


#: Scopes that only repeat the heading, or name the whole.
_REDUNDANT: Final = {Section.SECURITY: words.SECURITY_SCOPES, Section.PERFORMANCE: frozenset({"perf", "performance"})}
_NAMED_BY_SCOPE: Final = frozenset({Section.DOCUMENTATION, Section.DEPENDENCIES})
_MARKS_OF_CODE: Final = ("`", "'", '"')
_CODE: Final = late(r"[`'\"]")


def _scope(scope: str, section: Section, text: str) -> str:
    parts = [scope] if "{" in scope else scope.split(",")
    name = ", ".join(filter(None, map(str.strip, parts)))
    folded = name.casefold()
    redundant = section in _NAMED_BY_SCOPE and words.SCOPES.get(folded) is section
    if not name or redundant or (section in _REDUNDANT and folded in _REDUNDANT[section]):
        return ""
    line = _CODE.sub("", text) if text[:1] in _MARKS_OF_CODE or name[:1].casefold() == text[:1].casefold() else ""
    return "" if line.casefold().startswith(f"{folded} ") else name


#: The order of importance: unlike the order of headings, removals are late.
IMPORTANCE: Final = (
    Section.BREAKING, Section.SECURITY, Section.ADDED, Section.CHANGED, Section.FIXED, Section.PERFORMANCE,
    Section.REMOVED, Section.DEPRECATED, Section.REVERTED, Section.OTHER, Section.DOCUMENTATION, Section.DEPENDENCIES,
    Section.INTERNAL,
)  # fmt: skip
RANK: Final = {section: rank for rank, section in enumerate(IMPORTANCE)}
_TRAILER: Final = late(r"^(?:[\w-]+-by: |<|---).*$", re.MULTILINE)
_SIZE_STEP: Final = 100
_LARGEST: Final = 4_000
_FEW_WORDS: Final = 2


def is_minor(change: Change) -> bool:
    """Return whether a change is small for most readers, or too short to be among the first."""
    return _is_minor(change, *tables_of(change.text))


def _is_minor(change: Change, tables: int, found: set[str]) -> bool:
    if change.section not in CRITICAL and (
        words.SCOPES.get(change.scope.casefold()) in UPKEEP
        or (tables & patterns.DEPENDENCY.bit and patterns.DEPENDENCY.search(change.text, found))
    ):
        return True
    # Authors of notes choose short headings for what matters.
    few = 1 if change.noted else _FEW_WORDS
    short = len(change.text.split()) <= few or change.text.endswith("…")
    return short or bool(tables & patterns.MINOR.bit and patterns.MINOR.search(change.text, found))


def importance(change: Change) -> tuple[int, bool, int]:
    """Return the sort key: section, small changes last, the ones that have a number first, then the longest message."""
    if change.noted:
        return (RANK[change.section], False, -_LARGEST)
    size = min(max(map(_size, change.commits)), _LARGEST) // _SIZE_STEP
    tables, found = tables_of(change.text)
    later = (not change.numbers) + bool(tables & patterns.SLIGHT.bit and patterns.SLIGHT.search(change.text, found))
    return (RANK[change.section], _is_minor(change, tables, found), later * _LARGEST - size)


def _size(commit: Commit) -> int:
    message = commit.message[: 2 * _LARGEST]
    return len(_TRAILER.sub("", message)) if "-by: " in message or "<" in message or "---" in message else len(message)


def most_important(changes: Iterable[Change], count: int) -> list[Change]:
    """Return the most important changes. Only changes of the first sections are compared in full."""
    by_kind = sorted(changes, key=lambda change: RANK[change.section])
    last = RANK[by_kind[count - 1].section] if len(by_kind) > count else len(RANK)
    first = [change for change in by_kind if RANK[change.section] <= last]
    return sorted(first, key=importance)[:count] if len(first) > 1 else first[:count]


def authors_of(changes: Iterable[Change]) -> Iterator[Author]:
    return (author for change in changes for read in change.reads for author in authors(read.commit, read.message))


def is_news(change: Change) -> bool:
    return change.shown and change.section not in UPKEEP


def bump_of(message: CommitMessage) -> Bump:
    line = message.description.strip().rstrip(".")
    for row in patterns.DEPENDENCY.rows if patterns.DEPENDENCY.search(line) else ():
        if match := re.match(row, line, re.IGNORECASE):
            groups = match.groupdict()
            name, begin, end = (next(filter(None, map(groups.get, of)), "") for of in (_NAMES, _BEGINS, _ENDS))
            name = name.strip("`'\"")
            return Bump(name=name if _NAME.fullmatch(name) else "", begin=_version(begin), end=_version(end))
    return Bump(name="", begin="", end="")


def chained(bumps: Iterable[Bump]) -> tuple[Bump, ...]:
    """Return one update for each package, in the order of first appearance, without updates that cancel out."""
    steps: dict[str, Bump] = {}
    for bump in bumps:
        if not bump.name:
            continue
        first = steps.get(bump.name.casefold())
        begin = first.begin if first and first.begin else bump.begin
        end = bump.end or (first.end if first else "")
        steps[bump.name.casefold()] = Bump(name=first.name if first else bump.name, begin=begin, end=end)
    return tuple(bump for bump in steps.values() if not (bump.begin and bump.begin == bump.end))


def _version(text: str | None) -> str:
    return (text or "").strip("`'\",.()").removeprefix("v")[:40]
