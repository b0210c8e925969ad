"""Blog posts, and investor updates: a summary, the completed changes, risks; sober in each tone."""

from collections.abc import Sequence
from typing import Final

from attrs import evolve
from msgspec.structs import replace

from contentsvc_core.content.brand import BrandIdentity, sober
from contentsvc_core.content.changelog import titles
from contentsvc_core.content.changelog.lines import (
    bounded,
    joined,
    labelled,
    named,
    notes_of,
    plain,
    quoted_notes,
    references,
)
from contentsvc_core.content.changelog.markdown import inline, link, masked_line, safe_url, with_period
from contentsvc_core.content.changelog.people import authors, contributors
from contentsvc_core.content.changelog.read import parse
from contentsvc_core.content.changelog.release_notes import clean, lowered, upgrade_steps
from contentsvc_core.content.changelog.report import Item
from contentsvc_core.content.forms import news as wording
from contentsvc_core.content.forms.news import News
from contentsvc_core.content.phrases import Count
from contentsvc_core.content.sections import Section
from contentsvc_core.content.writing import Brief, Draft
from contentsvc_core.events.normalized import Release

#: The longest list of a section, and how many of its changes have an explanation.
_LISTED: Final = 20
_EXPLAINED: Final = 8
#: The same of investor updates: changes of a section, risks, notes of a change.
_SHIPPED_LISTED: Final = 6
_RISKS_LISTED: Final = 20
_RISK_NOTES: Final = 5
#: A text of fewer spaces says little without the part of the code: "Initial release".
_FEW_WORDS: Final = 2
#: In characters. Together with the other blocks, a post stays below its limit.
_NOTES_LIMIT: Final = 8_000
_RELEASES_LIMIT: Final = 16_000
_DESCRIPTION_LIMIT: Final = 600
#: The people whom a post thanks by name: as many as a reader reads. With one author, the post would thank its sender.
_THANKED: Final = 20
_THANKED_FROM: Final = 2
_TAG_LIMIT: Final = 80
_COUNTED_FROM: Final = 4
#: The sections that readers act on before they upgrade.
_UPGRADE: Final = (Section.BREAKING, Section.DEPRECATED)


def write_blog_post(news: News, brief: Brief) -> Draft:
    lead = news.announced[0] if news.announced and not news.lead else None
    unlisted = lead if lead and not _is_acted_on(lead, news) else None
    gaps = [*news.gaps, *wording.as_written(news)]
    notes = _notes(news, brief.release)
    # What the author writes for readers in prose is no list of entries.
    listed = not (notes and news.is_prose)
    blocks = [
        _introduction(news, lead, "" if notes else news.lead, unlisted=unlisted, counts=listed),
        *notes,
        *(_upgrade(news, None if notes else brief.release, lead, unlisted) if listed else []),
        *(block for section in wording.THEMES if listed for block in _section(news, section, lead, unlisted)),
        *([" ".join(gaps)] if gaps else []),
        *_releases(news, brief),
        *_thanks(news),
        *_about(news, brief.brand),
    ]
    return Draft(title=wording.post_title(news), markdown=joined(blocks))


def _is_acted_on(lead: Item, news: News) -> bool:
    """Check that a list has the lead, too: readers act on it, and the list says more than the lead."""
    section = lead.change.section
    if section in _UPGRADE:
        return len(news.items) > 1 or bool(quoted_notes(lead.change))
    return section is Section.SECURITY and len(news.of(section)) > 1


def _introduction(news: News, lead: Item | None, author_lead: str, *, unlisted: Item | None, counts: bool) -> str:
    sentences = [
        inline(wording.opening(news)),
        inline(author_lead) if lead is None else _lead(lead, news, linked=unlisted is lead),
    ]
    more = [_explanation(lead, news)] if lead and not quoted_notes(lead.change) else []
    # Of one kind, the list itself says enough.
    kinds = {item.change.section for item in news.announced}
    if counts and len(news.announced) >= _COUNTED_FROM and len(kinds) > 1:
        more.append(news.voice.format(news.phrases.figures, counts=wording.counted_kinds(news.announced, news.phrases)))
    return " ".join(filter(None, [*sentences, *map(inline, [*more, *wording.besides(news)])]))


def _lead(lead: Item, news: News, *, linked: bool) -> str:
    line = wording.sentence_of(lead, news)
    links = _references(lead, news) if linked else []
    return f"{inline(line.rstrip('.'))} {' '.join(links)}." if links else inline(with_period(line))


def _upgrade(news: News, release: Release | None, lead: Item | None, unlisted: Item | None) -> list[str]:
    items = [item for section in _UPGRADE for item in news.of(section) if item is not unlisted]
    steps = lowered(upgrade_steps(release), 2) if release else ""
    if not (items or steps):
        return []
    lines = _lines(items, news, lead, explained=len(items))
    # The advice speaks of several points.
    advice = [news.voice.format(news.phrases.upgrade_advice)] if len(items) > 1 else []
    blocks = [f"## {news.voice.format(news.phrases.upgrade)}", *advice, *wording.listed(lines, len(items), news)]
    return [*blocks, steps] if steps else blocks


