"""Titles of posts, and the names and links of releases."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Final

from contentsvc_core.content.changelog.lines import headline, lead, plain
from contentsvc_core.content.changelog.markdown import compare_url, cut_at_word, inline, link, masked_line, safe_url
from contentsvc_core.content.changelog.report import Item, Part
from contentsvc_core.content.changelog.select import IMPORTANCE, Change, is_minor, is_news, most_important
from contentsvc_core.content.changelog.words import VERBS
from contentsvc_core.content.packages import package_tag
from contentsvc_core.content.phrases import Phrasebook
from contentsvc_core.content.sections import CRITICAL, UPKEEP, Section
from contentsvc_core.content.writing import PackageRelease
from contentsvc_core.events.normalized import Release
from contentsvc_core.on_demand import late

#: The longest title, the longest tag in a title, and the longest tag in a text, in characters.
TITLE_LIMIT: Final = 120
_TAG_LIMIT: Final = 40
_TAG_SHOWN: Final = 80
#: Limits of a title: changes, characters of the first and of the others, candidates.
_LEADS: Final = 3
_FIRST_LIMIT: Final = 80
_LEAD_LIMIT: Final = 55
_CANDIDATES: Final = 8
_NAMED: Final = 3
#: Limits of a title in characters: all named tags, and the least space for a change.
_NAMES_LIMIT: Final = 45
_MIN_TEXT_BUDGET: Final = 12
#: Beginnings that a title has once: "add a lid, a spout".
_REPEATED: Final = ("add support for ", "support for ", "add ")
#: The words at the beginning of a change that a shortened one keeps.
_FEW_WORDS: Final = 4
#: What titles leave out of a long change: ``Add a lid and close it at noon because of the cats``.
_REST: Final = late(
    r"(?:,| and| &|, and|;) (?P<verb>[A-Za-z]+)\b"
    r"| (?:because|so that|since|in order to|while|rather than|instead of)\b",
    re.IGNORECASE,
)
#: Of more releases the last ones are listed.
RELEASES_LISTED: Final = 20
_PRE_RELEASE_WORD: Final = late(r"(?<![^\W\d_])pre(?:-?release)?(?![^\W\d_])", re.IGNORECASE)
_BETWEEN_WORDS: Final = late(r"[\W_]+")
_EMPTY_WORDS: Final = frozenset({"release", "version", "v", "ver", "rel", "the"})


def title_of(
    items: Sequence[Item], parts: Sequence[Part], phrases: Phrasebook, start: str, lead_sentence: str = ""
) -> str:
    """Return the title of a post: the releases, and their most important changes.

    ``start`` names the projects where there is no release; ``lead_sentence`` is the author's sentence about a release
    without entries.
    """
    names = release_names(parts, phrases)
    if not names:
        return changes_title([item.change for item in items], start, phrases)
    released = [item.change for item in items if item.released]
    others = [item for item in items if not item.released]
    has_news = any(map(is_news, released))
    if lead_sentence and not has_news and len(names) + len(lead_sentence) + 2 <= TITLE_LIMIT:
        return plain_title(f"{names}{phrases.colon}", plain(lead_sentence), "", phrases)
    if has_news or not any(is_news(item.change) for item in others):
        return changes_title(released, names, phrases)
    elsewhere = [item for item in others if not item.part.releases]
    origin = projects_named(parts_of(elsewhere), phrases) if elsewhere else phrases.not_released
    return changes_title([item.change for item in elsewhere or others], f"{names}{phrases.semicolon}{origin}", phrases)


def changes_title(changes: Sequence[Change], named: str, phrases: Phrasebook) -> str:
    """Return a title of the most important changes, behind ``named``: releases or projects; may be empty."""
    start = f"{named}{phrases.colon}" if named else ""
    news = [change for change in changes if is_news(change)]
    leading = most_important((change for change in news if change.section is not Section.OTHER), _CANDIDATES)
    if news and not leading:
        text = phrases.count(len(news), phrases.kinds[Section.OTHER])
    elif named and (leads := _lead_texts(leading, TITLE_LIMIT - len(start) - 1, phrases)):
        text = _joined(leads, phrases.semicolon)
        if ": " in next(iter(leads)):
            start = f"{named} \u2013 "
    elif named and not changes:
        start, text = "", phrases.released.format(names=named)
    elif leading or (len(changes) == 1 and not named):
        text = headline((leading or changes)[0], phrases)
    else:
        text = phrases.enumerated(counted_upkeep(changes, phrases))
    return plain_title(start, text, "", phrases)


def _lead_texts(leading: Sequence[Change], budget: int, phrases: Phrasebook) -> dict[str, Section]:
    """Return the texts of the changes that lead a title, each with its section."""
    leads: dict[str, Section] = {}
    last: Section | None = None
    if leading and leading[0].section in CRITICAL and not any(_fits(change, budget, phrases) for change in leading):
        # A long one is cut, but never left out for a smaller change.
        return {cut_at_word(lead(leading[0], phrases), budget): leading[0].section}
    for change in leading:
        # One label counts for the following changes of its section; a fix has one only where it needs it.
        whole = lead(change, phrases, marked=change.section is not last)
        limit = _LEAD_LIMIT if leads else _FIRST_LIMIT
        text = _shortened(whole) if len(whole) > limit else whole
        size = len(text) + len(phrases.semicolon) * bool(leads)
        # A breaking or a security change may be longer than others.
        fits = size <= budget and (len(text) <= limit or change.section in CRITICAL) and not text.endswith("…")
        if fits and (not leads or not is_minor(change) or is_minor(leading[0])):
            leads[text] = change.section
            budget -= size
            unmarked = change.section not in CRITICAL and whole == lead(change, phrases, marked=False)
            last = last if unmarked else change.section
        if len(leads) == _LEADS:
            break
    return leads or {cut_at_word(lead(change, phrases), budget): change.section for change in leading[:1]}


def _shortened(text: str) -> str:
    """Return a text without its second action, reasons and circumstances; unchanged if few words are left."""
    first = " ".join(text.split(" ", _FEW_WORDS)[:_FEW_WORDS])
    for found in _REST.finditer(text, len(first.rstrip(",;"))):
        if found["verb"] is None or found["verb"].casefold() in VERBS:
            return text[: found.start()]
    return text


def _joined(leads: Mapping[str, Section], semicolon: str) -> str:
    (title, section), *others = leads.items()
    comma, labelled, previous = ", " in "".join(leads), ": " in title, title
    for text, own in others:
        # A comma inside a change, a new label, and the end of a label's section need a stronger sign.
        ended = labelled and own is not section
        sign = semicolon if comma or ended or ": " in text else ", "
        repeated = _repeated(previous, text) if sign == ", " and own is section else ""
        shown, previous = text.removeprefix(repeated), text
        title = f"{title}{sign}{shown}"
        section, labelled = own, ": " in text or (labelled and not ended)
    return title


def _repeated(previous: str, text: str) -> str:
    """Return the beginning that a text repeats; empty behind more words, which the rest would seem to go on with."""
    beginning = next((each for each in _REPEATED if text.startswith(each) and previous.startswith(each)), "")
    return beginning if previous.removeprefix(beginning).count(" ") < _FEW_WORDS - 1 else ""


def _fits(change: Change, budget: int, phrases: Phrasebook) -> bool:
    return change.section in CRITICAL and len(lead(change, phrases)) <= min(budget, _FIRST_LIMIT)


def release_title(release: Release, repository: str, phrases: Phrasebook, changes: Sequence[Change] = ()) -> str:
    """Return a release's title: the repository, the tag, and the author's title, else the changes."""
    project = masked_line(repository.rpartition("/")[2], _TAG_LIMIT)
    tag = masked_line(release.tag_name, _TAG_LIMIT)
    name = plain(masked_line(release.name or "", TITLE_LIMIT))
    titled = _adds(name, tag, project)
    if not titled:
        title = _with_project(_named(tag), project) if tag else phrases.new_release_of.format(project=project)
    elif tag and not _mentions(name, tag):
        sign = " \u2013 " if ": " in name else phrases.colon
        title = f"{_with_project(_named(tag), project)}{sign}{name}"
    else:
        title = _with_project(name, project)
    mark = f" ({phrases.pre_release})" if release.prerelease and not _PRE_RELEASE_WORD.search(title) else ""
    if changes and not titled:
        return changes_title(changes, f"{plain(title.strip())}{mark}", phrases)
    return plain_title("", title.strip(), mark, phrases)


def plain_title(start: str, text: str, tail: str, phrases: Phrasebook) -> str:
    """Return a title of 1 to 120 characters, one line of plain text; a long text is cut."""
    budget = TITLE_LIMIT - len(start) - len(tail)
    # Masked once more: pieces that were harmless alone may have met.
    line = (
        f"{start}{cut_at_word(text, budget)}{tail}"
        if budget >= _MIN_TEXT_BUDGET or not start
        else start.rstrip(": \u2013\u00a0")
    )
    return masked_line(plain(line), TITLE_LIMIT) or phrases.untitled


def counted_upkeep(hidden: Sequence[Change], phrases: Phrasebook) -> list[str]:
    """Return the numbers of changes that are not listed, each with its noun."""
    kinds = Counter(change.section for change in hidden)
    smaller = sum(number for section, number in kinds.items() if section not in UPKEEP)
    counts = [phrases.count(smaller, phrases.smaller)] if smaller else []
    return [*counts, *counted({section: kinds[section] for section in UPKEEP}, phrases)]


def counted(kinds: Mapping[Section, int], phrases: Phrasebook) -> list[str]:
    """Return the number of each section with its noun, in the order of importance."""
    return [phrases.count(kinds[section], phrases.kinds[section]) for section in IMPORTANCE if kinds.get(section)]


def projects_named(parts: Sequence[Part], phrases: Phrasebook) -> str:
    """Return the names of the projects, or the number of repositories: plain."""
    names = list(dict.fromkeys(part.project for part in parts if part.project))
    if not names or len(names) > _NAMED:
        return phrases.count(len(parts), phrases.repository_count)
    return phrases.enumerated(names)


def parts_of(items: Iterable[Item]) -> list[Part]:
    return list({item.part.repository: item.part for item in items}.values())


def release_names(parts: Sequence[Part], phrases: Phrasebook) -> str:
    """Return the names of releases, plain: ``kettle v1.2.0``, ``kettle v1.0 to v1.4``; may be empty.

    Of more than three repositories, the first are named, and the releases of the others are counted.
    """
    releasing = [part for part in parts if part.releases]
    names = [
        _with_project(packages_named(part.packages, phrases), part.project)
        if part.packages
        else releases_named(part.releases, part.project, phrases, _NAMED if len(releasing) == 1 else 1)
        for part in releasing
    ]
    if len(names) > _NAMED:
        shown = 2 if len(names[0]) + len(names[1]) <= _NAMES_LIMIT else 1
        others = sum(len(part.releases) for part in releasing[shown:])
        names[shown:] = [phrases.more.format(n=phrases.number(others))]
    return phrases.enumerated(names)


def releases_named(releases: Sequence[Release], project: str, phrases: Phrasebook, most: int = _NAMED) -> str:
    """Return the names of a repository's releases, oldest first; of more than ``most`` the first and the last one."""
    limit = _TAG_LIMIT if len(releases) == 1 else _TAG_LIMIT // 2
    named = [(plain(_named(masked_line(each.tag_name, limit))), mark_of(each, phrases)) for each in releases]
    tags = [f"{tag}{mark}" for tag, mark in named if tag]
    if not tags:
        return phrases.new_release_of.format(project=project) if releases else ""
    if len(tags) > most or (len(tags) > 1 and sum(map(len, tags)) > _NAMES_LIMIT):
        tags = [phrases.format(phrases.release_range, first=tags[0], last=tags[-1])]
    return _with_project(phrases.enumerated(tags), project)


