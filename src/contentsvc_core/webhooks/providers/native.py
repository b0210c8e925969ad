"""Native bodies of the specification's code host, which several code hosts send: the fields that are used."""

import re
from collections.abc import Iterable
from typing import Annotated, Final, TypeAlias, assert_never, final

import msgspec
from attrs import asdict

from contentsvc_core.events.normalized import (
    MAX_COMMITS,
    MAX_PATH,
    MAX_PATHS,
    MAX_PUSH_PATHS,
    RELEASE_ACTIONS,
    Author,
    Commit,
    Event,
    HeadCommit,
    Push,
    Release,
)
from contentsvc_core.on_demand import late
from contentsvc_core.text import one_line, storable
from contentsvc_core.values import Value
from contentsvc_core.webhooks.providers.decoding import Malformed, decode_body

BRANCH: Final = "refs/heads/"
#: The hash of no commit: ``before`` of a push that creates a branch, ``after`` of a push that deletes one.
NO_COMMIT: Final = late(r"0{40}(?:0{24})?")
#: The maximum length of a stored repository name, in characters.
_NAME_LENGTH: Final = 255
#: The maximum length of a stored action, in characters.
_ACTION_LENGTH: Final = 64


@final
class Reading(Value, frozen=True, kw_only=True):
    """The result of reading a body: the event, and the repository that it belongs to."""

    event: Event
    repository_id: int
    repository: str
    #: The branch of releases; ``None``: the event does not include it.
    default_branch: str | None = None
    #: The other changes, at a code host that reports several changes in one delivery.
    also: "tuple[Reading, ...]" = ()


# The fields have the code host's spelling, and unknown fields are skipped. The structs cannot take part in reference
# cycles, so the garbage collector need not track thousands of them.


_TRUE: Final = msgspec.Raw(b"true")
_FALSE: Final = msgspec.Raw(b"false")
_EMPTY: Final = msgspec.Raw(b"[]")


class _Object(msgspec.Struct, kw_only=True, frozen=True, gc=False):
    """Any JSON object."""


class _Author(msgspec.Struct, kw_only=True, frozen=True, gc=False):
    name: str
    email: str | None
    username: str | None = None


class NativeCommit(msgspec.Struct, kw_only=True, frozen=True, gc=False):
    id: str
    message: str
    author: _Author
    timestamp: str
    url: str
    # Unspecified fields, which cannot be invalid: stored as written, and read as far as possible.
    distinct: msgspec.Raw = _TRUE
    added: msgspec.Raw = _EMPTY
    modified: msgspec.Raw = _EMPTY
    removed: msgspec.Raw = _EMPTY


class _PushRepository(msgspec.Struct, kw_only=True, frozen=True, gc=False):
    id: int
    full_name: str
    default_branch: str


class _Repository(msgspec.Struct, kw_only=True, frozen=True, gc=False):
    id: int
    full_name: str


class _Push(msgspec.Struct, kw_only=True, frozen=True, gc=False):
    ref: str
    # Older Gitea and Gogs send ``null`` for a push without commits, and no ``head_commit`` at all.
    commits: Annotated[list[NativeCommit], msgspec.Meta(max_length=MAX_COMMITS)] | None
    head_commit: HeadCommit | None = None
    repository: _PushRepository
    # Unspecified as well. Only Gitea and Forgejo send the number of commits: they list the newest five, newest first.
    before: msgspec.Raw = _EMPTY
    total_commits: msgspec.Raw = _EMPTY


class _ReleaseFields(msgspec.Struct, kw_only=True, frozen=True, gc=False):
    tag_name: str
    name: str | None
    body: str | None
    prerelease: bool
    draft: bool
    published_at: str | None
    html_url: str
    target_commitish: msgspec.Raw = _EMPTY


class _Release(msgspec.Struct, kw_only=True, frozen=True, gc=False):
    action: str
    release: _ReleaseFields
    repository: _Repository


_ANY: Final = msgspec.json.Decoder(_Object)
_PUSH: Final = msgspec.json.Decoder(_Push)
_RELEASE: Final = msgspec.json.Decoder(_Release)

