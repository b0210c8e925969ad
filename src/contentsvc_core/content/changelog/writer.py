"""The changelog writer: what changed, for readers, in Markdown."""

from collections.abc import Sequence
from typing import Final

from attrs import evolve

from contentsvc_core.content.changelog.entries import joined, named
from contentsvc_core.content.changelog.importance import is_news
from contentsvc_core.content.changelog.options import DEFAULT_OPTIONS, ChangelogOptions
from contentsvc_core.content.changelog.page import Page
from contentsvc_core.content.changelog.people import contributors
from contentsvc_core.content.changelog.release_notes import clean
from contentsvc_core.content.changelog.releases import compare_links, cut_notes, without_notes
from contentsvc_core.content.changelog.report import Part, report_of
from contentsvc_core.content.changelog.selection import Change
from contentsvc_core.content.changelog.titles import changes_title, counted_releases, release_title, releases_named
from contentsvc_core.content.changelog.voice import voice_of
from contentsvc_core.content.phrases import ENGLISH, Phrasebook
from contentsvc_core.content.sections import Section
from contentsvc_core.content.writing import Brief, Draft
from contentsvc_core.webhooks.events import MAX_COMMITS, Release

#: The longest Markdown that a post may have: a longer one could never be edited.
MARKDOWN_LIMIT: Final = 100_000
_NOTES_LIMIT: Final = 95_000
_RELEASES_NAMED: Final = 3
_PROJECTS_NAMED: Final = 3


def write_changelog(brief: Brief, options: ChangelogOptions = DEFAULT_OPTIONS) -> Draft | None:
    """Write a changelog from events alone: no clock, no chance, the same bytes each time.

    Args:
        brief: One push, one release with the pushes since the one before it, or all events of a window. Several
            repositories have a part each.
        options: What to leave out.

    Returns:
        The post, or ``None`` when there is nothing to tell: no commit that a reader would miss, and no release.
    """
    voice = voice_of(brief.brand)
    parts = report_of(brief, options, voice.phrases.no_message)
    if brief.release is not None:
        return _announcement(brief, brief.release, parts[0], options)
    told = [part for part in parts if part.changes or part.releases]
    if not told:
        return None
    page = Page(voice, MARKDOWN_LIMIT, _ending(told, options, voice.phrases, brief.left_out))
    several = len(parts) > 1
    for part in told:
        page.write(part, several=several)
    in_window = several or brief.window is not None
    return Draft(title=_title(told, voice.phrases, in_window=in_window), markdown=page.markdown())


def _announcement(brief: Brief, release: Release, part: Part, options: ChangelogOptions) -> Draft:
    voice = voice_of(brief.brand)
    phrases = voice.phrases
    compare = [
        f"**{phrases.full_changelog}** {compared}"
        for compared in compare_links(brief.previous_tag, release.tag_name, part.base)
    ]
    markdown = _author_notes(release, compare, part.base, phrases)
    if markdown is None and part.changes:
        page = Page(voice, MARKDOWN_LIMIT, [*_ending([part], options, phrases, brief.left_out), *compare])
        page.write(evolve(part, releases=()), several=False)
        markdown = page.markdown()
    if markdown is None:
        busy = any(stage.busy for stage in part.stages)
        markdown = joined([without_notes(release, phrases, busy=busy), *compare])
    return Draft(title=release_title(release, part.repository, phrases), markdown=markdown)


def _title(parts: Sequence[Part], phrases: Phrasebook, *, in_window: bool) -> str:
    """Say the most important change, and how many others of each kind: of the releases, where there are any."""
    releasing = [part for part in parts if part.releases]
    if not releasing:
        named = _projects_named(parts, phrases) if in_window else ""
        return changes_title(_in_order(parts, released=None), named, phrases)
    named = _releases_named(releasing, phrases)
    released, others = _in_order(releasing, released=True), _in_order(parts, released=False)
    if others and not any(map(is_news, released)):
        # What is worth a title is in no release: it is said where it is instead.
        elsewhere = [part for part in parts if part not in releasing and part.changes]
        place = phrases.not_released if len(elsewhere) < 1 else _projects_named(elsewhere, phrases)
        told = _in_order(elsewhere, released=None) or others
        return changes_title(told, f"{named}; {place}", phrases)
    return changes_title(released, named, phrases)


def _in_order(parts: Sequence[Part], *, released: bool | None) -> list[Change]:
    """Give the changes of some repositories by section, as they are printed; those in a release, or the others."""
    order = tuple(Section)
    changes = (
        change
        for part in parts
        for stage in part.stages
        for change in stage.changes
        if released is None or released is (stage.release is not None)
    )
    return sorted(changes, key=lambda change: (order.index(change.section), change.dependency))


def _projects_named(parts: Sequence[Part], phrases: Phrasebook) -> str:
    projects = [part.project for part in parts if part.project]
    if len(projects) > _PROJECTS_NAMED:
        return phrases.count(len(parts), phrases.repository_count)
    return phrases.enumerated(projects)


def _releases_named(parts: Sequence[Part], phrases: Phrasebook) -> str:
    """Name the releases of repositories that have some: each one with its project, or how many there are."""
    releases = [release for part in parts for release in part.releases]
    if len(parts) > 1 and len(releases) > _RELEASES_NAMED:
        return phrases.enumerated(counted_releases(releases, phrases))
    return phrases.enumerated([releases_named(part.releases, part.project, phrases) for part in parts])


def _author_notes(release: Release, compare: list[str], base: str | None, phrases: Phrasebook) -> str | None:
    """Give the notes that the release's author wrote, ``None`` if there are none."""
    notes, cut = clean(release.body or "", _NOTES_LIMIT)
    if not notes:
        return None
    blocks = [notes]
    if cut:
        blocks.append(cut_notes(release, phrases))
    if base is None or f"{base}/compare/".casefold() not in notes.casefold():
        blocks += compare
    return joined(blocks)


def _ending(parts: Sequence[Part], options: ChangelogOptions, phrases: Phrasebook, left_out: int) -> list[str]:
    """Give what follows the sections: how complete they are, and who is to be thanked."""
    blocks: list[str] = []
    if any(part.changes and part.incomplete for part in parts):
        blocks.append(phrases.incomplete.format(n=phrases.number(MAX_COMMITS)))
    if left_out:
        blocks.append(phrases.count(left_out, phrases.not_covered))
    if phrases is not ENGLISH and any(part.changes for part in parts):
        blocks.append(phrases.as_written)
    authors = (author for part in parts for change in part.changes for author in change.authors)
    if shown := named(contributors(authors, options.bots), phrases):
        blocks += [f"## {phrases.contributors}", ", ".join(shown)]
    return blocks
