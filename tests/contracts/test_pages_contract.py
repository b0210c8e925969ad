"""Pages of long lists, on every store: the same as parts of the whole list, after any changes and sweeps."""

import random
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final, Protocol

import pytest
from attrs import evolve
from contract_values import ALL_BYTES, IDS, Tenant, a_post, in_batches, later, take, tenant
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.builders import an_entry

from contentsvc_core.content.posts import ContentType, Post, PostStatus
from contentsvc_core.content.queries import PostQuery
from contentsvc_core.journal import LogEntry, LogQuery, LogStatus
from contentsvc_core.lists.pagination import PageRequest, Pagination, paginate
from contentsvc_core.refusals import Refusal
from contentsvc_core.testing import START

_NUMBER: Final = 160
_INTEGRATIONS: Final = ("int_0", "int_1", "int_2")
_BRANDS: Final = ("brand_0", "brand_1")
#: The fixture is built once for all examples, which only read.
_reading = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
#: The hours of most entries, after the start.
_HOURS: Final = (0, 1, 2, 23, 24, 25, 47, 72, 30 * 24 - 1, 30 * 24, 200 * 24, 201 * 24)
#: The first or the last time of a list: at entries, between them, and before and after all of them.
_LIMITS = st.none() | st.sampled_from(
    [
        START + timedelta(hours=hours, milliseconds=ms)
        for hours in (-30 * 24, *_HOURS, 400 * 24, 500 * 24)
        for ms in (0, 1, 2, 10, 11, 3_599_999)
    ]
)
_PAGES = st.builds(
    PageRequest,
    limit=st.sampled_from([1, 2, 7, 10, 50, 100]),
    # Often near the beginning; the test turns it into a page of the list, or the page after the last one.
    page=st.integers(1, _NUMBER),
)


class _Listed(Protocol):
    @property
    def id(self) -> str: ...
    @property
    def created_at(self) -> datetime: ...


def _times(chance: random.Random) -> list[datetime]:
    """Return times that are dense in some hours and months apart elsewhere; some are equal."""
    times = [
        START + timedelta(hours=chance.choice(_HOURS), milliseconds=chance.choice([0, 1, 3_599_999, 10, 10]))
        for _ in range(_NUMBER - 1)
    ]
    # A single time, far from all others.
    return [*times, START + timedelta(days=400)]


def _newest_first(items: Sequence[Any]) -> list[Any]:
    def sort_key(item: _Listed) -> tuple[datetime, str]:
        return item.created_at, item.id

    return sorted(items, key=sort_key, reverse=True)


async def _log(acme: Tenant, chance: random.Random) -> list[LogEntry]:
    zenith = await tenant(acme.stores, "zenith")
    entries = [
        an_entry(
            at,
            id=IDS.new_id("log_"),
            organization_id=acme.id,
            # Few values of the third kind.
            integration_id=chance.choices(_INTEGRATIONS, [20, 10, 1])[0],
            status=chance.choices(list(LogStatus), [20, 4, 4])[0],
        )
        for at in _times(chance)
    ]
    journal = acme.stores.journal
    foreign = [evolve(entry, organization_id=zenith.id) for entry in entries[:9]]
    await in_batches(map(journal.append, [*entries, *foreign]))
    for index in range(0, _NUMBER, 7):
        entries[index] = evolve(entries[index], status=chance.choice(list(LogStatus)))
    await in_batches(journal.finish(entries[index]) for index in range(0, _NUMBER, 7))
    swept = later(hours=1)
    while await journal.sweep(acme.id, before=swept, limit=20):
        pass
    return _newest_first([entry for entry in entries if entry.created_at >= swept])


