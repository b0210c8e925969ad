"""All values that the core accepts are stored and read back unchanged."""

from datetime import datetime

import pytest
from attrs import evolve
from contract_values import IDS, Tenant, a_post, later, push, release, take, tenant
from hypothesis import HealthCheck, given, settings
from tests.golden import delivered

from contentsvc_core.content.brand_changes import UNKNOWN_BRAND
from contentsvc_core.content.public.changelogs import PublicChangelog
from contentsvc_core.events.normalized import Event
from contentsvc_core.strategies import delivery_ids, events, instants
from contentsvc_core.webhooks.settlement import Settled

_TEXTS = {
    "emoji": "🚢⚓ 👩‍👩‍👧‍👦 \U0010ffff",
    "right to left": "مرحبا \u202eabc\u202c שלום",
    "replacement": "\ufffd\ufeff\u2028\x01\x7f",
    "quotes": "'; DROP TABLE posts; -- \" \\ %s ? :name {x} $1",
    "long": "ü" * 100_000,
    "empty": "",
    "spaces": " \t\r\n ",
    "combining": "e\u0301 é",
}


@pytest.mark.parametrize("text", _TEXTS.values(), ids=_TEXTS)
async def test_hostile_text_reads_back_as_it_was(acme: Tenant, text: str) -> None:
    event = evolve(push(text, text), ref=text, branch=text)
    settling = await acme.processed("d-1", event)
    await acme.stores.deliveries.settle(settling)
    (run,) = await take(acme.stores, [settling.runs[0].id])
    post = a_post(acme.id, title=text, content=text, markdown=text, source_metadata={"writer": text})
    await acme.stores.ledger.complete(run, post, once=text)
    await acme.stores.deliveries.settle(await acme.processed("d-2", evolve(release(text), body=text, name=text)))

    assert await acme.stores.posts.posts(acme.id) == [post]
    records = await acme.stores.contexts.records(acme.id)
    assert [record.event for record in reversed(records)] == [event, evolve(release(text), body=text, name=text)]
    assert records[1] == settling.context
    assert settling.log in await acme.stores.journal.entries(acme.id)


@pytest.mark.parametrize("text", ["", "\0", "\ud800", "a b", "é", "a" * 65], ids=ascii)
async def test_text_that_is_no_id_is_the_id_of_nothing(acme: Tenant, text: str) -> None:
    stores = acme.stores

    assert await stores.posts.post(acme.id, text) is None
    assert await stores.jobs.job(acme.id, text) is None
    assert await stores.run_lists.run(acme.id, text) is None
    assert await stores.journal.entry(acme.id, text) is None
    assert await stores.read_model.entry(acme.id, text) is None
    assert await stores.triggers.find(acme.id, text) is None
    assert await stores.schedules.find(acme.id, text) is None
    assert await stores.brands.identity(acme.id, text) is None
    assert await stores.endpoints.endpoint(acme.id, text) is None
    assert await stores.directory.integration(acme.id, text) is None
    assert await stores.keys.key(text) is None
    assert await stores.changelogs.post(PublicChangelog.first(acme.organization, later()), text) is None
    for removed in (
        await stores.triggers.remove(acme.id, text),
        await stores.schedules.remove(acme.id, text),
        await stores.endpoints.remove(acme.id, text),
        await stores.directory.enable_integration(acme.id, text, enabled=False),
    ):
        assert removed is False
    assert await stores.brands.remove(acme.id, text) == UNKNOWN_BRAND
    assert await stores.directory.remove_integration(acme.id, text) is None


async def test_the_largest_repository_id_is_stored(acme: Tenant) -> None:
    largest = await tenant(acme.stores, "zenith", repository_id=2**63 - 1, full_name="zenith/max")
    settling = await largest.processed("d-1")

    assert await largest.stores.deliveries.settle(settling) is Settled.AS_DECIDED

    assert await largest.stores.contexts.records(largest.id) == [settling.context]
    assert {delivered(run).repository_id for run in await largest.stores.ledger.runs(largest.id)} == {2**63 - 1}
    assert (await largest.stores.journal.entries(largest.id))[0].repository_id == 2**63 - 1
    assert (await largest.hook()).triggers == largest.triggers


@pytest.mark.slow("a short campaign over generated examples")
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(event=events(), delivery_id=delivery_ids(), at=instants())
async def test_any_event_reads_back_as_it_was(acme: Tenant, event: Event, delivery_id: str, at: datetime) -> None:
    # All examples share a store; the first characters make their delivery ids different.
    settling = await acme.processed(f"{IDS.token(12)}{delivery_id}"[:255], event, at)

    assert await acme.stores.deliveries.settle(settling) is Settled.AS_DECIDED

    assert settling.context is not None
    assert await acme.stores.contexts.record(acme.id, settling.context.custom_id) == settling.context
    assert settling.log in await acme.stores.journal.entries(acme.id)
    assert list(settling.runs) == [run for run in await acme.stores.ledger.runs(acme.id) if run in settling.runs][::-1]
