"""The news of a brief, most important first, and the lines that all posts other than changelogs share."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Final, final

from attrs import field, frozen
from msgspec.structs import replace

from contentsvc_core.content.changelog.bodies import explanation, restates
from contentsvc_core.content.changelog.lines import Voice, bounded, labelled, notes_of, plain, voice_of
from contentsvc_core.content.changelog.markdown import first_sentence, masked_line, safe_url, sentence, with_period
from contentsvc_core.content.changelog.people import contributors
from contentsvc_core.content.changelog.report import Item, Part, Stage, report_of
from contentsvc_core.content.changelog.select import Change, authors_of, importance, is_minor
from contentsvc_core.content.changelog.subjects import continued, imperative
from contentsvc_core.content.changelog.tenses import conjugated
from contentsvc_core.content.changelog.titles import (
    counted,
    parts_of,
    projects_named,
    release_names,
    release_title,
    released_name,
    title_of,
)
from contentsvc_core.content.changelog.words import VERBS
from contentsvc_core.content.phrases import ENGLISH, Phrasebook, is_foreign
from contentsvc_core.content.sections import CRITICAL, UPKEEP, Section
from contentsvc_core.content.windows import LookbackWindow
from contentsvc_core.content.writing import Brief
from contentsvc_core.events.normalized import MAX_COMMITS, Release

#: In characters; a longer address leaves no space for a text.
_URL_LIMIT: Final = 1_000
#: The candidates for the first place, for the case that the most important change is too long.
_CANDIDATES: Final = 3
#: The commits whose messages are searched for an explanation.
_COMMITS_READ: Final = 5
_LIST_LIMIT: Final = 8_000
_PACKAGE_LIMIT: Final = 40
#: The one abbreviation of developers that is common in breaking changes, which readers of all audiences see.
_MSRV: Final = re.compile(r"\bMSRV\b")
#: The last part of a scope such as ``complete/fish`` is the closest to the change.
_SCOPES: Final = re.compile(r"[/,:]\s*")
#: The line of a fault that has a verb of its own: "Fix: lid stays open".
_NO_PRONOUN: Final = re.compile(r"Fix:")
#: The sections that users of the software notice. The others are counted, if at all.
_NOTICED: Final = frozenset(Section) - UPKEEP - {Section.OTHER}
#: The sections that have a list of their own in posts, in the order of their headings.
THEMES: Final = (
    Section.SECURITY, Section.ADDED, Section.CHANGED, Section.FIXED, Section.PERFORMANCE, Section.REMOVED,
    Section.REVERTED,
)  # fmt: skip
#: Tools, files and words of developers: customers do not look for such changes.
_INSIDE: Final = re.compile(
    r"\b(?:clippy|lint(?:s|ing|er)?|eslint|prettier|ruff|mypy|pyright|rustfmt|gofmt|black|flake8|isort|codespell|typos?"
    r"|lock ?files?|dependabot|renovate|refactor\w*|clean ?-?up|unit tests?|test suite|tests?|ci|github actions?"
    r"|workflows?|makefile|dockerfile|readme|changelog|docstrings?|typing|annotations?|dead code"
    r"|type[- ]?hint\w*|type parameters?|TypeVar|ClassVar|msrv)\b"
    r"|^(?:add|bump|drop|remove|replace|update|upgrade)\b.*\bdependenc(?:y|ies)(?:$| to\b)"
    r"|\b[\w-]+\.(?:lock|toml|json|ya?ml|cfg|ini|txt|md|rst)\b",
    re.IGNORECASE,
)


@final
@frozen(kw_only=True)
class News:
    voice: Voice
    window: LookbackWindow | None
    parts: tuple[Part, ...] = field(converter=tuple[Part, ...])
    items: tuple[Item, ...] = field(converter=tuple[Item, ...])
    #: The first paragraph of the only release's notes: plain, whole sentences; may be empty.
    lead: str
    #: Whether the only release's notes are prose for readers.
    is_prose: bool = False
    #: The numbers of changes that are only counted.
    upkeep: Mapping[Section, int]
    left_out: int
    people: tuple[str, ...] = field(converter=tuple[str, ...])
    commit_hashes: bool = True

    @property
    def phrases(self) -> Phrasebook:
        return self.voice.phrases

    @cached_property
    def releases(self) -> tuple[tuple[Part, Release], ...]:
        return tuple((part, release) for part in self.parts for release in part.releases)

    @property
    def announced(self) -> tuple[Item, ...]:
        return tuple(item for item in self.items if item.released) if self.releases else self.items

    @property
    def others(self) -> tuple[Item, ...]:
        return tuple(item for item in self.items if not item.released) if self.releases else ()

    @cached_property
    def active(self) -> tuple[Part, ...]:
        return tuple(part for part in self.parts if part.changes or part.releases)

    def of(self, section: Section) -> tuple[Item, ...]:
        return tuple(item for item in self.items if item.change.section is section)

    @property
    def several(self) -> bool:
        return len(self.active) > 1

    @property
    def gaps(self) -> list[str]:
        """The sentences that name the limits of the post: events that were not read, and very large pushes."""
        phrases = self.phrases
        sentences = [phrases.count(self.left_out, phrases.not_covered)] if self.left_out else []
        incomplete = any(part.incomplete for part in self.active)
        return [*sentences, *([phrases.incomplete.format(n=phrases.number(MAX_COMMITS))] if incomplete else [])]


def news_of(brief: Brief) -> News:
    voice = voice_of(brief.brand)
    parts = report_of(brief, brief.options, voice.phrases, technical=voice.technical)
    items: list[Item] = []
    upkeep: Counter[Section] = Counter()
    leads: list[str] = []
    is_prose = False
    for part in parts:
        for stage in part.stages:
            notes = stage.reported
            leads += [notes.lead] if stage.release else []
            is_prose = is_prose or notes.is_prose
            upkeep.update(
                # A fix of a lock file is no fix for readers who see no lock files.
                Section.INTERNAL if change.section in _NOTICED else change.section
                for change in stage.changes
                if not _is_news(change, voice)
            )
            items += [
                Item(
                    change=_spelled_out(_of_package(change, stage, part), voice), part=part, released=stage.is_released
                )
                for change in notes.changes
                if _is_news(change, voice)
            ]
    options = brief.options
    thanked = (change for part in parts if options.contributors for change in part.changes)
    return News(
        voice=voice,
        window=brief.window,
        parts=parts,
        items=sorted(items, key=lambda item: importance(item.change)),
        lead=leads[0] if len(leads) == 1 else "",
        is_prose=is_prose and len(leads) == 1,
        upkeep=upkeep,
        left_out=brief.left_out,
        people=contributors(authors_of(thanked), options.bots),
        commit_hashes=options.commit_hashes,
    )


def _is_news(change: Change, voice: Voice) -> bool:
    if not change.shown or change.section not in _NOTICED:
        return False
    return voice.technical or change.section in CRITICAL or _INSIDE.search(change.text) is None


def _of_package(change: Change, stage: Stage, part: Part) -> Change:
    """Return a change with its package as the part of the code, if several packages are announced together."""
    if stage.package is None or len(part.packages) == 1 or change.scope:
        return change
    return replace(change, scope=masked_line(stage.package.tag.package.rpartition("/")[2], _PACKAGE_LIMIT))


def _spelled_out(change: Change, voice: Voice) -> Change:
    if voice.technical or "MSRV" not in change.text:
        return change
    texts = (_MSRV.sub("minimum Rust version", text) for text in (change.text, change.continuation))
    return replace(change, text=next(texts), continuation=next(texts))


def pending(item: Item) -> bool:
    return not item.released and bool(item.part.releases)


def counted_kinds(items: Iterable[Item], phrases: Phrasebook) -> str:
    """Return the number of changes of each section with its noun, in the order of importance."""
    return phrases.enumerated(counted(Counter(item.change.section for item in items), phrases))


def besides(news: News, mentioned: Sequence[Item] = ()) -> list[str]:
    """Return sentences with the numbers of other changes outside the releases: later, or in other repositories."""
    phrases = news.phrases
    mentioned_ids = set(map(id, mentioned))
    others = [item for item in news.others if id(item) not in mentioned_ids]
    since = [item for item in others if pending(item)]
    elsewhere = [item for item in others if not pending(item)]
    sentences = [phrases.format(phrases.not_released_counts, counts=counted_kinds(since, phrases))] if since else []
    if elsewhere:
        of = projects_named(parts_of(elsewhere), phrases)
        sentences.append(phrases.format(phrases.elsewhere, subject=of, counts=counted_kinds(elsewhere, phrases)))
    return sentences


def page(news: News) -> tuple[bool, str] | None:
    """Return the best address for readers, and whether it is a release's page; ``None`` if no address is known."""
    lead = news.announced[0].part if news.announced else None
    near = [release for part, release in news.releases if part is lead] or [release for _, release in news.releases]
    # The newest release; of packages that are announced together, the leading one.
    for release in near if any(part.packages for part in news.active) else reversed(near):
        url = safe_url(release.url)
        if url and len(url) <= _URL_LIMIT:
            return True, url
    bases = [part.base for part in ((lead,) if lead else news.active) if part.base and len(part.base) <= _URL_LIMIT]
    return (False, bases[0]) if bases else None


