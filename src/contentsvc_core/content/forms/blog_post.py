"""Blog posts: the news for readers who have a few minutes."""

from collections.abc import Sequence
from typing import Final

from contentsvc_core.content.brand import BrandIdentity
from contentsvc_core.content.changelog.markdown import inline, link, safe_url
from contentsvc_core.content.changelog.page import bounded, joined, named, notes_of, references
from contentsvc_core.content.changelog.release_notes import clean
from contentsvc_core.content.changelog.titles import compare_links, cut_notes, release_lines
from contentsvc_core.content.changelog.wording import masked_line, with_period
from contentsvc_core.content.forms import wording
from contentsvc_core.content.forms.news import THEMES, Item, News, besides, counted_kinds, page
from contentsvc_core.content.sections import Section
from contentsvc_core.content.writing import Brief, Draft
from contentsvc_core.events.normalized import Release

#: The longest list of a section, and how many of its changes have an explanation.
_LISTED: Final = 20
_EXPLAINED: Final = 8
_NOTES_SHOWN: Final = 10
#: In characters. Together with the other blocks, a post stays below its limit.
_NOTES_LIMIT: Final = 8_000
_RELEASES_LIMIT: Final = 16_000
_DESCRIPTION_LIMIT: Final = 600
#: The introduction counts the changes from this number on.
_COUNTED_FROM: Final = 4


def write_blog_post(news: News, brief: Brief) -> Draft:
    """Return a blog post: a lead, advice before upgrading, the changes by section, thanks."""
    lead = news.announced[0] if news.announced and not news.lead else None
    # The introduction tells a single change.
    themes = THEMES if len(news.items) > 1 or lead is None else ()
    gaps = [*news.gaps, *wording.as_written(news)]
    blocks = [
        _introduction(news, lead),
        *_upgrade(news, lead),
        *(block for section in themes for block in _section(news, section, lead)),
        *_notes(news, brief.release),
        *([" ".join(gaps)] if gaps else []),
        *_releases(news, brief),
        *_thanks(news),
        *_about(news, brief.brand),
    ]
    return Draft(title=wording.title_of(news), markdown=joined(blocks))


def _introduction(news: News, lead: Item | None) -> str:
    said = [wording.opening(news)]
    if lead is None:
        said.append(news.lead)
    else:
        said += [with_period(wording.line_of(lead, news)), "" if _notes_of(lead) else _explanation(lead, news)]
    if len(news.announced) >= _COUNTED_FROM:
        said.append(news.voice.say(news.phrases.figures, counts=counted_kinds(news.announced, news.phrases)))
    return " ".join(map(inline, filter(None, [*said, *besides(news)])))


def _upgrade(news: News, lead: Item | None) -> list[str]:
    items = (*news.of(Section.BREAKING), *news.of(Section.DEPRECATED))
    if not items:
        return []
    lines = _lines(items, news, lead, explained=len(items))
    start = [f"## {news.voice.say(news.phrases.upgrade)}", news.voice.say(news.phrases.upgrade_advice)]
    return [*start, *wording.listed(lines, len(items), news)]


def _section(news: News, section: Section, lead: Item | None) -> list[str]:
    items = news.of(section)
    lines = _lines(items[:_LISTED], news, lead, explained=_EXPLAINED)
    return [f"## {news.voice.theme(section)}", *wording.listed(lines, len(items), news)] if items else []


def _lines(items: Sequence[Item], news: News, lead: Item | None, *, explained: int) -> list[str]:
    """Return the lines of one list; all are bold if one of them has more than its sentence."""
    more = [
        "" if item is lead or place >= explained or _notes_of(item) else _explanation(item, news)
        for place, item in enumerate(items)
    ]
    bold = any(more) or any(map(_notes_of, items))
    return [_line(item, news, told, bold=bold) for item, told in zip(items, more, strict=True)]


def _explanation(item: Item, news: News) -> str:
    return wording.excerpt(item.change) if news.voice.technical else ""


def _notes_of(item: Item) -> list[str]:
    return [inline(note) for note in notes_of(item.change, _NOTES_SHOWN)]


def _line(item: Item, news: News, explanation: str, *, bold: bool) -> str:
    change, technical = item.change, news.voice.technical
    scope = change.scope if technical else ""
    place = f"{item.part.project} ({scope})" if news.several and scope else item.part.project if news.several else scope
    label = f"{inline(place)}: " if place else ""
    mark = f" ({news.phrases.not_released})" if news.pending(item) else ""
    said = with_period(f"{label}{inline(wording.said_of(item, news, code=True))}{mark}")
    said = f"- **{said}**" if bold else f"- {said}"
    if technical:
        # A pull request leads to its commits. Without one, the commits are linked.
        linked = references(change, item.part.base, news.phrases, commits=not change.numbers and not item.noted)
        said = " ".join([said, *([inline(explanation)] if explanation else []), *linked])
    return "\n  > ".join([said, "\n  >\n  > ".join(notes)]) if (notes := _notes_of(item)) else said


def _notes(news: News, release: Release | None) -> list[str]:
    """Return a release's notes if they are prose, not a list of changes, and longer than the lead."""
    if release is None or any(item.noted for item in news.items) or not news.lead:
        return []
    notes, cut = clean(release.body or "", _NOTES_LIMIT)
    return [notes, *([cut_notes(release, news.phrases)] if cut else [])] if "\n\n" in notes else []


def _releases(news: News, brief: Brief) -> list[str]:
    """Return the link to the release, or the list of releases; and the comparison of first and last."""
    phrases, several = news.phrases, len(news.releases) > 1
    blocks: list[str] = []
    for part in news.active:
        releases = [release for of, release in news.releases if of is part]
        if not releases:
            continue
        if several:
            name = [f"**{inline(part.project)}**"] if news.several else []
            blocks += [*name, "\n".join(release_lines(releases, phrases))]
        # The tags of packages that are announced together are on one commit.
        if news.voice.technical and not part.packages:
            before = brief.previous_tag if brief.release is not None else releases[0].tag_name
            between = compare_links(before, releases[-1].tag_name, part.base)
            blocks += [phrases.say(phrases.compare, link=tags) for tags in between]
    shown = bounded(blocks, _RELEASES_LIMIT)
    found = page(news)
    if several:
        return [f"## {phrases.releases}", *shown]
    if found is None:
        return shown
    name = next((release.tag_name for _, release in news.releases), "") if found[0] else found[1].partition("://")[2]
    text = inline(masked_line(name, 80)) or phrases.release_page
    return [wording.where_to_read(news, link(text, found[1])), *shown]


def _thanks(news: News) -> list[str]:
    if not news.people:
        return []
    names = named(news.people, news.phrases)
    # The last name may be the number of others, with its own "and".
    told = news.phrases.enumerated(names) if names == [*news.people] else ", ".join(names)
    heading = f"## {news.voice.say(news.phrases.thanks_heading)}"
    return [heading, news.voice.say(news.phrases.thanks, names=told)]


def _about(news: News, brand: BrandIdentity | None) -> list[str]:
    phrases, company = news.phrases, news.voice.company
    if brand is None or not company:
        return []
    blocks = [inline(news.voice.say(phrases.signature, company=company))]
    if description := masked_line(brand.company_description or "", _DESCRIPTION_LIMIT):
        name = link(inline(company), safe_url(brand.website_url))
        blocks += [f"## {phrases.say(phrases.about, company=name)}", inline(description)]
    return blocks
