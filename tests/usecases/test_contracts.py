"""The published contracts name the guarantee that a store breaks, with the calls that show it."""

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from attrs import evolve
from msgspec.structs import replace

from contentsvc_adapters.memory import MemoryStores, memory_stores
from contentsvc_adapters.sealing import FernetSealer
from contentsvc_core import ApiKey, Organization, Post, PostQuery, Refusal, Trigger
from contentsvc_core.testing import BRANDS, KEYS, POSTS, RUNS, START, TRIGGERS, Contract, checking

IDS = ("org_acme", "org_zenith")
_MOMENT = timedelta(milliseconds=1)


async def empty_stores() -> MemoryStores:
    stores = memory_stores(FernetSealer("x" * 32))
    for id_ in IDS:
        assert await stores.directory.add_organization(Organization(id=id_, slug=id_, name=id_, created_at=START))
    return stores


class Sound:
    """Calls a store, unless a subclass changes a method."""

    def __init__(self, store: Any) -> None:
        self.store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)


class LosingUpdates(Sound):
    """Compares the versions in another transaction than it writes."""

    async def change(self, post: Post, *, unchanged_since: datetime, author: str | None = None) -> bool:
        stored = await self.store.post(post.organization_id, post.id)
        await asyncio.sleep(0)
        if stored is None or stored.updated_at != unchanged_since or post.updated_at <= unchanged_since:
            return False
        current = await self.store.post(post.organization_id, post.id)
        later = evolve(post, updated_at=max(post.updated_at, current.updated_at + _MOMENT))
        return await self.store.change(later, unchanged_since=current.updated_at, author=author)


class Naive(Sound):
    async def post(self, organization_id: str, post_id: str) -> Post | None:
        post = await self.store.post(organization_id, post_id)
        return post and evolve(post, created_at=post.created_at.replace(tzinfo=None))


class FindingAll(Sound):
    """Finds posts by their ids alone."""

    async def post(self, organization_id: str, post_id: str) -> Post | None:
        found = [await self.store.post(id_, post_id) for id_ in (organization_id, *IDS)]
        return next((each for each in found if each is not None), None)


class OldestFirst(Sound):
    async def posts(self, organization_id: str, *, limit: int | None = None) -> Any:
        return list(reversed(await self.store.posts(organization_id)))[:limit]


class OffByOne(Sound):
    async def page(self, organization_id: str, query: PostQuery, request: Any) -> Any:
        found = await self.store.page(organization_id, query, request)
        return (found[0][: request.limit - 1], found[1]) if isinstance(found, tuple) else found


class FindingByOneWord(Sound):
    async def page(self, organization_id: str, query: PostQuery, request: Any) -> Any:
        return await self.store.page(organization_id, replace(query, terms=query.terms[:1]), request)


class ReturningWhatIsAdded(Sound):
    async def add(self, automation: Trigger, **options: Any) -> Any:
        stored = await self.store.add(automation, **options)
        return stored if isinstance(stored, Refusal) else automation


class ForgettingFurtherKeys(Sound):
    async def complete(self, run: Any, post: Post, **options: Any) -> Any:
        return await self.store.complete(run, post, **options | {"also": ()})


class DueLate(Sound):
    async def due(self, now: datetime, *, limit: int, **after: Any) -> Any:
        return await self.store.due(now - _MOMENT, limit=limit, **after)


class Raising(Sound):
    async def waiting(self, organization_id: str) -> int:
        raise OSError(organization_id)


class Silent(Sound):
    async def posts(self, *_: object, **_options: object) -> Any:
        await asyncio.Event().wait()


class IssuingAlways(Sound):
    async def add(self, key: ApiKey, *, at_most: int = 100) -> Any:
        return await self.store.add(evolve(key, issued_by=None), at_most=at_most)


class RevokingAlone(Sound):
    async def revoke(self, prefix: str, at: datetime) -> bool:
        issued = [key for key in await self.store.keys() if key.prefix != prefix and key.revoked_at is None]
        revoked = await self.store.revoke(prefix, at)
        for key in issued:
            self.store._state.keys[key.prefix] = key
        return revoked


class FiringTwice(Sound):
    async def fire(self, firing: Any) -> bool:
        await self.store.fire(firing)
        return True


class ForgettingTriggers(Sound):
    """Removes identities without their triggers."""

    async def remove(self, organization_id: str, brand_id: str) -> Any:
        stored = dict(self.store._state.triggers)
        removed = await self.store.remove(organization_id, brand_id)
        self.store._state.triggers.update(stored)
        return removed


class CompletingAll(Sound):
    """Stores each post, also of a run that another process has."""

    async def complete(self, run: Any, post: Post, **options: Any) -> Any:
        await asyncio.sleep(0)
        completion = await self.store.complete(run, post, **options)
        self.store._state.posts.setdefault(post.id, post)
        return completion


