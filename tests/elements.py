"""The elements and the text of HTML that need not be well-formed."""

from html.parser import HTMLParser
from typing import final


@final
class Elements(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        #: Each element with its attributes; comments and declarations are elements with their text as the name.
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        #: The texts between them.
        self.words: list[str] = []
        self.feed(html)
        self.close()

    @property
    def tags(self) -> set[str]:
        return {tag for tag, _ in self.seen}

    @property
    def text(self) -> str:
        return "".join(self.words)

    def values(self, *names: str) -> list[str]:
        """Return the values of all attributes with one of these names."""
        return [value or "" for _, each in self.seen for name, value in each.items() if name in names]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def handle_comment(self, data: str) -> None:
        self.seen.append((f"!--{data}", {}))

    def handle_decl(self, decl: str) -> None:
        self.seen.append((f"!{decl}", {}))

    def unknown_decl(self, data: str) -> None:
        self.seen.append((f"!{data}", {}))

    def handle_pi(self, data: str) -> None:
        self.seen.append((f"?{data}", {}))
