"""Long posts in lists: their beginning, and the rest in a fold. The content is the service's own, well-formed HTML."""

from typing import Final, final

from attrs import field, frozen

from contentsvc_core.content.public.html import MARK

_VOID: Final = frozenset({"br", "hr"})
_LISTS: Final = frozenset({"ul", "ol"})
#: Posts with more entries than this are folded to this number, so that a fold hides five or more.
MOST_ENTRIES: Final = 12
SHOWN_ENTRIES: Final = 8


@final
@frozen
class _Block:
    name: str
    start: int
    end: int
    entries: tuple[int, ...] = field(converter=tuple[int, ...])


def folded(content: str) -> str:
    """Return a post's content with all but its first entries in a ``details`` element, where it has many."""
    blocks = _blocks(content)
    total = sum(len(block.entries) for block in blocks)
    if total <= MOST_ENTRIES:
        return content
    shown_entries = 0
    for number, block in enumerate(blocks):
        if shown_entries + len(block.entries) <= SHOWN_ENTRIES:
            shown_entries += len(block.entries)
            continue
        here = SHOWN_ENTRIES - shown_entries
        if block.name == "ul" and here:
            cut = block.entries[here]
            return f"{content[:cut]}</ul>\n{_fold(total, f'<ul>{content[cut:]}')}"
        before = blocks[number - 1] if number and blocks[number - 1].name[0] == "h" else block
        return content[: before.start] + _fold(total, content[before.start :])
    return content


def _fold(total: int, rest: str) -> str:
    return f'<details class="fold">\n<summary>Show all {total:,} changes</summary>\n{rest}</details>\n'


def _blocks(content: str) -> list[_Block]:
    blocks: list[_Block] = []
    open_: list[str] = []
    start, entries = 0, list[int]()
    for tag in MARK.finditer(content):
        name = tag[2]
        if name in _VOID:
            continue
        if not tag[1]:
            if not open_:
                start, entries = tag.start(), []
            elif name == "li" and len(open_) == 1 and open_[0] in _LISTS:
                entries.append(tag.start())
            open_.append(name)
        elif open_:
            open_.pop()
            if not open_:
                blocks.append(_Block(name, start, tag.end(), entries))
    return blocks