def post_title(news: News, mentioned: Sequence[Item] | None = None) -> str:
    """Return the title of a post; ``mentioned``: the changes that its text names, if it leaves out others."""
    phrases = news.phrases
    if len(news.releases) == 1 and not news.several and released_name(news.releases[0][1]):
        part, release = news.releases[0]
        return release_title(release, part.repository, phrases)
    start = phrases.format(phrases.news_title, subject=projects_named(news.active, phrases))
    lead_sentence = first_sentence(news.lead)[0].rstrip(".")
    items = news.items if mentioned is None or not (mentioned or lead_sentence) else mentioned
    return title_of(items, news.active, phrases, start, lead_sentence)


def lead_candidates(items: Sequence[Item]) -> tuple[Item, ...]:
    """Return the most important items, as far as they have the section of the first one."""
    kinds = [(item.change.section, is_minor(item.change)) for item in items[:_CANDIDATES]]
    return tuple(item for item, kind in zip(items, kinds, strict=False) if kind == kinds[0])


def opening(news: News) -> str:
    if names := release_names(news.active, news.phrases):
        return news.voice.announcement(names, many=len(news.releases) > 1)
    return news.voice.news(projects_named(news.active, news.phrases))


def change_text(item: Item, news: News, *, code: bool = False) -> str:
    """Return the text of a change, in English as an action or as behaviour; ``code`` keeps marks of code."""
    text = sentence(item.change.text)
    text = conjugated(text) if news.phrases is ENGLISH and not _advises(item) else text
    return text if code else plain(text)


