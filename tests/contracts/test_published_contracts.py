"""The published contracts of ports, on each family of stores."""

import pytest
from contract_values import Stores, tenant

from contentsvc_core.ports import ApiKeys, PostLibrary, Triggers
from contentsvc_core.testing import BRANDS, KEYS, POSTS, RUNS, TRIGGERS, BrandStores, Guarantee, RunStores


@pytest.fixture
async def ids(stores: Stores) -> tuple[str, str]:
    acme, zenith = await tenant(stores, triggers=0), await tenant(stores, "zenith", triggers=0)
    return acme.id, zenith.id


@pytest.mark.parametrize("guarantee", POSTS, ids=str)
async def test_posts(stores: Stores, ids: tuple[str, str], guarantee: Guarantee[PostLibrary]) -> None:
    await guarantee.check(stores.posts, ids)


@pytest.mark.parametrize("guarantee", KEYS, ids=str)
async def test_keys(stores: Stores, ids: tuple[str, str], guarantee: Guarantee[ApiKeys]) -> None:
    await guarantee.check(stores.keys, ids)


@pytest.mark.parametrize("guarantee", TRIGGERS, ids=str)
async def test_triggers(stores: Stores, ids: tuple[str, str], guarantee: Guarantee[Triggers]) -> None:
    await guarantee.check(stores.triggers, ids)


@pytest.mark.parametrize("guarantee", RUNS, ids=str)
async def test_runs(stores: Stores, ids: tuple[str, str], guarantee: Guarantee[RunStores]) -> None:
    await guarantee.check(stores, ids)


@pytest.mark.parametrize("guarantee", BRANDS, ids=str)
async def test_brands(stores: Stores, ids: tuple[str, str], guarantee: Guarantee[BrandStores]) -> None:
    await guarantee.check(stores, ids)
