"""``SignIn``: a key creates a session with a token, which ends with the key."""

import asyncio
from datetime import timedelta

import pytest
from tests.refusals import accepted, existing
from tests.usecases.conftest import World

from contentsvc_core import IssuedKey
from contentsvc_core.access.keys import Scope
from contentsvc_core.access.sessions import LINK_LIFE, SESSION_LIFE, csrf_token, link_digest, token_digest
from contentsvc_core.usecases.authenticate import Authenticator
from contentsvc_core.usecases.sign_in import SignedIn, SignIn


@pytest.fixture
def door(world: World) -> SignIn:
    keys = world.stores.keys
    return SignIn(Authenticator(keys, world.clock), keys, world.stores.sessions, world.clock, world.ids)


async def issued(world: World, *, expires_in: timedelta | None = None) -> IssuedKey:
    expires_at = None if expires_in is None else world.clock.now() + expires_in
    return accepted(await world.operator.issue_key(world.organization, scopes=[Scope.READ], expires_at=expires_at))


async def entered(world: World, door: SignIn, key: IssuedKey | None = None) -> SignedIn:
    return existing(await door.sign_in((key or await issued(world)).key))


async def test_a_key_opens_a_session_that_is_known_by_its_token(world: World, door: SignIn) -> None:
    key = await issued(world)
    signed_in = await entered(world, door, key)

    assert signed_in.key == key.record
    assert signed_in.expires_at == world.clock.now() + SESSION_LIFE
    assert signed_in.csrf == csrf_token(signed_in.token)
    found = existing(await door.signed_in(signed_in.token))
    assert (found.token, found.expires_at, found.csrf) == (signed_in.token, signed_in.expires_at, signed_in.csrf)
    # Signing in counts as a use of the key.
    assert found.key.last_used_at == world.clock.now()
    assert (found.key.prefix, found.key.organization_id) == (key.record.prefix, world.organization.id)


async def test_nothing_that_opens_a_session_is_stored_or_shown(world: World, door: SignIn) -> None:
    key = await issued(world)
    signed_in = await entered(world, door, key)
    session = existing(await world.stores.sessions.session(token_digest(signed_in.token) or ""))

    shown = repr((session, signed_in))
    for secret in (signed_in.token, signed_in.csrf, key.key, session.digest, key.record.digest):
        assert secret not in shown


async def test_two_sessions_of_one_key_are_two(world: World, door: SignIn) -> None:
    key = await issued(world)
    one, other = await entered(world, door, key), await entered(world, door, key)
    assert one.token != other.token
    assert one.csrf != other.csrf

    await door.sign_out(one.token)

    assert await door.signed_in(one.token) is None
    assert await door.signed_in(other.token) is not None


async def test_a_key_that_opens_nothing_opens_no_session(world: World, door: SignIn) -> None:
    revoked, expiring = await issued(world), await issued(world, expires_in=timedelta(hours=1))
    await world.stores.keys.revoke(revoked.record.prefix, world.clock.now())
    world.clock.advance(timedelta(hours=1))

    for presented in (revoked.key, expiring.key, "nonsense", "", revoked.key[:-1] + "!"):
        assert await door.sign_in(presented) is None


@pytest.mark.parametrize("token", ["", "nonsense", "a" * 40, "a" * 39 + "\ud800", "a" * 4000])
async def test_an_unknown_token_has_no_session(door: SignIn, token: str) -> None:
    assert await door.signed_in(token) is None
    await door.sign_out(token)


async def test_the_digest_of_a_token_is_no_token(world: World, door: SignIn) -> None:
    signed_in = await entered(world, door)

    assert await door.signed_in(token_digest(signed_in.token) or "") is None


async def test_a_session_ends_after_its_life_despite_any_use(world: World, door: SignIn) -> None:
    signed_in = await entered(world, door)
    world.clock.advance(SESSION_LIFE - timedelta(milliseconds=1))
    assert await door.signed_in(signed_in.token) is not None

    world.clock.advance(timedelta(milliseconds=1))

    assert await door.signed_in(signed_in.token) is None


async def test_a_session_ends_with_its_key(world: World, door: SignIn) -> None:
    signed_in = await entered(world, door, await issued(world, expires_in=timedelta(hours=1)))
    world.clock.advance(timedelta(hours=1) - timedelta(milliseconds=1))
    assert await door.signed_in(signed_in.token) is not None

    world.clock.advance(timedelta(milliseconds=1))

    assert await door.signed_in(signed_in.token) is None


async def test_a_link_signs_in_once_as_its_key(world: World, door: SignIn) -> None:
    key = await issued(world)
    token = await door.prepare_link(key.record)

    signed_in = existing(await door.sign_in_by_link(token))

    assert signed_in.key.prefix == key.record.prefix
    assert signed_in.expires_at == world.clock.now() + SESSION_LIFE
    assert await door.signed_in(signed_in.token) is not None
    assert await door.sign_in_by_link(token) is None


async def test_of_many_browsers_that_open_a_link_at_once_one_is_signed_in(world: World, door: SignIn) -> None:
    token = await door.prepare_link((await issued(world)).record)

    answers = await asyncio.gather(*(door.sign_in_by_link(token) for _ in range(8)))

    assert sum(answer is not None for answer in answers) == 1


async def test_a_link_ends_after_ten_minutes_and_with_its_key(world: World, door: SignIn) -> None:
    key = await issued(world)
    late, early = [await door.prepare_link(key.record) for _ in range(2)]

    world.clock.advance(LINK_LIFE - timedelta(milliseconds=1))
    assert await door.sign_in_by_link(early) is not None
    world.clock.advance(timedelta(milliseconds=1))
    assert await door.sign_in_by_link(late) is None
    revoked = await door.prepare_link(key.record)
    await world.stores.keys.revoke(key.record.prefix, world.clock.now())
    assert await door.sign_in_by_link(revoked) is None


async def test_a_links_token_is_stored_as_a_digest_and_is_no_cookie(world: World, door: SignIn) -> None:
    token = await door.prepare_link((await issued(world)).record)

    assert await door.signed_in(token) is None
    assert await world.stores.sessions.session(token) is None
    assert await world.stores.sessions.session(token_digest(token) or "") is None
    stored = existing(await world.stores.sessions.session(link_digest(token) or ""))
    assert token not in repr(stored)
    # A session's token is not valid as a link.
    signed_in = await entered(world, door)
    assert await door.sign_in_by_link(signed_in.token) is None
    assert await door.signed_in(signed_in.token) is not None


@pytest.mark.parametrize("presented", ["", "a" * 39, "é" * 40, "a" * 40])
async def test_an_invalid_link_does_not_sign_in(door: SignIn, presented: str) -> None:
    assert await door.sign_in_by_link(presented) is None
