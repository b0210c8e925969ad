"""Titles, names and lists of releases, and the closing line that counts upkeep."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from contentsvc_core.content.changelog.dependencies import Bump, chained
from contentsvc_core.content.changelog.markdown import compare_url, inline, link, safe_url
from contentsvc_core.content.changelog.select import Change, is_minor, is_news, most_important
from contentsvc_core.content.changelog.voice import Voice
from contentsvc_core.content.changelog.wording import cut_at_word, masked_line
from contentsvc_core.content.changelog.words import VERBS
from contentsvc_core.content.phrases import Phrasebook
from contentsvc_core.content.sections import Section
from contentsvc_core.content.writing import PackageRelease
from contentsvc_core.events.normalized import Release

#: The packages that are named with their versions.
_BUMPS_NAMED: Final = 5


def folded(changes: Iterable[Change], page: str | None, voice: Voice) -> list[str]:
    """Return the paragraph that counts the changes that are not listed; may be empty."""
    phrases = voice.phrases
    hidden = _lasting([change for change in changes if not change.shown])
    if not hidden:
        return []
    counts = phrases.enumerated(counted_upkeep(hidden, phrases))
    line = phrases.also_upkeep.of(voice.tone).format(counts=counts)
    if page is not None and voice.technical:
        line = f"{line} ({link(phrases.all_commits, page)})"
    packages = _packages(hidden, phrases) if voice.technical else ""
    return [f"{line}. {packages}." if packages else f"{line}."]


def counted_upkeep(hidden: Sequence[Change], phrases: Phrasebook) -> list[str]:
    """Return the numbers of changes that are not listed, each with its noun."""
    kinds = Counter(change.section for change in hidden)
    upkeep = (Section.DOCUMENTATION, Section.DEPENDENCIES, Section.INTERNAL)
    said = [phrases.count(kinds[section], phrases.kinds[section]) for section in upkeep if kinds[section]]
    smaller = sum(number for section, number in kinds.items() if section not in upkeep)
    return [*([phrases.count(smaller, phrases.smaller)] if smaller else []), *said]


def _lasting(hidden: list[Change]) -> list[Change]:
    """Return the changes without updates that cancel out: raised and taken back."""
    bumps = [change.bump for change in hidden if change.bump]
    left = {bump.name.casefold() for bump in chained(bumps)}
    return [
        change for change in hidden if not (change.bump and change.bump.name) or change.bump.name.casefold() in left
    ]


def _packages(hidden: Iterable[Change], phrases: Phrasebook) -> str:
    moved = chained(change.bump for change in hidden if change.bump)
    packages = [bump for bump in moved if not bump.builds]
    named = [_bumped(bump) for bump in packages[:_BUMPS_NAMED]]
    if rest := len(packages) - len(named):
        named.append(phrases.more_people.removeprefix(phrases.conjunction.lstrip()).format(n=phrases.number(rest)))
    told = phrases.enumerated(named)
    if builds := len(moved) - len(packages):
        told = "; ".join(filter(None, (told, phrases.count(builds, phrases.build_actions))))
    return phrases.dependencies.format(packages=told) if told else ""


def _bumped(bump: Bump) -> str:
    versions = [inline(each) for each in (bump.begin, bump.end) if each]
    return f"{inline(bump.name)} {' → '.join(versions)}".strip()


TITLE_LIMIT: Final = 120
_TAG_LIMIT: Final = 40
#: Limits of a title: changes, characters of the first and of the others, candidates.
_LEADS: Final = 3
_FIRST_LIMIT: Final = 80
_LEAD_LIMIT: Final = 55
_CANDIDATES: Final = 8
#: Longer phrases and their replacements in titles.
_SHORTER: Final = (
    (re.compile(r"\A(?:Add(?:s|ed)?|Introduce[sd]?|Implement(?:s|ed)?) (?=(?:\w+ )?support\b)", re.IGNORECASE), ""),
    (re.compile(r"\ASupport(?:s|ed)? (?!for )(?=\S)", re.IGNORECASE), "support for "),
)
#: Beginnings of items that a title leaves out: the first items of a release are new.
_NEWS: Final = re.compile(r"\A(?:new|added|features?|improve(?:d|ments?)|changed?): (?=\S)", re.IGNORECASE)
_RELEASES_NAMED: Final = 3
_PACKAGES_NAMED: Final = 3
#: Limits of a title in characters: all named tags, and the least room for a change.
_NAMES_ROOM: Final = 45
_LEAST_ROOM: Final = 12
_SAYS_PRE: Final = re.compile(r"(?<![^\W\d_])pre(?:-?release)?(?![^\W\d_])", re.IGNORECASE)

#: Beginnings that name a section: a title adds no label.
_SAID: Final = {
    Section.BREAKING: re.compile(r"break", re.IGNORECASE),
    Section.SECURITY: re.compile(r"secur", re.IGNORECASE),
    Section.FIXED: re.compile(r"(?:hot|bug)?fix(?:es|ed|ing)?\b", re.IGNORECASE),
    Section.DOCUMENTATION: re.compile(r".*\bdoc(?:s|ument|umentation)?\b", re.IGNORECASE),
}
_BETWEEN_WORDS: Final = re.compile(r"[\W_]+")
_EMPTY_WORDS: Final = frozenset({"release", "version", "v", "ver", "rel", "the"})


def changes_title(changes: Sequence[Change], named: str, phrases: Phrasebook) -> str:
    """Return a title of the most important changes, behind ``named``: releases or projects; may be empty."""
    start = f"{named}: " if named else ""
    news = [change for change in changes if is_news(change)]
    leading = most_important((change for change in news if change.section is not Section.OTHER), _CANDIDATES)
    if news and not leading:
        # Changes of "Other" are counted, and never in a title.
        return plain_title(start, phrases.count(len(news), phrases.kinds[Section.OTHER]), "", phrases)
    if named and (leads := _leads(leading, TITLE_LIMIT - len(start), phrases)):
        return plain_title(start, ", ".join(leads), "", phrases)
    if named and not changes:
        return plain_title("", phrases.released.format(names=named), "", phrases)
    if leading or (len(changes) == 1 and not named):
        return plain_title(start, headline((leading or changes)[0], phrases), "", phrases)
    return plain_title(start, phrases.enumerated(counted_upkeep(changes, phrases)), "", phrases)


def _leads(leading: Sequence[Change], room: int, phrases: Phrasebook) -> list[str]:
    """Return up to three changes that fit; only the first one may be cut."""
    leads: list[str] = []
    for place, change in enumerate(leading):
        lead = _lead(change, phrases)
        size = len(lead) + 2 * bool(leads)
        # Later changes must be about as important as the first one.
        limit = _LEAD_LIMIT if leads else _FIRST_LIMIT
        if size <= room and len(lead) <= limit and (not leads or _weighty(change, leading[0])):
            leads.append(lead)
            room -= size
        if len(leads) == _LEADS or (place > _LEADS and leads and room < _LEAST_ROOM):
            break
    return leads or [cut_at_word(_lead(change, phrases), room) for change in leading[:1]]


def _weighty(change: Change, first: Change) -> bool:
    return not is_minor(change) or is_minor(first)


def _lead(change: Change, phrases: Phrasebook) -> str:
    """Return a change as titles name it among others: plain, without the capital."""
    text = plain(change.continuation)
    for pattern, instead in _SHORTER if change.section is Section.ADDED else ():
        text = pattern.sub(instead, text, count=1)
    said = _SAID.get(change.section)
    if change.section in {Section.BREAKING, Section.SECURITY} and said is not None and not said.match(text):
        return phrases.title_leads[change.section].format(text=_begun_small(plain(change.continuation)))
    return _begun_small(text)


def _begun_small(text: str) -> str:
    first, _, rest = text.partition(" ")
    return f"{first.lower()} {rest}".strip() if first[1:].islower() and first.casefold() in VERBS else text


def release_title(release: Release, repository: str, phrases: Phrasebook, changes: Sequence[Change] = ()) -> str:
    """Return a release's title: the repository, the tag, and the author's title, else the changes."""
    project = masked_line(repository.rpartition("/")[2], _TAG_LIMIT)
    tag = masked_line(release.tag_name, _TAG_LIMIT)
    name = plain(masked_line(release.name or "", TITLE_LIMIT))
    if not _adds(name, tag, project):
        title = (
            (tag if _mentions(tag, project) else f"{project} {tag}")
            if tag
            else phrases.new_release_of.format(project=project)
        )
    elif tag and not _mentions(name, tag):
        title = f"{project} {tag}: {name}"
    else:
        title = name if _mentions(name, project) else f"{project} {name}"
    mark = f" ({phrases.pre_release})" if release.prerelease and not _SAYS_PRE.search(title) else ""
    if changes and not _adds(name, tag, project):
        return changes_title(changes, f"{plain(title.strip())}{mark}", phrases)
    return plain_title("", title.strip(), mark, phrases)


def notes_title(release: Release, repository: str, items: Sequence[str], phrases: Phrasebook) -> str:
    """Return the title of a release with notes: its own title, else its first items."""
    title = release_title(release, repository, phrases)
    if _adds(plain(masked_line(release.name or "", TITLE_LIMIT)), release.tag_name, repository.rpartition("/")[2]):
        return title
    return items_title(items, title, phrases) or title


def items_title(items: Sequence[str], named: str, phrases: Phrasebook) -> str:
    """Return a title with the first items of notes; empty if none fits."""
    room = TITLE_LIMIT - len(named) - 2
    leads: list[str] = []
    told = [_NEWS.sub("", plain(item), count=1) for item in items]
    for item in told:
        if len(item) <= min(room, _LEAD_LIMIT) and len(leads) < _LEADS:
            leads.append(_begun_small(item))
            room -= len(item) + 2
    if not leads and items:
        leads = [_begun_small(cut_at_word(told[0], room))] if room > _LEAST_ROOM else []
    return plain_title(f"{named}: ", ", ".join(leads), "", phrases) if leads else ""


def released_name(release: Release) -> str:
    """Return a release's title if it has more words than the tag, plain; else empty."""
    tag = masked_line(release.tag_name, _TAG_LIMIT)
    name = masked_line(release.name or "", TITLE_LIMIT)
    return name if _adds(name, tag, "") else ""


