"""The changelog writer: what changed, for readers, in Markdown."""

from collections.abc import Iterable, Sequence
from typing import Final, assert_never
from urllib.parse import quote

from contentsvc_core.content.changelog.dependencies import chained
from contentsvc_core.content.changelog.markdown import inline, link, safe_url
from contentsvc_core.content.changelog.options import DEFAULT_OPTIONS, ChangelogOptions
from contentsvc_core.content.changelog.people import contributors
from contentsvc_core.content.changelog.release_notes import clean
from contentsvc_core.content.changelog.sections import Section
from contentsvc_core.content.changelog.selection import Change, reported_changes
from contentsvc_core.content.changelog.titles import changes_title, release_title, released_name
from contentsvc_core.content.changelog.wording import counted, masked_line, sentence
from contentsvc_core.content.writing import Brief, Draft
from contentsvc_core.text import storable
from contentsvc_core.webhooks.events import MAX_COMMITS, RELEASE_ACTIONS, Commit, Push, Release

#: The longest Markdown that a post may have: a longer one could never be edited.
MARKDOWN_LIMIT: Final = 100_000
#: The code host sends no more commits than this with one push.
_NOTES_LIMIT: Final = 95_000
_TAG_LIMIT: Final = 80
#: The code host's own bound for the name of a ref.
_TAG_LINKED: Final = 255
_COMMITS_LINKED: Final = 50
_NUMBERS_LINKED: Final = 50
_NOTES_SHOWN: Final = 10
_RELEASES_LISTED: Final = 20
_NAMES_SHOWN: Final = 100
_SHORT_SHA: Final = 7
_ORDER: Final = tuple(Section)


def write_changelog(brief: Brief, options: ChangelogOptions = DEFAULT_OPTIONS) -> Draft | None:
    """Write a changelog from events alone: no clock, no chance, the same bytes each time.

    Args:
        brief: One push, one release with the pushes since the one before it, or all events of a window.
        options: What to leave out.

    Returns:
        The post, or ``None`` when there is nothing to tell: no commit that a reader would miss, and no release.
    """
    pushes, releases = _told_apart(brief)
    changes = _in_order(chained(reported_changes(pushes, options)))
    base = _base(brief.release, pushes, releases)
    if brief.release is not None:
        compare = _compare(brief.release, brief.previous_tag, base)
        markdown = _author_notes(brief.release, compare, base)
        if markdown is None and changes:
            markdown = _page([], changes, [*_ending(changes, pushes, options), *compare], base)
        if markdown is None:
            markdown = _without_notes(brief.release, pushes, compare)
        return Draft(title=release_title(brief.release, brief.repository), markdown=markdown)
    if not (changes or releases):
        return None
    blocks = _releases_block(releases)
    return Draft(
        title=changes_title(changes, releases), markdown=_page(blocks, changes, _ending(changes, pushes, options), base)
    )


def _told_apart(brief: Brief) -> tuple[list[Push], list[Release]]:
    """Give the pushes and the published releases of the events; a release that came twice counts once."""
    pushes: list[Push] = []
    releases: dict[str, Release] = {}
    for event in brief.events:
        match event:
            case Push():
                pushes.append(event)
            case Release():
                # The code host sends `published` and `prereleased` for one pre-release.
                if event.action in RELEASE_ACTIONS and not event.draft:
                    releases.setdefault(event.tag_name, event)
            case _:
                assert_never(event)
    return pushes, list(releases.values())


def _in_order(changes: Iterable[Change]) -> list[Change]:
    """Sort by section; inside one the order in which they came, dependency updates last."""
    return sorted(changes, key=lambda change: (_ORDER.index(change.section), change.dependency))


def _base(release: Release | None, pushes: Iterable[Push], releases: Iterable[Release]) -> str | None:
    """Find the repository's address at the code host, from the page of a release or of a commit."""
    pages = [(each.url, "/releases/tag/") for each in (release, *releases) if each is not None]
    for url, mark in pages:
        base, found, _ = url.rpartition(mark)
        if found and (safe := safe_url(base)):
            return safe
    for push in pushes:
        for commit in push.commits:
            if commit.id and commit.url.endswith(ending := f"/commit/{commit.id}"):
                safe = safe_url(commit.url.removesuffix(ending))
                if safe:
                    return safe
    return None


def _author_notes(release: Release, compare: list[str], base: str | None) -> str | None:
    """Give the notes that the release's author wrote, ``None`` if there are none."""
    notes, cut = clean(release.body or "", _NOTES_LIMIT)
    if not notes:
        return None
    blocks = [notes]
    if cut:
        blocks.append(f"The notes are longer than a post may be; {_release_page(release, 'read on in the release')}.")
    if base is None or f"{base}/compare/".casefold() not in notes.casefold():
        blocks += compare
    return _joined(blocks)


