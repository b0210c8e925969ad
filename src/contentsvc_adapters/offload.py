import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Thread
from typing import Any, Final, TypeVar, final

from contentsvc_core.errors import Overloaded
from contentsvc_core.ports import Shares

_Result = TypeVar("_Result")

#: Calls of one organization at once, for each kind of work: the second request need not wait for a slow first one.
PER_ORGANIZATION: Final = 2
HEAVY_CONCURRENCY: Final = 3
LISTS_CONCURRENCY: Final = 4
#: Calls of one organization that wait: at a second each, and two at a time, the last one waits for 8 s.
HEAVY_WAITING: Final = 16
#: Lists are a hundred times shorter, and a page with several parts requests several of them at once.
LISTS_WAITING: Final = 64
#: Fewer than the pages of public changelogs that are read at once: the other pages do not wait for searches.
PUBLIC_CONCURRENCY: Final = 2
#: A page may hold twenty posts in memory. Pages are rendered one at a time, while others are read.
PAGES_CONCURRENCY: Final = 4
OTHER_THREADS: Final = 4
_THREADS: Final = HEAVY_CONCURRENCY + LISTS_CONCURRENCY + PUBLIC_CONCURRENCY + OTHER_THREADS


@final
class SingleThreadExecutor:
    """Runs one task after the other in a thread of its own, so that many take no more memory than one."""

    def __init__(self, name: str = "large bodies") -> None:
        # No thread of the loop's default executor: those may all be waiting for something else.
        self._thread: Final = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)

    async def __call__(self, work: Callable[[], _Result], /) -> _Result:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)


class _Queue:
    def __init__(self) -> None:
        self.running = 0
        self.waiting: Final[deque[asyncio.Future[None]]] = deque()


@final
class FairShare:
    """Runs a bounded amount of work at once, in turns between organizations (port ``Share``)."""

    def __init__(self, *, concurrency: int, per_organization: int, waiting: int) -> None:
        self.concurrency: Final = concurrency
        self._per_organization = per_organization
        self._waiting = waiting
        self._running = 0
        self._queues: dict[str, _Queue] = {}
        # The event loop keeps only weak references to tasks.
        self._tasks: set[asyncio.Task[Any]] = set()

    async def __call__(self, organization_id: str, work: Callable[[], Awaitable[_Result]], /) -> _Result:
        await self._enter(organization_id)
        task = asyncio.create_task(_run(work))
        self._tasks.add(task)

        def ended(task: "asyncio.Task[_Result]") -> None:
            self._tasks.discard(task)
            if not task.cancelled():
                # Marks the exception as retrieved: after a cancelled call no other code does.
                task.exception()
            self._leave(organization_id)

        task.add_done_callback(ended)
        return await asyncio.shield(task)

    async def _enter(self, organization_id: str) -> None:
        queue = self._queues.setdefault(organization_id, _Queue())
        if self._running < self.concurrency and queue.running < self._per_organization and not queue.waiting:
            self._admit(organization_id)
            return
        if len(queue.waiting) >= self._waiting:
            message = "too many requests of this organization wait already"
            raise Overloaded(message)
        admitted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        queue.waiting.append(admitted)
        try:
            await admitted
        except asyncio.CancelledError:
            if admitted.cancelled():
                queue.waiting.remove(admitted)
                self._forget(organization_id)
            else:
                # Admitted and cancelled in the same turn of the event loop.
                self._leave(organization_id)
            raise

    def _admit(self, organization_id: str) -> None:
        self._put_last(organization_id).running += 1
        self._running += 1

    def _leave(self, organization_id: str) -> None:
        self._put_last(organization_id).running -= 1
        self._running -= 1
        self._forget(organization_id)
        self._admit_next()

    def _put_last(self, organization_id: str) -> _Queue:
        queue = self._queues[organization_id] = self._queues.pop(organization_id)
        return queue

    def _forget(self, organization_id: str) -> None:
        queue = self._queues[organization_id]
        if not queue.running and not queue.waiting:
            del self._queues[organization_id]

    def _admit_next(self) -> None:
        while self._running < self.concurrency:
            able = (
                organization_id
                for organization_id, queue in self._queues.items()
                if queue.running < self._per_organization and any(not each.done() for each in queue.waiting)
            )
            organization_id = next(able, None)
            if organization_id is None:
                return
            queue = self._queues[organization_id]
            admitted = next(each for each in queue.waiting if not each.done())
            queue.waiting.remove(admitted)
            admitted.set_result(None)
            self._admit(organization_id)


async def _run(work: Callable[[], Awaitable[_Result]]) -> _Result:
    return await work()


def shares(*, connections: int = 10) -> Shares:
    """Create the shares of a process. From three connections on, at least one stays free for authentication."""
    heavy = max(1, min(HEAVY_CONCURRENCY, connections // 3))
    lists = max(1, min(LISTS_CONCURRENCY, connections - heavy - 1))
    public = max(1, min(PUBLIC_CONCURRENCY, connections - heavy - lists - 1))
    return Shares(
        heavy=FairShare(concurrency=heavy, per_organization=PER_ORGANIZATION, waiting=HEAVY_WAITING),
        lists=FairShare(concurrency=lists, per_organization=PER_ORGANIZATION, waiting=LISTS_WAITING),
        public=FairShare(concurrency=public, per_organization=1, waiting=HEAVY_WAITING),
        pages=FairShare(concurrency=PAGES_CONCURRENCY, per_organization=PER_ORGANIZATION, waiting=LISTS_WAITING),
    )


def threads() -> ThreadPoolExecutor:
    """Create the threads of ``asyncio.to_thread``: more than the shares use at once, so that some are always free."""
    return ThreadPoolExecutor(max_workers=_THREADS, thread_name_prefix="offload")


async def in_thread(work: Callable[[], _Result], *, name: str | None = None) -> _Result:
    """Run a blocking function in a thread that the interpreter does not wait for at exit, as it does for a pool's."""
    answer: Future[_Result] = Future()
    # Always runs: only the waiting may be cancelled.
    answer.set_running_or_notify_cancel()

    def run() -> None:
        try:
            answer.set_result(work())
        except Exception as exc:  # noqa: BLE001  # raised in the caller
            answer.set_exception(exc)

    Thread(target=run, name=name, daemon=True).start()
    return await asyncio.wrap_future(answer)
