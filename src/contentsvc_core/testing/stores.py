"""The check of a store, for any database."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet
from datetime import datetime, timedelta
from functools import partial
from typing import Final, TypeAlias, cast

from attrs import evolve

from contentsvc_core.errors import Unstorable
from contentsvc_core.events.normalized import Event
from contentsvc_core.ports import DeliveryStore
from contentsvc_core.testing.checking import TURNS, answers, cancelled_at, differences, expect
from contentsvc_core.testing.parts import START, CountingIds
from contentsvc_core.testing.samples import LONG_PUSH, RELEASE, a_push
from contentsvc_core.webhooks.delivery import Address, Belonging, HookConfiguration
from contentsvc_core.webhooks.outcomes import Fault, Outcome, Pong, Processed, Rejected
from contentsvc_core.webhooks.providers import PROVIDERS
from contentsvc_core.webhooks.settlement import DEDUPE_WINDOW, Settled, Settlement, settlement
from contentsvc_core.workflows.context import ContextRecord

_Ids: TypeAlias = Callable[[], Awaitable[Collection[str]]]

#: The time of the first settlement. Its fraction shows a store that keeps times in seconds.
_FIRST: Final = START + timedelta(milliseconds=999)
_MOMENT: Final = timedelta(milliseconds=1)
#: The time between two reads of rows that a cancelled settlement may still write, in seconds.
_BETWEEN_READS_S: Final = 0.01
#: The settlements that readers watch, and the copies of each: the second commit of a thread takes about a millisecond.
_WATCHED: Final = 8
_COPIES: Final = 4
#: The most reads of such rows: a store that has not finished after half a minute never finishes.
_READS: Final = 3_000


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

    The functions that return ids return an id for each committed row. They may return mappings instead. Then the
    check compares what the ids map to: a row as :class:`.LogEntry`, :class:`.WorkflowRun` or :class:`.ContextRecord`, a
    mapping with some of its fields, or the title of a log entry, ``cause.started_by`` of a run, the event of a record.

    Args:
        store: A store without claims, with a hook at ``address``. The check leaves rows of every kind in the store.
        address: The address of the hook.
        log_ids: Returns the ids of the stored log entries, newest first; the order in a ``set`` is not checked.
        run_ids: Returns the ids of the stored runs. The hook needs a trigger for pushes; two show a lost second run.
        context_ids: Returns the ids of the stored context records.
        others: The addresses of other hooks, which get deliveries with the same ids: one of the organization, and one
            of the same repository in another organization. Their secrets are their own, and so are the triggers of the
            other organization. The functions above return the rows of all hooks.
        change: Changes the configuration of the hook, such as its secret. If it rotates the secret, it may return the
            end of the overlap: a time after ``START``. Then the check reads the secrets at that time.
        reopen: Opens the store anew, as after a restart, and returns it. The functions above read the new store then.

    Raises:
        AssertionError: The store breaks a guarantee; the message names the guarantee.
    """
    hook = await _configured(store, address, "configuration returns the hook at its address")
    await _check_addresses(store, hook)
    check = _Check(store, {"the log": log_ids, "the runs": run_ids, "the context records": context_ids})
    await check.begin()
    settle, take, made = check.settle, partial(check.take, hook), partial(check.made, hook)
    new, claimed, stale = Settled.AS_DECIDED, Settled.ALREADY_CLAIMED, Settled.STALE

    first, copy = take(), take()
    expect("with run_ids, the hook has a trigger for pushes", hook, holds=run_ids is None or bool(first.runs))
    old, newer = (evolve(first, hook=evolve(hook, version=hook.version + by)) for by in (-1, 1))
    await settle("a settlement of another version is STALE, and nothing is written: an older one", old, stale)
    await settle("a settlement of another version is STALE, and nothing is written: a newer one", newer, stale)
    gone = check.take(evolve(hook, address=evolve(address, organization_id="org_unknown")))
    await settle("a settlement of an unknown organization is STALE, and nothing is written", gone, stale)
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
    await settle("a claim is held if the clock was stepped back", take(after=-_MOMENT), claimed)
    await settle("a claim is held for 24 hours", take(after=DEDUPE_WINDOW - _MOMENT), claimed)
    await settle(
        "Claim.CHECK is AS_DECIDED after exactly 24 hours", made(Pong(delivery_id="taken"), after=DEDUPE_WINDOW), new
    )
    await settle("a claim is free after exactly 24 hours", take(after=DEDUPE_WINDOW), new)
    await settle("a claim that is taken again is held for 24 hours", take(after=2 * DEDUPE_WINDOW - _MOMENT), claimed)
    await check.at_once(
        "of 8 concurrent copies, 1 is AS_DECIDED and 7 are ALREADY_CLAIMED", *(take("at once") for _ in range(8))
    )
    await check.at_once("a settlement that is repeated concurrently is AS_DECIDED", *[take("repeated")] * 8)
    await check.watched(take)
    await check.unstorable(take)
    await check.values(take)
    await check.cancelled("a cancelled settlement is written completely or not at all, and can be repeated", take)
    await check.others(hook, others)
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
        #: The first context records, by their organizations and custom ids.
        self._records = dict[tuple[str, str], ContextRecord]()

    async def begin(self) -> None:
        """Read the rows that are stored before."""
        for what, ids in self._readers.items():
            stored = await ids()
            self._expected_rows[what] = dict(_values(stored) or dict.fromkeys(stored))

    def made(self, hook: HookConfiguration, outcome: Outcome, *, after: timedelta = timedelta()) -> Settlement:
        settling = settlement(outcome, hook, at=_FIRST + after, new_id=self._ids.new_id)
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
        event = event or a_push("灯", self._ids.token(40))
        number = hook.address.repository_id
        processed = Processed(event=event, delivery_id=delivery_id, repository_id=number, repository="acme/a")
        return self.made(hook, processed, after=after)

    async def settle(self, guarantee: str, settling: Settlement, answer: Settled) -> None:
        (settled,) = await answers(guarantee, self.store.settle(settling))
        expect(guarantee, settled, holds=settled is answer)
        self._owe(settling, answer)
        await self._compare(guarantee)

    async def at_once(self, guarantee: str, *settling: Settlement) -> None:
        """Settle concurrently; of several settlements of one claim, one takes it."""
        settled = await answers(guarantee, *map(self.store.settle, settling))
        decided = {each.id for each, answer in zip(settling, settled, strict=True) if answer is Settled.AS_DECIDED}
        expected = [Settled.AS_DECIDED if each.id in decided else Settled.ALREADY_CLAIMED for each in settling]
        expect(guarantee, settled, holds=len(decided) == 1 and settled == expected)
        for each, answer in zip(settling, expected, strict=True):
            self._owe(each, answer)
        await self._compare(guarantee)

    async def watched(self, take: Callable[[str], Settlement]) -> None:
        """Settle while readers look: after the first of two commits, a store shows some rows alone, or a claim."""
        for turn in range(_WATCHED):
            guarantee, settling = "the rows of a settlement are visible together", take(f"watched {turn}")
            writing = asyncio.ensure_future(answers(guarantee, self.store.settle(settling)))
            while not writing.done():
                await self._expect_together(guarantee, settling)
                await asyncio.sleep(0)
            (answer,) = await writing
            expect(guarantee, answer, holds=answer is Settled.AS_DECIDED)
            self._owe(settling, Settled.AS_DECIDED)
            guarantee = "a copy is ALREADY_CLAIMED only when the rows of the first one are visible"
            copies = [take(f"copied {turn}") for _ in range(_COPIES)]
            settled = await asyncio.gather(*(self._answered(guarantee, each, copies) for each in copies))
            for each, copied in zip(copies, settled, strict=True):
                self._owe(each, copied)
            await self._compare(guarantee)

    async def _expect_together(self, guarantee: str, settling: Settlement) -> None:
        expected = self._rows_of(settling)
        for first, rows in expected.items():
            is_seen = not rows.isdisjoint(await self._readers[first]())
            for what, others in expected.items() if is_seen else ():
                missing = others.difference(await self._readers[what]())
                expect(guarantee, f"{first}, and not yet {what}: {', '.join(missing)}", holds=not missing)

    async def _answered(self, guarantee: str, settling: Settlement, copies: Iterable[Settlement]) -> Settled:
        (answer,) = await answers(guarantee, self.store.settle(settling))
        expect(guarantee, answer, holds=isinstance(answer, Settled))
        stored = {what: {*await ids()} for what, ids in self._readers.items()}
        complete = [each for each in copies if all(rows <= stored[what] for what, rows in self._rows_of(each).items())]
        expect(guarantee, answer, holds=bool(complete))
        return cast("Settled", answer)

    def _rows_of(self, settling: Settlement) -> dict[str, set[str]]:
        """Return the ids of the rows of a settlement as decided, for each kind that has a reader."""
        rows = {
            "the log": {settling.id},
            "the runs": {run.id for run in settling.runs},
            "the context records": {settling.context.id} if settling.context else set[str](),
        }
        return {what: ids for what, ids in rows.items() if what in self._readers}

    async def unstorable(self, take: Callable[..., Settlement]) -> None:
        """Settle texts that UTF-8 cannot encode beside other settlements, and the same deliveries without them."""
        guarantee = "a value that cannot be stored raises Unstorable, and nothing is written"
        together = "concurrent settlements have their own answers"
        log, runs = take("log"), take("runs")
        started = tuple((id_, evolve(trigger, id=f"{trigger.id}\ud800")) for id_, trigger in runs.started)
        for bad in (
            take("event", event=a_push("\ud800")),
            evolve(log, note="\ud800"),
            evolve(runs, started=started),
        ):
            name = str(bad.outcome.delivery_id)
            stale = evolve(take(), hook=evolve(bad.hook, version=bad.version - 1))
            settling = [take(f"{name} 1"), bad, take(), stale, take(f"{name} 2")]
            settled = await answers(together, *map(self.store.settle, settling))
            first, unstorable, *others = settled
            new, claimed = Settled.AS_DECIDED, Settled.ALREADY_CLAIMED
            expect(guarantee, unstorable, holds=unstorable is new or isinstance(unstorable, Unstorable))
            expect(together, settled, holds=[first, *others] == [new, claimed, Settled.STALE, new])
            for each, answer in zip(settling, settled, strict=True):
                if isinstance(answer, Settled):
                    self._owe(each, answer)
            await self._compare(guarantee)
            if unstorable is not new:
                await self.settle("a value that cannot be stored takes no claim", take(name), new)

    async def values(self, take: Callable[..., Settlement]) -> None:
        new = Settled.AS_DECIDED
        whole = "is stored whole: long texts, all characters, all lines"
        await self.settle(f"a push {whole}", take("push", event=LONG_PUSH), new)
        await self.settle(f"a release {whole}", take("release", event=RELEASE), new)
        for delivery_id in ("Case", "case", f"{'x' * 254}1", f"{'x' * 254}2"):
            await self.settle("delivery ids differ by case, and have up to 255 characters", take(delivery_id), new)

        large = take("large")
        large = evolve(large, outcome=evolve(large.outcome, repository_id=2**63 - 1))
        await self.settle("repository ids are up to 2^63 - 1", large, new)

    async def others(self, own: HookConfiguration, others: Iterable[Address]) -> None:
        """Settle deliveries to other hooks, with an id that is claimed at the first hook."""
        address, secrets, triggers = own.address, set(own.secrets), {each.id for each in own.triggers}
        for at in others:
            hook = await _configured(self.store, at, "configuration returns the hook at the other address")
            if at.integration_id != address.integration_id:
                shared = secrets.intersection(hook.secrets)
                expect("each integration has secrets of its own", f"{len(shared)} of both", holds=not shared)
            if at.organization_id == address.organization_id:
                owner = "a claim is held at its own hook"
                _expect_same_triggers(own, hook)
                found = await self.store.configuration(evolve(address, repository_id=at.repository_id), START)
                is_unknown = found is None or found.repository is Belonging.UNKNOWN
                holds = not is_unknown or at.provider != address.provider
                expect("a repository of another integration is not Belonging.UNKNOWN", found, holds=holds)
            else:
                owner = "claims and context records are of an organization"
                shared = triggers.intersection(each.id for each in hook.triggers)
                expect("triggers are of an organization alone", shared, holds=not shared)
            await self.settle(f"{owner} alone", self.take(hook), Settled.AS_DECIDED)

    async def cancelled(self, guarantee: str, take: Callable[[str], Settlement]) -> None:
        """Cancel a settlement where it waits first, the next one where it waits second, …, and repeat each of them."""
        for turn in range(TURNS):
            settling = take(f"cancelled-{turn}")
            answer = await cancelled_at(turn, self.store.settle(settling))
            if await self._wrong():  # Something is written: so everything must be, once the store has finished.
                self._owe(settling, Settled.AS_DECIDED)
                await self._compare(guarantee, reads=_READS)
            await self.settle(guarantee, settling, Settled.AS_DECIDED)
            if answer is Settled.AS_DECIDED:
                break

    async def changed(
        self, hook: HookConfiguration, change: Callable[[], Awaitable[object]], first: Settlement
    ) -> None:
        """Change the configuration of a hook."""
        before = self.take(hook, "changed")
        await self.store.configuration(hook.address, START, allow_cached=True)
        end = await change()
        changed = await _configured(self.store, hook.address, "configuration returns the changed hook")
        counted = changed.version > hook.version
        expect("each change of the configuration increments its version", changed.version, holds=counted)
        stale, new = Settled.STALE, Settled.AS_DECIDED
        await self.settle("a settlement from before a change is STALE, and nothing is written", before, stale)
        await self.settle("a repeated settlement is never STALE, also after a change", first, new)
        await self.settle("a new delivery is AS_DECIDED, also after a change", self.take(changed, "changed"), new)
        if isinstance(end, datetime):
            guarantee, replaced = "a replaced secret verifies until exactly the end of its overlap", set(hook.secrets)
            for now, verifying in ((end - _MOMENT, replaced), (end, set[str]())):
                found = replaced.intersection((await _configured(self.store, hook.address, guarantee, now)).secrets)
                expect(guarantee, f"{len(found)} of {len(replaced)} at {now}", holds=found == verifying)

    async def order(self) -> None:
        """Check the order of the log entries."""
        ids = await self._readers["the log"]()
        times = [self._times[id_] for id_ in ids if id_ in self._times]
        newest_first = sorted(times, reverse=True)
        expect("the log is newest first", ids, holds=isinstance(ids, AbstractSet) or times == newest_first)

    def _owe(self, settling: Settlement, answer: Settled) -> None:
        if answer is Settled.STALE or settling.id in self._times:
            return
        self._times[settling.id] = settling.at
        log, runs, records = (
            self._expected_rows.setdefault(what, {}) for what in ("the log", "the runs", "the context records")
        )
        log[settling.id] = settling.log if answer is Settled.AS_DECIDED else settling.duplicate_log
        if answer is Settled.AS_DECIDED:
            runs.update((run.id, run) for run in settling.runs)
            context = settling.context
            if context is not None:
                first = self._records.setdefault((context.organization_id, context.custom_id), context)
                records[first.id] = evolve(context, id=first.id, created_at=first.created_at)

    async def _compare(self, guarantee: str, *, reads: int = 1) -> None:
        """Compare the rows until they are right, at most ``reads`` times."""
        wrong = await self._wrong()
        for _ in range(reads - 1):
            if not wrong:
                break
            await asyncio.sleep(_BETWEEN_READS_S)
            wrong = await self._wrong()
        what, *differences = wrong or [""]
        expect(f"{guarantee}: {what}", "; ".join(differences), holds=not wrong)

    async def _wrong(self) -> list[str]:
        """Return the first kind of rows that differs from the expected ones, and how; nothing, if none does."""
        for what, ids in self._readers.items():
            stored, expected = await ids(), self._expected_rows[what]
            differing = Counter(iter(stored))
            differing.subtract(expected.keys())
            wrong = [
                f"{id_}: {'missing' if number < 0 else 'not expected'}" for id_, number in differing.items() if number
            ]
            if not wrong and (values := _values(stored)):
                wrong = [each for id_ in expected for each in differences(id_, values[id_], expected[id_])]
            if wrong:
                return [what, *wrong]
        return []


