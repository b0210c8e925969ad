import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, final

from contentsvc_adapters.outgoing.worker import DispatchWorker
from contentsvc_adapters.pacing import Notifier
from contentsvc_core.content.site_addresses import SiteHost, read_site_hosts
from contentsvc_core.outgoing.retries import OUTAGE_PAUSE_S, Answer, AttemptResult, NotSent
from contentsvc_core.ports import Clock, IdSource, Stores
from contentsvc_core.usecases.dispatch import Dispatcher
from contentsvc_http.faults import log_fault
from contentsvc_http.settings import Settings
from contentsvc_http.wiring.mailing import sender as mail_sender

if TYPE_CHECKING:
    from contentsvc_core.ports import WebhookSender

#: The time for which a stop waits for answers, in seconds.
_GRACE_S: Final = 1.0
_SENDER: Final = "contentsvc_adapters.outgoing.sender"


@final
class SenderOnDemand:
    """Loads the HTTP client with the first message: most processes send none."""

    def __init__(self, opened: frozenset[SiteHost]) -> None:
        self._opened = opened
        self._sender: WebhookSender | None = None

    async def send(self, url: str, headers: Mapping[str, str], body: bytes) -> Answer | NotSent:
        if self._sender is None:
            # In a thread, so that deliveries do not wait for the import.
            module: Any = await asyncio.to_thread(import_module, _SENDER)
            self._sender = self._sender or module.HttpWebhookSender(opened=self._opened)
        assert self._sender is not None
        return await self._sender.send(url, headers, body)


@contextlib.asynccontextmanager
async def dispatching(
    settings: Settings,
    stores: Stores,
    clock: Clock,
    ids: IdSource,
    writes: Notifier,
    *,
    on_sent: Callable[[AttemptResult], None],
) -> AsyncGenerator[None]:
    """Send the messages of the outbox; at the end, release the unanswered ones."""
    sender = SenderOnDemand(read_site_hosts(settings.outgoing_hosts))
    mails = mail_sender(settings) if settings.smtp_url else None
    dispatcher = Dispatcher(
        stores.outbox,
        stores.recipients,
        sender,
        clock,
        ids,
        base_url=settings.base_url,
        mails=mails,
        pause=lambda: asyncio.sleep(OUTAGE_PAUSE_S),
    )
    worker = DispatchWorker(dispatcher, on_fault=log_fault, on_sent=on_sent)
    writes.listen(worker.expect)
    worker.launch()
    try:
        yield
    finally:
        if mails is not None:
            mails.close()
        await worker.close(within_s=_GRACE_S)
