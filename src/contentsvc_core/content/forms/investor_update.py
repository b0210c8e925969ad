"""Investor updates: a summary, the completed changes, risks; sober in any tone."""

from typing import Final

from contentsvc_core.content.changelog import titles
from contentsvc_core.content.changelog.markdown import inline, link, safe_url
from contentsvc_core.content.changelog.page import bounded, joined, notes_of
from contentsvc_core.content.changelog.people import authors, contributors
from contentsvc_core.content.changelog.read import parse
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
from contentsvc_core.content.phrases import Count
from contentsvc_core.content.sections import Section
from contentsvc_core.content.writing import Draft

#: The longest lists: changes of a section, risks, notes of a change, releases.
_LISTED: Final = 6
_RISKS_LISTED: Final = 20
_NOTES_SHOWN: Final = 5
_RELEASES_LISTED: Final = 20
#: In characters.
_RELEASES_LIMIT: Final = 16_000
_TAG_LIMIT: Final = 80


def write_investor_update(news: News) -> Draft:
    """Return an investor update."""
    phrases, voice = news.phrases, news.voice
    blocks = [
        f"## {phrases.summary}",
        _summary(news),
        *_shipped(news),
        *_releases(news),
        f"## {voice.say(phrases.risks)}",
        *(_risks(Section.BREAKING, phrases.breaking_marked, news) or [phrases.nothing_breaking]),
        *_risks(Section.DEPRECATED, phrases.deprecated, news),
        " ".join([voice.say(phrases.scope), *as_written(news), *news.gaps]),
    ]
    return Draft(title=_title(news), markdown=joined(blocks))


def _title(news: News) -> str:
    phrases = news.phrases
    told = _in_period(news, phrases.investor_title, phrases.investor_title_in, news.voice.company)
    return titles.plain_title("", told, "", phrases)


def _in_period(news: News, phrase: str, phrase_in: str, who: str = "") -> str:
    """Return a phrase about the projects, with the window if there is one."""
    of = who or subject(news.active, news.phrases)
    if news.window is None:
        return news.voice.say(phrase, subject=of)
    return news.voice.say(phrase_in, subject=of, period=news.phrases.period(news.window))


def _summary(news: News) -> str:
    phrases, voice = news.phrases, news.voice
    said = [_in_period(news, phrases.covers, phrases.covers_in)]
    if news.releases:
        releases = phrases.enumerated(titles.counted_releases((release for _, release in news.releases), phrases))
        said.append(voice.say(phrases.covers_releases, releases=releases, tags=release_names(news)))
    else:
        said.append(phrases.nothing_released)
    said += [news.lead] if news.lead else []
    if len(news.items) > 1:
        said.append(voice.say(phrases.figures, counts=counted_kinds(news.items, phrases)))
    elif not news.items and (counts := counted(news.upkeep, phrases)):
        said.append(voice.say(phrases.nothing_shipped, counts=counts))
    commits = [commit for part in news.active for commit in part.commits]
    people = len(contributors(author for commit in commits for author in authors(commit, parse(commit.message))))
    if people:
        made = phrases.count(len(commits), phrases.commit_count)
        said.append(voice.say(phrases.activity, commits=made, people=phrases.count(people, phrases.contributor_count)))
    return inline(titles.plain(" ".join(said)))


def _shipped(news: News) -> list[str]:
    """Return the changes by section, without hashes, scopes and upkeep."""
    blocks: list[str] = []
    for section in THEMES:
        if items := news.of(section):
            lines = [_completed(item, news) for item in items[:_LISTED]]
            blocks += [f"### {news.voice.theme(section)}", *listed(lines, len(items), news)]
    return [f"## {news.voice.say(news.phrases.shipped)}", *blocks] if blocks else []


def _completed(item: Item, news: News) -> str:
    more = titles.plain(excerpt(item.change))
    return f"{with_period(_line(item, news))} {inline(more)}" if more else _line(item, news)


def _line(item: Item, news: News) -> str:
    said = inline(said_of(item, news))
    return f"- {inline(item.part.project)}: {said}" if news.several else f"- {said}"


def _releases(news: News) -> list[str]:
    phrases = news.phrases
    lines: list[str] = []
    for part, release in news.releases[-_RELEASES_LISTED:]:
        tag = inline(titles.plain(masked_line(release.tag_name, _TAG_LIMIT))) or phrases.new_release
        shown = link(f"{inline(part.project)} {tag}" if news.several else tag, safe_url(release.url))
        day = release_day(release)
        facts = [*([phrases.on(day)] if day else []), *([phrases.pre_release] if release.prerelease else [])]
        name = titles.released_name(release)
        added = f": {inline(titles.plain(name))}" if name else ""
        lines.append(f"- {shown}{added}" + (f" ({', '.join(facts)})" if facts else ""))
    if earlier := news.releases[: len(news.releases) - len(lines)]:
        lines.insert(0, f"- {titles.earlier_releases([release for _, release in earlier], phrases)}")
    return [f"## {phrases.releases}", "\n".join(bounded(lines, _RELEASES_LIMIT))] if lines else []


def _risks(section: Section, phrase: Count, news: News) -> list[str]:
    """Return the number of a section's changes, and their list with the authors' notes."""
    items = news.of(section)
    lines = [
        "\n  - ".join(
            [_line(item, news), *(inline(titles.plain(note)) for note in notes_of(item.change, _NOTES_SHOWN))]
        )
        for item in items[:_RISKS_LISTED]
    ]
    return [news.phrases.count(len(items), phrase), *listed(lines, len(items), news)] if items else []
