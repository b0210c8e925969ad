"""Releases in lists and headings, the links between them, and what is said of one that has nothing to read."""

from collections.abc import Sequence
from typing import Final

from contentsvc_core.content.changelog.links import compare_url
from contentsvc_core.content.changelog.markdown import inline, link, safe_url
from contentsvc_core.content.changelog.titles import counted_releases, package_name, released_name
from contentsvc_core.content.changelog.wording import masked_line
from contentsvc_core.content.phrases import Phrasebook
from contentsvc_core.content.writing import PackageRelease
from contentsvc_core.webhooks.events import Release

#: Of more releases the last ones are listed.
RELEASES_LISTED: Final = 20
_TAG_LIMIT: Final = 80


def release_lines(releases: Sequence[Release], phrases: Phrasebook) -> list[str]:
    """List releases, oldest first, with their pages and names; of very many the last ones."""
    lines = [f"- {release_line(release, phrases)}" for release in releases[-RELEASES_LISTED:]]
    if earlier := releases[: len(releases) - len(lines)]:
        lines.insert(0, f"- {earlier_releases(earlier, phrases)}")
    return lines


def release_line(release: Release, phrases: Phrasebook) -> str:
    """Name a release as Markdown: its tag with its page, its name, and whether it is a pre-release."""
    tag = inline(masked_line(release.tag_name, _TAG_LIMIT)) or phrases.new_release
    name = released_name(release)
    added = f": {inline(name)}" if name else ""
    mark = f" ({phrases.pre_release})" if release.prerelease else ""
    return f"{release_page(release, tag)}{added}{mark}"


def package_line(package: PackageRelease, phrases: Phrasebook) -> str:
    """Name the release of a package as Markdown: its name and version with its page."""
    mark = f" ({phrases.pre_release})" if package.release.prerelease else ""
    return f"{release_page(package.release, inline(package_name(package)))}{mark}"


def earlier_releases(releases: Sequence[Release], phrases: Phrasebook) -> str:
    """Count the releases that are not listed."""
    return phrases.earlier_releases.format(releases=phrases.enumerated(counted_releases(releases, phrases)))


def without_notes(release: Release, phrases: Phrasebook, *, busy: bool) -> str:
    """Say honestly that a release has nothing to read; ``busy``: commits came that are not worth a word."""
    tag = inline(masked_line(release.tag_name, _TAG_LIMIT)) or phrases.this_release
    tag = f"{tag} ({phrases.pre_release})" if release.prerelease else tag
    said = phrases.maintenance if busy else phrases.no_notes
    return said.format(tag=tag, page=release_page(release, phrases.release_page))


def compare_links(before: str | None, after: str, base: str | None) -> list[str]:
    """Link what lies between two tags; nothing if one of them, or the repository's address, is unknown."""
    url = compare_url(before, after, base)
    if url is None:
        return []
    shown = "...".join(masked_line(tag, _TAG_LIMIT) for tag in (before or "", after))
    return [link(inline(shown), url)]


def release_page(release: Release, text: str) -> str:
    """Give ``text``, which is Markdown already, as a link to a release's page."""
    return link(text, safe_url(release.url))


def cut_notes(release: Release, phrases: Phrasebook) -> str:
    """Say that a release's notes are longer than what is shown, and where to read on."""
    return phrases.notes_cut.format(page=release_page(release, phrases.read_on))
