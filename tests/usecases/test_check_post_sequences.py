"""``check_post_sequences`` passes the memory stores, and shrinks the sequence that shows a fault."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import Phase, settings

from contentsvc_adapters.memory import memory_stores
from contentsvc_adapters.sealing import FernetSealer
from contentsvc_core import Organization, Post
from contentsvc_core.ports import PostLibrary
from contentsvc_core.testing import START
from contentsvc_core.testing.sequences import check_post_sequences

IDS = ("org_acme", "org_zenith")


@asynccontextmanager
async def opened() -> AsyncGenerator[PostLibrary]:
    stores = memory_stores(FernetSealer("x" * 32))
    for id_ in IDS:
        await stores.directory.add_organization(Organization(id=id_, slug=id_, name=id_, created_at=START))
    yield stores.posts
    await stores.close()


def test_a_store_with_all_guarantees_passes() -> None:
    check_post_sequences(opened, IDS, profile=settings(max_examples=10, stateful_step_count=20))


class _Forgetting:
    """Removes the post that was added last together with an older one."""

    def __init__(self, store: PostLibrary) -> None:
        self.store = store
        self.last: Post | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)

    async def add(self, post: Post) -> None:
        self.last = post
        await self.store.add(post)

    async def remove(self, organization_id: str, post_id: str, **options: Any) -> bool:
        if self.last is not None and self.last.id != post_id:
            await self.store.remove(self.last.organization_id, self.last.id)
        return await self.store.remove(organization_id, post_id, **options)


@pytest.mark.slow("a short campaign over generated examples: it shrinks a sequence in some 600 runs")
def test_the_calls_that_show_a_fault_are_named() -> None:
    @asynccontextmanager
    async def broken() -> AsyncGenerator[Any]:
        async with opened() as store:
            yield _Forgetting(store)

    # Not the phases of the profile: `python -m tests.mutation` shrinks nothing.
    profile = settings(
        max_examples=2_000,
        stateful_step_count=6,
        derandomize=True,
        database=None,
        phases=[Phase.generate, Phase.shrink],
    )
    with pytest.raises(AssertionError) as raised:
        check_post_sequences(broken, IDS, profile=profile)

    message = str(raised.value)
    assert message.startswith("the store breaks a guarantee: a sequence of calls leaves what it wrote, and nothing els")
    calls = [line for line in message.splitlines() if any(each in line for each in (" add(", " remove("))]
    assert [line.split("(")[0].split()[-1] for line in calls] == ["add", "add", "remove"]