def _section(news: News, section: Section, lead: Item | None, unlisted: Item | None) -> list[str]:
    items = [item for item in news.of(section) if item is not unlisted]
    lines = _lines(items[:_LISTED], news, lead, explained=_EXPLAINED)
    return [f"## {news.voice.theme(section)}", *wording.listed(lines, len(items), news)] if items else []


def _lines(items: Sequence[Item], news: News, lead: Item | None, *, explained: int) -> list[str]:
    more = [
        "" if item is lead or index >= explained or quoted_notes(item.change) else _explanation(item, news)
        for index, item in enumerate(items)
    ]
    bold = any(more) or any(quoted_notes(item.change) for item in items)
    return [_line(item, news, explanation, bold=bold) for item, explanation in zip(items, more, strict=True)]


def _explanation(item: Item, news: News) -> str:
    return wording.excerpt(item.change, news.phrases) if news.voice.technical else ""


def _line(item: Item, news: News, explanation: str, *, bold: bool) -> str:
    change = item.change
    text = wording.change_text(item, news, code=True)
    if change.section is Section.DEPRECATED:
        # Its heading speaks of the upgrade alone.
        text = labelled(change, text, news.phrases)
    scope = wording.scope_of(item, text, news)
    origin = (
        f"{item.part.project} ({scope})" if news.several and scope else item.part.project if news.several else scope
    )
    label = f"{inline(origin)}{news.phrases.colon}" if origin else ""
    # A period behind a number would begin a list unless it is escaped.
    line = f"{label}{inline(_sentence(text, item, news))}"
    line = f"- **{line}**" if bold else f"- {line}"
    line = " ".join([line, *([inline(explanation)] if explanation else []), *_references(item, news)])
    return f"{line}{quoted_notes(change)}"


def _sentence(text: str, item: Item, news: News) -> str:
    return with_period(f"{text} ({news.phrases.not_released})" if wording.pending(item) else text)


def _references(item: Item, news: News) -> list[str]:
    if not news.voice.technical:
        return []
    change = item.change
    hashes = news.commit_hashes and not change.numbers and not change.noted
    return references(change, item.part.base, news.phrases, commits=hashes)


def _notes(news: News, release: Release | None) -> list[str]:
    entries = any(item.change.noted for item in news.items)
    if release is None or not (news.is_prose if entries else news.lead):
        return []
    notes, cut = clean(release.body or "", _NOTES_LIMIT)
    return [notes, *([titles.cut_notes(release, news.phrases)] if cut else [])] if "\n\n" in notes else []


def _releases(news: News, brief: Brief) -> list[str]:
    phrases, several = news.phrases, len(news.releases) > 1
    blocks: list[str] = []
    for part in news.active:
        releases = [release for of, release in news.releases if of is part]
        if not releases:
            continue
        if several:
            name = [f"**{inline(part.project)}**"] if news.several else []
            blocks += [*name, "\n".join(titles.release_lines(releases, phrases))]
        # The tags of packages that are announced together are on one commit.
        if news.voice.technical and not part.packages:
            before = brief.previous_tag if brief.release is not None else releases[0].tag_name
            between = titles.compare_links(before, releases[-1].tag_name, part.base)
            blocks += [phrases.format(phrases.compare, link=tags) for tags in between]
    fitting = bounded(blocks, _RELEASES_LIMIT)
    target = wording.page(news)
    if several:
        return [f"## {phrases.releases}", *fitting]
    if target is None:
        return fitting
    name = next((release.tag_name for _, release in news.releases), "") if target[0] else target[1].partition("://")[2]
    text = inline(masked_line(name, 80)) or phrases.release_page
    return [wording.where_to_read(news, link(text, target[1])), *fitting]


def _thanks(news: News) -> list[str]:
    if len(news.people) < _THANKED_FROM:
        return []
    thanked = news.phrases.enumerated(named(news.people, news.phrases, _THANKED))
    heading = f"## {news.voice.format(news.phrases.thanks_heading)}"
    return [heading, news.voice.format(news.phrases.thanks, names=thanked)]


def _about(news: News, brand: BrandIdentity | None) -> list[str]:
    phrases, company = news.phrases, news.voice.company
    if brand is None or not company:
        return []
    blocks = [inline(news.voice.format(phrases.signature, company=company))]
    if description := masked_line(brand.company_description or "", _DESCRIPTION_LIMIT):
        name = link(inline(company), safe_url(brand.website_url))
        blocks += [f"## {phrases.format(phrases.about, company=name)}", inline(description)]
    return blocks


