"""The rules from which Hypothesis creates scripts."""

from datetime import timedelta
from typing import Final

from campaigns.model import choices, operations, work
from campaigns.model.bench import Bench
from campaigns.model.choices import LIMITS, OWNERS, SPANS, WHICH, Change, Doing, Move
from campaigns.model.material import Fault, Sending
from campaigns.model.model import A_DAY
from campaigns.model.script import Script
from campaigns.model.sides import Side, Step
from hypothesis import strategies as st
from hypothesis.stateful import rule

from contentsvc_core.access.keys import ApiKey, Scope
from contentsvc_core.content.queries import PostQuery
from contentsvc_core.lists.pagination import PageRequest

_MS: Final = timedelta(milliseconds=1)


class StoresMachine(Script):
    """The rules. They are few and broad: for each script Hypothesis leaves some of them out."""

    @rule(sending=choices.sendings(sound=True))
    def deliver_what_is_processed(self, sending: Sending) -> None:
        self.receive(sending)

    @rule(sendings=st.lists(choices.sendings(), min_size=2, max_size=4))
    def deliver(self, sendings: list[Sending]) -> None:
        for sending in sendings:
            self.receive(sending)

    @rule(sending=choices.sendings(), fault=st.sampled_from([fault for fault in Fault if fault is not Fault.NONE]))
    def deliver_while_something_happens(self, sending: Sending, fault: Fault) -> None:
        self.receive(sending, fault)
        if fault is Fault.SWITCHED_OFF:
            self.each(lambda side: operations.switch_back(side.stores, sending))

    @rule(which=WHICH, offset=st.sampled_from([-_MS, 0 * _MS, _MS]) | st.none())
    def deliver_again(self, which: int, offset: timedelta | None) -> None:
        """Deliver again: immediately, or a processed delivery at about the time when its claim ends."""
        if offset is None:
            self.receive(self.sent[-1 - which % len(self.sent)])
        else:
            sending, at = self.processed[-1 - which % len(self.processed)]
            self.clock.advance(at + A_DAY + offset - self.clock.now())
            self.receive(choices.another(sending, which))
        self.each(lambda side: operations.settle_again(side, which))

    @rule(moves=st.lists(choices.moves(), min_size=2, max_size=4) | choices.copies())
    def do_at_once(self, moves: list[Move]) -> None:
        self.race(moves)

    @rule(taken=st.integers(0, 3) | st.lists(WHICH, max_size=4), executor=WHICH, which=WHICH, doing=choices.doings())
    def work(self, taken: int | list[int], executor: int, which: int, doing: Doing) -> None:
        """Claim the first due runs or arbitrary runs, and apply operations to these or other runs."""
        if isinstance(taken, list):
            self.take_whatever(taken, self.executor(executor))
        elif taken:
            self.take_what_is_pending(taken, self.executor(executor))
        self.do(doing, which)

    @rule(times=st.sampled_from([*[1] * 6, *[2] * 4, 3, 20]), doing=choices.doings())
    def be_killed(self, times: int, doing: Doing) -> None:
        """Kill the process of one run several times; then the process before the last one continues."""
        name = self.join()
        self.take_what_is_pending(1, name)
        for _ in range(times):
            self.each(lambda side, name=name: work.recover(side.stores, {name: 0}))
            name = self.join()
            self.take_again(name)
        self.do(doing, 1)

    @rule(executor=WHICH, leaves=st.booleans(), lost=st.dictionaries(WHICH, st.booleans(), max_size=2))
    def heartbeat(self, executor: int, lost: dict[int, bool], *, leaves: bool) -> None:
        """Send an executor's heartbeat, perhaps its last one, and remove other executors."""
        name = self.executor(executor)
        self.each(lambda side: work.heartbeat(side.stores, name))
        if leaves:
            self.each(lambda side: work.leave(side.stores, name))
            self.join()

        def recover(side: Side) -> Step:
            # False: it has beaten since.
            beats = {self.executor(place): seen for place, seen in lost.items()}
            counts = {id_: side.model.executors.get(id_, 0) - (not seen) for id_, seen in beats.items()}
            return work.recover(side.stores, counts)

        self.each(recover)

    @rule(change=choices.changes())
    def set_up(self, change: Change) -> None:
        self.change(change)

    @rule(which=WHICH, owner=OWNERS | st.none(), stale=st.booleans())
    def edit(self, which: int, owner: str | None, *, stale: bool) -> None:
        self.edit_post(which, owner, stale=stale)

    @rule(which=WHICH, owner=OWNERS, back=SPANS, revoked=st.booleans())
    def use_keys(self, which: int, owner: str, back: timedelta, *, revoked: bool) -> None:
        now = self.clock.now()
        key = ApiKey(
            prefix=f"csk_{self.number:010d}",
            organization_id=owner,
            name="CI",
            digest="0" * 64,
            scopes=[*Scope][which % 2 :],
            created_at=now,
            expires_at=now + back if revoked else None,
        )
        self.each(lambda side: operations.add_key(side.stores, key))
        change = operations.revoke if revoked else operations.touch
        for at in (now, now - back):
            self.each(lambda side, at=at: change(side.stores, side.key_at(which), at))

    @rule(by=SPANS, owner=OWNERS | st.none(), back=SPANS, limit=LIMITS)
    def let_time_pass_and_sweep(self, by: timedelta, owner: str | None, back: timedelta, limit: int) -> None:
        """Sweep a log, or by every plan."""
        self.clock.advance(by)
        now = self.clock.now()
        if owner is None:
            self.each(lambda side: operations.sweep_all(side, now))
        else:
            self.each(lambda side: operations.sweep(side.stores, owner, now - back, limit))

    @rule(owner=OWNERS, query=choices.queries(), request=choices.page_requests(), which=WHICH, limit=LIMITS)
    def read(self, owner: str, query: PostQuery, request: PageRequest, which: int, limit: int) -> None:
        """Read a page, limited lists, single values, and the pending runs."""

        def find(side: Side) -> Step:
            ids = [*sorted(side.model.triggers), *sorted(side.model.integrations), "unknown"]
            return operations.find(side.stores, owner, ids[which % len(ids)], side.key_at(which))

        now = self.clock.now() + timedelta(minutes=which % 2)
        without = {owner} if which % 3 == 0 else set[str]()
        self.each(lambda side: operations.read_page(side.stores, owner, query, request))
        self.each(lambda side: operations.read_heads(side.stores, owner, limit))
        self.each(lambda side: operations.read_before(side, which, limit))
        self.each(find)
        self.each(lambda side: work.pending(side.stores, now, limit=limit, each=1 + which % 3, without=without))


def machine_on(bench: Bench) -> type[StoresMachine]:
    """Return the machine that runs its scripts on a bench."""
    return type(StoresMachine.__name__, (StoresMachine,), {"bench": bench})