def _advises(item: Item) -> bool:
    """Return whether a deprecation says what to use: no action of the software."""
    return item.change.section is Section.DEPRECATED and item.change.text.casefold().startswith("use ")


def line_of(item: Item, news: News) -> str:
    """Return a change as a plain line, with a label where its words do not name the section."""
    text = labelled(item.change, change_text(item, news), news.phrases)
    return _qualified(text, item, news)


def sentence_of(item: Item, news: News, *, also: bool = False) -> str:
    """Return a change as the sentence behind the announcement of its release: "It adds a lid"; else its line.

    Only English has such sentences, and only posts about one release. ``also``: the second such sentence.
    """
    of_release = news.phrases is ENGLISH and len(news.releases) == 1 and item.released
    action = sentence(item.change.text)
    stated = plain(conjugated(action, present=True)) if of_release and not _advises(item) else plain(action)
    if stated == plain(action) or _NO_PRONOUN.match(stated):
        is_thing = of_release and item.change.noted and item.change.section is Section.ADDED
        line = line_of(item, news)
        return f"New: {continued(line)}" if is_thing and not also and _first_word(line) not in VERBS else line
    text = change_text(item, news)
    label = labelled(item.change, text, news.phrases)[: -len(text)]
    pronoun = f"{'it' if label else 'It'}{' also' if also else ''}"
    return _qualified(f"{label}{pronoun} {stated[0].lower()}{stated[1:]}", item, news)


