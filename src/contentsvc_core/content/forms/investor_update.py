"""Investor updates: what was completed, figures, risks, and what is not known; sober in any tone."""

from typing import Final

from contentsvc_core.content.changelog.conventional import parse
from contentsvc_core.content.changelog.entries import bounded, joined
from contentsvc_core.content.changelog.markdown import inline, link, safe_url
from contentsvc_core.content.changelog.people import authors, contributors
from contentsvc_core.content.changelog.releases import earlier_releases
from contentsvc_core.content.changelog.report import Part
from contentsvc_core.content.changelog.titles import plain, plain_title, released_name
from contentsvc_core.content.changelog.wording import masked_line, sentence, with_period
from contentsvc_core.content.forms.excerpts import excerpt
from contentsvc_core.content.forms.news import (
    Item,
    News,
    counted_kinds,
    figures,
    news_of,
    release_day,
    release_names,
    subject,
    upkeep,
)
from contentsvc_core.content.forms.wording import as_written
from contentsvc_core.content.sections import Section
from contentsvc_core.content.writing import Brief, Draft
from contentsvc_core.webhooks.events import MAX_COMMITS

_TOLD: Final = 6
_RISKS_TOLD: Final = 20
_NOTES_SHOWN: Final = 5
#: In characters: one list; the releases; the table.
_LIST_LIMIT: Final = 8_000
_RELEASES_LIMIT: Final = 16_000
_TABLE_LIMIT: Final = 16_000
_RELEASES_LISTED: Final = 20
_TAG_LIMIT: Final = 80
_SHIPPED: Final = (
    Section.SECURITY,
    Section.ADDED,
    Section.CHANGED,
    Section.REMOVED,
    Section.PERFORMANCE,
    Section.FIXED,
    Section.REVERTED,
    Section.OTHER,
)


def write_investor_update(brief: Brief) -> Draft | None:
    """Write an investor update; ``None`` when no change is worth a line in a changelog and nothing was released."""
    news = news_of(brief)
    if not news.active:
        return None
    phrases = news.voice.phrases
    blocks = [
        f"## {phrases.summary}",
        _summary(news),
        f"## {phrases.shipped}",
        *_shipped(news),
        *_releases(news),
        f"## {phrases.activity}",
        *_activity(news),
        f"## {phrases.risks}",
        *_risks(news),
        f"## {phrases.unknown}",
        " ".join([phrases.unknown_text, *as_written(news)]),
        *([phrases.count(news.left_out, phrases.not_covered)] if news.left_out else []),
    ]
    return Draft(title=_title(news), markdown=joined(blocks))


def _title(news: News) -> str:
    phrases = news.voice.phrases
    who = news.voice.company or subject(news.active, phrases)
    if news.window is None:
        return plain_title("", phrases.investor_title.format(subject=who), "", phrases)
    told = phrases.investor_title_in.format(subject=who, period=phrases.period(news.window))
    return plain_title("", told, "", phrases)


def _summary(news: News) -> str:
    phrases = news.voice.phrases
    of = inline(subject(news.active, phrases))
    if news.window is None:
        said = [phrases.covers.format(subject=of)]
    else:
        said = [phrases.covers_in.format(subject=of, period=phrases.period(news.window))]
    said += _published(news) or [phrases.nothing_released]
    counted = [*counted_kinds(news.items, phrases), *upkeep(news)]
    if counted:
        said.append(phrases.comprises.format(counts=phrases.enumerated(counted)))
    return " ".join(said)


def _published(news: News) -> list[str]:
    """Name the releases, and apart from them the pre-releases; of other days than the window's they were received."""
    phrases = news.voice.phrases
    received = news.window is not None and not news.dated
    said: list[str] = []
    for early, published, arrived in (
        (False, phrases.released_versions, phrases.received_versions),
        (True, phrases.pre_released_versions, phrases.received_pre_versions),
    ):
        releases = [each for each in news.releases if each[1].prerelease is early]
        if releases:
            tags = inline(release_names(news, releases))
            said.append(phrases.count(len(releases), arrived if received else published, tags=tags))
    return said


def _shipped(news: News) -> list[str]:
    """Tell what is new by theme, in the authors' words, without anything that only people who build software read."""
    phrases = news.voice.phrases
    blocks: list[str] = []
    for section in _SHIPPED:
        if items := news.of(section):
            lines = [_completed(item, news) for item in items[:_TOLD]]
            blocks += [f"### {phrases.themes[section]}", *_list(lines, len(items), news)]
    if not news.items and (counted := upkeep(news)):
        blocks.append(phrases.nothing_shipped.format(counts=phrases.enumerated(counted)))
    return blocks or [phrases.comprises.format(counts=phrases.enumerated(figures(news)))]


