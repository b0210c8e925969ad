"""Investor updates: a summary, what shipped, risks; sober in any tone."""

from typing import Final

from contentsvc_core.content.changelog.markdown import inline, link, safe_url
from contentsvc_core.content.changelog.page import bounded, joined, notes_of
from contentsvc_core.content.changelog.people import authors, contributors
from contentsvc_core.content.changelog.read import parse
from contentsvc_core.content.changelog.titles import (
    counted_releases,
    earlier_releases,
    plain,
    plain_title,
    released_name,
)
from contentsvc_core.content.changelog.wording import masked_line, with_period
from contentsvc_core.content.forms.news import (
    THEMES,
    Item,
    News,
    counted,
    counted_kinds,
    release_day,
    release_names,
    subject,
)
from contentsvc_core.content.forms.wording import as_written, excerpt, listed, said_of
from contentsvc_core.content.sections import Section
from contentsvc_core.content.writing import Draft
from contentsvc_core.events.normalized import MAX_COMMITS

_TOLD: Final = 6
_RISKS_TOLD: Final = 20
_NOTES_SHOWN: Final = 5
#: In characters.
_RELEASES_LIMIT: Final = 16_000
_RELEASES_LISTED: Final = 20
_TAG_LIMIT: Final = 80


def write_investor_update(news: News) -> Draft:
    """Write an investor update."""
    phrases, tone = news.voice.phrases, news.voice.tone
    blocks = [
        f"## {phrases.summary}",
        _summary(news),
        *_shipped(news),
        *_releases(news),
        f"## {phrases.risks.of(tone)}",
        *_risks(news),
        " ".join([phrases.scope.of(tone), *as_written(news), *_completeness(news)]),
    ]
    return Draft(title=_title(news), markdown=joined(blocks))


def _title(news: News) -> str:
    phrases = news.voice.phrases
    who = news.voice.company or subject(news.active, phrases)
    if news.window is None:
        return plain_title("", phrases.say(phrases.investor_title, subject=who), "", phrases)
    told = phrases.say(phrases.investor_title_in, subject=who, period=phrases.period(news.window))
    return plain_title("", told, "", phrases)


def _summary(news: News) -> str:
    phrases = news.voice.phrases
    of = subject(news.active, phrases)
    if news.window is None:
        said = [phrases.say(phrases.covers, subject=of)]
    else:
        said = [phrases.say(phrases.covers_in, subject=of, period=phrases.period(news.window))]
    said += _published(news) or [phrases.nothing_released]
    said += [news.lead] if news.lead else []
    counts = counted_kinds(news.items, phrases)
    if len(news.items) > 1:
        said.append(phrases.say(phrases.figures.of(news.voice.tone), counts=phrases.enumerated(counts)))
    elif not counts and (counts := counted(news.upkeep, phrases)):
        said.append(phrases.say(phrases.nothing_shipped, counts=phrases.enumerated(counts)))
    return inline(plain(" ".join([*said, *_activity(news)])))


def _published(news: News) -> list[str]:
    phrases = news.voice.phrases
    if not news.releases:
        return []
    releases = phrases.enumerated(counted_releases((release for _, release in news.releases), phrases))
    return [phrases.say(phrases.covers_releases, releases=releases, tags=release_names(news))]


def _activity(news: News) -> list[str]:
    """Return one sentence with the number of commits and people; each person counts once."""
    phrases = news.voice.phrases
    commits = [commit for part in news.active for commit in part.commits]
    people = len(contributors(author for commit in commits for author in authors(commit, parse(commit.message))))
    if not people:
        return []
    made = phrases.count(len(commits), phrases.commit_count)
    return [phrases.say(phrases.activity, commits=made, people=phrases.count(people, phrases.contributor_count))]


def _shipped(news: News) -> list[str]:
    """Return what is new by theme, without hashes, scopes and upkeep."""
    blocks: list[str] = []
    for kind in THEMES:
        if items := news.of(kind):
            lines = [_completed(item, news) for item in items[:_TOLD]]
            blocks += [f"### {news.voice.theme(kind)}", *listed(lines, len(items), news)]
    return [f"## {news.voice.phrases.shipped.of(news.voice.tone)}", *blocks] if blocks else []


def _completed(item: Item, news: News) -> str:
    """Return one completed change with its author's explanation."""
    more = plain(excerpt(item.change))
    told = _told(item, news)
    return f"{with_period(told)} {inline(more)}" if more else told


def _told(item: Item, news: News) -> str:
    said = inline(said_of(item, news))
    return f"- {inline(item.part.project)}: {said}" if news.several else f"- {said}"


def _releases(news: News) -> list[str]:
    """List the releases with their pages and days."""
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


def _risks(news: News) -> list[str]:
    phrases = news.voice.phrases
    blocks: list[str] = []
    if breaking := news.of(Section.BREAKING):
        lines = [f"{_told(item, news)}{_notes(item)}" for item in breaking[:_RISKS_TOLD]]
        blocks += [phrases.count(len(breaking), phrases.breaking_marked), *listed(lines, len(breaking), news)]
    else:
        blocks.append(phrases.nothing_breaking)
    if gone := news.deprecations:
        lines = [_told(item, news) for item in gone[:_RISKS_TOLD]]
        blocks += [phrases.count(len(gone), phrases.deprecated), *listed(lines, len(gone), news)]
    return blocks


def _notes(item: Item) -> str:
    """Return what the authors say of a breaking change, in lines below it."""
    return "".join(f"\n  - {inline(plain(note))}" for note in notes_of(item.change, _NOTES_SHOWN))


def _completeness(news: News) -> list[str]:
    phrases = news.voice.phrases
    said = [phrases.count(news.left_out, phrases.not_covered)] if news.left_out else []
    if any(part.incomplete for part in news.active):
        said.append(phrases.incomplete.format(n=phrases.number(MAX_COMMITS)))
    return said
