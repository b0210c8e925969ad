from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from attrs import evolve
from tests.builders import an_entry
from tests.forwarding import Failing
from tests.golden import REPOSITORY, REPOSITORY_ID
from tests.refusals import accepted, existing, message_of, the_refusal
from tests.usecases.conftest import World
from tests.usecases.test_perform import deliver

from contentsvc_core import Connection, IssuedKey, Organization, StoreUnavailable
from contentsvc_core.access.keys import KEY_EXPIRED, KEY_SCOPES, ApiKey, Scope, digest
from contentsvc_core.organizations import ChangeOrganization, Integration, Repository
from contentsvc_core.refusals import Refusal
from contentsvc_core.testing import push_body
from contentsvc_core.usecases.authenticate import Authenticator
from contentsvc_core.usecases.expire import Sweeper, SweepResult
from contentsvc_core.webhooks.settlement import DEDUPE_WINDOW
from contentsvc_core.zones import stored_zone


@pytest.mark.parametrize(
    ("name", "slug", "reason"),
    [
        ("", None, "an organization needs a name"),
        ("\n", None, "an organization needs a name"),
        ("日本", None, "no slug can be made from this name: give one, of a-z, 0-9 and inner hyphens"),
        ("x", "No\nSlug", "'No Slug' is no slug: 1 to 64 of a-z, 0-9 and inner hyphens"),
        ("x", "-a", "'-a' is no slug: 1 to 64 of a-z, 0-9 and inner hyphens"),
        ("x", "a" * 65, f"'{'a' * 63}…' is no slug: 1 to 64 of a-z, 0-9 and inner hyphens"),
        ("Acme!", None, "an organization with the slug 'acme' exists already"),
    ],
)
async def test_an_organization_that_cannot_be_is_refused(
    world: World, name: str, slug: str | None, reason: str
) -> None:
    refused = the_refusal(await world.operator.create_organization(name, slug=slug))
    assert (refused.message(), refused.field) == (reason, "name" if "needs a name" in reason else "slug")


async def test_a_repository_is_connected_once_in_an_organization_by_id_and_by_name(world: World) -> None:
    async def connect(name: str, number: int, provider: str = "codehost") -> Connection | Refusal:
        return await world.operator.connect(
            world.organization, full_name=name, repository_id=number, provider=provider, branch=None
        )

    assert message_of(await connect(REPOSITORY.upper(), 1)) == "Repository already connected"
    assert message_of(await connect("acme/other", REPOSITORY_ID)) == "Repository already connected"
    assert isinstance(await connect("acme/other", 1), Connection)
    assert isinstance(await connect(REPOSITORY, REPOSITORY_ID, "github"), Connection)


@pytest.mark.parametrize(
    ("name", "number", "provider", "reason"),
    [
        ("acme", 1, "codehost", "OWNER/NAME"),
        ("acme/a b", 1, "codehost", "OWNER/NAME"),
        # ``.`` and ``..`` are no names.
        ("acme/..", 1, "codehost", "OWNER/NAME"),
        ("./a", 1, "codehost", "OWNER/NAME"),
        ("a\nb", 1, "codehost", "'a b' is not of the form OWNER/NAME"),
        ("a" * 101, 1, "codehost", f"'{'a' * 99}…' is not of the form OWNER/NAME"),
        ("a/b", 0, "codehost", "the repository id must be from 1 to 9223372036854775807"),
        ("a/b", 2**63, "codehost", "the repository id must be from 1 to 9223372036854775807"),
        ("a/b", 1, "git\nlab", "unknown provider 'git lab': codehost, github, gitlab, bitbucket"),
        ("a/b/c", 1, "bitbucket", "OWNER/NAME"),
        ("a/../c", 1, "gitlab", "OWNER/NAME"),
    ],
)
async def test_an_invalid_connection_is_refused(
    world: World, name: str, number: int, provider: str, reason: str
) -> None:
    refused = await world.operator.connect(
        world.organization, full_name=name, repository_id=number, provider=provider, branch=None
    )

    assert isinstance(refused, Refusal)
    assert reason in refused.message()
    assert refused.field == (
        "full_name" if "OWNER/NAME" in reason else "repository_id" if "the repository id" in reason else "provider"
    )


