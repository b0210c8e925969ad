"""The camelCase bodies of values on the wire, and the JSON of events in stores."""

from collections.abc import Mapping
from typing import Any, Final, assert_never

import msgspec

from contentsvc_core.events.normalized import Author, Event, HeadCommit, Push, Release

# Specification 6.1 and 6.2. A store has some more fields, for the writers.


class CommitBody(msgspec.Struct, frozen=True, gc=False):
    """A commit of a push, as the code host sends it."""

    id: str
    message: str
    author: Author
    timestamp: str
    url: str


class PushBody(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """The ``data`` of a push (specification 6.1)."""

    ref: str
    branch: str
    commits: list[CommitBody]
    head_commit: HeadCommit | None


class ReleaseBody(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """The ``data`` of a release (specification 6.2)."""

    tag_name: str
    name: str | None
    body: str | None
    prerelease: bool
    draft: bool
    published_at: str | None
    url: str


_encode: Final = msgspec.json.Encoder().encode
_DECODERS: Final[Mapping[str, msgspec.json.Decoder[Push] | msgspec.json.Decoder[Release]]] = {
    Push.type: msgspec.json.Decoder(Push),
    Release.type: msgspec.json.Decoder(Release),
}


def event_shape(event: Event) -> object:
    """Return the ``data`` of a normalized event (specification 6.1, 6.2), for msgspec to encode."""
    match event:
        case Push():
            commits = [
                CommitBody(each.id, each.message, each.author, each.timestamp, each.url) for each in event.commits
            ]
            return PushBody(event.ref, event.branch, commits, event.head_commit)
        case Release():
            return ReleaseBody(
                event.tag_name,
                event.name,
                event.body,
                event.prerelease,
                event.draft,
                event.published_at,
                event.url,
            )
        case _:
            assert_never(event)


def event_data(event: Event) -> dict[str, Any]:
    """Return the ``data`` of a normalized event (specification 6.1, 6.2)."""
    return msgspec.to_builtins(event_shape(event))


def event_body(event: Event) -> dict[str, Any]:
    """Return a normalized event: ``{type, action, data}`` (specification 6)."""
    return {"type": event.type, "action": event.action, "data": event_data(event)}


def event_to_json(event: Event) -> str:
    """Encode an event for a store; :func:`event_from_json` reads it back, equal."""
    return _encode(event).decode()


def event_from_json(kind: str, text: str | bytes) -> Event:
    """Decode an event of the given type that :func:`event_to_json` encoded.

    Raises:
        KeyError: The type is neither ``push`` nor ``release``.
        msgspec.DecodeError: The text is not an event of this type.
    """
    return _DECODERS[kind].decode(text)