def _without_notes(release: Release, pushes: Iterable[Push], compare: list[str]) -> str:
    """Say honestly that a release has nothing to read."""
    tag = inline(masked_line(release.tag_name, _TAG_LIMIT)) or "This release"
    page = _release_page(release, "release page")
    if any(push.commits for push in pushes):
        said = f"{tag} contains maintenance work only, such as release preparation. See the {page}."
    else:
        said = f"{tag} was published without release notes. See the {page}."
    return _joined([said, *compare])


def _compare(release: Release, previous_tag: str | None, base: str | None) -> list[str]:
    """Link what lies between two tags; nothing if one of them, or the repository's address, is unknown."""
    tags = (previous_tag or "", release.tag_name)
    if base is None or not all(tags) or tags[0] == tags[1] or any(len(tag) > _TAG_LINKED for tag in tags):
        return []
    url = f"{base}/compare/{'...'.join(quote(storable(tag), safe='') for tag in tags)}"
    shown = "...".join(masked_line(tag, _TAG_LIMIT) for tag in tags)
    return [f"**Full changelog:** {link(inline(shown), url)}"]


def _release_page(release: Release, text: str) -> str:
    return link(text, safe_url(release.url))


def _releases_block(releases: Sequence[Release]) -> list[str]:
    if not releases:
        return []
    lines: list[str] = []
    for release in releases[-_RELEASES_LISTED:]:
        tag = inline(masked_line(release.tag_name, _TAG_LIMIT)) or "New release"
        name = released_name(release)
        added = f": {inline(name)}" if name else ""
        mark = " (pre-release)" if release.prerelease else ""
        lines.append(f"- {_release_page(release, tag)}{added}{mark}")
    if earlier := len(releases) - len(lines):
        lines.insert(0, f"- {counted(earlier, 'earlier release', 'earlier releases')}")
    return ["## Releases", "\n".join(lines)]


def _ending(changes: Sequence[Change], pushes: Iterable[Push], options: ChangelogOptions) -> list[str]:
    """Give what follows the sections: how complete they are, and who is to be thanked."""
    blocks: list[str] = []
    if changes and any(len(push.commits) >= MAX_COMMITS for push in pushes):
        blocks.append(
            f"The code host sends at most {MAX_COMMITS:,} commits with one push, so this list may be incomplete."
        )
    names = contributors((author for change in changes for author in change.authors), options.bots)
    if names:
        shown = list(names[:_NAMES_SHOWN])
        if hidden := len(names) - len(shown):
            shown.append(f"and {hidden:,} more")
        blocks += ["## Contributors", ", ".join(shown)]
    return blocks


def _page(start: list[str], changes: Sequence[Change], ending: list[str], base: str | None) -> str:
    """Assemble the sections between what stands before and after them, as long as a post may be."""
    blocks = list(start)
    room = MARKDOWN_LIMIT - sum(len(block) + 2 for block in (*start, *ending)) - 100
    left_out = 0
    for section in Section:
        lines: list[str] = []
        room -= len(section.value) + 8
        for change in changes:
            if change.section is section:
                line = _entry(change, base)
                room -= len(line) + 1
                if room < 0:
                    left_out += 1
                else:
                    lines.append(line)
        if lines:
            blocks += [f"## {section.value}", "\n".join(lines)]
    if left_out:
        blocks.append(f"{counted(left_out, 'more change is', 'more changes are')} not shown here.")
    return _joined([*blocks, *ending])


def _entry(change: Change, base: str | None) -> str:
    """Write one change: ``- **scope:** description ([#12](…)) ([abc1234](…))``."""
    label = f"**{inline(change.label)}:** " if change.label else ""
    parts = [f"- {label}{inline(change.text)}"]
    numbers = [
        link(f"#{number}", f"{base}/issues/{number}" if base else None) for number in change.numbers[:_NUMBERS_LINKED]
    ]
    if numbers:
        parts.append(f"({', '.join(numbers)})")
    shas = [shown for commit in change.commits[:_COMMITS_LINKED] if (shown := _sha(commit))]
    if hidden := len(change.commits) - _COMMITS_LINKED:
        shas += [f"{hidden:,} more"] if hidden > 0 else []
    if shas:
        parts.append(f"({', '.join(shas)})")
    entry = " ".join(parts)
    # A footer that says what the line says already is no news.
    notes = [
        inline(sentence(note)) for note in change.notes[:_NOTES_SHOWN] if note.casefold() != change.text.casefold()
    ]
    return f"{entry}\n  > " + "\n  >\n  > ".join(notes) if notes else entry


def _sha(commit: Commit) -> str:
    return link(inline(masked_line(commit.id, 64)[:_SHORT_SHA]), safe_url(commit.url)) if commit.id else ""


def _joined(blocks: Iterable[str]) -> str:
    return "\n\n".join(blocks) + "\n"
