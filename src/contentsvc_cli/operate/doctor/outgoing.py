from datetime import UTC, datetime, timedelta
from typing import Final

from contentsvc_cli.operate.doctor.findings import Findings, fault, ok, warning
from contentsvc_cli.operate.doctor.work import duration
from contentsvc_http.settings import Settings, variable
from contentsvc_http.wiring.diagnostics import DatabaseInspector

#: Timeout of each SMTP response, in seconds.
_TIMEOUT_S: Final = 4.0
#: Warning limit for the age of a waiting mail or message, in seconds: it is sent within seconds, and tried again within
#: minutes.
_LONG_S: Final = 900.0
_DAY: Final = timedelta(days=1)


async def mail(settings: Settings) -> Findings:
    """Check that the SMTP server accepts the login; no mail is sent."""
    name = "mail"
    if not settings.smtp_url:
        return []
    from contentsvc_http.wiring.mailing import sender  # noqa: PLC0415  # other checks send no mail

    server = str(settings.masked()[variable("smtp_url")])
    reason = await sender(settings, timeout_s=_TIMEOUT_S).check()
    if reason is not None:
        advice = "check CONTENTSVC_SMTP_URL: host, port, user and password; waiting mails are retried"
        return [fault(name, f"{server}: {reason}", advice)]
    if not settings.base_url.startswith("https:"):
        advice = "set CONTENTSVC_BASE_URL to the https URL that readers use: links in mails begin with it"
        return [warning(name, f"{server} works, but links in mails begin with {settings.base_url}", advice)]
    return [ok(name, f"{server} works; mails are sent from {settings.mail_from}")]


async def mails(settings: Settings, database: DatabaseInspector) -> Findings:
    """Check the waiting mails to subscribers, and the outcomes of the last day."""
    name = "mails"
    now = datetime.now(UTC)
    counts = await database.mails(now, since=now - _DAY)
    if not settings.smtp_url and not counts.waiting:
        return []
    sentence = f"{counts.waiting} waiting"
    if counts.waiting:
        sentence += f" (the oldest for {duration(counts.oldest_s)})"
    sentence += f"; {counts.sent} sent and {counts.failed} failed in the last day"
    if counts.error is not None:
        sentence += f"; error: {counts.error}"
    if not settings.smtp_url:
        return [warning(name, sentence, "set CONTENTSVC_SMTP_URL and CONTENTSVC_MAIL_FROM: mails wait until then")]
    if counts.oldest_s > _LONG_S:
        return [warning(name, sentence, "see 'mail' above, and 'mails not sent' in the log of 'serve'")]
    if counts.failed:
        advice = (
            "a failed mail is not sent again; see its address: contentsvc subscriber list; delete a wrong one: "
            "contentsvc subscriber delete"
        )
        return [warning(name, sentence, advice)]
    return [ok(name, sentence)]


async def webhooks(database: DatabaseInspector) -> Findings:
    """Check the messages that wait for webhook endpoints."""
    name = "webhooks"
    messages = await database.messages(datetime.now(UTC))
    if messages is None:
        return []
    if not messages.waiting:
        return [ok(name, "no message waits for an endpoint")]
    wait = "message waits" if messages.waiting == 1 else "messages wait"
    sentence = f"{messages.waiting} {wait} for endpoints; the oldest for {duration(messages.oldest_s)}"
    if messages.oldest_s <= _LONG_S:
        return [ok(name, sentence)]
    sentence += f", for {messages.endpoint_id}, whose last {messages.failures} attempts failed"
    advice = f"see the errors: contentsvc log list --integration {messages.endpoint_id} --organization SLUG"
    return [warning(name, sentence, advice)]
