"""``Search``: the same results in every store, without data of other organizations, and up to date."""

from collections.abc import Sequence
from functools import cache

import pytest
from attrs import evolve
from contract_values import IDS, Tenant, a_post, later, push, release, tenant
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.builders import a_record

from contentsvc_core.content.posts import ContentType, Post, PostStatus
from contentsvc_core.events.normalized import Event
from contentsvc_core.lists.cursors import Cursor
from contentsvc_core.lists.terms import Term, read_terms
from contentsvc_core.refusals import Refusal
from contentsvc_core.search.documents import record_words
from contentsvc_core.search.questions import ContextSearch, PostSearch
from contentsvc_core.workflows.context import ContextRecord

#: The fixture is built once for all examples, which only read.
_reading = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
_MUCH = 10_000_000
_EVENTS: tuple[Event, ...] = (
    push("feat: light the lamp", "fix(rate_limit): count DeliveryStore once"),
    push("docs: explain the lamp's colour"),
    push("fix: ÄRGER mit Straße und İstanbul"),
    push("feat: ランプを追加しました", "chore: 修正"),
    push('it\'s a "quoted" AND OR NOT NEAR(a b) col:umn ^x* -y', "a'b''c \\ & | ! <-> :* %_"),
    release("v1.2.3"),
    evolve(release("v1.20.0"), name="The lamp", body="Rate limits: now 60 per minute.\n\n- no more flicker"),
    evolve(release("2026.11"), body=None),
)
_QUERIES = (
    "lamp",
    "LAMP colour",
    "lam*",
    "lamp -colour",
    "-lamp",
    "rate_limit",
    "rate-limit*",
    "deliverystore",
    "delivery store",
    "DeliveryStore -fix",
    "1.2.3",
    "v1.2*",
    "1.2",
    "strasse",
    "ärger",
    "i̇stanbul",
    "ランプ",
    "正修",
    "and or not near",
    "NEAR(a b)",
    "col:umn",
    "a'b''c",
    "& | ! x",
    "ada",
    "example.com",
    "00000000000*",
    "acme/lighthouse",
    "release published",
    "main -feat",
    "\ue000abc",
)


def _terms(text: str) -> tuple[Term, ...]:
    terms = read_terms(text)
    assert not isinstance(terms, Refusal)
    return terms


@cache
def _words(event: Event) -> frozenset[str]:
    record = a_record(event)
    return frozenset(record_words(record))


async def _ids(of: Tenant, query: str, **narrowed: object) -> list[str]:
    search = evolve(ContextSearch(terms=_terms(query)), **narrowed)
    hits = await of.stores.search.records(of.id, search, limit=50, max_bytes=_MUCH)
    assert (hits.has_more, hits.behind) == (False, 0)
    return [record.delivery_id for record in hits.found]


