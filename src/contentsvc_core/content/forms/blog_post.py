"""Blog posts: what is new, for readers who have a few minutes."""

from collections.abc import Sequence
from typing import Final

from contentsvc_core.content.brand import BrandIdentity
from contentsvc_core.content.changelog.markdown import inline, link, safe_url
from contentsvc_core.content.changelog.page import bounded, joined, named, notes_of, references
from contentsvc_core.content.changelog.release_notes import clean
from contentsvc_core.content.changelog.titles import compare_links, cut_notes, release_lines
from contentsvc_core.content.changelog.wording import masked_line, with_period
from contentsvc_core.content.forms.news import THEMES, Item, News, besides, counted_kinds, page
from contentsvc_core.content.forms.wording import (
    as_written,
    excerpt,
    line_of,
    listed,
    opening,
    said_of,
    title_of,
    where_to_read,
)
from contentsvc_core.content.sections import Section
from contentsvc_core.content.writing import Brief, Draft
from contentsvc_core.events.normalized import MAX_COMMITS, Release

#: How many changes of one kind are told, and how many of them with their authors' explanation.
_TOLD: Final = 20
_EXPLAINED: Final = 8
_NOTES_SHOWN: Final = 10
_NOTES_LIMIT: Final = 8_000
#: In characters: all releases. Together with the rest this stays below what a post may have.
_RELEASES_LIMIT: Final = 16_000
_DESCRIPTION_LIMIT: Final = 600
#: So many changes are worth being counted.
_COUNTED_FROM: Final = 4


def write_blog_post(news: News, brief: Brief) -> Draft:
    """Write a blog post: a lead, what to do before upgrading, what is new by kind, thanks."""
    lead = news.announced[0] if news.announced and not news.lead else None
    sections = [block for kind in THEMES for block in _section(news, kind, lead)]
    blocks = [
        _introduction(news, lead),
        *_upgrade(news, lead),
        # One change is told in the introduction.
        *(sections if len(news.items) > 1 or lead is None else []),
        *_notes(news, brief.release),
        *_completeness(news),
        *_releases(news, brief),
        *_thanks(news),
        *_about(news, brief.brand),
    ]
    return Draft(title=title_of(news), markdown=joined(blocks))


def _introduction(news: News, lead: Item | None) -> str:
    phrases = news.voice.phrases
    said = [opening(news)]
    if lead is None:
        said.append(news.lead)
    else:
        said += [with_period(line_of(lead, news)), *([] if _notes_of(lead) else [_explanation(lead, news)])]
    if len(news.announced) >= _COUNTED_FROM:
        counts = phrases.enumerated(counted_kinds(news.announced, phrases))
        said.append(phrases.say(phrases.figures.of(news.voice.tone), counts=counts))
    return " ".join(map(inline, filter(None, [*said, *besides(news)])))


def _upgrade(news: News, lead: Item | None) -> list[str]:
    """Tell what readers have to do: breaking changes with what their authors say of them, and deprecations."""
    phrases, tone = news.voice.phrases, news.voice.tone
    items = (*news.of(Section.BREAKING), *news.deprecations)
    if not items:
        return []
    lines = _lines(items, news, lead, explained=len(items))
    return [f"## {phrases.upgrade.of(tone)}", phrases.upgrade_advice.of(tone), *listed(lines, len(items), news)]


def _section(news: News, kind: Section, lead: Item | None) -> list[str]:
    items = news.of(kind)
    if not items:
        return []
    lines = _lines(items[:_TOLD], news, lead, explained=_EXPLAINED)
    return [f"## {news.voice.theme(kind)}", *listed(lines, len(items), news)]


def _lines(items: Sequence[Item], news: News, lead: Item | None, *, explained: int) -> list[str]:
    """Tell the changes of one list, the first ones with what their authors say; all lines in bold if one needs it."""
    told = [
        (item, "" if item is lead or place >= explained or _notes_of(item) else _explanation(item, news))
        for place, item in enumerate(items)
    ]
    bold = any(more or _notes_of(item) for item, more in told)
    return [_told(item, news, more, bold=bold) for item, more in told]


def _explanation(item: Item, news: News) -> str:
    return excerpt(item.change) if news.voice.technical else ""


