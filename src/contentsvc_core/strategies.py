"""Hypothesis strategies for the domain's values, for property tests. Needs the extra ``contentsvc[testing]``."""

import json
import re
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any, Final, TypeVar, cast

from attrs import evolve
from hypothesis import note
from hypothesis import strategies as st
from msgspec.structs import replace

from contentsvc_core.events.normalized import RELEASE_ACTIONS, Author, Commit, Event, HeadCommit, Push, Release
from contentsvc_core.testing import address, push_body, release_body, signed
from contentsvc_core.text import one_line
from contentsvc_core.timestamps import from_ms
from contentsvc_core.webhooks.delivery import Address, Delivery, Headers
from contentsvc_core.webhooks.providers import PROVIDERS
from contentsvc_core.webhooks.providers.native import BRANCH, Reading
from contentsvc_core.webhooks.providers.provider import Provider

__all__ = [
    "addresses",
    "bodies",
    "commits",
    "deliveries",
    "delivery_ids",
    "events",
    "foreign_text",
    "instants",
    "pushes",
    "releases",
    "repository_ids",
]

_Value = TypeVar("_Value")


@st.composite
def _built(draw: st.DrawFn, make: Callable[..., _Value], /, **parts: st.SearchStrategy[Any]) -> _Value:
    """Return values of ``make``, as ``st.builds`` does.

    To explain a failing example, Hypothesis calls the test 100 times for each part of ``st.builds`` and ``st.tuples``:
    half a minute, for comments that are not printed inside of events.
    """
    return make(**{name: draw(part) for name, part in parts.items()})


_USUALLY: Final = st.sampled_from([True, False])  # shrinks to the usual value
#: The most characters of a delivery id, and its characters.
_LONGEST_ID: Final = 255
_VISIBLE: Final = st.characters(min_codepoint=0x21, max_codepoint=0x7E)
#: Texts that a writer or a page without escaping shows as something else.
_MARKUP: Final = (
    "<b>beam</b>",
    "<img src=x onerror=alert(1)>",
    "[beam](https://evil.example)",
    "![beam](https://evil.example/x.png)",
    "[beam](javascript:alert(1))",
    "*beam* _beam_ ~~beam~~ `beam`",
    "\n\n# beam\n- horn\n",
    "```\n<!--",
    "&lt;b&gt; \\<b>",
    "@ada #12 |beam|",
    "https://evil.example",
    "\u202emaeb",
    "lamp\u200d\u200b",
    " \t ",
    f"{'beam ' * 39}beam",
)


def foreign_text(*, max_size: int = 200) -> st.SearchStrategy[str]:
    """Return texts as a sanitizer leaves them: no U+0000, no surrogates; some are markup or have ``max_size``."""
    text = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=max_size)
    return text | text | st.sampled_from([each for each in (*_MARKUP, "灯" * max_size) if len(each) <= max_size])


def repository_ids() -> st.SearchStrategy[int]:
    """Return repository ids: 1 to 2^63 - 1."""
    return st.integers(1, 2**63 - 1)


def delivery_ids() -> st.SearchStrategy[str]:
    """Return delivery ids: any valid ones, some of them of 255 characters, and UUIDs. Two may be equal."""
    token = st.text(_VISIBLE, min_size=1, max_size=_LONGEST_ID)
    return token | st.uuids().map(str) | token.map(lambda text: (text * _LONGEST_ID)[:_LONGEST_ID])


def _different_ids() -> st.SearchStrategy[str]:
    """Return delivery ids of which no two are equal: each ends with a UUID."""
    start = st.sampled_from(["", "!" * (_LONGEST_ID - 36)]) | st.text(_VISIBLE, max_size=_LONGEST_ID - 36)
    return _built("{start}{id}".format, start=start, id=st.uuids())


def instants() -> st.SearchStrategy[datetime]:
    """Return points in time from 1970 to 2100: UTC, whole milliseconds."""
    return st.integers(0, 4_102_444_800_000).map(from_ms)