async def _posts(acme: Tenant, chance: random.Random) -> list[Post]:
    settling = [await acme.processed(IDS.new_id("d-")) for _ in range(_NUMBER // 2)]
    await in_batches(map(acme.stores.deliveries.settle, settling))
    runs = await take(acme.stores, [run.id for each in settling for run in each.runs])
    posts = [
        a_post(
            acme.id,
            at,
            status=chance.choices(list(PostStatus), [9, 1])[0],
            content_type=chance.choice(list(ContentType)),
            source_metadata=chance.choice([None, *({"brandIdentityId": brand} for brand in _BRANDS)]),
        )
        for at in _times(chance)
    ]
    await in_batches(acme.stores.ledger.complete(run, post, once=None) for run, post in zip(runs, posts, strict=True))
    for index in range(0, _NUMBER, 9):
        before = posts[index]
        other = next(status for status in PostStatus if status is not before.status)
        posts[index] = evolve(before, status=other, updated_at=before.updated_at + timedelta(seconds=1))
        assert await acme.stores.posts.change(posts[index], unchanged_since=before.updated_at)
    removed = posts[5::11]
    for post in removed:
        assert await acme.stores.posts.remove(acme.id, post.id)
    return _newest_first([post for post in posts if post not in removed])


@pytest.fixture
async def log(acme: Tenant) -> Sequence[LogEntry]:
    """The written entries that are not swept, newest first."""
    return await _log(acme, random.Random(5))  # noqa: S311  # no secret


@pytest.fixture
async def posts(acme: Tenant) -> Sequence[Post]:
    """The written posts that are not removed, newest first."""
    return await _posts(acme, random.Random(5))  # noqa: S311  # no secret


def _cut(expected: Sequence[Any], request: PageRequest) -> tuple[Sequence[Any], Pagination] | Refusal:
    pagination = paginate(request, len(expected))
    if isinstance(pagination, Refusal):
        return pagination
    return list(expected[request.offset : request.offset + request.limit]), pagination


def _within(request: PageRequest, expected: Sequence[Any]) -> PageRequest:
    """Map a number to a page of the list, or to the page after the last one."""
    return evolve(request, page=1 + (request.page - 1) % (2 + len(expected) // request.limit))


@pytest.mark.slow("a short campaign over generated examples")
@_reading
@given(
    request=_PAGES,
    integrations=st.lists(st.sampled_from([*_INTEGRATIONS, "int_unknown"]), unique=True),
    statuses=st.lists(st.sampled_from(LogStatus), unique=True),
    since=_LIMITS,
    until=_LIMITS,
)
async def test_a_page_of_the_log_is_cut_out_of_the_whole(  # noqa: PLR0917  # the values of a query
    acme: Tenant,
    log: Sequence[LogEntry],
    request: PageRequest,
    integrations: list[str],
    statuses: list[LogStatus],
    since: datetime | None,
    until: datetime | None,
) -> None:
    expected = [
        entry
        for entry in log
        if (not integrations or entry.integration_id in integrations)
        and (not statuses or entry.status in statuses)
        and (since is None or since <= entry.created_at)
        and (until is None or entry.created_at < until)
    ]
    folded = _within(request, expected)
    query = LogQuery(integration_ids=tuple(integrations), statuses=tuple(statuses), since=since, until=until)

    assert await acme.stores.journal.page(acme.id, query, folded, max_bytes=ALL_BYTES) == _cut(expected, folded)


@pytest.mark.slow("a short campaign over generated examples")
@_reading
@given(
    request=_PAGES,
    ascending=st.booleans(),
    statuses=st.lists(st.sampled_from(PostStatus), unique=True),
    kinds=st.lists(st.sampled_from(ContentType), unique=True, max_size=2),
    brands=st.lists(st.sampled_from([*_BRANDS, "brand_unknown"]), unique=True),
)
async def test_a_page_of_posts_is_cut_out_of_the_whole(
    acme: Tenant,
    posts: Sequence[Post],
    request: PageRequest,
    statuses: list[PostStatus],
    kinds: list[ContentType],
    brands: list[str],
    *,
    ascending: bool,
) -> None:
    expected = [
        post
        for post in (reversed(posts) if ascending else posts)
        if (not statuses or post.status in statuses)
        and (not kinds or post.content_type in kinds)
        and (not brands or (post.source_metadata or {}).get("brandIdentityId") in brands)
    ]
    folded = _within(request, expected)
    query = PostQuery(
        ascending=ascending, statuses=tuple(statuses), content_types=tuple(kinds), brand_identity_ids=tuple(brands)
    )

    assert await acme.stores.posts.page(acme.id, query, folded) == _cut(expected, folded)