def _named(tag: str) -> str:
    """Return a tag as readers name the release: ``kettle v1.2.0`` for ``kettle-v1.2.0`` or ``kettle/v1.2.0``."""
    of = package_tag(tag)
    if of is None:
        return tag
    sign = "v" if tag[len(of.package) :].removesuffix(of.version).endswith("v") else ""
    return f"{of.package} {sign}{of.version}"


def _with_project(named: str, project: str) -> str:
    # Some tags name their project, `kettle-v1.2.0`, or their owner: `@acme/kettle@1.2.0`.
    return named if not project or named[:1] == "@" or _mentions(named, project) else f"{project} {named}"


def mark_of(release: Release, phrases: Phrasebook) -> str:
    return f" ({phrases.pre_release})" if release.prerelease else ""


def counted_releases(releases: Iterable[Release], phrases: Phrasebook) -> list[str]:
    """Return the numbers of releases and pre-releases, each with its noun."""
    kinds = Counter(release.prerelease for release in releases)
    counted = ((kinds[False], phrases.release_count), (kinds[True], phrases.pre_release_count))
    return [phrases.count(number, phrase) for number, phrase in counted if number]


def released_name(release: Release) -> str:
    """Return a release's title if it has more words than the tag, plain; else empty."""
    name = masked_line(release.name or "", TITLE_LIMIT)
    return name if _adds(name, masked_line(release.tag_name, _TAG_LIMIT), "") else ""