def addresses() -> st.SearchStrategy[Address]:
    """Return hook addresses of all providers."""
    ids = st.from_regex(r"[A-Za-z0-9_-]{1,20}", fullmatch=True)
    return st.builds(
        address,
        provider=st.sampled_from([provider.slug for provider in PROVIDERS]),
        organization_id=ids,
        integration_id=ids,
        repository_id=repository_ids(),
    )


def commits() -> st.SearchStrategy[Commit]:
    """Return commits: half of the texts as code hosts send them, the others of any characters."""
    return _built(
        Commit,
        id=_hashes(),
        message=_messages() | foreign_text(),
        author=_built(
            Author, name=foreign_text(max_size=40), email=foreign_text(max_size=40), username=st.none() | foreign_text()
        ),
        timestamp=_times(),
        url=_urls(),
        distinct=_USUALLY,
        added=_paths(),
        modified=_paths(),
        removed=_paths(),
        paths_cut=st.integers(0, 9),
    )


def _hashes() -> st.SearchStrategy[str]:
    """Return hashes: SHA-1, and SHA-256; some of them occur again, in another push or as another commit."""
    again = st.sampled_from(["72d3162ecc7811e381ab4c9367dc0958deadbeef", "0" * 40])
    return st.one_of(again, *(st.binary(min_size=size, max_size=size).map(bytes.hex) for size in (20, 32)))


def _messages() -> st.SearchStrategy[str]:
    kinds = ["", "feat: ", "fix(beam): ", "feat!: ", "chore(deps): ", "Revert ", "Merge pull request #3 from acme/"]
    ends = ["", " (#12)", "\n\nBREAKING CHANGE: it is gone", "\n\nCo-authored-by: Ada <ada@example.com>", "\r\n"]
    return _built(
        "{kind}{text}{end}".format,
        kind=st.sampled_from(kinds),
        text=foreign_text(max_size=60),
        end=st.sampled_from(ends),
    )


def _times() -> st.SearchStrategy[str]:
    return instants().map(datetime.isoformat) | foreign_text(max_size=30)


def _urls() -> st.SearchStrategy[str]:
    return (
        st.just("")
        | _hashes().map("https://codehost.example/acme/lamp/commit/{}".format)
        | st.just("javascript:alert(1)")
        | foreign_text(max_size=80)
    )


def _paths() -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(foreign_text(max_size=20), max_size=2).map(tuple)


def _tags() -> st.SearchStrategy[str]:
    """Return tags: versions, versions before a release, versions of a package, and any other texts."""
    ends = st.sampled_from(["", "-rc.1", "-beta.2", "a1"])
    starts = st.sampled_from(["v", "", "lamp@", "lamp/v"])
    number = st.integers(0, 30)
    numbered = "{start}{major}.{minor}.{patch}{end}".format
    versions = _built(numbered, start=starts, major=number, minor=number, patch=number, end=ends)
    return versions | foreign_text(max_size=40)


def _other_refs() -> st.SearchStrategy[str]:
    branches = st.sampled_from(["dev", "release/1.x", "feature/grün", "main/2"]) | foreign_text(max_size=40)
    return branches.map("refs/heads/{}".format) | _tags().map("refs/tags/{}".format)


def pushes() -> st.SearchStrategy[Push]:
    """Return pushes to branches and tags: new, moved, deleted and without commits; and pushes that are cut.

    Half of them are to the branch ``main``. A push has at most three commits: :func:`.push_body` makes larger ones.
    """
    return _built(
        _push,
        other_ref=_other_refs(),
        is_main=_USUALLY,
        commits=st.lists(commits(), max_size=3).map(tuple),
        other_head=st.none() | _built(HeadCommit, id=_hashes(), message=_messages() | foreign_text()),
        is_last=st.booleans(),
        before=st.none() | st.just("") | _hashes(),
        off_default=st.booleans(),
    )


