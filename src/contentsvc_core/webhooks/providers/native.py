"""Native bodies of the code hosts that speak GitHub's dialect: which fields are used, and how they are read.

Both shipped providers read these shapes. A provider with other bodies brings its own file of readers.
"""

import re
from typing import Annotated, Final, TypeVar, final

import msgspec
from attrs import frozen

from contentsvc_core.text import one_line, storable
from contentsvc_core.webhooks.events import MAX_COMMITS, Author, Commit, Event, HeadCommit, Push, Release

_BRANCH: Final = "refs/heads/"
#: How much of a repository's name is kept, in characters; both parts have at most 100.
_NAME_LENGTH: Final = 255
#: How much of an action is kept, in characters.
_ACTION_LENGTH: Final = 64
_BOM: Final = b"\xef\xbb\xbf"


class Malformed(ValueError):
    """A body that cannot be read; the message names the first fault."""


@final
@frozen(kw_only=True)
class Reading:
    """What a native body says, in the domain's words."""

    event: Event
    repository_id: int
    #: ``owner/name``.
    repository: str
    #: The branch that releases are made from; ``None`` where the event does not say.
    default_branch: str | None = None


# The classes below spell their fields as the code host does. Unknown fields are skipped without being built.


_TRUE: Final = msgspec.Raw(b"true")


@frozen(kw_only=True)
class _Object:
    """Any JSON object."""


@frozen(kw_only=True)
class _Author:
    name: str
    email: str | None
    username: str | None = None


@frozen(kw_only=True)
class _Commit:
    id: str
    message: str
    author: _Author
    timestamp: str
    url: str
    # Not specified, so that nothing in it can be wrong: kept as written, and compared.
    distinct: msgspec.Raw = _TRUE


@frozen(kw_only=True)
class _HeadCommit:
    id: str
    message: str


@frozen(kw_only=True)
class _PushRepository:
    id: int
    full_name: str
    default_branch: str


@frozen(kw_only=True)
class _Repository:
    id: int
    full_name: str


@frozen(kw_only=True)
class _Push:
    ref: str
    commits: Annotated[list[_Commit], msgspec.Meta(max_length=MAX_COMMITS)]
    head_commit: _HeadCommit | None
    repository: _PushRepository


@frozen(kw_only=True)
class _ReleaseFields:
    tag_name: str
    name: str | None
    body: str | None
    prerelease: bool
    draft: bool
    published_at: str | None
    html_url: str


@frozen(kw_only=True)
class _Release:
    action: str
    release: _ReleaseFields
    repository: _Repository


_ANY: Final = msgspec.json.Decoder(_Object)
_PUSH: Final = msgspec.json.Decoder(_Push)
_RELEASE: Final = msgspec.json.Decoder(_Release)

_T = TypeVar("_T")


def read_object(body: bytes) -> None:
    """Check that ``body`` is one JSON object in UTF-8.

    Raises:
        Malformed: It is not.
    """
    decode(body, _ANY)


def read_push(body: bytes) -> Reading:
    """Read a push.

    Raises:
        Malformed: A field that is used is missing or of the wrong type, or the body is no JSON at all.
    """
    native = decode(body, _PUSH)
    ref = storable(native.ref)
    head = native.head_commit
    return Reading(
        event=Push(
            ref=ref,
            branch=ref.removeprefix(_BRANCH),
            commits=tuple(_commit(commit) for commit in native.commits),
            head_commit=head and HeadCommit(id=storable(head.id), message=storable(head.message)),
        ),
        repository_id=native.repository.id,
        repository=one_line(native.repository.full_name, _NAME_LENGTH),
        default_branch=storable(native.repository.default_branch),
    )


def read_release(body: bytes) -> Reading:
    """Read a release.

    Raises:
        Malformed: As for :func:`read_push`.
    """
    native = decode(body, _RELEASE)
    release = native.release
    return Reading(
        event=Release(
            # A word, in practice; as one it is shown, logged and compared.
            action=one_line(native.action, _ACTION_LENGTH),
            tag_name=storable(release.tag_name),
            name=_optional(release.name),
            body=_optional(release.body),
            prerelease=release.prerelease,
            draft=release.draft,
            published_at=_optional(release.published_at),
            url=storable(release.html_url),
        ),
        repository_id=native.repository.id,
        repository=one_line(native.repository.full_name, _NAME_LENGTH),
    )


def _commit(native: _Commit) -> Commit:
    author = native.author
    return Commit(
        id=storable(native.id),
        message=storable(native.message),
        author=Author(
            name=storable(author.name), email=storable(author.email or ""), username=_optional(author.username)
        ),
        timestamp=storable(native.timestamp),
        url=storable(native.url),
        distinct=bytes(native.distinct) != b"false",
    )


def _optional(text: str | None) -> str | None:
    return None if text is None else storable(text)


def decode(body: bytes, decoder: "msgspec.json.Decoder[_T]") -> _T:
    """Decode a body, whatever it is: for readers of other bodies, too.

    Raises:
        Malformed: It does not fit; the message names the first fault in the sender's terms.
    """
    body = body.removeprefix(_BOM)
    try:
        # The decoder does not look at the encoding of strings that it skips.
        body.decode("utf-8")
        return decoder.decode(body)
    except msgspec.ValidationError as exc:
        raise Malformed(_fault(str(exc))) from exc
    except UnicodeDecodeError as exc:
        message = f"the body is not UTF-8 (byte {exc.start})"
        raise Malformed(message) from exc
    except RecursionError as exc:
        message = "the body is nested too deep"
        raise Malformed(message) from exc
    except (msgspec.MsgspecError, ValueError, OverflowError) as exc:
        message = f"the body is not valid JSON ({str(exc).removeprefix('JSON is malformed: ')})"
        raise Malformed(message) from exc


# The decoder's messages, e.g. "Expected `str`, got `int` - at `$.commits[0].id`"; the tests pin each one.
_AT: Final = re.compile(r" - at `\$\.?(?P<path>.*)`$")
_WRONG_TYPE: Final = re.compile(r"^Expected `(?P<wanted>[^`]*)`, got")
_TOO_LONG: Final = re.compile(r"^Expected `array` of length <= (?P<most>\d+)")
_MISSING: Final = re.compile(r"^Object missing required field `(?P<field>[^`]*)`")
_TYPES: Final = {
    "str": "a string",
    "int": "an integer",
    "bool": "a boolean",
    "array": "an array",
    "object": "an object",
    "null": "null",
}


def _fault(message: str) -> str:
    """Say in the sender's terms what the decoder found first."""
    at = _AT.search(message)
    path = at["path"] if at else ""
    if missing := _MISSING.match(message):
        return f"{path}.{missing['field']} is missing" if path else f"{missing['field']} is missing"
    subject = path or "the body"
    if too_long := _TOO_LONG.match(message):
        return f"{subject} must hold at most {too_long['most']} items"
    if wrong := _WRONG_TYPE.match(message):
        wanted = " or ".join(_TYPES.get(name, name) for name in wrong["wanted"].split(" | "))
        return f"{subject} must be {wanted}"
    return f"{subject} is out of range"
