"""For tests of services that use the core: signed deliveries, a clock, repeatable ids, and a check of stores."""

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime, timedelta
from functools import partial
from hashlib import blake2b
from itertools import count
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast, final

from attrs import evolve

from contentsvc_core.errors import Unstorable
from contentsvc_core.events.normalized import HeadCommit, Push
from contentsvc_core.timestamps import whole_ms
from contentsvc_core.webhooks.delivery import Address, Delivery, Headers, HookConfiguration
from contentsvc_core.webhooks.outcomes import Fault, Outcome, Pong, Processed, Rejected
from contentsvc_core.webhooks.providers import DEFAULT_PROVIDER
from contentsvc_core.webhooks.settlement import DEDUPE_WINDOW, Settled, Settlement, settlement

if TYPE_CHECKING:
    from contentsvc_core.ports import DeliveryStore
    from contentsvc_core.workflows.triggers import Trigger

_Ids: TypeAlias = Callable[[], Awaitable[Collection[str]]]

START: Final = datetime(2026, 1, 1, tzinfo=UTC)


@final
class ManualClock:
    """A clock that only :meth:`advance` moves, by a negative time backwards; times are cut to whole milliseconds."""

    def __init__(self, now: datetime = START) -> None:
        self._now = whole_ms(now)

    def now(self) -> datetime:
        return self._now

    def advance(self, by: timedelta) -> None:
        self._now = whole_ms(self._now + by)


@final
class CountingIds:
    """Ids and tokens that count from 1, so that they are the same in each run.

    Use one source for each store, also for several receivers: to a store, a repeated id is a repeated settlement.
    """

    def __init__(self) -> None:
        self._numbers = count(1)

    def new_id(self, prefix: str) -> str:
        number = next(self._numbers)
        return f"{prefix}00000000-0000-7000-8000-{number:012d}"

    def token(self, length: int) -> str:
        return f"{next(self._numbers):0{length}d}"


@final
class PlainSteps:
    """Steps of a writer whose results are not stored."""

    async def run(self, name: str, step: Callable[[], Awaitable[str]]) -> str:
        _ = name
        return await step()


def switched(*, enabled: bool) -> "Callable[[Trigger], Trigger]":
    """Return a change that enables or disables a trigger, for :meth:`.Automations.change`."""
    return lambda trigger: evolve(trigger, enabled=enabled)


def address(
    provider: str = DEFAULT_PROVIDER.slug,
    organization_id: str = "org_1",
    integration_id: str = "int_1",
    repository_id: int = 1,
) -> Address:
    return Address(
        provider=provider, organization_id=organization_id, integration_id=integration_id, repository_id=repository_id
    )


def signed(
    body: bytes | dict[str, Any],
    *,
    at: Address,
    secret: str,
    event: str = "push",
    delivery_id: str = "72d3162e-cc78-11e3-81ab-4c9367dc0958",
    headers: Iterable[tuple[bytes, bytes]] = (),
) -> Delivery:
    """Return a delivery as the code host would send it; ``headers`` are added, such as a second one of a name.

    ``event`` is the value of the provider's event header, such as ``Push Hook`` at GitLab. The provider's ``write``
    returns it together with a body.
    """
    raw = body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode()
    provider = at.dialect
    proof = provider.scheme.value(raw, secret).encode("utf-8", "surrogatepass")
    return Delivery(
        address=at,
        headers=Headers.of(
            (
                (b"content-type", b"application/json"),
                (provider.kind_name, event.encode("latin-1")),
                (provider.id_name, delivery_id.encode("latin-1")),
                (provider.scheme.name, proof),
                *headers,
            )
        ),
        body=raw,
    )


def push_body(
    *messages: str,
    repository_id: int = 1,
    repository: str = "acme/lighthouse",
    branch: str = "main",
    default_branch: str = "main",
) -> dict[str, Any]:
    """Return a push in the code host's native form, with a commit for each message; its id depends on the message."""
    url = f"https://codehost.example/{repository}"
    ids = [blake2b(message.encode(), digest_size=20).hexdigest() for message in messages]
    commits = [
        {
            "id": id_,
            "message": message,
            "author": {"name": "Ada", "email": "ada@example.com", "username": "ada"},
            "timestamp": "2026-01-01T12:00:00+02:00",
            "url": f"{url}/commit/{id_}",
        }
        for id_, message in zip(ids, messages, strict=True)
    ]
    return {
        "ref": f"refs/heads/{branch}",
        "commits": commits,
        "head_commit": commits[-1] if commits else None,
        "repository": {"id": repository_id, "full_name": repository, "default_branch": default_branch},
    }


def release_body(
    tag: str = "v1.0.0",
    *,
    action: str = "published",
    body: str | None = None,
    repository_id: int = 1,
    repository: str = "acme/lighthouse",
    draft: bool = False,
    prerelease: bool = False,
    published_at: str | None = "2026-01-01T12:00:00Z",
) -> dict[str, Any]:
    return {
        "action": action,
        "release": {
            "tag_name": tag,
            "name": tag,
            "body": body,
            "prerelease": prerelease,
            "draft": draft,
            "published_at": published_at,
            "html_url": f"https://codehost.example/{repository}/releases/tag/{tag}",
        },
        "repository": {"id": repository_id, "full_name": repository},
    }


