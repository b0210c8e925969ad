from collections.abc import Iterator
from enum import Enum
from typing import assert_never, final

from contentsvc_core.content.posts import Post
from contentsvc_core.events.normalized import Event, Push, Release
from contentsvc_core.lists.words import words_of
from contentsvc_core.workflows.context import ContextRecord


@final
class DocumentKind(Enum):
    CONTEXT = "context"
    POST = "post"


def record_words(record: ContextRecord) -> tuple[str, ...]:
    """Return the searched words of a context record. E-mail addresses are left out: search for people by name."""
    return words_of(_record_texts(record))


def post_words(post: Post) -> tuple[str, ...]:
    """Return the words of a post that a search finds: each term of a query matches one of them."""
    return words_of((post.title, post.markdown))


def _record_texts(record: ContextRecord) -> Iterator[str]:
    yield record.repository
    yield record.event.type
    yield record.event.action
    yield from _event_texts(record.event)


def _event_texts(event: Event) -> Iterator[str]:
    match event:
        case Push():
            yield event.branch
            for commit in event.commits:
                yield commit.message
                yield commit.id
                yield commit.author.name
                yield commit.author.username or ""
        case Release():
            yield event.tag_name
            yield event.name or ""
            yield event.body or ""
        case _:
            assert_never(event)
