import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Sequence
from datetime import timedelta
from time import monotonic
from typing import Final, final

import structlog

from contentsvc_adapters.mail import TIMEOUT_S, SmtpSender
from contentsvc_adapters.pacing import Notifier, Pacer
from contentsvc_core.outgoing.letters import MailResult, SentLetter
from contentsvc_core.outgoing.retries import OUTAGE_PAUSE_S
from contentsvc_core.outgoing.smtp import SmtpServer
from contentsvc_core.ports import Clock, IdSource, Stores
from contentsvc_core.usecases.mail import BATCH_SIZE, Mailer
from contentsvc_http.faults import log_fault
from contentsvc_http.settings import Settings

#: The interval of polling for due mails after a write of this process, and in an idle process, in seconds.
_LOOK_EVERY_S: Final = 2.0
_RARELY_S: Final = 8.0
#: The time for which a stop waits for the mails of one connection, in seconds.
_GRACE_S: Final = 3.0
#: The minimum time between two log lines with the same fault of the mail server, in seconds.
_QUIET_S: Final = 60.0
_ADVICE: Final = "'contentsvc doctor' checks the mail server, and counts waiting and failed mails"
_LOG: Final = structlog.get_logger("contentsvc")


@final
class MailReport:
    """Counts attempts to send mails, and logs faults of the mail server, one line a minute for each."""

    def __init__(self, on_posting: Callable[[MailResult], object] | None) -> None:
        self._on_posting = on_posting
        self._logged: dict[str, float] = {}

    def __call__(self, outcomes: Sequence[SentLetter]) -> None:
        if self._on_posting is not None:
            for posted in outcomes:
                self._on_posting(posted.posting)
        now = monotonic()
        self._logged = {known: at for known, at in self._logged.items() if now - at < _QUIET_S}
        for reason, mails in Counter(posted.error for posted in outcomes).items():
            if reason is not None and reason not in self._logged:
                self._logged[reason] = now
                _LOG.warning("mails not sent", reason=reason, mails=mails, advice=_ADVICE)


def sender(settings: Settings, *, timeout_s: float = TIMEOUT_S) -> SmtpSender:
    return SmtpSender(SmtpServer.read(settings.smtp_url), settings.mail_from, timeout_s=timeout_s)


@contextlib.asynccontextmanager
async def mailing(
    settings: Settings,
    stores: Stores,
    clock: Clock,
    ids: IdSource,
    writes: Notifier,
    *,
    on_posting: Callable[[MailResult], object] | None,
) -> AsyncGenerator[None]:
    if not settings.smtp_url:
        yield
        return
    mails = sender(settings)
    mailer = Mailer(
        stores.mailbox,
        stores.changelogs,
        stores.directory,
        mails,
        clock,
        ids,
        base_url=settings.base_url,
        every=timedelta(minutes=settings.mail_every_minutes),
        on_posted=MailReport(on_posting),
        on_fault=log_fault,
        pause=lambda: asyncio.sleep(OUTAGE_PAUSE_S),
    )
    stopping = asyncio.Event()
    pacer = Pacer(_LOOK_EVERY_S, _RARELY_S)
    writes.listen(pacer.expect)

    async def turns() -> None:
        while not stopping.is_set():
            pacer.begin()
            sent = 0
            try:
                if (sent := await mailer.turn()) == BATCH_SIZE:
                    continue
            except Exception as exc:  # noqa: BLE001  # the next turn tries again
                log_fault(exc)
            if not stopping.is_set():
                await pacer.wait(found=sent > 0)

    task = asyncio.create_task(turns(), name="mail")
    try:
        yield
    finally:
        stopping.set()
        pacer.wake()
        mails.close()
        # Not cancelled at once: mails that are sent and not recorded are sent again.
        await asyncio.wait([task], timeout=_GRACE_S)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
