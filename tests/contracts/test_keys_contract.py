"""``ApiKeys``: found by prefix, revoked once."""

import pytest
from attrs import evolve
from contract_values import IDS, Tenant, later, tenant

from contentsvc_core.access.keys import ApiKey, Scope, digest
from contentsvc_core.errors import Unstorable


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
        scopes=(),
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

    assert await acme.stores.keys.key(key.prefix) == evolve(key, revoked_at=later(hours=1))
    assert await acme.stores.keys.key(other.prefix) == other


async def test_the_use_of_a_key_is_noted(acme: Tenant) -> None:
    key = _key(acme.id)
    await acme.stores.keys.add(key)

    await acme.stores.keys.touch(key.prefix, later(hours=2))
    await acme.stores.keys.touch("csk_unknown", later(hours=2))
    assert await acme.stores.keys.key(key.prefix) == evolve(key, last_used_at=later(hours=2))
    # A clock that was set right: the time does not stick in the future.
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