#: The whole hash of a commit in JSON, SHA-1 or SHA-256.
_HASH: Final = re.compile(rb'"([0-9a-f]{40}(?:[0-9a-f]{24})?)"')
#: A number of commits in JSON.
_COUNT: Final = re.compile(rb"[0-9]{1,9}")
#: A complete JSON string; possessive, so that each byte is read once.
_STRING: Final = re.compile(rb'"(?:[^"\\]|\\.)*+"', re.DOTALL)

_PathLists: TypeAlias = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]
_PATHS: Final = msgspec.json.Decoder(_PathLists)
#: The maximum length of the lists of a commit that are decoded at once, in bytes.
_LISTS: Final = 16 * 1024


def read_object(body: bytes) -> None:
    """Check that ``body`` is one JSON object in UTF-8, or raise :class:`Malformed`."""
    decode_body(body, _ANY)


def read_push(body: bytes) -> Reading:
    """Read a push; raise :class:`Malformed` for a body that lacks a required field."""
    native = decode_body(body, _PUSH)
    paths, repository, head = Paths(), native.repository, native.head_commit
    ref, default_branch = storable_text(native.ref), storable_text(repository.default_branch)
    if head is not None and "\x00" in f"{head.id}{head.message}":
        head = HeadCommit(id=storable(head.id), message=storable(head.message))
    commits = tuple([read_commit(commit, paths) for commit in native.commits or ()])
    total = _COUNT.fullmatch(native.total_commits)
    if total is not None:
        commits = commits[::-1]
    is_cut = total is not None and int(total[0]) > len(commits) > 0
    return Reading(
        event=Push(
            ref=ref,
            branch=ref.removeprefix(BRANCH),
            commits=commits,
            head_commit=head,
            is_cut=is_cut,
            before=_before(native.before) if is_cut else "",
        ),
        repository_id=repository.id,
        repository=repository_name(repository.full_name),
        default_branch=default_branch,
    )


def read_release(body: bytes) -> Reading:
    """Read a release; raise :class:`Malformed` as :func:`read_push`."""
    native = decode_body(body, _RELEASE)
    release = native.release
    return Reading(
        event=Release(
            action=read_action(native.action),
            tag_name=storable_text(release.tag_name),
            name=optional_text(release.name),
            body=optional_text(release.body),
            prerelease=release.prerelease,
            draft=release.draft,
            published_at=optional_text(release.published_at),
            url=storable_text(release.html_url),
            commit=_hash(release.target_commitish),
        ),
        repository_id=native.repository.id,
        repository=repository_name(native.repository.full_name),
    )


def write(reading: Reading) -> tuple[str, dict[str, object]]:
    """Return the event header and the body that the code host would send."""
    repository = {
        "id": reading.repository_id,
        "full_name": reading.repository,
        "default_branch": reading.default_branch or "",
    }
    event = reading.event
    match event:
        case Push():
            head = event.head_commit
            body: dict[str, object] = {
                "ref": event.ref,
                "commits": [written_commit(each) for each in event.commits],
                "head_commit": head and {"id": head.id, "message": head.message},
            }
        case Release():
            release = {
                "tag_name": event.tag_name,
                "name": event.name,
                "body": event.body,
                "prerelease": event.prerelease,
                "draft": event.draft,
                "published_at": event.published_at,
                "html_url": event.url,
                "target_commitish": event.commit,
            }
            body = {"action": event.action, "release": release}
        case _:
            assert_never(event)
    return event.type, {**body, "repository": repository}


def written_commit(commit: Commit) -> dict[str, object]:
    return asdict(commit, filter=lambda attribute, value: attribute.name != "paths_cut" and value is not None)


def _before(text: msgspec.Raw) -> str:
    before = _hash(text)
    return "" if NO_COMMIT.fullmatch(before) else before


def _hash(target: msgspec.Raw) -> str:
    match = _HASH.fullmatch(bytes(target))
    return match[1].decode() if match else ""


