from typing import Final

from contentsvc_cli.operate.doctor.findings import LIMIT_S, Findings, fault, ok, warning
from contentsvc_http.settings import Settings, variable

#: Timeout of each SMTP response, in seconds: less than the timeout of the check.
_TIMEOUT_S: Final = LIMIT_S - 1


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