def write_investor_update(news: News) -> Draft:
    news = evolve(news, voice=replace(news.voice, tone=sober(news.voice.tone)))
    phrases, voice = news.phrases, news.voice
    about = "" if news.window else titles.release_names(news.active, phrases)
    blocks = [
        f"## {phrases.summary}",
        _summary(news, about),
        *_shipped(news),
        *_dated_releases(news),
        f"## {phrases.risks}",
        *(_risks(Section.BREAKING, phrases.breaking_marked, news) or [phrases.nothing_breaking]),
        *_risks(Section.DEPRECATED, phrases.deprecated, news),
        " ".join([phrases.scope, *wording.as_written(news), *news.gaps]),
    ]
    if voice.company and about:
        title = phrases.format(phrases.investor_title, subject=voice.company, when=f", {about}")
    else:
        title = _in_period(news, phrases.investor_title, voice.company or about, ", {}")
    return Draft(title=titles.plain_title("", title, "", phrases), markdown=joined(blocks))


def _in_period(news: News, phrase: str, who: str, behind: str) -> str:
    """Return a phrase about ``who``, the projects if empty, with the time that the news are from ``behind`` them."""
    pushed = [titles.day_of(commit.timestamp) for part in news.active for commit in part.commits[-1:]]
    day = max(filter(None, pushed), default=None) if not news.releases else None
    when = news.phrases.period(news.window) if news.window else news.phrases.on(day) if day else ""
    return news.voice.format(
        phrase,
        subject=who or titles.projects_named(news.active, news.phrases),
        when=behind.format(when) if when else "",
    )


def _summary(news: News, about: str) -> str:
    phrases, voice = news.phrases, news.voice
    sentences = [_in_period(news, phrases.covers, about, " ({})")]
    if news.releases and not about:
        releases = phrases.enumerated(titles.counted_releases((release for _, release in news.releases), phrases))
        sentences.append(
            voice.format(phrases.covers_releases, releases=releases, tags=titles.release_names(news.active, phrases))
        )
    elif not about:
        sentences.append(phrases.nothing_released)
    sentences += [news.lead] if news.lead else []
    if len(news.items) > 1:
        sentences.append(voice.format(phrases.figures, counts=wording.counted_kinds(news.items, phrases)))
    elif not news.items and (counts := titles.counted(news.upkeep, phrases)):
        sentences.append(voice.format(phrases.nothing_shipped, counts=phrases.enumerated(counts)))
    commits = [commit for part in news.active for commit in part.commits]
    people = len(contributors(author for commit in commits for author in authors(commit, parse(commit.message))))
    if people:
        counted = phrases.count(len(commits), phrases.commit_count)
        sentences.append(
            voice.format(phrases.activity, commits=counted, people=phrases.count(people, phrases.contributor_count))
        )
    return inline(plain(" ".join(sentences)))


def _shipped(news: News) -> list[str]:
    blocks: list[str] = []
    for section in wording.THEMES:
        if items := news.of(section):
            lines = [_completed(item, news) for item in items[:_SHIPPED_LISTED]]
            blocks += [f"### {news.voice.theme(section)}", *wording.listed(lines, len(items), news)]
    return [f"## {news.phrases.shipped}", *blocks] if blocks else []


def _completed(item: Item, news: News) -> str:
    more = "" if item.change.notes else plain(_explanation(item, news))
    text = wording.change_text(item, news)
    scope = plain(wording.scope_of(item, text, news)) if text.count(" ") < _FEW_WORDS else ""
    text = inline(f"{_sentence(f'{text} ({scope})' if scope else text, item, news)} {more}".rstrip())
    return f"- {inline(item.part.project)}{news.phrases.colon}{text}" if news.several else f"- {text}"


def _dated_releases(news: News) -> list[str]:
    phrases = news.phrases
    lines: list[str] = []
    for part, release in news.releases[-titles.RELEASES_LISTED :]:
        tag = inline(plain(masked_line(release.tag_name, _TAG_LIMIT))) or phrases.new_release
        release_link = link(f"{inline(part.project)} {tag}" if news.several else tag, safe_url(release.url))
        day = titles.day_of(release.published_at)
        facts = [*([phrases.on(day)] if day else []), *([phrases.pre_release] if release.prerelease else [])]
        name = titles.released_name(release)
        added = f"{phrases.colon}{inline(plain(name))}" if name else ""
        lines.append(f"- {release_link}{added}" + (f" ({', '.join(facts)})" if facts else ""))
    if earlier := news.releases[: len(news.releases) - len(lines)]:
        lines.insert(0, f"- {titles.earlier_releases([release for _, release in earlier], phrases)}")
    return [f"## {phrases.releases}", "\n".join(bounded(lines, _RELEASES_LIMIT))] if lines else []


def _risks(section: Section, phrase: Count, news: News) -> list[str]:
    items = news.of(section)
    lines = [
        "\n  - ".join(
            [_completed(item, news), *(inline(plain(with_period(note))) for note in notes_of(item.change, _RISK_NOTES))]
        )
        for item in items[:_RISKS_LISTED]
    ]
    return [news.phrases.count(len(items), phrase), *wording.listed(lines, len(items), news)] if items else []
