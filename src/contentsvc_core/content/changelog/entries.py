"""The lines of lists: one change, the people who are thanked, and what bounds them."""

from collections.abc import Iterable, Sequence
from typing import Final

from contentsvc_core.content.changelog.markdown import inline, link, safe_url
from contentsvc_core.content.changelog.selection import Change
from contentsvc_core.content.changelog.voice import Voice
from contentsvc_core.content.changelog.wording import masked_line, sentence
from contentsvc_core.content.phrases import Phrasebook
from contentsvc_core.webhooks.events import Commit

_COMMITS_LINKED: Final = 50
_NUMBERS_LINKED: Final = 50
_NOTES_SHOWN: Final = 10
_NAMES_SHOWN: Final = 100
_SHORT_SHA: Final = 7


def entry(change: Change, base: str | None, voice: Voice) -> str:
    """Write one change: ``- **scope:** description ([#12](…)) ([abc1234](…))``."""
    label = f"**{inline(change.label)}:** " if change.label and voice.technical else ""
    parts = [f"- {label}{inline(change.text)}", *(references(change, base, voice.phrases) if voice.technical else [])]
    line = " ".join(parts)
    # A footer that says what the line says already is no news.
    notes = [
        inline(sentence(note)) for note in change.notes[:_NOTES_SHOWN] if note.casefold() != change.text.casefold()
    ]
    return f"{line}\n  > " + "\n  >\n  > ".join(notes) if notes else line


def references(change: Change, base: str | None, phrases: Phrasebook, *, commits: bool = True) -> list[str]:
    """Link the pull requests and issues of a change, and its commits."""
    parts: list[str] = []
    numbers = [
        link(f"#{number}", f"{base}/issues/{number}" if base else None) for number in change.numbers[:_NUMBERS_LINKED]
    ]
    if numbers:
        parts.append(f"({', '.join(numbers)})")
    shas = [shown for commit in change.commits[:_COMMITS_LINKED] if (shown := _sha(commit))]
    if hidden := len(change.commits) - _COMMITS_LINKED:
        shas += [phrases.more_commits.format(n=phrases.number(hidden))] if hidden > 0 else []
    if shas and commits:
        parts.append(f"({', '.join(shas)})")
    return parts


def _sha(commit: Commit) -> str:
    return link(inline(masked_line(commit.id, 64)[:_SHORT_SHA]), safe_url(commit.url)) if commit.id else ""


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
