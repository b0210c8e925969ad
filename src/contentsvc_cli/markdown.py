"""Markdown on a terminal: headings stand at the left, as everything else does."""

from typing import ClassVar, final

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import Heading, Markdown, MarkdownElement
from rich.text import Text


@final
class _LeftHeading(Heading):
    """A heading without a frame, at the left."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Render the heading."""
        _ = console, options
        yield Text.assemble(self.text, style="bold")


@final
class LeftMarkdown(Markdown):
    """Markdown whose headings stand at the left."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {**Markdown.elements, "heading_open": _LeftHeading}