@pytest.fixture
async def records(acme: Tenant) -> Sequence[ContextRecord]:
    """A record of each event, newest first, in two repositories; and another organization's."""
    zenith = await tenant(acme.stores, "zenith", repository_id=9, full_name="Zenith/Rate-Limit")
    for number, event in enumerate(_EVENTS):
        for of in (acme, zenith):
            await acme.stores.deliveries.settle(await of.processed(f"D-{number}", event, at=later(hours=number // 2)))
    return await acme.stores.contexts.records(acme.id)


#: The matches of each query, newest first.
_FOUND = {
    "lamp": ["D-6", "D-1", "D-0"],
    "LAMP colour": ["D-1"],
    "lamp -colour": ["D-6", "D-0"],
    "lamp -colour -fix": ["D-6"],
    "flick*": ["D-6"],
    "flick": [],
    "rate_limit": ["D-0"],
    "rate limit*": ["D-6", "D-0"],
    "delivery store": ["D-0"],
    "deliverystore": ["D-0"],
    "1.2.3": ["D-5"],
    "v1.2.3": ["D-5"],
    "1.2*": ["D-6", "D-5"],
    "1.2": [],
    "STRASSE": ["D-2"],
    "İstanbul": ["D-2"],
    "追加": ["D-3"],
    "near and quoted": ["D-4"],
    "0000000000000000000000000000000000000002 rate": ["D-0"],
    "ada push": ["D-4", "D-3", "D-2", "D-1", "D-0"],
    "example.com": [],
    "": ["D-7", "D-6", "D-5", "D-4", "D-3", "D-2", "D-1", "D-0"],
}


async def test_words_find_records(acme: Tenant, records: Sequence[ContextRecord]) -> None:
    assert records
    assert {query: await _ids(acme, query) for query in _FOUND} == _FOUND


@_reading
@given(
    query=st.one_of(
        st.sampled_from(_QUERIES),
        st.lists(st.sampled_from(_QUERIES), min_size=2, max_size=4).map(" ".join),
        st.text(alphabet="lampLAMPrate12.*- '\"äÄßﬁ追加()&|:!%_\\", max_size=8),
        st.text(max_size=12),
    )
)
async def test_a_search_finds_exactly_the_records_with_the_words(
    acme: Tenant, records: Sequence[ContextRecord], query: str
) -> None:
    terms = read_terms(query)
    if isinstance(terms, Refusal):
        return
    expected = [each for each in records if all(term.matches(_words(each.event)) for term in terms)]
    hits = await acme.stores.search.records(acme.id, ContextSearch(terms=terms), limit=50, max_bytes=_MUCH)
    assert list(hits.found) == expected


async def test_filters_combine_with_words(acme: Tenant, records: Sequence[ContextRecord]) -> None:
    assert records
    assert await _ids(acme, "", event_types=("release",)) == ["D-7", "D-6", "D-5"]
    assert await _ids(acme, "lamp", event_types=("push",)) == ["D-1", "D-0"]
    assert await _ids(acme, "", since=later(hours=3)) == ["D-7", "D-6"]
    assert await _ids(acme, "lamp", repository="acme/lighthouse") == ["D-6", "D-1", "D-0"]
    assert await _ids(acme, "lamp", repository="zenith/rate-limit") == []


async def test_a_repository_filter_ignores_case(acme: Tenant) -> None:
    zenith = await tenant(acme.stores, "zenith", repository_id=9, full_name="Zenith/Rate-Limit")
    await acme.stores.deliveries.settle(await zenith.processed("D-1"))
    search = ContextSearch(repository="zENITH/rate-limit")

    hits = await acme.stores.search.records(zenith.id, search, limit=9, max_bytes=_MUCH)

    assert [each.repository for each in hits.found] == ["Zenith/Rate-Limit"]


@pytest.mark.parametrize("query", ["", "ada"])
async def test_parts_lead_through_all_of_it(acme: Tenant, records: Sequence[ContextRecord], query: str) -> None:
    search = ContextSearch(terms=_terms(query))
    expected = [each for each in records if not query or each.event.type == "push"]
    read: list[ContextRecord] = []
    cursor: Cursor | None = None
    has_more = True
    while has_more:
        hits = await acme.stores.search.records(acme.id, search, limit=2, max_bytes=_MUCH, before=cursor)
        assert len(hits.found) == min(2, len(expected) - len(read))
        read += hits.found
        has_more = hits.has_more
        cursor = Cursor.of(read[-1])

    assert read == expected


async def test_a_part_is_no_larger_than_it_may_be(acme: Tenant, records: Sequence[ContextRecord]) -> None:
    hits = await acme.stores.search.records(acme.id, ContextSearch(), limit=5, max_bytes=1)
    assert list(hits.found) == [records[0]]
    assert hits.has_more


async def test_a_record_that_is_replaced_is_found_by_its_new_words_alone(acme: Tenant) -> None:
    for hours, event in ((0, push("feat: old words")), (25, push("feat: new words"))):
        settling = await acme.processed("D-1", event, at=later(hours=hours))
        await acme.stores.deliveries.settle(settling)
        assert await _ids(acme, "words") == ["D-1"]

    assert await _ids(acme, "new") == ["D-1"]
    assert await _ids(acme, "old") == []


async def _written(of: Tenant, **changes: object) -> Post:
    run = await of.taken(at=later(hours=len(await of.stores.posts.posts(of.id))))
    post = a_post(of.id, run.created_at, **changes)
    await of.stores.ledger.complete(run, post, once=None)
    return post


async def _titles(of: Tenant, query: str, **narrowed: object) -> list[str]:
    search = evolve(PostSearch(terms=_terms(query)), **narrowed)
    hits = await of.stores.search.posts(of.id, search, limit=50)
    return [post.title for post in hits.found]


async def test_words_find_posts(acme: Tenant) -> None:
    zenith = await tenant(acme.stores, "zenith", repository_id=9)
    await _written(zenith, title="Another one's lamp")
    await _written(acme, title="Lamps", markdown="A lamp that *lights*.")
    await _written(acme, title="Doors", markdown="A door.", content_type=ContentType.BLOG_POST)
    await _written(acme, title="Both", markdown="Lamp and door.", status=PostStatus.PUBLISHED)

    assert await _titles(acme, "") == ["Both", "Doors", "Lamps"]
    assert await _titles(acme, "lamp") == ["Both", "Lamps"]
    assert await _titles(acme, "lamp -door") == ["Lamps"]
    assert await _titles(acme, "lights") == ["Lamps"]
    assert await _titles(acme, "door", content_types=(ContentType.BLOG_POST,)) == ["Doors"]
    assert await _titles(acme, "lamp", statuses=(PostStatus.PUBLISHED,)) == ["Both"]
    assert await _titles(acme, "", since=later(hours=1)) == ["Both", "Doors"]
    assert await _titles(acme, "feat") == []


async def test_posts_come_in_parts(acme: Tenant) -> None:
    written = [await _written(acme, title=f"Post {number}") for number in range(3)]

    first = await acme.stores.search.posts(acme.id, PostSearch(terms=_terms("post")), limit=2)
    rest = await acme.stores.search.posts(
        acme.id, PostSearch(terms=_terms("post")), limit=2, before=Cursor.of(first.found[-1])
    )

    assert [*first.found, *rest.found] == written[::-1]
    assert (first.has_more, rest.has_more) == (True, False)


async def test_a_search_uses_the_current_version_of_a_post(acme: Tenant) -> None:
    post = await _written(acme, title="Lamps", markdown="A lamp.")
    assert await _titles(acme, "lamp") == ["Lamps"]

    changed = evolve(post, markdown="A door.", updated_at=later(days=1))
    assert await acme.stores.posts.change(changed, unchanged_since=post.updated_at)
    assert await _titles(acme, "lamp") == []
    assert await _titles(acme, "door") == ["Lamps"]

    published = evolve(changed, status=PostStatus.PUBLISHED, updated_at=later(days=2))
    assert await acme.stores.posts.change(published, unchanged_since=changed.updated_at)
    assert await _titles(acme, "door", statuses=(PostStatus.PUBLISHED,)) == ["Lamps"]

    assert await acme.stores.posts.remove(acme.id, post.id)
    assert await _titles(acme, "door") == []


@pytest.mark.slow("writes or reads very large texts")
async def test_indexed_records_are_not_indexed_again(acme: Tenant, records: Sequence[ContextRecord]) -> None:
    looked_at = 0
    while looked := await acme.stores.search.catch_up(limit=3):
        assert looked <= 3
        looked_at += looked
    # The records of both organizations, in stores with an index.
    assert looked_at in {0, 2 * len(records)}
    assert await _ids(acme, "colour") == ["D-1"]
    assert await acme.stores.search.catch_up(limit=3) == 0


@pytest.mark.slow("writes or reads very large texts")
async def test_a_very_large_document_is_found_by_its_beginning(acme: Tenant) -> None:
    many = " ".join(f"word{number}" for number in range(100_000))
    await acme.stores.deliveries.settle(await acme.processed(IDS.new_id("D-"), push(many, "feat: the last commit")))

    assert len(await _ids(acme, "word1")) == 1
    assert await _ids(acme, "word99999") == []