def with_part(name: str, kind: type[Sound]) -> Callable[[MemoryStores], Any]:
    class Parts(Sound):
        pass

    def made(stores: MemoryStores) -> Any:
        parts = Parts(stores)
        setattr(parts, name, kind(getattr(stores, name)))
        return parts

    return made


async def broken(contract: "Contract[Any]", made: Callable[[MemoryStores], Any]) -> dict[str, str]:
    """Return the messages of the broken guarantees, by their names."""
    messages: dict[str, str] = {}
    for guarantee in contract:
        try:
            await guarantee.check(made(await empty_stores()), IDS)
        except AssertionError as error:
            messages[guarantee.name] = str(error)
    return messages


_BROKEN: "list[tuple[Contract[Any], Callable[[MemoryStores], Any], str]]" = [
    (POSTS, lambda each: LosingUpdates(each.posts), "of concurrent changes of one version, one is written"),
    (POSTS, lambda each: Naive(each.posts), "a post reads back as it was"),
    (POSTS, lambda each: FindingAll(each.posts), "a post is seen, changed and removed in its own organization"),
    (POSTS, lambda each: OldestFirst(each.posts), "posts are listed newest first"),
    (POSTS, lambda each: OffByOne(each.posts), "the pages of a list have each post once"),
    (POSTS, lambda each: FindingByOneWord(each.posts), "posts are found by their labels, repositories"),
    (POSTS, lambda each: DueLate(each.posts), "drafts are due from exactly their time on"),
    (KEYS, lambda each: IssuingAlways(each.keys), "an unknown, foreign, revoked or expired key issues none"),
    (KEYS, lambda each: RevokingAlone(each.keys), "a key is revoked with the keys that it issued"),
    (TRIGGERS, lambda each: FiringTwice(each.triggers), "of concurrent firings of a window, one succeeds"),
    (TRIGGERS, lambda each: ReturningWhatIsAdded(each.triggers), "a repeated addition changes nothing"),
    (TRIGGERS, lambda each: DueLate(each.triggers), "a trigger is due from exactly the end of its window on"),
    (BRANDS, with_part("brands", ForgettingTriggers), "a removal disables the triggers and schedules that name"),
    (RUNS, with_part("ledger", CompletingAll), "a run has one post: of concurrent completions one succeeds"),
    (RUNS, with_part("ledger", ForgettingFurtherKeys), "a run is overtaken if another post has one of its further"),
    (RUNS, with_part("ledger", ForgettingFurtherKeys), "the keys of a post stay reserved when it is removed"),
]


@pytest.mark.parametrize(("contract", "made", "guarantee"), _BROKEN)
async def test_the_broken_guarantee_is_named(
    contract: "Contract[Any]", made: Callable[[MemoryStores], Any], guarantee: str
) -> None:
    assert any(name.startswith(guarantee) for name in await broken(contract, made))


@pytest.mark.parametrize("contract", [BRANDS, RUNS])
async def test_stores_with_all_guarantees_pass(contract: "Contract[Any]") -> None:
    assert await broken(contract, Sound) == {}


async def test_the_message_has_the_calls_that_show_the_fault() -> None:
    message = (await broken(POSTS, lambda each: DueLate(each.posts)))[
        "drafts are due from exactly their time on, the longest waiting first, until they are published"
    ]

    first, heading, *calls = message.splitlines()
    assert first.startswith("the store breaks a guarantee: drafts are due from exactly their time on")
    assert first.endswith(" (got [] instead of [('org_zenith', 'post_00000000-0000-7000-8000-000000000002')])")
    assert heading == "the calls of the store:"
    assert calls[1] == (
        "  2. add(Post(…, id='post_00000000-0000-7000-8000-000000000002', organization_id='org_zenith', "
        "publish_at=2026-01-01T01:00:00+00:00)) returned None"
    )
    assert calls[-1] == "  6. due(2026-01-01T01:00:00+00:00, limit=9) returned []"


async def test_an_exception_of_a_driver_breaks_the_guarantee_that_needs_the_call() -> None:
    (message,) = (await broken(POSTS, lambda each: Raising(each.posts))).values()

    assert "(got OSError('org_acme'))\n" in message
    assert message.endswith(". waiting('org_acme') raised OSError('org_acme')")


async def test_a_store_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "PATIENCE_S", 0.1)

    messages = await broken(POSTS, lambda each: Silent(each.posts))

    assert (
        "(got no answer in 0.1 seconds)\n" in messages["posts are listed newest first, and by id if they have one time"]
    )


def test_a_contract_is_a_collection_of_guarantees() -> None:
    first, *_ = POSTS

    assert first in POSTS
    assert "a post" not in POSTS
    assert len({guarantee.name for guarantee in POSTS}) == len(POSTS)
    assert str(first) == first.name
