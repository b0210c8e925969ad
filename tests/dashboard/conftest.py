import pytest
from tests.api.world import ApiWorld, Caller
from tests.dashboard.browsing import Browsing


@pytest.fixture
def world() -> ApiWorld:
    return ApiWorld()


@pytest.fixture
async def acme(world: ApiWorld) -> Caller:
    return await world.caller()


@pytest.fixture
async def browsing(world: ApiWorld, acme: Caller) -> Browsing:
    """A signed-in user of Acme."""
    made = Browsing(world)
    await made.sign_in(acme.key)
    return made
