import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, NotRequired, TypedDict, assert_never

from contentsvc_core.events.normalized import Push, Release
from contentsvc_core.lists.terms import Term
from contentsvc_core.lists.words import words_of
from contentsvc_core.text import has_controls, one_line
from contentsvc_core.timestamps import iso_ms
from contentsvc_core.workflows.context import ContextRecord, MetadataBody

#: The maximum number of excerpts of a record, and the maximum length of each, in characters.
_PARTS: Final = 5
_LENGTH: Final = 280
#: The parts that are compared with the words of a search, 50 µs each: a hundred records take a second.
_COMPARED: Final = 200
_LINES: Final = 2_000
#: The maximum length of a commit's hash, a release's tag and an address, in characters. Code hosts have shorter ones.
_REF_LIMIT: Final = 255
_URL_LIMIT: Final = 2_000
_WEB: Final = re.compile(r"https?://\S+", re.IGNORECASE)
#: Markdown markup that excerpts leave out: a link becomes its text; headings and list items keep their words.
_LINK: Final = re.compile(r"!?\[([^\[\]\n]*)\]\([^()\s]*\)")
_BEGIN: Final = re.compile(r"^[ \t]*(?:#{1,6}|[-*+]|>)[ \t]+", re.MULTILINE)
_EMPHASIS: Final = re.compile(r"\*\*|__|`")


class ExcerptBody(TypedDict):
    """A part of a matching document: a commit with its hash and page, or a line of a release."""

    text: str
    ref: NotRequired[str]
    url: NotRequired[str]


class HitBody(TypedDict):
    """A matching context record."""

    customId: str
    metadata: MetadataBody
    action: str
    deliveryId: str
    excerpts: list[ExcerptBody]
    createdAt: str


def record_excerpts(record: ContextRecord, terms: Sequence[Term]) -> list[ExcerptBody]:
    """Return the parts of a record that have most of the searched words, in their order; else the first ones."""
    return _best(_record_parts(record), terms)


def post_excerpts(markdown: str, terms: Sequence[Term]) -> list[ExcerptBody]:
    """Return the lines of a post's text that have most of the searched words, in their order; else the first ones."""
    plain = _EMPHASIS.sub("", _BEGIN.sub("", _LINK.sub(r"\1", markdown[: _LINES * _LENGTH])))
    return _best((ExcerptBody(text=line) for line in _lines(plain)), terms)


def record_hit_body(record: ContextRecord, terms: Sequence[Term]) -> HitBody:
    """Return the wire form of a matching context record: its metadata, and excerpts with the searched words."""
    return {
        "customId": record.custom_id,
        "metadata": record.metadata,
        "action": record.event.action,
        "deliveryId": record.delivery_id,
        "excerpts": record_excerpts(record, terms),
        "createdAt": iso_ms(record.created_at),
    }


def post_hit_body(post: Mapping[str, Any], terms: Sequence[Term]) -> dict[str, Any]:
    """Return the wire form of a matching post, of its whole wire form: excerpts replace its text."""
    hit = {name: post[name] for name in ("id", "title", "contentType", "status", "createdAt", "updatedAt")}
    return {**hit, "excerpts": post_excerpts(post["markdown"], terms)}


def _record_parts(record: ContextRecord) -> Iterator[ExcerptBody]:
    event = record.event
    match event:
        case Push():
            for commit in event.commits:
                # With its author: searches find commits by their authors, too.
                author = commit.author.username or commit.author.name
                # Both are cut first: a message may have megabytes.
                message = commit.message[: 8 * _LENGTH]
                text = one_line(f"{message} ({author[:_LENGTH]})" if author else message, _LENGTH)
                yield _excerpt(text, commit.id, commit.url)
        case Release():
            for line in (event.name or event.tag_name, *_lines(event.body or "")):
                yield _excerpt(one_line(line, _LENGTH), event.tag_name, event.url)
        case _:
            assert_never(event)


def _lines(text: str) -> Iterator[str]:
    for line in text[: _LINES * _LENGTH].splitlines()[:_LINES]:
        if cleaned := one_line(line, _LENGTH):
            yield cleaned


def _excerpt(text: str, ref: str, url: str) -> ExcerptBody:
    body = ExcerptBody(text=text)
    if line := one_line(ref, _REF_LIMIT):
        body["ref"] = line
    if len(url) <= _URL_LIMIT and _WEB.fullmatch(url) and not has_controls(url):
        body["url"] = url
    return body


def _best(parts: Iterator[ExcerptBody], terms: Sequence[Term]) -> list[ExcerptBody]:
    included = [term for term in terms if not term.is_excluded]
    if not included:
        return list(islice(parts, _PARTS))
    compared = list(islice(parts, _COMPARED))
    scores = [_score(part, included) for part in compared]
    best = sorted(range(len(compared)), key=lambda index: (-scores[index], index))[:_PARTS]
    chosen = [index for index in best if scores[index]] or best
    return [compared[index] for index in sorted(chosen)]


def _score(part: ExcerptBody, terms: Sequence[Term]) -> int:
    words = frozenset(words_of((part["text"], part.get("ref", ""))))
    return sum(term.matches(words) for term in terms)