async def test_a_key_is_known_by_its_digest_alone_and_its_use_is_noted_once_a_minute(world: World) -> None:
    issued = accepted(await world.operator.issue_key(world.organization, scopes=[Scope.READ]))
    authenticator = Authenticator(world.stores.keys, world.clock)

    async def use() -> datetime | None:
        found = existing(await authenticator.authenticate(issued.key))
        assert found.organization_id == world.organization.id
        await authenticator.note_use(found)
        (record,) = await world.stores.keys.keys(world.organization.id)
        return record.last_used_at

    first = world.clock.now()
    assert await use() == first
    assert issued.key not in repr(await world.stores.keys.keys())
    world.clock.advance(timedelta(seconds=59))
    assert await use() == first
    world.clock.advance(timedelta(seconds=1))
    assert await use() == first + timedelta(minutes=1)


async def test_wrong_revoked_and_expired_keys_are_rejected(world: World) -> None:
    authenticator = Authenticator(world.stores.keys, world.clock)
    soon = world.clock.now() + timedelta(days=1)
    expiring = accepted(await world.operator.issue_key(world.organization, expires_at=soon))
    revoked = accepted(await world.operator.issue_key(world.organization))
    await world.stores.keys.revoke(revoked.record.prefix, world.clock.now())

    assert await authenticator.authenticate("nonsense") is None
    assert await authenticator.authenticate(expiring.key[:-1] + "!") is None
    assert await authenticator.authenticate(expiring.key[:-1] + ("a" if expiring.key[-1] != "a" else "b")) is None
    assert await authenticator.authenticate(revoked.key) is None
    assert await authenticator.authenticate(expiring.key) is not None
    world.clock.advance(timedelta(days=1))
    assert await authenticator.authenticate(expiring.key) is None


async def test_a_claim_is_swept_when_a_redelivery_is_no_longer_recognized(world: World) -> None:
    await deliver(world, "push", push_body("feat: a lamp", repository_id=REPOSITORY_ID), "d-1")
    sweeper = Sweeper(world.stores, world.clock)

    world.clock.advance(DEDUPE_WINDOW - timedelta(milliseconds=1))
    assert (await sweeper.sweep()).claims == 0
    world.clock.advance(timedelta(milliseconds=1))
    assert (await sweeper.sweep()).claims == 1


async def test_an_organization_a_key_and_a_connection_are_made(world: World) -> None:
    now, operator = world.clock.now(), world.operator
    created = accepted(await operator.create_organization(" The  Acme ", retention_days=7))
    assert created == Organization(id=created.id, slug="the-acme", name="The Acme", retention_days=7, created_at=now)
    assert created.id.startswith("org_")
    assert await world.stores.directory.organization("the-acme") == created

    issued = accepted(await operator.issue_key(created, name=" for\nme ", expires_at=now + timedelta(milliseconds=1)))
    assert issued.record == ApiKey(
        prefix=issued.key[:14],
        organization_id=created.id,
        name="for me",
        digest=digest(issued.key),
        scopes=[Scope.READ, Scope.WRITE],
        created_at=now,
        expires_at=now + timedelta(milliseconds=1),
    )
    assert await world.stores.keys.keys(created.id) == [issued.record]
    assert (len(issued.key), issued.key[:4], issued.key[14]) == (55, "csk_", "_")
    for expires_at in (now, now - timedelta(days=1)):
        late = await operator.issue_key(created, expires_at=expires_at)
        assert late is KEY_EXPIRED

    connected = accepted(
        await operator.connect(created, full_name="acme/lid", repository_id=7, provider="github", branch="stable")
    )
    assert connected.integration == Integration(
        id=connected.integration.id,
        organization_id=created.id,
        provider="github",
        repositories=(Repository(id=7, full_name="acme/lid", branch="stable"),),
        created_at=now,
    )
    assert connected.integration.id.startswith("int_")
    assert (connected.secret[:6], len(connected.secret)) == ("whsec_", 46)
    # A name of a hundred characters is not cut.
    long = accepted(await operator.create_organization("a" * 101))
    assert long.name == "a" * 99 + "…"


