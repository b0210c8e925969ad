"""Blog posts: what is new, for readers who have a few minutes."""

from collections.abc import Sequence
from typing import Final

from contentsvc_core.content.brand import BrandIdentity
from contentsvc_core.content.changelog.entries import bounded, joined, named, references
from contentsvc_core.content.changelog.markdown import inline, link, safe_url
from contentsvc_core.content.changelog.release_notes import clean
from contentsvc_core.content.changelog.releases import compare_links, release_lines
from contentsvc_core.content.changelog.titles import headline
from contentsvc_core.content.changelog.wording import masked_line, sentence, with_period
from contentsvc_core.content.forms.excerpts import excerpt
from contentsvc_core.content.forms.news import Item, News, areas, besides, figures, news_of, subject, upkeep
from contentsvc_core.content.forms.wording import as_written, in_figures, opening, title_of
from contentsvc_core.content.sections import Section
from contentsvc_core.content.writing import Brief, Draft
from contentsvc_core.webhooks.events import MAX_COMMITS, Release

#: How many changes of one kind are told, and how many of them with their authors' explanation.
_TOLD: Final = 20
_EXPLAINED: Final = 8
_NOTES_SHOWN: Final = 10
_NOTES_LIMIT: Final = 8_000
#: In characters: one list; all releases. Together with the rest this stays below what a post may have.
_LIST_LIMIT: Final = 8_000
_RELEASES_LIMIT: Final = 16_000
_REPOSITORIES_NAMED: Final = 5
_DESCRIPTION_LIMIT: Final = 600
#: Fewer changes need no pointer to the first one, nor to the parts that they concern.
_LEAD_FROM: Final = 4
_AREAS_FROM: Final = 6


def write_blog_post(brief: Brief) -> Draft | None:
    """Write a blog post; ``None`` when nothing but upkeep has happened, and no release."""
    news = news_of(brief)
    if not (news.items or news.releases):
        return None
    blocks = [
        _introduction(news),
        *_upgrade(news),
        *_section(news, Section.SECURITY),
        *_section(news, Section.ADDED),
        *_section(news, Section.CHANGED),
        *_section(news, Section.REMOVED),
        *_section(news, Section.FIXED),
        *_section(news, Section.PERFORMANCE),
        *_section(news, Section.REVERTED),
        *_section(news, Section.OTHER),
        *_notes(news, brief.release),
        *_behind_the_scenes(news),
        *_releases(news, brief),
        *_thanks(news),
        *_about(news, brief.brand),
        *_ending(news),
    ]
    return Draft(title=title_of(news), markdown=joined(blocks))


def _introduction(news: News) -> str:
    phrases = news.voice.phrases
    said = [inline(opening(news))]
    counted = figures(news, news.announced)
    others = besides(news)
    if news.people and not others:
        counted.append(phrases.count(len(news.people), phrases.contributor_count))
    if len(counted) > 1:
        said.append(in_figures(news, phrases.enumerated(counted)))
    said += map(inline, others)
    if news.announced and len(news.items) >= _LEAD_FROM:
        said.append(f"{phrases.most_important} **{inline(_lead(news))}**.")
    if news.voice.technical and len(news.items) >= _AREAS_FROM and (parts := areas(news.items)):
        said.append(phrases.areas.format(areas=inline(phrases.enumerated(parts))))
    return " ".join(said)


def _lead(news: News) -> str:
    first = news.announced[0]
    told = headline(first.change, news.voice.phrases) if news.voice.technical else first.change.text
    return f"{told} ({first.part.project})" if news.several else told


def _upgrade(news: News) -> list[str]:
    """Tell what readers have to do: breaking changes with what their authors say of them, and deprecations."""
    phrases = news.voice.phrases
    items = (*news.of(Section.BREAKING), *news.deprecations)
    if not items:
        return []
    lines = _lines(items, news, explained=len(items))
    return [f"## {phrases.upgrade}", phrases.upgrade_advice.of(news.voice.tone), *_list(lines, len(items), news)]


def _section(news: News, section: Section) -> list[str]:
    items = news.of(section)
    if not items:
        return []
    lines = _lines(items[:_TOLD], news, explained=_EXPLAINED)
    return [f"## {news.voice.phrases.headings[section]}", *_list(lines, len(items), news)]


def _list(lines: list[str], of: int, news: News) -> list[str]:
    shown = bounded(lines, _LIST_LIMIT)
    blocks = ["\n".join(shown)] if shown else []
    hidden = of - len(shown)
    return [*blocks, news.voice.phrases.count(hidden, news.voice.phrases.not_shown)] if hidden else blocks