def _push(
    *,
    other_ref: str,
    is_main: bool,
    commits: tuple[Commit, ...],
    other_head: HeadCommit | None,
    is_last: bool,
    before: str | None,
    off_default: bool,
) -> Push:
    """Return a push; ``before`` is ``None`` if it is not cut. Only pushes of commits are cut, or off the default."""
    ref = "refs/heads/main" if is_main else other_ref
    last = HeadCommit(id=commits[-1].id, message=commits[-1].message) if commits and is_last else None
    return Push(
        ref=ref,
        branch=ref.removeprefix(BRANCH),
        commits=commits,
        head_commit=last or other_head,
        is_cut=bool(commits) and before is not None,
        before=before or "" if commits else "",
        off_default=bool(commits) and off_default,
    )


def releases() -> st.SearchStrategy[Release]:
    """Return releases and changes of releases: drafts, pre-releases and all others, with and without notes."""
    actions = st.sampled_from([*RELEASE_ACTIONS, "created", "released", "edited", "unpublished", "deleted"])
    return _built(
        Release,
        action=st.sampled_from(RELEASE_ACTIONS) | actions | foreign_text().map(lambda text: one_line(text, 64)),
        tag_name=_tags(),
        name=st.none() | foreign_text(),
        body=st.none() | foreign_text() | _notes(),
        prerelease=st.booleans(),
        draft=st.sampled_from([False, False, False, True]),
        published_at=st.none() | _times(),
        url=_urls(),
        commit=st.just("") | _hashes(),
    )


def _notes() -> st.SearchStrategy[str]:
    """Return release notes as code hosts propose them, and as people write them."""
    lines = _built("{start} {text}".format, start=st.sampled_from(["##", "-", "*", "  -", ">", ""]), text=_messages())
    return st.lists(lines, max_size=4).map("\n".join)


def events() -> st.SearchStrategy[Event]:
    """Return :func:`pushes` and :func:`releases`."""
    return pushes() | releases()


def _push_body(messages: list[str], *, branch: str, repository_id: int) -> dict[str, Any]:
    return push_body(*messages, branch=branch, repository_id=repository_id)


def _with_repository(body: dict[str, Any], value: object) -> dict[str, Any]:
    return {**body, "repository": value}


def bodies(*, repository_id: int = 1) -> st.SearchStrategy[bytes | dict[str, Any]]:
    """Return bodies: well-formed ones of ``codehost`` and ``github``, JSON of other shapes, and arbitrary bytes."""
    json_values = st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
        lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=8), children, max_size=3),
        max_leaves=8,
    )
    well_formed = _built(
        _push_body,
        messages=st.lists(foreign_text(), max_size=3),
        branch=st.sampled_from(["main", "dev"]),
        repository_id=st.just(repository_id),
    ) | _built(
        release_body,
        tag=foreign_text(max_size=20),
        action=st.sampled_from(["published", "prereleased", "created", "deleted"]),
        draft=st.booleans(),
        repository_id=st.just(repository_id),
    )
    broken = _built(_with_repository, body=well_formed, value=json_values)
    return well_formed | broken | st.dictionaries(st.text(max_size=8), json_values, max_size=3) | st.binary()


def _written(
    provider: Provider, repository_ids: st.SearchStrategy[int]
) -> st.SearchStrategy[tuple[str, dict[str, object]]]:
    readings = _built(
        Reading,
        event=events(),
        repository_id=repository_ids,
        repository=st.just("acme/lighthouse"),
        default_branch=st.just("main"),
    )
    # A provider that reports one change in a delivery ignores the others.
    return (readings | _built(_together, reading=readings, also=readings)).map(provider.write)


def _together(reading: Reading, also: Reading) -> Reading:
    return replace(reading, also=(also,))


#: What a reader may find in place of a value: other types, and numbers out of range.
_OTHER_VALUES: Final[tuple[object, ...]] = (None, "", "72", -1, 2**70, 1.5, True, [], {}, [None], {"id": 1})
_MISSING: Final = object()
_WORD: Final = re.compile("[a-z_/]*")