def _notes_of(item: Item) -> list[str]:
    return [inline(note) for note in notes_of(item.change, _NOTES_SHOWN)]


def _told(item: Item, news: News, told: str, *, bold: bool) -> str:
    """Tell one change: its line, what its author says beyond it, where to read on."""
    change, technical = item.change, news.voice.technical
    scope = change.scope if technical else ""
    place = f"{item.part.project} ({scope})" if news.several and scope else item.part.project if news.several else scope
    label = f"{inline(place)}: " if place else ""
    notes = _notes_of(item)
    mark = f" ({news.voice.phrases.not_released})" if news.pending(item) else ""
    said = with_period(f"{label}{inline(said_of(item, news, code=True))}{mark}")
    said = f"- **{said}**" if bold else f"- {said}"
    if technical:
        # A pull request leads to its commits; a commit stands for itself where none is known.
        linked = references(change, item.part.base, news.voice.phrases, commits=not change.numbers and not item.noted)
        said = " ".join([said, *([inline(told)] if told else []), *linked])
    return f"{said}\n  > " + "\n  >\n  > ".join(notes) if notes else said


def _notes(news: News, release: Release | None) -> list[str]:
    """Show a release's notes as they are when they are no list of changes."""
    if release is None or any(item.noted for item in news.items) or not news.lead:
        return []
    notes, cut = clean(release.body or "", _NOTES_LIMIT)
    more = [cut_notes(release, news.voice.phrases)] if cut else []
    # What is no more than the lead is told already.
    return [notes, *more] if "\n\n" in notes else []


def _completeness(news: News) -> list[str]:
    phrases = news.voice.phrases
    said = [phrases.incomplete.format(n=phrases.number(MAX_COMMITS))] if any(p.incomplete for p in news.parts) else []
    said += [phrases.count(news.left_out, phrases.not_covered)] if news.left_out else []
    said += as_written(news)
    return [" ".join(said)] if said else []


def _releases(news: News, brief: Brief) -> list[str]:
    """Send readers to the release, or list several; link what lies between the first and the last of a repository."""
    phrases = news.voice.phrases
    found = page(news)
    blocks: list[str] = []
    for part in news.active:
        releases = [release for of, release in news.releases if of is part]
        if not releases:
            continue
        name = [f"**{inline(part.project)}**"] if news.several else []
        blocks += [*name, "\n".join(release_lines(releases, phrases))] if len(news.releases) > 1 else []
        if part.packages:
            # Nothing lies between the tags of one commit.
            continue
        before = brief.previous_tag if brief.release is not None else releases[0].tag_name
        between = compare_links(before, releases[-1].tag_name, part.base) if news.voice.technical else []
        blocks += [phrases.say(phrases.compare, link=tags) for tags in between]
    shown = bounded(blocks, _RELEASES_LIMIT)
    if len(news.releases) > 1:
        return [f"## {phrases.releases}", *shown]
    if found is None:
        return shown
    name = next((release.tag_name for _, release in news.releases), "") if found[0] else found[1].partition("://")[2]
    return [where_to_read(news, link(inline(masked_line(name, 80)) or phrases.release_page, found[1])), *shown]


def _thanks(news: News) -> list[str]:
    phrases, tone = news.voice.phrases, news.voice.tone
    if not news.people:
        return []
    names = named(news.people, phrases)
    # The last of them may count the others, and has its own "and".
    told = phrases.enumerated(names) if names == [*news.people] else ", ".join(names)
    return [f"## {phrases.thanks_heading.of(tone)}", phrases.say(phrases.thanks.of(tone), names=told)]


def _about(news: News, brand: BrandIdentity | None) -> list[str]:
    """Let the brand say who it is, and sign."""
    company = news.voice.company
    if not company:
        return []
    assert brand is not None  # for the type checker: who else would have named the company
    phrases = news.voice.phrases
    shown = inline(company)
    blocks = [inline(phrases.say(phrases.signature.of(news.voice.tone), company=company))]
    if description := masked_line(brand.company_description or "", _DESCRIPTION_LIMIT):
        name = link(shown, safe_url(brand.website_url))
        blocks += [f"## {phrases.say(phrases.about, company=name)}", inline(description)]
    return blocks