def _package_name(package: PackageRelease) -> str:
    return plain(masked_line(f"{package.tag.name} {package.tag.version}", _TAG_LIMIT))


def packages_named(packages: Sequence[PackageRelease], phrases: Phrasebook) -> str:
    """Return the first packages with their versions, and the number of the others."""
    names: list[str] = []
    for package in packages[:_NAMED]:
        name = f"{_package_name(package)}{mark_of(package.release, phrases)}"
        if names and sum(map(len, names)) + len(name) > _NAMES_LIMIT:
            break
        names.append(name)
    more = len(packages) - len(names)
    return phrases.enumerated([*names, *([phrases.count(more, phrases.more_packages)] if more else [])])


def _adds(name: str, tag: str, project: str) -> bool:
    return not {*_words(tag), *_words(project), *_EMPTY_WORDS}.issuperset(_words(name))


def _mentions(text: str, part: str) -> bool:
    return bool(_words(part)) and f" {' '.join(_words(part))} " in f" {' '.join(_words(text))} "


def _words(text: str) -> list[str]:
    words = filter(None, _BETWEEN_WORDS.split(text.casefold()))
    return [word[1:] if word[0] == "v" and "0" <= word[1:2] <= "9" else word for word in words]


def release_lines(releases: Sequence[Release], phrases: Phrasebook) -> list[str]:
    """Return the lines of releases, oldest first; of very many, the last ones."""
    lines = [f"- {release_line(release, phrases)}" for release in releases[-RELEASES_LISTED:]]
    earlier = releases[: len(releases) - len(lines)]
    return [*([f"- {earlier_releases(earlier, phrases)}"] if earlier else []), *lines]