@st.composite
def _damaged(
    draw: st.DrawFn, written: st.SearchStrategy[tuple[str, dict[str, object]]]
) -> tuple[str, bytes | dict[str, Any]]:
    """Return bodies of the provider of which one value is missing or another one, or the texts cannot be stored."""
    event, body = draw(written)
    raw = json.loads(json.dumps(body))
    slots = list(_slots(raw))
    if draw(st.sampled_from([True, True, False])):
        end = draw(st.sampled_from(["\0", "\0", "\ud800"]))
        for node, key in slots:
            # Words of the format, such as types, branches and the repository, stay.
            if isinstance(node[key], str) and not _WORD.fullmatch(node[key]):
                node[key] += end
    else:
        node, key = draw(st.sampled_from(slots))
        value = draw(st.sampled_from([_MISSING, *_OTHER_VALUES]))
        if value is _MISSING:
            del node[key]
        else:
            node[key] = value
    return event, json.dumps(raw).encode()


def _slots(node: object) -> Iterator[tuple[Any, Any]]:
    """Return each container in a value of JSON, with each of its keys or indexes."""
    if isinstance(node, dict | list):
        container = cast("Any", node)
        for key in list(container) if isinstance(node, dict) else range(len(container)):
            yield container, key
            yield from _slots(container[key])


def _fields(provider: Provider) -> st.SearchStrategy[tuple[bytes, tuple[tuple[bytes, bytes], ...]]]:
    """Return the name of a header that is missing and headers that are added: in nine of ten deliveries, neither."""
    own = provider.scheme.name, provider.kind_name, provider.id_name, b"content-type"
    added = [
        *((name, b"other") for name in own),
        (b"content-encoding", b"gzip"),
        (b"cookie", b"\xe9"),
        (b"accept", b""),
    ]
    altered = [*((name, ()) for name in own), *((b"", (field,)) for field in added)]
    return st.sampled_from([*[(b"", ())] * 9 * len(altered), *altered])


def deliveries(
    *,
    at: Address | None = None,
    secret: str = "secret",  # noqa: S107  # of generated deliveries
    ids: st.SearchStrategy[str] | None = None,
) -> st.SearchStrategy[Delivery]:
    """Return deliveries to ``at``, signed with ``secret``: to a hook with another secret, they are forged.

    Half of them are pushes and releases as the provider of ``at`` writes them: the default branch is ``main``, and all
    that :func:`pushes` and :func:`releases` return occurs, one of six for another repository. Of the others, two of
    three have such a body with a damaged value, or with texts that cannot be stored; the rest have any body. One of
    ten lacks a header, or has a repeated or additional one. The names of headers are in lower case, capitalized or in
    upper case. A note to a failing example has the event header, the altered header and the body, because a delivery's
    ``repr`` hides them.

    Args:
        ids: The delivery ids; with few of them, different deliveries have one id. By default, no two are equal.
    """
    at = address() if at is None else at
    kinds = st.sampled_from([*at.dialect.readers, "ping", "issues"])
    of_any_kind = st.tuples(kinds, bodies(repository_id=at.repository_id))
    own, other = at.repository_id, 2 if at.repository_id == 1 else 1
    written = _written(at.dialect, st.sampled_from([own] * 5 + [other]))
    damaged = _damaged(written)
    return st.builds(
        _delivery,
        at=st.just(at),
        secret=st.just(secret),
        content=st.one_of(of_any_kind, damaged, damaged, written, written, written),
        delivery_id=_different_ids() if ids is None else ids,
        spelled=st.sampled_from([bytes.lower, bytes.title, bytes.upper]),
        fields=_fields(at.dialect),
    )


def _delivery(
    at: Address,
    secret: str,
    content: tuple[str, bytes | dict[str, Any]],
    delivery_id: str,
    spelled: Callable[[bytes], bytes],
    fields: tuple[bytes, tuple[tuple[bytes, bytes], ...]],
) -> Delivery:
    (event, body), (missing, added) = content, fields
    delivery = signed(body, at=at, secret=secret, event=event, delivery_id=delivery_id, headers=added)
    altered = f", without {missing!r}" if missing else f", also with {added!r}" if added else ""
    note(f"{event}{altered}: {delivery.body!r}")
    kept = ((spelled(name), value) for name, value in delivery.headers if name != missing)
    return evolve(delivery, headers=Headers.of(kept))