def plain_title(start: str, lead: str, tail: str, phrases: Phrasebook) -> str:
    """Return a title of 1 to 120 characters, one line of plain text; a long lead is cut."""
    room = TITLE_LIMIT - len(start) - len(tail)
    # Masked once more: pieces that were harmless alone may have met.
    line = f"{start}{cut_at_word(lead, room)}{tail}" if room >= _LEAST_ROOM or not start else start.rstrip(": ")
    return masked_line(plain(line), TITLE_LIMIT) or phrases.untitled


def headline(change: Change, phrases: Phrasebook) -> str:
    """Return one change without a heading above: plain, with the part of the code."""
    text = plain(change.text)
    scope = plain(change.scope)
    place = f" ({scope})" if scope and scope.casefold() not in text.casefold() else ""
    said = _SAID.get(change.section)
    if said is None or said.match(text):
        return f"{text}{place}"
    return f"{phrases.title_leads[change.section].format(text=plain(change.continuation))}{place}"


def plain(text: str) -> str:
    """Return a text without marks of code."""
    return text.replace("`", "")


def short_tag(release: Release) -> str:
    """Return a release's tag as titles name it among others."""
    return masked_line(release.tag_name, _TAG_LIMIT // 2)


def marked_tag(release: Release, phrases: Phrasebook) -> str:
    """Return a release's tag, plain, with the mark of a pre-release; empty without a tag."""
    tag = plain(short_tag(release))
    return f"{tag} ({phrases.pre_release})" if tag and release.prerelease else tag


def counted_releases(releases: Iterable[Release], phrases: Phrasebook) -> list[str]:
    """Return the numbers of releases and pre-releases, each with its noun."""
    kinds = Counter(release.prerelease for release in releases)
    counted = ((kinds[False], phrases.release_count), (kinds[True], phrases.pre_release_count))
    return [phrases.count(number, phrase) for number, phrase in counted if number]


def releases_named(releases: Sequence[Release], project: str, phrases: Phrasebook) -> str:
    """Return the names of a repository's releases, oldest first, or their number up to the last; may be empty."""
    named = [tag for release in releases if (tag := marked_tag(release, phrases))]
    if len(named) > _RELEASES_NAMED or sum(map(len, named)) > _NAMES_ROOM:
        count = phrases.enumerated(counted_releases(releases, phrases))
        told = phrases.releases_up_to.format(releases=count, tag=named[-1])
        return f"{project}, {told}"
    if named:
        told = phrases.enumerated(named)
        # Some tags name their project: `kettle-v1.2.0`.
        return told if not project or _mentions(told, project) else f"{project} {told}"
    return phrases.new_release_of.format(project=project) if releases else ""


def package_name(package: PackageRelease) -> str:
    """Return a package's own name and its version, plain: ``cli 3.0.0``."""
    return plain(masked_line(f"{package.tag.name} {package.tag.version}", _TAG_LIMIT))


def packages_named(packages: Sequence[PackageRelease], phrases: Phrasebook) -> str:
    """Return the first packages with their versions, and the number of the others."""
    named: list[str] = []
    for package in packages[:_PACKAGES_NAMED]:
        name = package_name(package)
        name = f"{name} ({phrases.pre_release})" if package.release.prerelease else name
        if named and sum(map(len, named)) + len(name) > _NAMES_ROOM:
            break
        named.append(name)
    more = len(packages) - len(named)
    return phrases.enumerated([*named, *([phrases.count(more, phrases.more_packages)] if more else [])])


def _adds(name: str, tag: str, project: str) -> bool:
    return not {*_words(tag), *_words(project), *_EMPTY_WORDS}.issuperset(_words(name))


def _mentions(text: str, part: str) -> bool:
    return bool(_words(part)) and f" {' '.join(_words(part))} " in f" {' '.join(_words(text))} "


def _words(text: str) -> list[str]:
    """Return the words of a name or a tag, without a version's ``v``."""
    return [re.sub(r"\Av(?=[0-9])", "", word) for word in _BETWEEN_WORDS.split(text.casefold()) if word]


#: Of more releases the last ones are listed.
RELEASES_LISTED: Final = 20
_TAG_SHOWN: Final = 80


def release_lines(releases: Sequence[Release], phrases: Phrasebook) -> list[str]:
    """Return the lines of releases, oldest first; of very many, the last ones."""
    lines = [f"- {release_line(release, phrases)}" for release in releases[-RELEASES_LISTED:]]
    if earlier := releases[: len(releases) - len(lines)]:
        lines.insert(0, f"- {earlier_releases(earlier, phrases)}")
    return lines


def release_line(release: Release, phrases: Phrasebook) -> str:
    """Return a release as Markdown: the linked tag, the title, and the mark of a pre-release."""
    tag = inline(masked_line(release.tag_name, _TAG_SHOWN)) or phrases.new_release
    name = released_name(release)
    added = f": {inline(name)}" if name else ""
    mark = f" ({phrases.pre_release})" if release.prerelease else ""
    return f"{release_page(release, tag)}{added}{mark}"


def package_line(package: PackageRelease, phrases: Phrasebook) -> str:
    """Return a package's release as Markdown: the linked name and version."""
    mark = f" ({phrases.pre_release})" if package.release.prerelease else ""
    return f"{release_page(package.release, inline(package_name(package)))}{mark}"


def earlier_releases(releases: Sequence[Release], phrases: Phrasebook) -> str:
    """Return the line that counts further releases."""
    return phrases.earlier_releases.format(releases=phrases.enumerated(counted_releases(releases, phrases)))


def without_notes(release: Release, phrases: Phrasebook, *, busy: bool) -> str:
    """Return the sentence for a release without content; ``busy``: commits came that are not listed."""
    tag = inline(masked_line(release.tag_name, _TAG_SHOWN)) or phrases.this_release
    tag = f"{tag} ({phrases.pre_release})" if release.prerelease else tag
    said = phrases.maintenance if busy else phrases.no_notes
    return said.format(tag=tag, page=release_page(release, phrases.release_page))


def compare_links(before: str | None, after: str, base: str | None) -> list[str]:
    """Return the link that compares two tags; empty if one of them, or the address, is unknown."""
    url = compare_url(before, after, base)
    if url is None:
        return []
    shown = "...".join(masked_line(tag, _TAG_SHOWN) for tag in (before or "", after))
    return [link(inline(shown), url)]


def release_page(release: Release, text: str) -> str:
    """Return Markdown as a link to a release's page."""
    return link(text, safe_url(release.url))


def cut_notes(release: Release, phrases: Phrasebook) -> str:
    """Return the sentence for notes that were cut, with a link to the rest."""
    return phrases.notes_cut.format(page=release_page(release, phrases.read_on))