@final
class Paths:
    """The paths of one push, bounded in number and length."""

    def __init__(self) -> None:
        self._remaining = MAX_PUSH_PATHS

    def of(self, native: NativeCommit) -> "tuple[_PathLists, int]":
        """Return the added, modified and removed paths of a commit, and the number of omitted ones."""
        lists = _path_lists(native)
        if lists is not None:
            added, modified, removed = lists
            names = added + modified + removed
            joined = "".join(names)
            size = len(joined)
            if (
                len(names) <= MAX_PATHS
                and size <= self._remaining
                and (size <= MAX_PATH or max(map(len, names)) <= MAX_PATH)
                and "" not in names
                and "\x00" not in joined
            ):
                # Nearly all commits: no path is omitted or changed.
                self._remaining -= size
                return lists, 0
        return self._fitting(native)

    def _fitting(self, native: NativeCommit) -> "tuple[_PathLists, int]":
        left, cut = MAX_PATHS, 0
        fitting: list[list[str]] = []
        for raw in (native.added, native.modified, native.removed):
            paths: list[str] = []
            # One by one: as a list, millions of short paths would take many times the size of the body.
            for text in _texts(bytes(raw)):
                name = _name(text) if left else None
                if name and len(name) <= min(MAX_PATH, self._remaining):
                    left -= 1
                    self._remaining -= len(name)
                    paths.append(storable_text(name))
                else:
                    cut += 1
            fitting.append(paths)
        added, modified, removed = map(tuple, fitting)
        return (added, modified, removed), cut


def _path_lists(native: NativeCommit) -> _PathLists | None:
    text = b"[%b,%b,%b]" % (native.added, native.modified, native.removed)
    try:
        return _PATHS.decode(text) if len(text) <= _LISTS else None
    except msgspec.MsgspecError:
        # An unspecified field cannot be invalid.
        return None


def _texts(text: bytes) -> Iterable[bytes]:
    return (found[0] for found in _STRING.finditer(text)) if text.startswith(b"[") else ()


def _name(text: bytes) -> str | None:
    try:
        return msgspec.json.decode(text, type=str)
    except msgspec.MsgspecError:
        # A lone surrogate, which no store accepts.
        return None


def read_commit(native: NativeCommit, paths: Paths) -> Commit:
    """Return a commit, normalized, with the paths within the remaining budget of the push."""
    author = native.author
    texts = (native.id, native.message, native.timestamp, native.url, author.name, author.email or "")
    if "\x00" in "".join(texts):
        texts = map(storable, texts)
    id_, message, timestamp, url, name, email = texts
    (added, modified, removed), cut = paths.of(native)
    return Commit(
        id=id_,
        message=message,
        author=Author(name=name, email=email, username=optional_text(author.username)),
        timestamp=timestamp,
        url=url,
        distinct=native.distinct != _FALSE,
        added=added,
        modified=modified,
        removed=removed,
        paths_cut=cut,
    )


def read_action(text: str) -> str:
    """Return the action of a release as one line; raise :class:`Malformed` if only that line is a processed action."""
    # One line: the action is shown, logged and compared.
    action = one_line(text, _ACTION_LENGTH)
    if action in RELEASE_ACTIONS and action != text:
        message = f"action must be exactly '{action}'"
        raise Malformed(message)
    return action


def repository_name(text: str, field: str = "repository.full_name") -> str:
    """Return the name of a repository as one line; raise :class:`Malformed` if it has not the form ``owner/name``."""
    name = one_line(text, _NAME_LENGTH)
    owner, _, rest = name.partition("/")
    if not (owner and rest):
        message = f"{field} must have the form owner/name"
        raise Malformed(message)
    return name


def optional_text(text: str | None) -> str | None:
    """Return a decoded text, fit for every store; ``None`` stays ``None``."""
    return None if text is None else storable_text(text)


def storable_text(text: str) -> str:
    # The decoder has refused lone surrogates, and checking for them again would cost more than all the rest.
    return storable(text) if "\x00" in text else text
