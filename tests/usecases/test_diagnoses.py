"""Explained log entries, similar ones, and the health of an integration."""

from datetime import timedelta

from attrs import evolve
from tests.golden import REPOSITORY_ID
from tests.refusals import existing
from tests.usecases.conftest import World
from tests.usecases.test_perform import perform_all, pushed

from contentsvc_core.journal import ListedEntry
from contentsvc_core.read_model import LogSearch
from contentsvc_core.testing import push_body, signed
from contentsvc_core.usecases.diagnoses import MOST_SIMILAR, SIMILAR_WITHIN, Diagnoses, Explained, Similar
from contentsvc_core.webhooks.diagnosis import DiagnosisCause, IntegrationFacts


def diagnoses(world: World) -> Diagnoses:
    return Diagnoses(world.stores.read_model, world.stores.directory, world.stores.hooks)


async def forged(world: World, number: int) -> list[ListedEntry]:
    for index in range(number):
        body = push_body("x", repository_id=REPOSITORY_ID)
        await world.receiver.receive(signed(body, at=world.at, secret="wrong", delivery_id=f"bad-{index}"))
        world.clock.advance(timedelta(minutes=1))
    return list(await world.stores.read_model.log(world.organization.id, LogSearch(), limit=9))


async def test_a_refusal_is_explained_with_similar_ones(world: World) -> None:
    old = (await forged(world, 1))[0]
    world.clock.advance(SIMILAR_WITHIN)
    newest, *_ = await forged(world, 3)
    (entry, *_) = await world.stores.journal.entries(world.organization.id)
    # More recent entries with other reasons than the query reads, and an entry of another integration.
    other = evolve(entry, title="Invalid webhook payload", error_message="x", reason=None, created_at=world.clock.now())
    for number in range(MOST_SIMILAR):
        await world.stores.journal.append(evolve(other, id=f"log_{number}"))
    await world.stores.journal.append(evolve(other, id="log_said", error_message=entry.title))
    await world.stores.journal.append(evolve(entry, id="log_elsewhere", integration_id="int_other"))

    found = await diagnoses(world).explain(newest)

    assert found.diagnosis is not None
    assert found.diagnosis.cause is DiagnosisCause.WRONG_SECRET
    assert found.similar == Similar(number=2, since=newest.created_at - timedelta(minutes=2))
    assert old.created_at < newest.created_at - SIMILAR_WITHIN


async def test_an_accepted_delivery_has_no_similar_ones_but_the_reason_why_no_post_was_written(world: World) -> None:
    await pushed(world, "d-1", "chore(release): 1.2.3")
    (entry,) = await world.stores.read_model.log(world.organization.id, LogSearch(), limit=9)

    assert await diagnoses(world).explain(entry) == Explained(diagnosis=None)
    (run,) = await perform_all(world)

    assert run.error is not None
    assert await diagnoses(world).explain(entry) == Explained(diagnosis=None, no_post=run.error)


async def test_the_health_of_an_integration_is_judged_by_its_newest_deliveries(world: World) -> None:
    integration = existing(await world.stores.directory.integration(world.organization.id, world.at.integration_id))
    assert (await diagnoses(world).health(integration)).last is None

    await forged(world, 3)

    assert await diagnoses(world).known(integration) == IntegrationFacts(is_enabled=True, has_token=False)
    assert await diagnoses(world).known(None) is None
    found = await diagnoses(world).health(integration)
    assert found.summary == "3 of the last 3 deliveries were refused: signature"
    # The integration is removed concurrently.
    await world.stores.directory.remove_integration(world.organization.id, integration.id)
    assert await diagnoses(world).known(integration) == IntegrationFacts(is_enabled=True, has_token=False)