def _list(lines: list[str], of: int, news: News) -> list[str]:
    told = bounded(lines, _LIST_LIMIT)
    hidden = of - len(told)
    blocks = ["\n".join(told)] if told else []
    return [*blocks, news.voice.phrases.count(hidden, news.voice.phrases.not_shown)] if hidden else blocks


def _completed(item: Item, news: News) -> str:
    """Tell what was completed; many a fix is named by what was wrong, so that it is said to be corrected."""
    if item.change.section is not Section.FIXED:
        return _told(item, news)
    said = news.voice.phrases.corrected.format(text=plain(item.change.text))
    said = f"{said} ({item.part.project})" if news.several else said
    more = plain(excerpt(item.change))
    return f"- {inline(f'{with_period(said)} {more}' if more else said)}"


def _told(item: Item, news: News) -> str:
    said = inline(plain(item.change.text))
    return f"- {inline(item.part.project)}: {said}" if news.several else f"- {said}"


def _releases(news: News) -> list[str]:
    phrases = news.voice.phrases
    lines: list[str] = []
    for part, release in news.releases[-_RELEASES_LISTED:]:
        tag = inline(plain(masked_line(release.tag_name, _TAG_LIMIT))) or phrases.new_release
        shown = link(f"{inline(part.project)} {tag}" if news.several else tag, safe_url(release.url))
        day = release_day(release)
        facts = [*([phrases.on(day)] if day else []), *([phrases.pre_release] if release.prerelease else [])]
        name = released_name(release)
        added = f": {inline(plain(name))}" if name else ""
        told = f" ({', '.join(facts)})" if facts else ""
        lines.append(f"- {shown}{added}{told}")
    if earlier := news.releases[: len(news.releases) - len(lines)]:
        lines.insert(0, f"- {earlier_releases([release for _, release in earlier], phrases)}")
    return [f"## {phrases.releases}", "\n".join(bounded(lines, _RELEASES_LIMIT))] if lines else []


def _activity(news: News) -> list[str]:
    """Count commits, people and releases of each repository, and of all together."""
    phrases = news.voice.phrases
    head = [phrases.repository, phrases.commits, phrases.contributors, phrases.releases]
    rows = bounded(
        [_row([inline(part.name), *_figures((part,), news)]) for part in news.active],
        _TABLE_LIMIT,
    )
    if hidden := len(news.active) - len(rows):
        rows.append(_row([phrases.more_commits.format(n=phrases.number(hidden)), "", "", ""]))
    if news.several:
        rows.append(_row([phrases.total, *_figures(news.active, news)]))
    blocks = ["\n".join([_row(head), "| --- | ---: | ---: | ---: |", *rows]), *_behind(news)]
    if any(part.incomplete for part in news.active):
        blocks.append(phrases.figures_incomplete.format(n=phrases.number(MAX_COMMITS)))
    return blocks


def _behind(news: News) -> list[str]:
    """Say how many of the commits are behind the changes that are counted, unless all are."""
    phrases = news.voice.phrases
    total = sum(len(part.commits) for part in news.active)
    told = sum(len(change.commits) for part in news.active for change in part.changes)
    if told >= total:
        return []
    return [phrases.count(told, phrases.commits_told, total=phrases.count(total, phrases.commit_count))]


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _figures(parts: tuple[Part, ...], news: News) -> list[str]:
    """Give the numbers of commits, people and releases of some repositories; everybody counts once."""
    commits = [commit for part in parts for commit in part.commits]
    people = contributors(author for commit in commits for author in authors(commit, parse(commit.message)))
    phrases = news.voice.phrases
    releases = [release for part, release in news.releases if part in parts]
    early = sum(release.prerelease for release in releases)
    released = phrases.number(len(releases) - early)
    if early:
        released += phrases.plus.format(parts=phrases.count(early, phrases.pre_release_count))
    return [phrases.number(len(commits)), phrases.number(len(people)), released]


def _risks(news: News) -> list[str]:
    phrases = news.voice.phrases
    blocks: list[str] = []
    if breaking := news.of(Section.BREAKING):
        lines = [f"{_told(item, news)}{_notes(item)}" for item in breaking[:_RISKS_TOLD]]
        blocks += [phrases.count(len(breaking), phrases.breaking_marked), *_list(lines, len(breaking), news)]
    else:
        blocks.append(phrases.nothing_breaking)
    if gone := news.deprecations:
        lines = [_told(item, news) for item in gone[:_RISKS_TOLD]]
        blocks += [phrases.count(len(gone), phrases.deprecated), *_list(lines, len(gone), news)]
    if security := news.of(Section.SECURITY):
        blocks.append(phrases.count(len(security), phrases.security_marked))
    return blocks


def _notes(item: Item) -> str:
    """Say what the authors say of a breaking change, in lines below it."""
    notes = [
        inline(plain(sentence(note)))
        for note in item.change.notes[:_NOTES_SHOWN]
        if note.casefold() != item.change.text.casefold()
    ]
    return "".join(f"\n  - {note}" for note in notes)
