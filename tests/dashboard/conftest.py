import pytest
from tests.api.conftest import acme, world
from tests.api.world import ApiWorld, Caller
from tests.dashboard.browsing import Browsing

from contentsvc_core import Authenticator
from contentsvc_core.usecases.sign_in import SignIn

__all__ = ["acme", "browsing", "world"]


@pytest.fixture
async def browsing(world: ApiWorld, acme: Caller) -> Browsing:
    return await signed_in(world, acme)


async def signed_in(world: ApiWorld, acme: Caller) -> Browsing:
    """Return a browser with a session of Acme. The four requests of the form have tests of their own."""
    stores, clock = world.stores, world.clock
    door = SignIn(Authenticator(stores.keys, clock), stores.keys, stores.sessions, clock, world.ids)
    signed_in = await door.sign_in(acme.key)
    assert signed_in is not None
    created = Browsing(world)
    created.cookies["contentsvc_session"] = signed_in.token
    return created
