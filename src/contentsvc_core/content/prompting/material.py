"""The material of a prompt: one JSON line for each release and change, by weight, as many as fit.

Only known fields are included, each cut to a length and without e-mail addresses. Since JSON takes one line, no
author's text can imitate another record or the end of the material.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, final

import msgspec
from attrs import field, frozen

from contentsvc_core.content.changelog.markdown import masked_line, safe_url
from contentsvc_core.content.changelog.people import contributors
from contentsvc_core.content.changelog.read import parse
from contentsvc_core.content.changelog.release_notes import clean
from contentsvc_core.content.changelog.report import Part, report_of
from contentsvc_core.content.changelog.select import Change, authors_of
from contentsvc_core.content.sections import Section
from contentsvc_core.content.writing import Brief
from contentsvc_core.events.normalized import MAX_COMMITS, Release
from contentsvc_core.timestamps import iso_ms

#: The smallest limit, in characters: the opening lines need that much.
SMALLEST_LIMIT: Final = 4_000
_NAME_LIMIT: Final = 120
_LINE_LIMIT: Final = 200
_DETAILS_LIMIT: Final = 800
_NOTES_LIMIT: Final = 3_000
_REPOSITORIES_NAMED: Final = 5
_NUMBERS_NAMED: Final = 10
_BREAKING_NOTES: Final = 5
_PEOPLE_NAMED: Final = 30
#: Trailers such as ``Signed-off-by:`` are written for tools, and mostly contain addresses.
_TRAILER: Final = re.compile(r"^[A-Za-z][A-Za-z-]{0,40}-(?:by|id|to): .*$", re.MULTILINE | re.IGNORECASE)
#: Control characters, and invisible characters: a text could hide words from people, but not from a model.
_CONTROLS: Final = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f]")
_INVISIBLE: Final = re.compile(
    "[\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e0fff]"
)
_ESCAPE: Final = re.compile(r"\\(?=[!-/:-@\[-`{-~])")
_ORDER: Final = tuple(Section)


@final
@frozen(kw_only=True)
class Material:
    lines: tuple[str, ...] = field(converter=tuple[str, ...])
    omitted: int


@final
@frozen(kw_only=True)
class _Entry:
    full: str
    short: str


def gather(brief: Brief, limit: int) -> Material:
    """Choose the lines about a brief, in at most ``limit`` characters (:data:`SMALLEST_LIMIT` or more).

    Releases and changes come by weight, newer before older. Repositories take turns, so that a busy one leaves space
    for the others.
    """
    parts = report_of(brief, brief.options)
    opening = _opening(brief, parts, limit)
    remaining = limit - sum(len(line) + 1 for line in opening)
    entries = list(_by_weight([_entries(part) for part in parts]))
    chosen: list[_Entry] = []
    for entry in entries:
        if len(entry.short) < remaining:
            remaining -= len(entry.short) + 1
            chosen.append(entry)
    lines: list[str] = []
    # The short form of a further entry is worth more than the long form of this one.
    for entry in chosen:
        more = len(entry.full) - len(entry.short)
        lines.append(entry.full if more < remaining else entry.short)
        remaining -= more if more < remaining else 0
    names = _people(change for part in parts for change in part.changes)
    people = json_line({"kind": "contributors", "names": names})
    if names and len(people) < remaining:
        lines.append(people)
    return Material(lines=(*opening, *lines), omitted=len(entries) - len(chosen))


def json_line(record: Mapping[str, Any]) -> str:
    """Return a record as one line of JSON, without invisible characters."""
    return _INVISIBLE.sub("", msgspec.json.encode(record).decode())


def _opening(brief: Brief, parts: Iterable[Part], limit: int) -> list[str]:
    names = [masked_line(chapter.repository, _NAME_LIMIT) for chapter in brief.chapters]
    about: dict[str, Any] = {"kind": "report", "repositories": names[:_REPOSITORIES_NAMED]}
    if (more := len(names) - _REPOSITORIES_NAMED) > 0:
        about["furtherRepositories"] = more
    if brief.window is not None:
        about |= {"since": iso_ms(brief.window.since), "until": iso_ms(brief.window.until)}
    if any(part.incomplete for part in parts):
        about["note"] = f"The code host sends at most {MAX_COMMITS} commits with one push: there may have been more."
    opening = [json_line(about)]
    if brief.release is not None:
        head = {"kind": "announced release", "releaseBefore": masked_line(brief.previous_tag or "", _NAME_LIMIT)}
        notes = limit // 2
        # Escaped characters need more space than the text has characters.
        while len(line := json_line(head | _release_fields(brief.release, notes))) > limit // 2 and notes:
            notes //= 2
        opening.append(line)
    return opening


def _by_weight(chapters: Sequence[Sequence[_Entry]]) -> Iterable[_Entry]:
    for index in range(max(map(len, chapters), default=0)):
        for entries in chapters:
            if index < len(entries):
                yield entries[index]


def _entries(part: Part) -> list[_Entry]:
    repository = masked_line(part.repository, _NAME_LIMIT)
    head = {"kind": "release", "repository": repository}
    entries = [
        _Entry(
            full=json_line(head | _release_fields(release, _NOTES_LIMIT)),
            short=json_line(head | _release_fields(release, 0)),
        )
        for release in reversed(part.releases)
    ]
    newest_first = [change for change in part.changes[::-1] if change.shown]
    ordered = sorted(newest_first, key=lambda change: _ORDER.index(change.section))
    return [*entries, *(_entry(change, repository) for change in ordered)]


def _release_fields(release: Release, notes_limit: int) -> dict[str, Any]:
    body = release.body or ""
    # Longer notes are not used, and a body may have megabytes.
    notes, cut = clean(_CONTROLS.sub(" ", body[: 5 * notes_limit]), notes_limit) if notes_limit else ("", bool(body))
    fields = {
        "tag": masked_line(release.tag_name, _NAME_LIMIT),
        "name": masked_line(release.name or "", _LINE_LIMIT),
        "prerelease": release.prerelease,
        "published": masked_line(release.published_at or "", 40),
        "url": safe_url(release.url),
        "notes": notes,
        "notesAreCut": cut,
    }
    return {name: value for name, value in fields.items() if value}


def _entry(change: Change, repository: str) -> _Entry:
    newest = change.commits[-1]
    short: dict[str, Any] = {
        "kind": "change",
        "repository": repository,
        "section": change.section.value,
        "scope": masked_line(change.scope, _NAME_LIMIT),
        "text": change.text,
        "breaking": [masked_line(note, _LINE_LIMIT) for note in change.notes[:_BREAKING_NOTES]],
        "references": [f"#{number}" for number in change.numbers[:_NUMBERS_NAMED]],
        "date": masked_line(newest.timestamp, 40),
        "url": safe_url(newest.url),
    }
    short = {name: value for name, value in short.items() if value}
    details = next((text for commit in change.commits if (text := _details(commit.message))), "")
    line = json_line(short)
    return _Entry(full=json_line(short | {"details": details}) if details else line, short=line)


def _details(message: str) -> str:
    body, cut = clean(_CONTROLS.sub(" ", _TRAILER.sub("", parse(message).body)), _DETAILS_LIMIT)
    return f"{body} …" if cut else body


def _people(changes: Iterable[Change]) -> list[str]:
    names = contributors(authors_of(changes))
    # The names are Markdown for changelogs; here they are unescaped.
    return [_ESCAPE.sub("", name) for name in names[:_PEOPLE_NAMED]]
