"""Deliveries with valid and invalid bodies."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, Final, cast

from attrs import evolve
from hypothesis import note
from hypothesis import strategies as st
from msgspec.structs import replace

from contentsvc_core.strategies.values import built, different_ids, events, foreign_text
from contentsvc_core.testing import address, push_body, release_body, signed
from contentsvc_core.webhooks.delivery import Address, Delivery, Headers
from contentsvc_core.webhooks.providers.native import Reading
from contentsvc_core.webhooks.providers.provider import Provider


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
    well_formed = built(
        _push_body,
        messages=st.lists(foreign_text(), max_size=3),
        branch=st.sampled_from(["main", "dev"]),
        repository_id=st.just(repository_id),
    ) | built(
        release_body,
        tag=foreign_text(max_size=20),
        action=st.sampled_from(["published", "prereleased", "created", "deleted"]),
        draft=st.booleans(),
        repository_id=st.just(repository_id),
    )
    broken = built(_with_repository, body=well_formed, value=json_values)
    return well_formed | broken | st.dictionaries(st.text(max_size=8), json_values, max_size=3) | st.binary()


def _written(
    provider: Provider, repository_ids: st.SearchStrategy[int]
) -> st.SearchStrategy[tuple[str, dict[str, object]]]:
    readings = built(
        Reading,
        event=events(),
        repository_id=repository_ids,
        repository=st.just("acme/lighthouse"),
        default_branch=st.just("main"),
    )
    # A provider that reports one change in a delivery ignores the others.
    return (readings | built(_together, reading=readings, also=readings)).map(provider.write)


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
        delivery_id=different_ids() if ids is None else ids,
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
