"""For tests of services that use the core: signed deliveries, a clock, repeatable ids, and a check of stores."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Collection, Iterable
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from itertools import count
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

from attrs import evolve

from contentsvc_core.events.normalized import Push
from contentsvc_core.timestamps import whole_ms
from contentsvc_core.webhooks.delivery import Address, Delivery, Headers
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
) -> None:
    """Check the guarantees of a store: its answers, and the rows that it writes.

    Args:
        store: A store without claims, with a hook at ``address``. The check leaves rows of every kind in the store.
        address: The address of the hook.
        log_ids: Returns the ids of the stored log entries.
        run_ids: Returns the ids of the stored runs. The hook needs a trigger for pushes.
        context_ids: Returns the ids of the stored context records.

    Raises:
        AssertionError: The store breaks a guarantee; the message names the guarantee.
    """
    hook = await store.configuration(address, START)
    _expect("configuration returns the hook at its address", hook, holds=hook is not None and hook.address == address)
    assert hook is not None
    unknown = await store.configuration(evolve(address, integration_id="int_unknown"), START)
    _expect("configuration returns None for an unknown integration", unknown, holds=unknown is None)
    ids, moment, records = CountingIds(), timedelta(milliseconds=1), set[str]()
    new, claimed, stale = Settled.AS_DECIDED, Settled.ALREADY_CLAIMED, Settled.STALE
    event = Push(ref="refs/heads/main", branch="main", commits=(), head_commit=None)

    def made(outcome: Outcome, after: timedelta = timedelta()) -> Settlement:
        settling = settlement(outcome, hook, at=START + after, new_id=ids.new_id)
        assert settling is not None
        return settling

    def take(delivery_id: str = "taken", after: timedelta = timedelta()) -> Settlement:
        number = address.repository_id
        return made(Processed(event=event, delivery_id=delivery_id, repository_id=number, repository="acme/a"), after)

    reads = {"the log": log_ids, "the runs": run_ids, "the context records": context_ids}

    async def stored() -> dict[str, set[str]]:
        return {what: set(await ids()) for what, ids in reads.items() if ids is not None}

    async def settle(guarantee: str, settling: Settlement, answer: Settled, *, writes: bool = True) -> None:
        before = await stored()
        settled = await store.settle(settling)
        _expect(guarantee, settled, holds=settled is answer)
        owed: dict[str, set[str]] = {"the log": {settling.id}} if writes else {}
        if writes and answer is new:
            owed["the runs"] = {run.id for run in settling.runs}
            context = settling.context
            if context is not None and context.custom_id not in records:
                records.add(context.custom_id)
                owed["the context records"] = {context.id}
        for what, ids in (await stored()).items():
            written = ids ^ before[what]
            _expect(f"{guarantee}: {what}", written, holds=written == owed.get(what, set()))

    first, copy = take(), take()
    _expect("with run_ids, the hook has a trigger for pushes", hook, holds=run_ids is None or bool(first.runs))
    old = evolve(first, hook=evolve(hook, version=hook.version + 1))
    await settle("a settlement of another version is STALE, and nothing is written", old, stale, writes=False)
    await settle("a new delivery is AS_DECIDED, also after a stale settlement", first, new)
    await settle("a repeated settlement returns the first answer, and nothing is written", first, new, writes=False)
    await settle("a repeated settlement is never STALE", old, new, writes=False)
    await settle("a copy is ALREADY_CLAIMED, and only the duplicate's log entry is written", copy, claimed)
    await settle("a repeated copy returns the first answer, and nothing is written", copy, claimed, writes=False)
    await settle("Claim.CHECK is ALREADY_CLAIMED if the claim is held", made(Pong(delivery_id="taken")), claimed)
    refused = Rejected(fault=Fault.INVALID_SIGNATURE, error="forged", delivery_id="taken")
    await settle("Claim.NONE is AS_DECIDED even if the claim is held", made(refused), new)
    await settle("Claim.CHECK is AS_DECIDED if the claim is free", made(Pong(delivery_id="checked")), new)
    await settle("Claim.CHECK does not take the claim", take("checked"), new)
    await settle("a claim is held if the clock was stepped back", take(after=-moment), claimed)
    await settle("a claim is held for 24 hours", take(after=DEDUPE_WINDOW - moment), claimed)
    await settle("a claim is free after exactly 24 hours", take(after=DEDUPE_WINDOW), new)
    await settle("a claim that is taken again is held for 24 hours", take(after=2 * DEDUPE_WINDOW - moment), claimed)
    answers = await asyncio.gather(*(store.settle(take("at once")) for _ in range(8)))
    counts = answers.count(new), answers.count(claimed)
    _expect("of 8 concurrent copies, 1 is AS_DECIDED and 7 are ALREADY_CLAIMED", answers, holds=counts == (1, 7))


def _expect(guarantee: str, got: object, *, holds: bool) -> None:
    if not holds:
        message = f"the store breaks a guarantee: {guarantee} (got {got})"
        raise AssertionError(message)
