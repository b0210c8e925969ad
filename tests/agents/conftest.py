import pytest
from tests.api.world import ApiWorld, Caller


@pytest.fixture
def world() -> ApiWorld:
    return ApiWorld()


@pytest.fixture
async def acme(world: ApiWorld) -> Caller:
    return await world.caller()