def _lines(items: Sequence[Item], news: News, *, explained: int) -> list[str]:
    """Tell the changes of one list, the first ones with what their authors say; all lines in bold if one needs it."""
    told = [
        (item, excerpt(item.change) if news.voice.technical and place < explained and not _notes_of(item) else "")
        for place, item in enumerate(items)
    ]
    bold = any(more or _notes_of(item) for item, more in told)
    return [_told(item, news, more, bold=bold) for item, more in told]


def _notes_of(item: Item) -> list[str]:
    change = item.change
    notes = change.notes[:_NOTES_SHOWN]
    return [inline(sentence(note)) for note in notes if note.casefold() != change.text.casefold()]


def _told(item: Item, news: News, told: str, *, bold: bool) -> str:
    """Tell one change: its line, what its author says beyond it, where to read on."""
    change, technical = item.change, news.voice.technical
    scope = change.scope if technical else ""
    place = f"{item.part.project} ({scope})" if news.several and scope else item.part.project if news.several else scope
    label = f"{inline(place)}: " if place else ""
    notes = _notes_of(item)
    mark = f" ({news.voice.phrases.not_released})" if news.pending(item) else ""
    said = with_period(f"{label}{inline(change.text)}{mark}")
    said = f"- **{said}**" if bold else f"- {said}"
    if technical:
        # A pull request leads to its commits; a commit stands for itself where none is known.
        linked = references(change, item.part.base, news.voice.phrases, commits=not change.numbers)
        said = " ".join([said, *([inline(told)] if told else []), *linked])
    return f"{said}\n  > " + "\n  >\n  > ".join(notes) if notes else said


def _notes(news: News, release: Release | None) -> list[str]:
    """Show a release's own notes when no commits tell more."""
    if release is None or news.items:
        return []
    notes, cut = clean(release.body or "", _NOTES_LIMIT)
    if not notes:
        return []
    phrases = news.voice.phrases
    more = [phrases.notes_cut.format(page=link(phrases.read_on, safe_url(release.url)))] if cut else []
    return [f"## {phrases.release_notes}", notes, *more]


def _behind_the_scenes(news: News) -> list[str]:
    phrases = news.voice.phrases
    counted = upkeep(news)
    said = [phrases.behind_the_scenes.format(counts=phrases.enumerated(counted))] if counted else []
    if any(part.incomplete for part in news.parts):
        said.append(phrases.incomplete.format(n=phrases.number(MAX_COMMITS)))
    return [" ".join(said)] if said else []


def _releases(news: News, brief: Brief) -> list[str]:
    """List the releases with their pages, and link what lies between the first and the last one of each repository."""
    phrases = news.voice.phrases
    blocks: list[str] = []
    for part in news.active:
        releases = [release for of, release in news.releases if of is part]
        if not releases:
            continue
        name = [f"**{inline(part.project)}**"] if news.several else []
        blocks += [*name, "\n".join(release_lines(releases, phrases))]
        before = brief.previous_tag if brief.release is not None else releases[0].tag_name
        between = compare_links(before, releases[-1].tag_name, part.base)
        blocks += [phrases.compare.format(link=tags) for tags in between]
    shown = bounded(blocks, _RELEASES_LIMIT)
    return [f"## {phrases.releases}", *shown] if shown else []


def _thanks(news: News) -> list[str]:
    phrases = news.voice.phrases
    if not news.people:
        return []
    names = named(news.people, phrases)
    # The last of them may count the others, and has its own "and".
    told = phrases.enumerated(names) if names == [*news.people] else ", ".join(names)
    return [f"## {phrases.thanks_heading}", phrases.thanks.of(news.voice.tone).format(names=told)]


def _about(news: News, brand: BrandIdentity | None) -> list[str]:
    """Let the brand say who it is, and sign."""
    company = news.voice.company
    if not company:
        return []
    assert brand is not None  # for the type checker: who else would have named the company
    phrases = news.voice.phrases
    shown = inline(company)
    blocks = [inline(phrases.signature.of(news.voice.tone).format(company=company))]
    if description := masked_line(brand.company_description or "", _DESCRIPTION_LIMIT):
        name = link(shown, safe_url(brand.website_url))
        blocks += [f"## {phrases.about.format(company=name)}", inline(description)]
    return blocks


def _ending(news: News) -> list[str]:
    """Say what the post is written from."""
    phrases = news.voice.phrases
    names = [link(inline(part.name), part.base) for part in news.active]
    told = phrases.enumerated(names) if len(names) <= _REPOSITORIES_NAMED else subject(news.active, phrases)
    note = phrases.source_note.format(repositories=told)
    if news.left_out:
        note = f"{note} {phrases.count(news.left_out, phrases.not_covered)}"
    note = " ".join([note, *as_written(news)])
    return [f"*{note}*"] if names else []
