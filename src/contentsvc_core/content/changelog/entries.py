"""The lines of lists: one change, the people who are thanked, and what bounds them."""

from collections.abc import Iterable, Sequence
from typing import Final

from contentsvc_core.content.changelog.markdown import inline, link, safe_url
from contentsvc_core.content.changelog.options import DEFAULT_OPTIONS, ChangelogOptions
from contentsvc_core.content.changelog.select import Change
from contentsvc_core.content.changelog.voice import Voice
from contentsvc_core.content.changelog.wording import masked_line, sentence
from contentsvc_core.content.phrases import Phrasebook
from contentsvc_core.webhooks.events import Commit

_COMMITS_LINKED: Final = 50
_NUMBERS_LINKED: Final = 50
_NOTES_SHOWN: Final = 10
_NAMES_SHOWN: Final = 100
_SHORT_SHA: Final = 7


def entry(change: Change, base: str | None, voice: Voice, options: ChangelogOptions = DEFAULT_OPTIONS) -> str:
    """Return the lines of one change: ``- **scope:** description ([#12](…)) ([abc1234](…))``, notes, details."""
    label = f"**{inline(change.label)}:** " if change.label and voice.technical else ""
    linked = references(
        change,
        base if options.links else None,
        voice.phrases,
        commits=options.commit_hashes,
        links=options.links,
    )
    line = " ".join([f"- {label}{inline(change.text)}", *(linked if voice.technical else [])])
    if change.notes and (notes := [inline(note) for note in notes_of(change, _NOTES_SHOWN)]):
        return f"{line}\n  > " + "\n  >\n  > ".join(notes)
    details = change.details if options.details and voice.technical else ""
    return f"{line}\n  {inline(details)}" if details else line


def notes_of(change: Change, first: int | None = None) -> list[str]:
    """Return what the breaking footers of a change say, without what its line says already, as plain sentences."""
    return [sentence(note) for note in change.notes[:first] if note.casefold() != change.text.casefold()]


def references(
    change: Change, base: str | None, phrases: Phrasebook, *, commits: bool = True, links: bool = True
) -> list[str]:
    """Return the pull requests and issues of a change, and its commits; of a pull request the first one."""
    parts: list[str] = []
    numbers = [
        link(f"#{number}", f"{base}/issues/{number}" if base else None) for number in change.numbers[:_NUMBERS_LINKED]
    ]
    if numbers:
        parts.append(f"({', '.join(numbers)})")
    named = change.commits[:1] if change.numbers else change.commits
    shas = [shown for commit in named[:_COMMITS_LINKED] if (shown := _sha(commit, links=links))]
    if hidden := len(named) - _COMMITS_LINKED:
        shas += [phrases.more_commits.format(n=phrases.number(hidden))] if hidden > 0 else []
    if shas and commits:
        parts.append(f"({', '.join(shas)})")
    return parts


def _sha(commit: Commit, *, links: bool) -> str:
    url = safe_url(commit.url) if links else None
    sha = commit.id[:_SHORT_SHA] if commit.id.isalnum() else inline(masked_line(commit.id, 64)[:_SHORT_SHA])
    return link(sha, url) if commit.id else ""


def bounded(lines: Sequence[str], limit: int) -> list[str]:
    """Give the first lines, as many as have ``limit`` characters together."""
    shown: list[str] = []
    for line in lines:
        limit -= len(line) + 1
        if limit < 0:
            break
        shown.append(line)
    return shown


def named(names: Sequence[str], phrases: Phrasebook) -> list[str]:
    """Give the names that fit into a post, and how many others there are."""
    shown = list(names[:_NAMES_SHOWN])
    if hidden := len(names) - len(shown):
        shown.append(phrases.more_people.format(n=phrases.number(hidden)))
    return shown


def joined(blocks: Iterable[str]) -> str:
    """Join blocks of Markdown to a text that ends with one newline."""
    return "\n\n".join(blocks) + "\n"
