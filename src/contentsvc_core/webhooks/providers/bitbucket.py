"""The provider ``bitbucket``: Bitbucket Cloud (docs/decisions/0059-providers.md).

One delivery reports all refs of a push, each with its newest five commits. There are no releases: a new tag that names
a version is one. Repositories have no numbers, and deliveries no default branch.
"""

import hashlib
import re
from typing import Annotated, Final, assert_never
from uuid import UUID

import msgspec

from contentsvc_core.events.normalized import Author, Commit, HeadCommit, Push, Release
from contentsvc_core.identifiers import MAX_REPOSITORY_ID
from contentsvc_core.on_demand import late
from contentsvc_core.webhooks.providers.decoding import Malformed, decode_body
from contentsvc_core.webhooks.providers.native import BRANCH, Reading, optional_text, repository_name, storable_text
from contentsvc_core.webhooks.providers.provider import Provider, Setup
from contentsvc_core.webhooks.providers.tags import is_prerelease, is_version, release_action
from contentsvc_core.webhooks.signature import HmacSha256

_TAG: Final = "refs/tags/"
#: A push that creates more versions imports a history: none of them is a release.
_MOST_VERSIONS: Final = 20
#: The most refs and commits of one delivery. Bitbucket lists five commits of a ref.
_MOST_CHANGES: Final = 1000
_MOST_COMMITS: Final = 100
#: ``Ada Lovelace <ada@example.com>``. Spaces are stripped outside: in the pattern, many would take quadratic time.
_RAW: Final = late(r"(?P<name>[^<>]*)<(?P<email>[^<>]*)>")
#: Bits of a number that every reader of JSON keeps exactly (RFC 8259, section 6).
_NUMBER_BITS: Final = 53


class _Link(msgspec.Struct, kw_only=True, frozen=True, gc=False):
    href: str = ""


class _Links(msgspec.Struct, kw_only=True, frozen=True, gc=False):
    html: _Link = _Link()


class _User(msgspec.Struct, kw_only=True, frozen=True, gc=False):
    nickname: str | None = None


class _Author(msgspec.Struct, kw_only=True, frozen=True, gc=False):
    raw: str
    user: _User | None = None


class BitbucketCommit(msgspec.Struct, kw_only=True, frozen=True, gc=False):
    hash: str
    message: str
    date: str
    author: _Author
    links: _Links = _Links()


class _Target(msgspec.Struct, kw_only=True, frozen=True, gc=False):
    hash: str
    message: str = ""
    date: str | None = None


class _Ref(msgspec.Struct, kw_only=True, frozen=True, gc=False):
    type: str
    name: str
    target: _Target
    links: _Links = _Links()
    message: str | None = None
    date: str | None = None


class _Change(msgspec.Struct, kw_only=True, frozen=True, gc=False):
    new: _Ref | None
    old: _Ref | None
    commits: Annotated[list[BitbucketCommit], msgspec.Meta(max_length=_MOST_COMMITS)] = []
    truncated: bool = False


class _Changes(msgspec.Struct, kw_only=True, frozen=True, gc=False):
    changes: Annotated[list[_Change], msgspec.Meta(max_length=_MOST_CHANGES)]


class _Repository(msgspec.Struct, kw_only=True, frozen=True, gc=False):
    uuid: str
    full_name: str


class _Push(msgspec.Struct, kw_only=True, frozen=True, gc=False):
    push: _Changes
    repository: _Repository


_PUSH: Final = msgspec.json.Decoder(_Push)


def repository_number(uuid: str) -> int | None:
    """Return the number of a repository, which its UUID determines; ``None``: the text is no UUID."""
    try:
        value = UUID(uuid)
    except ValueError:
        return None
    if value.int <= MAX_REPOSITORY_ID:
        # Bitbucket's UUIDs have a version (RFC 9562); this is a delivery that :func:`_write` wrote.
        return value.int or None
    digest = hashlib.blake2b(value.bytes, digest_size=8).digest()
    return (int.from_bytes(digest) >> (64 - _NUMBER_BITS)) or 1


def bitbucket_commit(native: BitbucketCommit) -> Commit:
    raw = _RAW.fullmatch(native.author.raw.strip())
    user = native.author.user
    return Commit(
        id=storable_text(native.hash),
        message=storable_text(native.message),
        author=Author(
            name=storable_text(raw["name"].strip() if raw else native.author.raw),
            email=storable_text(raw["email"]) if raw else "",
            username=optional_text(user.nickname) if user else None,
        ),
        timestamp=storable_text(native.date),
        url=storable_text(native.links.html.href),
    )


