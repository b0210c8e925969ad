"""Histories, bodies, notes and titles at the limits of the rules, each with the writer's result."""

import json
from collections.abc import Iterator
from pathlib import Path

from attrs import evolve
from changelog_samples import release
from tests.builders import a_brand
from tests.core.changelog.histories import HISTORIES, IN_POSTS, POSTS, WRITTEN
from tests.core.changelog.styles import STYLES
from tests.core.changelog.texts import BODIES, BREAKING, MESSAGES, NOTES, TITLES
from tests.golden_text import check_text

from contentsvc_core.content.brand import ToneProfile
from contentsvc_core.content.changelog import write_changelog
from contentsvc_core.content.changelog.bodies import breaking_notes, explanation, footers_of
from contentsvc_core.content.changelog.read import parse
from contentsvc_core.content.changelog.release_notes import clean, lowered, notes_of, package_notes, unmentioned
from contentsvc_core.content.changelog.report import items_of, report_of
from contentsvc_core.content.changelog.select import Change, authors_of, breaks_of, importance, most_important
from contentsvc_core.content.changelog.titles import release_line, release_title, released_name, releases_named
from contentsvc_core.content.forms import write_content
from contentsvc_core.content.phrases import ENGLISH
from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.writing import Silence
from contentsvc_core.events.normalized import Author


def _line(change: Change) -> str:
    bump = f"{change.bump.name} {change.bump.begin} {change.bump.end}".strip() if change.bump else ""
    more = {
        "label": change.label,
        "scope": "" if change.scope == change.label else change.scope,
        "numbers": " ".join(change.numbers),
        "commits": " ".join(commit.id.lstrip("0") for commit in change.commits),
        "messages": "" if len(change.messages) == len(change.commits) else str(len(change.messages)),
        "kind": change.kind,
        "notes": "; ".join(change.notes),
        "details": change.details,
        "bump": bump,
        "newcomer": change.newcomer,
        "authors": ", ".join(author.name for author in authors_of([change]) if author != Author(name="Ada", email="")),
        "rank": " ".join(map(str, importance(change))),
    }
    details = "".join(f" | {name}: {value}" for name, value in more.items() if value)
    small = "" if change.continuation == change.text else f" ({change.continuation})"
    return f"{change.section.name}{'' if change.shown else ' counted'}: {change.text}{small}{details}"


def _messages() -> Iterator[str]:
    styles = (message for lines in STYLES.values() for message, _, _ in lines)
    for message in (*MESSAGES, *styles):
        read = parse(message)
        more = {
            "kind": read.kind,
            "scope": read.scope,
            "sign": read.sign,
            "numbers": " ".join(read.numbers),
            "breaks": "; ".join(read.breaking_notes) or ("yes" if read.breaking else ""),
            "may undo": "yes" if read.may_undo else "",
            "subject": "" if read.subject == message else read.subject,
            "body": _quoted(read.body) if read.body else "",
        }
        details = "".join(f" | {name}: {value}" for name, value in more.items() if value)
        yield f"{_quoted(message)}\n    {read.description}{details}"


def _histories() -> Iterator[str]:
    for name, brief in HISTORIES.items():
        yield f"== {name}"
        parts = report_of(brief)
        changes = [item.change for item in items_of(parts)]
        yield from map(_line, changes)
        first = most_important(changes, 2)
        yield f"first of {len(parts[0].commits)} commits: {' / '.join(change.text for change in first)}"
        draft = write_changelog(brief)
        yield f"-- {draft.title}" if draft else "(nothing)"
        if draft and name in WRITTEN:
            yield draft.markdown


def _posts() -> Iterator[str]:
    for name, (brief, options) in POSTS.items():
        draft = write_changelog(brief, options)
        yield f"== {name}"
        yield "(nothing)" if draft is None else f"-- {draft.title}\n{draft.markdown}"


def _forms() -> Iterator[str]:
    brand = a_brand(company_name="Acme", audience="customers", tone_profile=ToneProfile.CONVERSATIONAL)
    for name in IN_POSTS:
        for content_type in ContentType:
            for voice in (None, brand) if content_type is not ContentType.CHANGELOG else (brand,):
                draft = write_content(evolve(HISTORIES[name], content_type=content_type, brand=voice))
                yield f"== {name}: {content_type.value}{'' if voice is None else ' of Acme'}"
                yield f"({draft.reason})" if isinstance(draft, Silence) else f"-- {draft.title}\n{draft.markdown}"


def _bodies() -> Iterator[str]:
    for body in BODIES:
        yield f"{_quoted(body)}\n    {explanation(body, 'Bell things')!r}"
    for body in BREAKING:
        announced, notes = breaking_notes(body)
        footers = " ".join(f"{footer.token}={footer.value!r}" for footer in footers_of(f"x\n\n{body}"))
        yield f"{_quoted(body)}\n    {announced} {list(notes)} {footers}".rstrip()


def _notes() -> Iterator[str]:
    named = ("numbers of issues are shown once", "two merges in one push", "scopes of many")
    changes = [item.change for name in named for item in items_of(report_of(HISTORIES[name]))]
    for body in NOTES:
        read = notes_of(release(body=body))
        yield f"== {_quoted(body)}"
        yield f"lead: {read.lead!r}{', and prose' if read.is_prose else ''}"
        yield from map(_line, read.changes[:12])
        yield f"{len(read.changes)} changes, {len(unmentioned(body, changes))} of {len(changes)} untold"
        text, cut = clean(body, 120)
        yield f"cut: {cut}\n{lowered(text, 2)}"
        yield f"of a package: {package_notes(body)[:60]!r}"


def _titles() -> Iterator[str]:
    for tag, name, prerelease in TITLES:
        made = release(tag, name=name, prerelease=prerelease)
        yield f"{tag!r} {_quoted(name or '')}{' pre' if prerelease else ''}"
        yield f"    {release_title(made, 'acme/tea/kettle', ENGLISH)}, breaks: {breaks_of(tag).value}"
        yield f"    {release_line(made, ENGLISH)}"
        several = [releases_named([made, made], "kettle", ENGLISH, most) for most in (1, 2)]
        yield f"    {released_name(made)!r} {several}"


def _quoted(text: str) -> str:
    return json.dumps(text if len(text) < 400 else f"{text[:200]}…{text[-100:]}", ensure_ascii=False)


def _check(name: str, lines: Iterator[str]) -> None:
    check_text(Path(__file__).with_name(name), "\n".join(lines) + "\n")


def test_each_message_reads_like_this() -> None:
    _check("golden_messages.txt", _messages())


def test_each_history_reads_like_this() -> None:
    _check("golden_histories.txt", _histories())


def test_each_post_with_options_reads_like_this() -> None:
    _check("golden_posts.txt", _posts())


def test_each_form_of_a_history_reads_like_this() -> None:
    _check("golden_forms.txt", _forms())


def test_each_body_reads_like_this() -> None:
    _check("golden_bodies.txt", _bodies())


def test_each_note_of_a_release_reads_like_this() -> None:
    _check("golden_notes.txt", _notes())


def test_each_title_of_a_release_reads_like_this() -> None:
    _check("golden_titles.txt", _titles())