async def test_a_part_that_cannot_be_swept_holds_up_no_other(world: World) -> None:
    stores = world.stores
    world.clock.advance(timedelta(days=40))
    old = an_entry(world.clock.now() - timedelta(days=31), organization_id=world.organization.id)
    await stores.journal.append(old)
    fault = RuntimeError("no claims")

    journal: Any = Failing(stores.journal, sweep_claims=fault)
    faults: list[Exception] = []
    pauses: list[int] = []

    async def pause() -> None:
        pauses.append(1)

    failing = evolve(stores, journal=journal)
    swept = await Sweeper(failing, world.clock, pause=pause, on_fault=faults.append).sweep()
    assert swept == SweepResult(log_entries=1, claims=0, windows=0, secrets=0, sessions=0, messages=0)
    assert (faults, pauses) == ([fault], [1])
    with pytest.raises(RuntimeError, match="no claims"):
        await Sweeper(failing, world.clock).sweep()
    journal.faults["sweep_claims"] = StoreUnavailable("away")
    with pytest.raises(StoreUnavailable):
        await Sweeper(failing, world.clock, on_fault=faults.append).sweep()
    assert len(faults) == 1


async def test_an_organization_moves_to_another_time_zone_with_its_stored_times(world: World) -> None:
    moved = await world.operator.change_organization(world.organization, ChangeOrganization(time_zone="Asia/Tokyo"))

    assert moved == evolve(world.organization, time_zone=ZoneInfo("Asia/Tokyo"))
    assert await world.stores.directory.organization_of(world.organization.id) == moved
    for refused in (
        await world.operator.change_organization(world.organization, ChangeOrganization(time_zone="Tokio", name="Tea")),
        await world.operator.create_organization("Tea", time_zone="Tokio"),
    ):
        assert isinstance(refused, Refusal)
        assert refused.field == "time_zone"
    assert await world.stores.directory.organization_of(world.organization.id) == moved


async def test_an_organization_gets_another_name_and_another_plan(world: World) -> None:
    async def changed(retention_days: int | None = None, **fields: str) -> Organization | Refusal:
        change = ChangeOrganization(**fields)
        return await world.operator.change_organization(world.organization, change, retention_days=retention_days)

    renamed = await changed(name=" Tea \n")
    assert renamed == evolve(world.organization, name="Tea")
    assert await changed(7) == evolve(world.organization, retention_days=7)
    stored = await world.stores.directory.organization_of(world.organization.id)
    assert stored == evolve(world.organization, name="Tea", retention_days=7)
    elsewhere = evolve(world.organization, time_zone=stored_zone("Mars/Base"))
    sent_back = ChangeOrganization(name="Tea", time_zone="Mars/Base")
    assert await world.operator.change_organization(elsewhere, sent_back) == evolve(elsewhere, name="Tea")
    for refused, field in ((await changed(name=" \n"), "name"), (await changed(), None)):
        assert isinstance(refused, Refusal)
        assert refused.field == field


async def test_a_key_issues_no_more_than_it_has_itself(world: World) -> None:
    now = world.clock.now()
    end = now + timedelta(days=1)
    own = accepted(await world.operator.issue_key(world.organization, scopes=[Scope.READ], expires_at=end))
    issuer = own.record

    async def issued(scope: Scope, expires_at: datetime | None) -> IssuedKey | Refusal:
        return await world.operator.issue_key(world.organization, scopes=[scope], expires_at=expires_at, issuer=issuer)

    assert await issued(Scope.WRITE, None) is KEY_SCOPES
    soon = now + timedelta(hours=1)
    for asked, expected in ((None, end), (end + timedelta(days=1), end), (soon, soon)):
        key = accepted(await issued(Scope.READ, asked))
        assert (key.record.expires_at, key.record.scopes) == (expected, (Scope.READ,))
        # A key ends with the key that issued it.
        assert key.record.issued_by == issuer.prefix
    assert await issued(Scope.READ, now) is KEY_EXPIRED
    own = accepted(await world.operator.issue_key(world.organization))
    issuer = own.record
    unlimited = accepted(await issued(Scope.WRITE, None))
    assert unlimited.record.expires_at is None
