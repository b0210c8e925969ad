"""Payloads on pages: readable, marked, and nothing but text."""

from html import unescape
from html.parser import HTMLParser
from typing import final

from contentsvc_http.dashboard.payloads import SHOWN, highlighted, payload_text, shown

HOSTILE = '</pre><script>alert("1")</script>\\"'


@final
class Marked(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.marks: list[tuple[str, str]] = []
        self.text = ""
        self._kind = ""
        self.feed(str(html))
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag == "span"
        assert [name for name, _ in attrs] == ["class"]
        self._kind = attrs[0][1] or ""

    def handle_endtag(self, tag: str) -> None:
        assert tag == "span"
        self._kind = ""

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._kind:
            self.marks.append((self._kind, data))


def test_keys_texts_and_other_values_are_marked_differently() -> None:
    marked = Marked(shown({"a": "b", "c": [1, -2.5e3, True, None], "d": {"e": []}}).html)

    assert marked.marks == [
        ("j-key", '"a"'),
        ("j-text", '"b"'),
        ("j-key", '"c"'),
        ("j-other", "1"),
        ("j-other", "-2500.0"),
        ("j-other", "true"),
        ("j-other", "null"),
        ("j-key", '"d"'),
        ("j-key", '"e"'),
    ]


def test_hostile_payloads_are_escaped() -> None:
    payload = {HOSTILE: HOSTILE, "list": [HOSTILE, "&amp;", "'", '": {']}

    marked = Marked(shown(payload).html)

    assert marked.text == payload_text(payload)
    assert [kind for kind, _ in marked.marks] == ["j-key", "j-text", "j-key", "j-text", "j-text", "j-text", "j-text"]


def test_invisible_and_reordering_characters_are_escaped() -> None:
    text = payload_text({"name": "a\u202eb\u200bc\ufeff\x9b"})

    assert "a\\u202eb\\u200bc\\ufeff\\u009b" in text
    assert "ünïcode 🙂" in payload_text({"name": "ünïcode 🙂"})


def test_a_large_payload_is_cut_and_a_line_that_is_cut_is_not_marked() -> None:
    # As tokens, each of these quotes would be read up to the end.
    payload = {"first": 1, "long": '"' * SHOWN}

    complete = shown(payload)

    assert complete.is_cut
    assert complete.length == len(payload_text(payload))
    marked = Marked(complete.html)
    assert marked.text == payload_text(payload)[:SHOWN]
    assert marked.marks == [("j-key", '"first"'), ("j-other", "1")]


def test_a_small_payload_is_shown_completely() -> None:
    text = payload_text({"a": 1})

    assert unescape(highlighted(text)).count("span") == 4
    assert not shown({"a": 1}).is_cut
