"""The changelog writer: the changes of a brief in Markdown.

The steps: read, combine, classify, select (:mod:`~contentsvc_core.content.changelog.select` returns the changes),
compose.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import date
from itertools import chain
from typing import Final

from attrs import evolve

from contentsvc_core.content.changelog import titles
from contentsvc_core.content.changelog.markdown import inline, link
from contentsvc_core.content.changelog.page import Page, joined, named
from contentsvc_core.content.changelog.people import contributors
from contentsvc_core.content.changelog.release_notes import clean, first_items, untold
from contentsvc_core.content.changelog.report import Part, in_order, report_of
from contentsvc_core.content.changelog.select import IMPORTANCE, Change, is_news
from contentsvc_core.content.changelog.voice import Voice, voice_of
from contentsvc_core.content.options import DEFAULT_OPTIONS, MARKDOWN_LIMIT, ChangelogOptions
from contentsvc_core.content.phrases import ENGLISH, Phrasebook
from contentsvc_core.content.writing import Brief, Draft
from contentsvc_core.events.normalized import MAX_COMMITS, Release

__all__ = ["MARKDOWN_LIMIT", "write_changelog"]

_NOTES_ROOM: Final = 5_000
_RELEASES_NAMED: Final = 3
_PROJECTS_NAMED: Final = 3


def write_changelog(brief: Brief, options: ChangelogOptions = DEFAULT_OPTIONS) -> Draft | None:
    """Return the changelog of a brief, from its events alone: the same events give the same bytes.

    Args:
        brief: One push, one release with the pushes before it, or all events of a window. Several repositories have a
            part each.
        options: The house style.

    Returns:
        The post; ``None`` if there is no release and no listed change, unless the options ask for posts about upkeep.
    """
    voice = voice_of(brief.brand)
    parts = report_of(brief, options, voice.phrases)
    if brief.release is not None:
        return _announcement(brief, brief.release, parts[0], options)
    if brief.packages:
        return _together(brief, parts[0], options)
    told = [part for part in parts if part.releases or any(map(is_news, part.changes))]
    if not told and options.upkeep_posts == "write":
        # The options ask for the upkeep: it is listed.
        options = evolve(options, fold_upkeep=False, folded=frozenset())
        parts = report_of(brief, options, voice.phrases)
        told = [part for part in parts if part.changes]
    if not told:
        return None
    several = len(parts) > 1
    in_window = several or brief.window is not None
    start = [*_opening(told, None, voice), *(_first_line(told, None, voice, brief) if in_window else [])]
    page = Page(voice, options, start, _ending(told, options, voice, brief.left_out))
    for part in told:
        page.write(part, several=several)
    return Draft(title=_title(told, voice.phrases, in_window=in_window), markdown=page.markdown())


def _announcement(brief: Brief, release: Release, part: Part, options: ChangelogOptions) -> Draft:
    voice = voice_of(brief.brand)
    phrases = voice.phrases
    compare = [
        f"**{phrases.full_changelog}** {compared}"
        for compared in titles.compare_links(brief.previous_tag, release.tag_name, part.base)
    ]
    opening = _opening([part], release, voice)
    notes, cut = clean(release.body or "", options.longest - _NOTES_ROOM)
    if notes:
        blocks = [*opening, notes, *([titles.cut_notes(release, phrases)] if cut else [])]
        if part.base is not None and f"{part.base}/compare/".casefold() in notes.casefold():
            compare = []
        title = titles.notes_title(release, part.repository, first_items(notes), phrases)
        more = untold(notes, part.changes) if options.notes == "fill" else []
        if not more:
            return Draft(title=title, markdown=joined([*blocks, *compare]))
        page = Page(voice, options, blocks, compare)
        page.add(phrases.also_in_release, more, part.base)
        return Draft(title=title, markdown=page.markdown())
    title = titles.release_title(release, part.repository, phrases, part.changes)
    if not part.changes:
        busy = any(stage.busy for stage in part.stages)
        return Draft(
            title=title, markdown=joined([*opening, titles.without_notes(release, phrases, busy=busy), *compare])
        )
    start = [*opening, *_first_line([part], release, voice, brief)]
    if not any(change.shown for change in part.changes):
        start.append(titles.without_notes(release, phrases, busy=True))
    page = Page(voice, options, start, _ending([part], options, voice, brief.left_out))
    page.write(evolve(part, releases=()), several=False)
    return Draft(title=title, markdown=page.markdown())


def _together(brief: Brief, part: Part, options: ChangelogOptions) -> Draft:
    voice = voice_of(brief.brand)
    # Notes come before commits, as for one release.
    stages = [evolve(stage, changes=()) if stage.notes else stage for stage in part.stages]
    part = evolve(part, stages=stages, changes=_in_order([evolve(part, stages=stages)], released=None))
    named = titles.packages_named(part.packages, voice.phrases)
    opening = [] if voice.plain else [inline(titles.plain(voice.announcement(named, many=True)))]
    start = [*opening, *_first_line([part], None, voice, brief)]
    page = Page(voice, options, start, _ending([part], options, voice, 0))
    page.write(part, several=False)
    items = [item for stage in stages for item in first_items(stage.notes)]
    title = titles.items_title(items, named, voice.phrases) or titles.changes_title(part.changes, named, voice.phrases)
    return Draft(title=title, markdown=page.markdown())


def _opening(parts: Sequence[Part], release: Release | None, voice: Voice) -> list[str]:
    if voice.plain:
        return []
    phrases = voice.phrases
    releases = [release] if release else [each for part in parts for each in part.releases]
    if release is not None:
        names = titles.releases_named(releases, parts[0].project, phrases)
    else:
        names = _releases_named([part for part in parts if part.releases], phrases)
    if names:
        return [inline(titles.plain(voice.announcement(names, many=len(releases) > 1)))]
    return [inline(voice.news(_projects_named(parts, phrases) or phrases.count(len(parts), phrases.repository_count)))]


def _first_line(parts: Sequence[Part], release: Release | None, voice: Voice, brief: Brief) -> list[str]:
    """Return the line with the day, the counts, and the link to all commits."""
    phrases = voice.phrases
    kinds = Counter(change.section for part in parts for change in part.changes if change.shown)
    counts = [phrases.count(kinds[section], phrases.kinds[section]) for section in IMPORTANCE if kinds[section]]
    commits = sum(len(part.commits) for part in parts)
    linked = link(phrases.count(commits, phrases.commit_count), parts[0].commits_page if len(parts) == 1 else None)
    release = brief.packages[0].release if brief.packages else release
    when = phrases.period(brief.window) if brief.window else _day(parts, release, phrases)
    said = [f"**{when}**" if when else "", phrases.enumerated(counts), linked if commits and voice.technical else ""]
    line = " · ".join(filter(None, said))
    return [line] if line else []


def _day(parts: Sequence[Part], release: Release | None, phrases: Phrasebook) -> str:
    """Return the day of a release, else of the newest commit; may be empty."""
    commits = [commit.timestamp for part in parts for commit in part.commits[-1:]]
    for text in (release.published_at if release else None, *commits):
        try:
            return phrases.on(date.fromisoformat((text or "")[:10]))
        except ValueError:
            continue
    return ""


def _title(parts: Sequence[Part], phrases: Phrasebook, *, in_window: bool) -> str:
    releasing = [part for part in parts if part.releases]
    if not releasing:
        named = _projects_named(parts, phrases) if in_window else ""
        return titles.changes_title(_in_order(parts, released=None), named, phrases)
    named = _releases_named(releasing, phrases)
    released, others = _in_order(releasing, released=True), _in_order(parts, released=False)
    if any(map(is_news, others)) and not any(map(is_news, released)):
        # No release contains news: the title names the place of the news.
        elsewhere = [part for part in parts if part not in releasing and part.changes]
        place = phrases.not_released if len(elsewhere) < 1 else _projects_named(elsewhere, phrases)
        told = _in_order(elsewhere, released=None) or others
        return titles.changes_title(told, f"{named}; {place}", phrases)
    return titles.changes_title(released, named, phrases)


def _in_order(parts: Sequence[Part], *, released: bool | None) -> list[Change]:
    """Return the changes of some repositories by section: those in a release, the others, or all."""
    return in_order(
        change
        for part in parts
        for stage in part.stages
        for change in stage.changes
        if released is None or released is stage.is_released
    )


def _projects_named(parts: Sequence[Part], phrases: Phrasebook) -> str:
    projects = [part.project for part in parts if part.project]
    if len(projects) > _PROJECTS_NAMED:
        return phrases.count(len(parts), phrases.repository_count)
    return phrases.enumerated(projects)


def _releases_named(parts: Sequence[Part], phrases: Phrasebook) -> str:
    """Return each release with its project, or the number of releases."""
    releases = [release for part in parts for release in part.releases]
    if len(parts) > 1 and len(releases) > _RELEASES_NAMED:
        return phrases.enumerated(titles.counted_releases(releases, phrases))
    return phrases.enumerated([titles.releases_named(part.releases, part.project, phrases) for part in parts])


def _ending(parts: Sequence[Part], options: ChangelogOptions, voice: Voice, left_out: int) -> list[str]:
    """Return the end of a changelog: its gaps, and the contributors."""
    phrases = voice.phrases
    blocks: list[str] = []
    if any(part.changes and part.incomplete for part in parts):
        blocks.append(phrases.incomplete.format(n=phrases.number(MAX_COMMITS)))
    if left_out:
        blocks.append(phrases.count(left_out, phrases.not_covered))
    if phrases is not ENGLISH and any(change.shown for part in parts for change in part.changes):
        blocks.append(phrases.as_written)
    changes = [change for part in parts for change in part.changes] if options.contributors else []
    people = contributors(
        chain.from_iterable(change.authors for change in changes),
        options.bots,
        newcomers={change.newcomer for change in changes},
        newcomer=phrases.newcomer,
    )
    if shown := named(people, phrases):
        heading = phrases.contributors if voice.plain else phrases.thanks_heading.of(voice.tone)
        blocks += [f"## {heading}", ", ".join(shown)]
    return blocks