def _first_word(text: str) -> str:
    return text.partition(" ")[0].casefold()


def _qualified(text: str, item: Item, news: News) -> str:
    # The opening names the project of the only release.
    opened = item.released and all(part is item.part for part, _ in news.releases)
    qualifiers = [item.part.project] if news.several and not opened else []
    if scope := plain(scope_of(item, text, news)):
        qualifiers.append(scope)
    if pending(item):
        qualifiers.append(news.phrases.not_released)
    return f"{text} ({', '.join(qualifiers)})" if qualifiers else text


def scope_of(item: Item, text: str, news: News) -> str:
    """Return the part of the code for readers who know it, unless the words of the change name it."""
    scope = item.change.scope if news.voice.names_part(item.change.text) else ""
    named, words = _SCOPES.split(scope.casefold())[-1], text.casefold()
    # Most words do not contain it, and a compiled pattern costs more.
    is_named = named in words and re.search(rf"(?<!\w){re.escape(named)}s?(?!\w)", words)
    return "" if is_named else scope


def explained(item: Item, news: News) -> str:
    """Return the author's explanation of a change, plain: a breaking note, or prose of the body."""
    if notes := notes_of(item.change):
        return plain(with_period(notes[0]))
    text = excerpt(item.change, news.phrases) if news.voice.technical else ""
    first, rest = first_sentence(text)
    return plain(rest if restates(first, change_text(item, news)) else text)


def excerpt(change: Change, phrases: Phrasebook) -> str:
    """Return an explanation of a change: whole sentences, in English in the tense of changes; may be empty."""
    bodies = (change.body, *(message.body for message in change.messages[1:_COMMITS_READ]))
    rest = next(filter(None, (explanation(body, subject=change.text) for body in bodies)), "")
    sentences: list[str] = []
    while rest and phrases is ENGLISH:
        first, rest = first_sentence(rest)
        # "Adds a lid" is an action, too.
        asked = imperative(first)
        sentences.append(result if (result := conjugated(asked)) != asked else conjugated(first))
    return " ".join(sentences) or rest


def listed(lines: Sequence[str], of: int, news: News) -> list[str]:
    fitting = bounded(lines, _LIST_LIMIT)
    blocks = ["\n".join(fitting)] if fitting else []
    hidden = of - len(fitting)
    return [*blocks, news.phrases.count(hidden, news.phrases.not_shown)] if hidden else blocks


def also(news: News, mentioned: Sequence[Item]) -> list[str]:
    mentioned_ids = set(map(id, mentioned))
    counts = counted_kinds([item for item in news.announced if id(item) not in mentioned_ids], news.phrases)
    return [news.voice.format(news.phrases.also, counts=counts)] if counts else []


def where_to_read(news: News, shown: str) -> str:
    """Return the link to the release's page, or to the repository; ``shown`` is its address, or Markdown."""
    target = page(news)
    release = target is not None and target[0]
    return news.voice.format(news.phrases.more_in_notes if release else news.phrases.more_in_repository, url=shown)


def as_written(news: News) -> list[str]:
    """Return the hint that texts of commits are not translated, where it applies."""
    texts = [*([news.lead] if news.lead else []), *(item.change.text for item in news.items)]
    return [news.phrases.as_written] if is_foreign(texts, news.phrases) else []