def release_line(release: Release, phrases: Phrasebook) -> str:
    """Return a release as Markdown: the linked tag, the title, and the mark of a pre-release."""
    tag = inline(masked_line(release.tag_name, _TAG_SHOWN)) or phrases.new_release
    name = released_name(release)
    added = f"{phrases.colon}{inline(name)}" if name else ""
    return f"{release_page(release, tag)}{added}{mark_of(release, phrases)}"


def package_line(package: PackageRelease, phrases: Phrasebook) -> str:
    """Return a package's release as Markdown: the linked name and version."""
    return f"{release_page(package.release, inline(_package_name(package)))}{mark_of(package.release, phrases)}"


def earlier_releases(releases: Sequence[Release], phrases: Phrasebook) -> str:
    return phrases.earlier_releases.format(releases=phrases.enumerated(counted_releases(releases, phrases)))


def without_notes(release: Release, phrases: Phrasebook, *, busy: bool) -> str:
    """Return the sentence for a release without content; ``busy``: commits came that are not listed."""
    phrase = phrases.maintenance if busy else phrases.no_notes
    return phrase.format(tag=_tag_named(release, phrases), page=release_page(release, phrases.release_page))


def upkeep_alone(release: Release, counts: str, phrases: Phrasebook) -> str:
    """Return the sentence for a release of upkeep alone, without the full stop."""
    return phrases.maintenance_counts.format(tag=_tag_named(release, phrases), counts=counts)


def _tag_named(release: Release, phrases: Phrasebook) -> str:
    tag = inline(masked_line(release.tag_name, _TAG_SHOWN)) or phrases.this_release
    return f"{tag}{mark_of(release, phrases)}"


def cut_notes(release: Release, phrases: Phrasebook) -> str:
    """Return the sentence for notes that were cut, with a link to the rest."""
    return phrases.notes_cut.format(page=release_page(release, phrases.read_on))


def compare_links(before: str | None, after: str, base: str | None) -> list[str]:
    """Return the link that compares two tags; empty if one of them, or the address, is unknown."""
    url = compare_url(before, after, base)
    tag_range = "...".join(masked_line(tag, _TAG_SHOWN) for tag in (before or "", after))
    return [link(inline(tag_range), url)] if url else []


def release_page(release: Release, text: str) -> str:
    return link(text, safe_url(release.url))


def day_of(timestamp: str | None) -> date | None:
    try:
        return date.fromisoformat((timestamp or "")[:10])
    except ValueError:
        return None
