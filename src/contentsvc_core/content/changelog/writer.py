"""The changelog writer: the changes of a brief in Markdown.

The steps, each with its module:

1. ``read``: a commit message becomes its parts;
2. ``combine``: commits become entries, one for each pull request;
3. ``classify``: an entry gets its section, by tables;
4. ``select``: entries become changes, which are listed or only counted;
5. ``report``: the changes of each repository and release;
6. ``titles``, ``lines``, ``writer``: the text. The forms of other content types begin with the report as well, and have
   ``tenses`` for the words of changes.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, groupby
from typing import Final, final

from attrs import evolve
from msgspec import Struct
from msgspec.structs import replace

from contentsvc_core.content.changelog import titles
from contentsvc_core.content.changelog.lines import Voice, entry, joined, named, plain, voice_of
from contentsvc_core.content.changelog.markdown import inline, link, masked_line
from contentsvc_core.content.changelog.people import contributors
from contentsvc_core.content.changelog.release_notes import clean, lowered, notes_of, unmentioned
from contentsvc_core.content.changelog.report import Part, Stage, in_order, items_of, report_of
from contentsvc_core.content.changelog.select import Bump, Change, authors_of, chained, is_news
from contentsvc_core.content.options import DEFAULT_OPTIONS, ChangelogOptions
from contentsvc_core.content.phrases import Phrasebook, is_foreign
from contentsvc_core.content.sections import CRITICAL, Section
from contentsvc_core.content.writing import Brief, Draft, PackageRelease
from contentsvc_core.events.normalized import MAX_COMMITS, Release

#: The characters of a page that are reserved for the blocks beside the notes.
_NOTES_RESERVE: Final = 5_000
#: In characters: the notes of one release among several, a heading, the closing lines that count left out changes.
_NOTES_LIMIT: Final = 4_000
_HEADING_LIMIT: Final = 80
_COUNTS_RESERVE: Final = 100
#: The emoji of headings; none needs a variation selector.
_EMOJI: Final = dict(zip(Section, "💥🔒✨🔄⏳🔥🐛⚡⏪📝🔹📦🔨", strict=True))
#: The entries of one section and scope from which the scope is a line above them.
_OF_ONE_SCOPE: Final = 5
_BUMPS_NAMED: Final = 5


def write_changelog(brief: Brief, options: ChangelogOptions = DEFAULT_OPTIONS) -> Draft | None:
    """Return the changelog of a brief, from its events alone: the same events give the same bytes.

    Several repositories have a part each. The result is ``None`` if there is no release and no listed change, unless
    the options ask for posts about upkeep.
    """
    voice = voice_of(brief.brand)
    phrases = voice.phrases
    parts = report_of(brief, options, phrases, technical=voice.technical)
    if brief.release is not None:
        return _announcement(brief, brief.release, parts[0], options, voice)
    if brief.packages:
        return _together(brief, parts[0], options, voice)
    reported = [part for part in parts if part.releases or any(map(is_news, part.changes))]
    if not reported and options.upkeep_posts == "write":
        # The options ask for the upkeep: it is listed.
        options = evolve(options, fold_upkeep=False)
        parts = report_of(brief, options, phrases, technical=voice.technical)
        reported = [part for part in parts if part.changes]
    if not reported:
        return None
    several = len(parts) > 1
    in_window = several or brief.window is not None
    projects = titles.projects_named(reported, phrases)
    names = titles.release_names(reported, phrases)
    many = sum(len(part.releases) for part in reported) > 1
    opening = _opening(voice, lambda: voice.announcement(names, many=many) if names else voice.news(projects))
    start = [*opening, *(_first_line(reported, voice, brief) if in_window else [])]
    blocks = chain.from_iterable(blocks_of(part, voice, options, several=several) for part in reported)
    return Draft(
        title=titles.title_of(items_of(reported), reported, phrases, projects if in_window else ""),
        markdown=page_of(start, blocks, _ending(reported, options, voice, brief.left_out), voice, options.longest),
    )


def _announcement(brief: Brief, release: Release, part: Part, options: ChangelogOptions, voice: Voice) -> Draft:
    phrases = voice.phrases
    compared = titles.compare_links(brief.previous_tag, release.tag_name, part.base)
    compare = [f"**{phrases.full_changelog}** {each}" for each in compared]
    named_as = titles.releases_named
    opening = _opening(voice, lambda: voice.announcement(named_as([release], part.project, phrases), many=False))
    notes, cut = clean(release.body or "", options.longest - _NOTES_RESERVE)
    changes = notes_of(release).changes if notes else part.changes
    title = titles.release_title(release, part.repository, phrases, changes)
    if notes:
        start = [*opening, notes, *([titles.cut_notes(release, phrases)] if cut else [])]
        more = unmentioned(notes, part.changes) if options.notes == "fill" else []
        heading = [_Block(f"## {phrases.also_in_release}")] if more else []
        blocks = chain(heading, _sections(more, part.base, "###", voice, options))
        linked = part.base is not None and f"{part.base}/compare/".casefold() in notes.casefold()
        ending = [] if linked else compare
        return Draft(title=title, markdown=page_of(start, blocks, ending, voice, options.longest))
    alone = None if _shown(part.changes) else release
    folded = [*_folded(part.changes, part.commits_page, voice, alone)]
    busy = any(stage.busy for stage in part.stages)
    silent = [titles.without_notes(release, phrases, busy=busy)] if alone and not folded else []
    if not part.changes:
        return Draft(title=title, markdown=joined([*opening, *silent, *compare]))
    start = [*opening, *_first_line([part], voice, brief), *silent]
    blocks = chain(_sections(part.changes, part.base, "##", voice, options), folded)
    ending = _ending([part], options, voice, brief.left_out)
    return Draft(title=title, markdown=page_of(start, blocks, ending, voice, options.longest))


def _together(brief: Brief, part: Part, options: ChangelogOptions, voice: Voice) -> Draft:
    names = titles.packages_named(part.packages, voice.phrases)
    changes = in_order(change for stage in part.stages for change in stage.reported.changes)
    stages = tuple(replace(stage, changes=()) if stage.notes else stage for stage in part.stages)
    part = replace(part, stages=stages)
    opening = _opening(voice, lambda: voice.announcement(names, many=True))
    start = [*opening, *_first_line([part], voice, brief)]
    blocks = blocks_of(part, voice, options, several=False)
    markdown = page_of(start, blocks, _ending([part], options, voice, 0), voice, options.longest)
    return Draft(title=titles.changes_title(changes, names, voice.phrases), markdown=markdown)


def _opening(voice: Voice, sentence: Callable[[], str]) -> list[str]:
    return [] if voice.plain else [inline(plain(sentence()))]


def _first_line(parts: Sequence[Part], voice: Voice, brief: Brief) -> list[str]:
    phrases = voice.phrases
    kinds = Counter(change.section for part in parts for change in part.changes if change.shown)
    commits = sum(len(part.commits) for part in parts)
    linked = link(phrases.count(commits, phrases.commit_count), parts[0].commits_page if len(parts) == 1 else None)
    # The day of the release, else of the newest commit.
    stamps = [release.published_at for release in brief.announced[:1]]
    stamps += [commit.timestamp for part in parts for commit in part.commits[-1:]]
    day = next(filter(None, map(titles.day_of, stamps)), None)
    when = phrases.period(brief.window) if brief.window else phrases.on(day) if day else ""
    facts = [
        f"**{when}**" if when else "",
        phrases.enumerated(titles.counted(kinds, phrases)),
        linked if commits and voice.technical else "",
    ]
    line = " · ".join(filter(None, facts))
    return [line] if line else []


def _ending(parts: Sequence[Part], options: ChangelogOptions, voice: Voice, left_out: int) -> list[str]:
    phrases = voice.phrases
    changes = [change for part in parts for change in part.changes]
    blocks: list[str] = []
    if any(part.changes and part.incomplete for part in parts):
        blocks.append(phrases.incomplete.format(n=phrases.number(MAX_COMMITS)))
    if left_out:
        blocks.append(phrases.count(left_out, phrases.not_covered))
    if is_foreign([change.text for change in changes if change.shown], phrases):
        blocks.append(phrases.as_written)
    people = contributors(
        authors_of(changes) if options.contributors else (),
        options.bots,
        newcomers={change.newcomer for change in changes},
        newcomer=phrases.newcomer,
    )
    if names := named(people, phrases):
        heading = phrases.contributors if voice.plain else phrases.thanks_heading.of(voice.tone)
        blocks += [f"## {heading}", ", ".join(names) if len(names) == len(people) else phrases.enumerated(names)]
    return blocks


@final
class _Block(Struct, frozen=True):
    text: str
    #: Read as far as the page has space.
    lines: Iterable[str] = ()
    #: The number of changes among the lines: a line each, or none.
    changes: int = 0
    #: Whether a full page shows the text too: it counts what the page leaves out.
    always_shown: bool = False


def page_of(start: Sequence[str], blocks: Iterable[_Block], ending: Sequence[str], voice: Voice, longest: int) -> str:
    """Return a changelog of at most ``longest`` characters; changes without space are counted."""
    texts, left_out = list(start), 0
    budget = longest - sum(len(block) + 2 for block in (*start, *ending)) - _COUNTS_RESERVE
    for block in blocks:
        budget -= len(block.text) + 2
        fitting: list[str] = []
        # A full page stays full: further changes are counted.
        for line in block.lines if budget >= 0 else ():
            budget -= len(line) + 1
            if budget < 0:
                break
            fitting.append(line)
        left_out += max(0, block.changes - len(fitting))
        texts += (
            [block.text, "\n".join(fitting)] if fitting else [block.text] if budget >= 0 or block.always_shown else []
        )
    counted = [voice.phrases.count(left_out, voice.phrases.not_shown)] if left_out else []
    return joined([*texts, *counted, *ending])


def blocks_of(part: Part, voice: Voice, options: ChangelogOptions, *, several: bool) -> Iterator[_Block]:
    """Yield the blocks of one repository, with a heading if there are several."""
    mark = "###" if several else "##"
    if several:
        yield _Block(f"## {inline(part.name)}")
    if part.packages:
        yield from _packages(part, mark, voice, options)
    elif _shown(part.changes) and (len(part.releases) > 1 or (part.releases and _shown(part.stages[-1].changes))):
        yield from _stages(part, mark, voice, options)
    else:
        if part.releases:
            yield _Block(f"{mark} {voice.phrases.releases}", titles.release_lines(part.releases, voice.phrases))
        yield from _sections(part.changes, part.base, mark, voice, options)
    yield from _folded(part.changes, part.commits_page, voice)


def _sections(
    changes: Iterable[Change], base: str | None, mark: str, voice: Voice, options: ChangelogOptions
) -> Iterator[_Block]:
    visible = [change for change in changes if change.shown]
    for section, of_section in groupby(visible, key=lambda change: change.section):
        listed = list(of_section)
        words = voice.heading(section)
        heading = f"{_EMOJI[section]} {words}" if options.emoji else words
        if custom := options.headings.get(section):
            heading = inline(masked_line(custom, _HEADING_LIMIT))
        yield _Block(f"{mark} {heading}", _entries(listed, base, voice, options), len(listed))


def _entries(changes: Sequence[Change], base: str | None, voice: Voice, options: ChangelogOptions) -> Iterator[str]:
    by_scope: dict[str, list[Change]] = {}
    for change in changes if voice.technical else ():
        by_scope.setdefault(change.label.casefold(), []).append(change)
    for change in changes:
        same = by_scope.get(change.label.casefold(), [])
        if not change.label or len(same) < _OF_ONE_SCOPE:
            yield entry(change, base, voice, options)
        elif change is same[0]:
            start = f"- **{inline(change.label)}**\n"
            for each in same:
                indented = entry(replace(each, label=""), base, voice, options).replace("\n", "\n  ")
                yield f"{start}  {indented}"
                start = ""


def _shown(changes: Iterable[Change]) -> bool:
    return any(change.shown for change in changes)


def _stages(part: Part, mark: str, voice: Voice, options: ChangelogOptions) -> Iterator[_Block]:
    unlisted: list[Release] = []
    listed = 0
    for stage in reversed(part.stages):
        visible = _shown(stage.changes)
        if stage.release is None:
            yield from [_Block(f"{mark} {voice.phrases.unreleased}")] if visible else []
        elif visible or listed < titles.RELEASES_LISTED:
            listed += 1
            yield _Block(f"{mark} {titles.release_line(stage.release, voice.phrases)}")
            yield from [] if visible else map(_Block, _release_notes(stage.release, stage, voice.phrases))
        else:
            unlisted.insert(0, stage.release)
        yield from _sections(stage.changes, part.base, f"{mark}#", voice, options)
    if unlisted:
        yield _Block(titles.earlier_releases(unlisted, voice.phrases), always_shown=True)


def _release_notes(release: Release, stage: Stage, phrases: Phrasebook) -> list[str]:
    notes, cut = clean(release.body or "", _NOTES_LIMIT)
    if not notes:
        return [titles.without_notes(release, phrases, busy=stage.busy)]
    # A quotation sets the headings of the notes apart.
    quoted = "\n".join(f"> {line}".rstrip() for line in notes.splitlines())
    return [quoted, *([titles.cut_notes(release, phrases)] if cut else [])]


def _packages(part: Part, mark: str, voice: Voice, options: ChangelogOptions) -> Iterator[_Block]:
    phrases = voice.phrases
    with_content = [stage for stage in part.stages if stage.package and stage.has_content]
    common = [stage for stage in part.stages if stage.common and stage.has_content]
    # Common changes that break come first.
    has_critical = any(change.section in CRITICAL for stage in common for change in stage.changes)
    for stage in [*common, *with_content] if has_critical else [*with_content, *common]:
        name = phrases.across_packages if stage.package is None else titles.package_line(stage.package, phrases)
        yield from [_Block(f"{mark} {name}")] if with_content else []
        if stage.notes:
            yield _Block(lowered(stage.notes, len(mark)))
        else:
            yield from _sections(stage.changes, part.base, f"{mark}#" if with_content else mark, voice, options)
        if stage.package is not None:
            yield from (_Block(f"**{phrases.full_changelog}** {each}") for each in _compared(stage.package, part.base))
    empty = [stage.package for stage in part.stages if stage.package and not stage.has_content]
    lines = [titles.package_line(package, phrases) for package in empty]
    if with_content and empty:
        yield _Block(phrases.also_released.format(packages=phrases.enumerated(lines)))
    elif empty:
        compared = [" · ".join((line, *_compared(of, part.base))) for line, of in zip(lines, empty, strict=True)]
        yield _Block(f"{mark} {phrases.releases}", [f"- {line}" for line in compared])


def _compared(package: PackageRelease, base: str | None) -> list[str]:
    return titles.compare_links(package.previous_tag, package.release.tag_name, base)


def _folded(
    changes: Iterable[Change], page: str | None, voice: Voice, alone: Release | None = None
) -> Iterator[_Block]:
    """Yield the line that counts changes; ``alone``: the release that has no others."""
    phrases = voice.phrases
    hidden = [change for change in changes if not change.shown]
    moved = chained(change.bump for change in hidden if change.bump)
    lasting = {bump.name.casefold() for bump in moved} | {""}
    hidden = [change for change in hidden if not change.bump or change.bump.name.casefold() in lasting]
    if not hidden:
        return
    counts = phrases.enumerated(titles.counted_upkeep(hidden, phrases))
    if alone is None:
        line = phrases.also_upkeep.of(voice.tone).format(counts=counts)
    else:
        line = titles.upkeep_alone(alone, counts, phrases)
    if not voice.technical:
        yield _Block(f"{line}.")
        return
    packages = _bumped(moved, phrases)
    line = f"{line} ({link(phrases.all_commits, page)})." if page else f"{line}."
    yield _Block(f"{line} {packages}." if packages else line)


def _bumped(moved: Sequence[Bump], phrases: Phrasebook) -> str:
    packages = [bump for bump in moved if not bump.builds]
    names = [
        f"{inline(bump.name)} {' → '.join(inline(each) for each in (bump.begin, bump.end) if each)}".strip()
        for bump in packages[:_BUMPS_NAMED]
    ]
    if rest := len(packages) - len(names):
        names.append(phrases.more.format(n=phrases.number(rest)))
    parts = [phrases.enumerated(names)] if names else []
    if builds := len(moved) - len(packages):
        parts.append(phrases.count(builds, phrases.build_actions))
    return phrases.dependencies.format(packages=phrases.semicolon.join(parts)) if parts else ""