def _read_push(body: bytes) -> Reading:
    native = decode_body(body, _PUSH)
    number = repository_number(native.repository.uuid)
    if number is None:
        message = "repository.uuid must be a UUID"
        raise Malformed(message)
    changes = native.push.changes
    imports = sum(map(_is_version, changes)) > _MOST_VERSIONS
    # A release looks back at pushes: those of its own delivery come first.
    events = sorted((_event(change, imports=imports) for change in changes), key=lambda event: event.type)
    if not events:
        message = "push.changes must not be empty"
        raise Malformed(message)
    name = repository_name(native.repository.full_name)
    first, *others = (Reading(event=event, repository_id=number, repository=name) for event in events)
    return msgspec.structs.replace(first, also=tuple(others)) if others else first


def _is_version(change: _Change) -> bool:
    new = change.new
    return new is not None and change.old is None and new.type == "tag" and is_version(new.name)


def _event(change: _Change, *, imports: bool) -> Push | Release:
    new = change.new
    ref = new or change.old
    if ref is None:
        message = "push.changes[].new or push.changes[].old must be an object"
        raise Malformed(message)
    name = storable_text(ref.name)
    if new is not None and _is_version(change) and not imports:
        notes = (new.message or "").strip()
        return Release(
            action=release_action(name),
            tag_name=name,
            name=None,
            # An annotation of one line repeats the version.
            body=storable_text(notes) if "\n" in notes else None,
            prerelease=is_prerelease(name),
            draft=False,
            published_at=optional_text(new.date or new.target.date),
            url=storable_text(new.links.html.href),
            commit=storable_text(new.target.hash),
        )
    full = f"{_TAG if ref.type == 'tag' else BRANCH}{name}"
    # The newest commit comes first.
    commits = tuple(bitbucket_commit(each) for each in reversed(change.commits)) if new else ()
    head = new and HeadCommit(id=storable_text(new.target.hash), message=storable_text(new.target.message))
    is_cut = change.truncated and bool(commits)
    return Push(
        ref=full,
        branch=full.removeprefix(BRANCH),
        commits=commits,
        head_commit=head,
        is_cut=is_cut,
        before=storable_text(change.old.target.hash) if is_cut and change.old else "",
    )


def _write(reading: Reading) -> tuple[str, dict[str, object]]:
    changes = [_written(each) for each in (reading, *reading.also)]
    # A repository of another code host has no UUID: its number becomes one.
    uuid = f"{{{UUID(int=reading.repository_id)}}}"
    repository = {"uuid": uuid, "full_name": reading.repository}
    return "repo:push", {"push": {"changes": changes}, "repository": repository}


def _written(reading: Reading) -> dict[str, object]:
    event = reading.event
    match event:
        case Push():
            kind = "tag" if event.ref.startswith(_TAG) else "branch"
            ref: dict[str, object] = {"type": kind, "name": event.ref.removeprefix(_TAG).removeprefix(BRANCH)}
            head = event.head_commit
            return {
                "new": head and {**ref, "target": {"hash": head.id, "message": head.message}},
                "old": {**ref, "target": {"hash": event.before}} if event.before or head is None else None,
                "commits": [_written_commit(each) for each in reversed(event.commits)],
                "truncated": event.is_cut,
            }
        case Release():
            tag = {
                "type": "tag",
                "name": event.tag_name,
                "target": {"hash": event.commit},
                "links": {"html": {"href": event.url}},
                "message": event.body,
                "date": event.published_at,
            }
            return {"new": tag, "old": None, "commits": [], "truncated": False}
        case _:
            assert_never(event)


def _written_commit(commit: Commit) -> dict[str, object]:
    author = commit.author
    user = None if author.username is None else {"nickname": author.username}
    return {
        "hash": commit.id,
        "message": commit.message,
        "date": commit.timestamp,
        "author": {"raw": f"{author.name} <{author.email}>", "user": user},
        "links": {"html": {"href": commit.url}},
    }


BITBUCKET: Final = Provider(
    slug="bitbucket",
    name="Bitbucket Cloud",
    scheme=HmacSha256(header="X-Hub-Signature"),
    event_header="X-Event-Key",
    # X-Attempt-Number counts the button "Resend" as well (docs/decisions/0059-providers.md).
    delivery_header="X-Request-UUID",
    readers={"repo:push": _read_push},
    write=_write,
    setup=Setup(
        where="In the repository there, under Repository settings, Webhooks",
        url_field="URL",
        content_type=None,
        events=("Repository push",),
        events_text="repository push",
    ),
    operation_id="connectBitbucket",
    api_url="https://api.bitbucket.org/2.0",
    hosts={"bitbucket": ""},
    request_number=re.compile(r"\(pull request #([0-9]{1,10})\)", re.ASCII),
)