async def check_store(
    store: "DeliveryStore",
    address: Address,
    *,
    log_ids: _Ids,
    run_ids: _Ids | None = None,
    context_ids: _Ids | None = None,
    other: Address | None = None,
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
        other: The address of another hook of the organization, which gets deliveries with the same ids.
        change: Changes the configuration of the hook, such as its secret.
        reopen: Opens the store anew, as after a restart, and returns it. The functions above read the new store then.

    Raises:
        AssertionError: The store breaks a guarantee; the message names the guarantee.
    """
    hook = await _configured(store, address, "configuration returns the hook at its address")
    unknown = await store.configuration(evolve(address, integration_id="int_unknown"), START)
    _expect("configuration returns None for an unknown integration", unknown, holds=unknown is None)
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
    await settle("Claim.NONE is AS_DECIDED even if the claim is held", made(refused), new)
    await settle("Claim.CHECK is AS_DECIDED if the claim is free", made(Pong(delivery_id="checked")), new)
    await settle("Claim.CHECK does not take the claim", take("checked"), new)
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
    await check.unstorable(take("unstorable", message="\ud800"), take("unstorable"))
    if other is not None:
        another = await _configured(store, other, "configuration returns the hook at the other address")
        await settle("a claim is held at its own hook alone", check.take(another), new)
    if reopen is not None:
        before, again = take("before"), take("before")
        await settle("a new delivery is AS_DECIDED", before, new)
        check.store = store = await reopen()
        await settle("a repeated settlement returns the first answer, also after a restart", before, new)
        await settle("a claim is held after a restart", again, claimed)
    if change is not None:
        before = take("changed")
        await change()
        changed = await _configured(store, address, "configuration returns the changed hook")
        counted = changed.version > hook.version
        _expect("each change of the configuration increments its version", changed.version, holds=counted)
        await settle("a settlement from before a change is STALE, and nothing is written", before, stale)
        await settle("a repeated settlement is never STALE, also after a change", first, new)
        await settle("a new delivery is AS_DECIDED, also after a change", check.take(changed, "changed"), new)
    await check.order()


class _Check:
    """The rows that a store must have, by its answers."""

    def __init__(self, store: "DeliveryStore", readers: Mapping[str, _Ids | None]) -> None:
        self.store = store
        self._readers = {what: ids for what, ids in readers.items() if ids is not None}
        self._owed: dict[str, dict[str, object]] = {}
        #: The times of the log entries of the check.
        self._times: dict[str, datetime] = {}
        self._ids = CountingIds()
        #: The ids of the context records, by their custom ids.
        self._records: dict[str, str] = {}

    async def begin(self) -> None:
        """Read the rows that are stored before."""
        for what, ids in self._readers.items():
            stored = await ids()
            self._owed[what] = dict(_values(stored) or dict.fromkeys(stored))

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
        message: str = "灯",
    ) -> Settlement:
        # Each event is another one: an event of a context record is replaced.
        head = HeadCommit(id=self._ids.token(40), message=message)
        event = Push(ref="refs/heads/main", branch="main", commits=(), head_commit=head)
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
        owed = [Settled.AS_DECIDED if each.id in decided else Settled.ALREADY_CLAIMED for each in settling]
        _expect(guarantee, answers, holds=len(decided) == 1 and answers == owed)
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
            self._owed.setdefault(what, {}) for what in ("the log", "the runs", "the context records")
        )
        log[settling.id] = (settling.log if answer is Settled.AS_DECIDED else settling.duplicate_log).title
        if answer is Settled.AS_DECIDED:
            runs.update((run.id, run.cause.started_by) for run in settling.runs)
            context = settling.context
            if context is not None:
                records[self._records.setdefault(context.custom_id, context.id)] = context.event

    async def _compare(self, guarantee: str) -> None:
        for what, ids in self._readers.items():
            stored, owed = await ids(), self._owed[what]
            differing = Counter(iter(stored))
            differing.subtract(owed.keys())
            wrong = [
                f"{id_}: {'missing' if number < 0 else 'not expected'}" for id_, number in differing.items() if number
            ]
            if not wrong and (values := _values(stored)):
                wrong = [f"{id_}: {values[id_]!r} instead of {owed[id_]!r}" for id_ in owed if values[id_] != owed[id_]]
            _expect(f"{guarantee}: {what}", "; ".join(wrong), holds=not wrong)


def _values(stored: Collection[str]) -> "Mapping[str, object] | None":
    return cast("Mapping[str, object]", stored) if isinstance(stored, Mapping) else None


async def _configured(store: "DeliveryStore", address: Address, guarantee: str) -> HookConfiguration:
    hook = await store.configuration(address, START)
    _expect(guarantee, hook, holds=hook is not None and hook.address == address)
    assert hook is not None
    return hook


def _expect(guarantee: str, got: object, *, holds: bool) -> None:
    if not holds:
        raise _broken(guarantee, got)


def _broken(guarantee: str, got: object) -> AssertionError:
    return AssertionError(f"the store breaks a guarantee: {guarantee} (got {got})")
