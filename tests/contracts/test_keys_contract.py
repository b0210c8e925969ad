"""``ApiKeys``: found by prefix, limited in number, revoked once together with the keys that they issued."""

import asyncio

import pytest
from attrs import evolve
from contract_values import IDS, Tenant, later, tenant

from contentsvc_core.access.keys import ISSUER_ENDED, ApiKey, Scope, digest
from contentsvc_core.errors import Unstorable
from contentsvc_core.refusals import too_many


def _key(organization_id: str, hours: int = 0) -> ApiKey:
    prefix = f"csk_{IDS.token(10)}"
    return ApiKey(
        prefix=prefix,
        organization_id=organization_id,
        name="CI ⚙",
        digest=digest(prefix),
        scopes=(Scope.WRITE, Scope.READ),
        created_at=later(hours=hours),
    )


async def test_a_key_reads_back_as_it_was(acme: Tenant) -> None:
    plain = _key(acme.id)
    full = evolve(
        _key(acme.id),
        scopes=(Scope.READ, Scope.ADMIN),
        issued_by=plain.prefix,
        expires_at=later(days=1),
        revoked_at=later(days=2),
        last_used_at=later(days=3, milliseconds=1),
    )
    for key in (plain, full, plain):
        await acme.stores.keys.add(key)

    assert await acme.stores.keys.key(plain.prefix) == plain
    assert await acme.stores.keys.key(full.prefix) == full
    assert await acme.stores.keys.key("csk_unknown") is None


async def test_keys_are_listed_oldest_first_for_one_or_for_all(acme: Tenant) -> None:
    zenith = await tenant(acme.stores, "zenith")
    one, two, three = (_key(acme.id, 2), _key(zenith.id, 1), _key(acme.id, 0))
    for key in (one, two, three):
        await acme.stores.keys.add(key)

    assert await acme.stores.keys.keys(acme.id) == [three, one]
    assert await acme.stores.keys.keys(zenith.id) == [two]
    assert await acme.stores.keys.keys() == [three, two, one]
    assert await acme.stores.keys.keys("org_unknown") == []


async def test_a_revoked_key_keeps_its_first_time(acme: Tenant) -> None:
    key, other = _key(acme.id), _key(acme.id)
    await acme.stores.keys.add(key)
    await acme.stores.keys.add(other)

    assert await acme.stores.keys.revoke(key.prefix, later(hours=1))
    assert await acme.stores.keys.revoke(key.prefix, later(hours=2))
    assert not await acme.stores.keys.revoke("csk_unknown", later(hours=1))
    # A repeated call that arrives late makes no key valid again.
    assert await acme.stores.keys.add(key) is None

    assert await acme.stores.keys.key(key.prefix) == evolve(key, revoked_at=later(hours=1))
    assert await acme.stores.keys.key(other.prefix) == other


async def test_the_use_of_a_key_is_noted(acme: Tenant) -> None:
    key = _key(acme.id)
    await acme.stores.keys.add(key)

    await acme.stores.keys.touch(key.prefix, later(hours=2))
    await acme.stores.keys.touch("csk_unknown", later(hours=2))
    assert await acme.stores.keys.key(key.prefix) == evolve(key, last_used_at=later(hours=2))
    # After a clock was set back, the time of use does not stay in the future.
    await acme.stores.keys.touch(key.prefix, later(hours=1))
    assert await acme.stores.keys.key(key.prefix) == evolve(key, last_used_at=later(hours=1))


async def test_a_prefix_names_one_key(acme: Tenant) -> None:
    key = _key(acme.id)
    await acme.stores.keys.add(key)

    with pytest.raises(Unstorable):
        await acme.stores.keys.add(evolve(key, digest=digest("another")))
    with pytest.raises(Unstorable):
        await acme.stores.keys.add(_key("org_unknown"))

    assert await acme.stores.keys.keys() == [key]


async def test_an_organization_has_a_bounded_number_of_active_keys(acme: Tenant) -> None:
    keys, zenith = acme.stores.keys, await tenant(acme.stores, "zenith")
    revoked = evolve(_key(acme.id), revoked_at=later())
    expired = evolve(_key(acme.id), expires_at=later(hours=1))
    await keys.add(revoked)
    await keys.add(expired)
    await keys.add(_key(zenith.id))

    # Concurrent additions do not exceed the number.
    new = [_key(acme.id, hours=1) for _ in range(5)]
    answers = await asyncio.gather(*(keys.add(key, at_most=2) for key in new))
    refused = too_many("active API keys", 2)
    assert sorted(answers, key=str)[-3:] == [refused] * 3
    assert "at most 2 active API keys" in refused.message()
    added = [key for key, answer in zip(new, answers, strict=True) if answer is None]
    assert len(added) == 2
    assert {key.prefix for key in await keys.keys(acme.id)} == {each.prefix for each in (revoked, expired, *added)}
    # A repeated key does not count twice, and a key that ends makes room.
    assert await keys.add(added[0], at_most=2) is None
    assert await keys.revoke(added[0].prefix, later(hours=1))
    assert await keys.add(_key(acme.id, hours=1), at_most=2) is None


async def test_a_key_ends_with_the_one_that_issued_it(acme: Tenant) -> None:
    keys = acme.stores.keys
    root, other = _key(acme.id), _key(acme.id)
    child = evolve(_key(acme.id), issued_by=root.prefix)
    # A clock that was set back between them.
    grandchild = evolve(_key(acme.id, hours=-1), issued_by=child.prefix)
    ended = evolve(_key(acme.id), issued_by=root.prefix, revoked_at=later(hours=1))
    for key in (root, other, child, grandchild, ended):
        assert await keys.add(key) is None

    assert await keys.revoke(root.prefix, later(hours=2))
    found = {key.prefix: key.revoked_at for key in await keys.keys(acme.id)}
    assert [found[key.prefix] for key in (root, child, grandchild)] == [later(hours=2)] * 3
    assert found[other.prefix] is None
    assert found[ended.prefix] == later(hours=1)


async def test_a_key_that_has_ended_issues_none(acme: Tenant) -> None:
    keys, zenith = acme.stores.keys, await tenant(acme.stores, "zenith")
    foreign, revoked = _key(zenith.id), _key(acme.id)
    expired = evolve(_key(acme.id), expires_at=later(hours=1))
    for key in (foreign, revoked, expired):
        assert await keys.add(key) is None
    assert await keys.revoke(revoked.prefix, later())

    for issuer in ("csk_unknown", foreign.prefix, revoked.prefix, expired.prefix):
        child = evolve(_key(acme.id, hours=1), issued_by=issuer)
        assert await keys.add(child) is ISSUER_ENDED
        assert await keys.key(child.prefix) is None


async def test_a_key_that_is_issued_while_its_issuer_is_revoked_does_not_live_on(acme: Tenant) -> None:
    keys = acme.stores.keys
    for _ in range(4):
        issuer = _key(acme.id)
        children = [evolve(_key(acme.id), issued_by=issuer.prefix) for _ in range(4)]
        await keys.add(issuer)
        await asyncio.gather(
            *(keys.add(child) for child in children[:2]),
            keys.revoke(issuer.prefix, later()),
            *(keys.add(child) for child in children[2:]),
        )
        assert [key for key in await keys.keys(acme.id) if key.revoked_at is None] == []