def _values(stored: Collection[str]) -> "Mapping[str, object] | None":
    return cast("Mapping[str, object]", stored) if isinstance(stored, Mapping) else None


async def _check_addresses(store: DeliveryStore, hook: HookConfiguration) -> None:
    """Check that each part of an address counts."""
    address = hook.address
    provider = next(each.slug for each in PROVIDERS if each.slug != address.provider)
    for part, unknown in {
        "integration": evolve(address, integration_id="int_unknown"),
        "organization": evolve(address, organization_id="org_unknown"),
        "provider of the integration": evolve(address, provider=provider),
    }.items():
        for allow_cached in (False, True):
            found = await store.configuration(unknown, START, allow_cached=allow_cached)
            expect(f"configuration returns None for an unknown {part}", found, holds=found is None)
    # The largest ids: an integration has hardly a repository with one of them.
    unknown = evolve(address, repository_id=2**63 - 1 - address.repository_id % 2)
    found = await store.configuration(unknown, START)
    is_unknown = found is not None and (found.address, found.repository) == (unknown, Belonging.UNKNOWN)
    expect("an unknown repository is Belonging.UNKNOWN", found, holds=is_unknown)
    _expect_same_triggers(hook, found)


def _expect_same_triggers(hook: HookConfiguration, other: HookConfiguration | None) -> None:
    """Check that hooks of one organization have the same triggers: a rewritten trigger starts runs it should not."""
    own = {each.id: each for each in hook.triggers}
    changed = [each for each in (other.triggers if other else ()) if own.get(each.id, each) != each]
    expect("a trigger is the same at each address of its organization", changed, holds=not changed)


async def _configured(
    store: DeliveryStore, address: Address, guarantee: str, now: datetime = START
) -> HookConfiguration:
    hook = await store.configuration(address, now)
    expect(guarantee, hook, holds=hook is not None and hook.address == address)
    assert hook is not None
    return hook
