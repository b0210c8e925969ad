"""The check of a store, for any database."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Coroutine, Generator, Iterable, Mapping
from collections.abc import Set as AbstractSet
from datetime import datetime, timedelta
from functools import partial
from itertools import count
from typing import Any, Final, TypeAlias, cast

from attrs import evolve

from contentsvc_core.errors import Unstorable
from contentsvc_core.events.normalized import Author, Commit, Event, HeadCommit, Push, Release
from contentsvc_core.ports import DeliveryStore
from contentsvc_core.testing.parts import START, CountingIds
from contentsvc_core.webhooks.delivery import Address, HookConfiguration
from contentsvc_core.webhooks.outcomes import Fault, Outcome, Pong, Processed, Rejected
from contentsvc_core.webhooks.providers import PROVIDERS
from contentsvc_core.webhooks.settlement import DEDUPE_WINDOW, Settled, Settlement, settlement

_Ids: TypeAlias = Callable[[], Awaitable[Collection[str]]]

#: The beginning of a wrong value that a message shows, in characters.
_SHOWN: Final = 500
#: The most points at which a settlement is cancelled: a store waits some 10 times.
_TURNS: Final = 50


def _a_push(message: str, commit_id: str = "72d3162", commits: tuple[Commit, ...] = ()) -> Push:
    head = HeadCommit(id=commit_id, message=message)
    return Push(ref="refs/heads/main", branch="main", commits=commits, head_commit=head)


#: Longer than the texts of some databases (65,535 bytes), with characters of four bytes, quotes and spaces at the ends.
_MESSAGE: Final = f" feat: 'turn' the 🔦 \\\r\n\r\n\t{'it turns; ' * 7_000}\n "
_ADA: Final = Author(name='Ada "O\'Lamp"', email="ada@example.com", username="ada")
_COMMIT: Final = Commit(
    id="81ab4c9", message=_MESSAGE, author=_ADA, timestamp="2026-01-01T12:00:00+02:00", url="", added=("a.py", "b c.py")
)
_LONG_PUSH: Final = _a_push(_MESSAGE, commits=(_COMMIT, evolve(_COMMIT, id="367dc09", distinct=False)))
_RELEASE: Final = Release(
    action="published",
    tag_name="v1.0.0",
    name=None,
    body=_MESSAGE,
    prerelease=False,
    draft=False,
    published_at="2026-01-01T12:00:00Z",
    url="https://codehost.example/acme/a/releases/tag/v1.0.0",
)


async def check_store(
    store: DeliveryStore,
    address: Address,
    *,
    log_ids: _Ids,
    run_ids: _Ids | None = None,
    context_ids: _Ids | None = None,
    others: Iterable[Address] = (),
    change: Callable[[], Awaitable[object]] | None = None,
    reopen: "Callable[[], Awaitable[DeliveryStore]] | None" = None,
) -> None:
    """Check the guarantees of a store: its answers, and the rows that it writes.

    The functions that return ids return an id for each row. They may return mappings instead, from the ids to titles of
    log entries, the ``cause.started_by`` of runs, or events of context records. Then the check compares the values.

    Args:
        store: A store without claims, with a hook at ``address``. The check leaves rows of every kind in the store.
        address: The address of the hook.
        log_ids: Returns the ids of the stored log entries, newest first; the order in a ``set`` is not checked.
        run_ids: Returns the ids of the stored runs. The hook needs a trigger for pushes; two show a lost second run.
        context_ids: Returns the ids of the stored context records.
        others: The addresses of other hooks, which get deliveries with the same ids: one of the organization, and one
            of the same repository in another organization. The functions above return the rows of all hooks.
        change: Changes the configuration of the hook, such as its secret.
        reopen: Opens the store anew, as after a restart, and returns it. The functions above read the new store then.

    Raises:
        AssertionError: The store breaks a guarantee; the message names the guarantee.
    """
    hook = await _configured(store, address, "configuration returns the hook at its address")
    await _check_addresses(store, address)
    check = _Check(store, {"the log": log_ids, "the runs": run_ids, "the context records": context_ids})
    await check.begin()
    settle, take, made = check.settle, partial(check.take, hook), partial(check.made, hook)
    new, claimed, stale, moment = Settled.AS_DECIDED, Settled.ALREADY_CLAIMED, Settled.STALE, timedelta(milliseconds=1)

    first, copy = take(), take()
    _expect("with run_ids, the hook has a trigger for pushes", hook, holds=run_ids is None or bool(first.runs))
    old, newer = (evolve(first, hook=evolve(hook, version=hook.version + by)) for by in (-1, 1))
    await settle("a settlement of another version is STALE, and nothing is written: an older one", old, stale)
    await settle("a settlement of another version is STALE, and nothing is written: a newer one", newer, stale)
    await settle("a new delivery is AS_DECIDED, also after a stale settlement", first, new)
    await settle("a repeated settlement returns the first answer, and nothing is written", first, new)
    await settle("a repeated settlement is never STALE", old, new)
    await settle("a copy is ALREADY_CLAIMED, and only the duplicate's log entry is written", copy, claimed)
    await settle("a repeated copy returns the first answer, and nothing is written", copy, claimed)
    await settle("Claim.CHECK is ALREADY_CLAIMED if the claim is held", made(Pong(delivery_id="taken")), claimed)
    refused = Rejected(fault=Fault.INVALID_SIGNATURE, error="forged", delivery_id="taken")
    unclaimed, checking = made(refused), made(Pong(delivery_id="checked"))
    await settle("Claim.NONE is AS_DECIDED even if the claim is held", unclaimed, new)
    await settle("a repeated settlement with Claim.NONE is AS_DECIDED, and nothing is written", unclaimed, new)
    await settle("Claim.CHECK is AS_DECIDED if the claim is free", checking, new)
    await settle("Claim.CHECK does not take the claim", take("checked"), new)
    await settle("a repeated settlement with Claim.CHECK returns the first answer", checking, new)
    await settle("a claim is held if the clock was stepped back", take(after=-moment), claimed)
    await settle("a claim is held for 24 hours", take(after=DEDUPE_WINDOW - moment), claimed)
    await settle(
        "Claim.CHECK is AS_DECIDED after exactly 24 hours", made(Pong(delivery_id="taken"), after=DEDUPE_WINDOW), new
    )
    await settle("a claim is free after exactly 24 hours", take(after=DEDUPE_WINDOW), new)
    await settle("a claim that is taken again is held for 24 hours", take(after=2 * DEDUPE_WINDOW - moment), claimed)
    await check.at_once(
        "of 8 concurrent copies, 1 is AS_DECIDED and 7 are ALREADY_CLAIMED", *(take("at once") for _ in range(8))
    )
    await check.at_once("a settlement that is repeated concurrently is AS_DECIDED", *[take("repeated")] * 8)
    await check.unstorable(take("unstorable", event=_a_push("\ud800")), take("unstorable"))
    await check.values(take)
    await check.cancelled("a cancelled settlement is written completely or not at all, and can be repeated", take)
    await check.others(address, others)
    if reopen is not None:
        before, again = take("before"), take("before")
        await settle("a new delivery is AS_DECIDED", before, new)
        check.store = store = await reopen()
        await settle("a repeated settlement returns the first answer, also after a restart", before, new)
        await settle("a claim is held after a restart", again, claimed)
    if change is not None:
        await check.changed(hook, change, first)
    await check.order()


class _Check:
    """The rows that a store must have, by its answers."""

    def __init__(self, store: DeliveryStore, readers: Mapping[str, _Ids | None]) -> None:
        self.store = store
        self._readers = {what: ids for what, ids in readers.items() if ids is not None}
        self._expected_rows: dict[str, dict[str, object]] = {}
        #: The times of the log entries of the check.
        self._times: dict[str, datetime] = {}
        self._ids = CountingIds()
        #: The ids of the context records, by their organizations and custom ids.
        self._records: dict[tuple[str, str], str] = {}

    async def begin(self) -> None:
        """Read the rows that are stored before."""
        for what, ids in self._readers.items():
            stored = await ids()
            self._expected_rows[what] = dict(_values(stored) or dict.fromkeys(stored))

    def made(self, hook: HookConfiguration, outcome: Outcome, *, after: timedelta = timedelta()) -> Settlement:
        settling = settlement(outcome, hook, at=START + after, new_id=self._ids.new_id)
        assert settling is not None
        return settling

    def take(
        self,
        hook: HookConfiguration,
        delivery_id: str = "taken",
        *,
        after: timedelta = timedelta(),
        event: Event | None = None,
    ) -> Settlement:
        # Each event is another one: an event of a context record is replaced.
        event = event or _a_push("灯", self._ids.token(40))
        number = hook.address.repository_id
        processed = Processed(event=event, delivery_id=delivery_id, repository_id=number, repository="acme/a")
        return self.made(hook, processed, after=after)

    async def settle(self, guarantee: str, settling: Settlement, answer: Settled) -> None:
        (settled,) = await self._answers(guarantee, settling)
        _expect(guarantee, settled, holds=settled is answer)
        self._owe(settling, answer)
        await self._compare(guarantee)

    async def at_once(self, guarantee: str, *settling: Settlement) -> None:
        """Settle concurrently; of several settlements of one claim, one takes it."""
        answers = await self._answers(guarantee, *settling)
        decided = {each.id for each, answer in zip(settling, answers, strict=True) if answer is Settled.AS_DECIDED}
        expected = [Settled.AS_DECIDED if each.id in decided else Settled.ALREADY_CLAIMED for each in settling]
        _expect(guarantee, answers, holds=len(decided) == 1 and answers == expected)
        for each, answer in zip(settling, answers, strict=True):
            self._owe(each, answer)
        await self._compare(guarantee)

    async def unstorable(self, settling: Settlement, again: Settlement) -> None:
        """Settle a text that UTF-8 cannot encode, and the same delivery without it."""
        guarantee = "a value that cannot be stored raises Unstorable, and nothing is written"
        (answer,) = await asyncio.gather(self.store.settle(settling), return_exceptions=True)
        _expect(guarantee, repr(answer), holds=answer is Settled.AS_DECIDED or isinstance(answer, Unstorable))
        if answer is Settled.AS_DECIDED:
            self._owe(settling, answer)
        await self._compare(guarantee)
        if answer is not Settled.AS_DECIDED:
            await self.settle("a value that cannot be stored takes no claim", again, Settled.AS_DECIDED)

    async def values(self, take: Callable[..., Settlement]) -> None:
        new = Settled.AS_DECIDED
        whole = "is stored whole: long texts, all characters, all lines"
        await self.settle(f"a push {whole}", take("push", event=_LONG_PUSH), new)
        await self.settle(f"a release {whole}", take("release", event=_RELEASE), new)
        for delivery_id in ("Case", "case", f"{'x' * 254}1", f"{'x' * 254}2"):
            await self.settle("delivery ids differ by case, and have up to 255 characters", take(delivery_id), new)

    async def others(self, address: Address, others: Iterable[Address]) -> None:
        """Settle deliveries to other hooks, with an id that is claimed at the first hook."""
        for at in others:
            hook = await _configured(self.store, at, "configuration returns the hook at the other address")
            is_own = at.organization_id == address.organization_id
            owner = "a claim is held at its own hook" if is_own else "claims and context records are of an organization"
            await self.settle(f"{owner} alone", self.take(hook), Settled.AS_DECIDED)

    async def cancelled(self, guarantee: str, take: Callable[[str], Settlement]) -> None:
        """Cancel a settlement where it waits first, the next one where it waits second, …, and repeat each of them."""
        for turn in range(_TURNS):
            settling = take(f"cancelled-{turn}")
            task = asyncio.create_task(_cancelled_at(turn, self.store.settle(settling)))
            (answer,) = await asyncio.gather(task, return_exceptions=True)
            await self.settle(guarantee, settling, Settled.AS_DECIDED)
            if answer is Settled.AS_DECIDED:
                break

    async def changed(
        self, hook: HookConfiguration, change: Callable[[], Awaitable[object]], first: Settlement
    ) -> None:
        """Change the configuration of a hook."""
        before = self.take(hook, "changed")
        await self.store.configuration(hook.address, START, allow_cached=True)
        await change()
        changed = await _configured(self.store, hook.address, "configuration returns the changed hook")
        counted = changed.version > hook.version
        _expect("each change of the configuration increments its version", changed.version, holds=counted)
        stale, new = Settled.STALE, Settled.AS_DECIDED
        await self.settle("a settlement from before a change is STALE, and nothing is written", before, stale)
        await self.settle("a repeated settlement is never STALE, also after a change", first, new)
        await self.settle("a new delivery is AS_DECIDED, also after a change", self.take(changed, "changed"), new)

    async def order(self) -> None:
        """Check the order of the log entries."""
        ids = await self._readers["the log"]()
        times = [self._times[id_] for id_ in ids if id_ in self._times]
        newest_first = sorted(times, reverse=True)
        _expect("the log is newest first", ids, holds=isinstance(ids, AbstractSet) or times == newest_first)

    async def _answers(self, guarantee: str, *settling: Settlement) -> list[Settled]:
        try:
            return await asyncio.gather(*map(self.store.settle, settling))
        except Exception as exc:
            raise _broken(guarantee, repr(exc)) from exc

    def _owe(self, settling: Settlement, answer: Settled) -> None:
        if answer is Settled.STALE or settling.id in self._times:
            return
        self._times[settling.id] = settling.at
        log, runs, records = (
            self._expected_rows.setdefault(what, {}) for what in ("the log", "the runs", "the context records")
        )
        log[settling.id] = (settling.log if answer is Settled.AS_DECIDED else settling.duplicate_log).title
        if answer is Settled.AS_DECIDED:
            runs.update((run.id, run.cause.started_by) for run in settling.runs)
            context = settling.context
            if context is not None:
                key = context.organization_id, context.custom_id
                records[self._records.setdefault(key, context.id)] = context.event

    async def _compare(self, guarantee: str) -> None:
        for what, ids in self._readers.items():
            stored, expected = await ids(), self._expected_rows[what]
            differing = Counter(iter(stored))
            differing.subtract(expected.keys())
            wrong = [
                f"{id_}: {'missing' if number < 0 else 'not expected'}" for id_, number in differing.items() if number
            ]
            if not wrong and (values := _values(stored)):
                wrong = [
                    f"{id_}: {_shown(values[id_])} instead of {_shown(expected[id_])}"
                    for id_ in expected
                    if values[id_] != expected[id_]
                ]
            _expect(f"{guarantee}: {what}", "; ".join(wrong), holds=not wrong)


def _values(stored: Collection[str]) -> "Mapping[str, object] | None":
    return cast("Mapping[str, object]", stored) if isinstance(stored, Mapping) else None


async def _check_addresses(store: DeliveryStore, address: Address) -> None:
    """Check that each part of an address counts."""
    provider = next(each.slug for each in PROVIDERS if each.slug != address.provider)
    for part, unknown in {
        "integration": evolve(address, integration_id="int_unknown"),
        "organization": evolve(address, organization_id="org_unknown"),
        "provider of the integration": evolve(address, provider=provider),
    }.items():
        for allow_cached in (False, True):
            found = await store.configuration(unknown, START, allow_cached=allow_cached)
            _expect(f"configuration returns None for an unknown {part}", found, holds=found is None)
    found = await store.configuration(evolve(address, repository_id=address.repository_id ^ 1 or 2), START)
    _expect("an unknown repository is not Belonging.THIS_INTEGRATION", found, holds=not found or not found.is_open)


async def _cancelled_at(turn: int, settling: Coroutine[Any, Any, Settled]) -> Settled:
    return await _Cancelled(turn, settling)


class _Cancelled:
    """Cancels the current task where ``settling`` waits, ``turn`` times later than at first."""

    def __init__(self, turn: int, settling: Coroutine[Any, Any, Settled]) -> None:
        self._turn, self._settling = turn, settling

    def __await__(self) -> Generator[Any, Any, Settled]:
        step: Callable[[], object] = partial(self._settling.send, None)
        for turn in count():
            try:
                waiting = step()
            except StopIteration as stopped:
                return cast("Settled", stopped.value)
            if turn == self._turn and (task := asyncio.current_task()):
                task.cancel()
            try:
                yield waiting
            except BaseException as exc:  # noqa: BLE001  # of what is awaited: passed on
                step = partial(self._settling.throw, exc)
            else:
                step = partial(self._settling.send, None)
        raise AssertionError


async def _configured(store: DeliveryStore, address: Address, guarantee: str) -> HookConfiguration:
    hook = await store.configuration(address, START)
    _expect(guarantee, hook, holds=hook is not None and hook.address == address)
    assert hook is not None
    return hook


def _expect(guarantee: str, got: object, *, holds: bool) -> None:
    if not holds:
        raise _broken(guarantee, got)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}… ({len(text):,} characters)"


def _broken(guarantee: str, got: object) -> AssertionError:
    return AssertionError(f"the store breaks a guarantee: {guarantee} (got {got})")
