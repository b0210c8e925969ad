"""What the doctor finds about mail: whether the SMTP server takes what is set."""

from typing import Final

from contentsvc_cli.doctor.findings import LIMIT_S, Findings, fault, ok, warning
from contentsvc_http.settings import Settings, variable

#: For each answer of the server, in seconds: less than the check may take.
_TIMEOUT_S: Final = LIMIT_S - 1


async def mail(settings: Settings) -> Findings:
    """Look whether the SMTP server can be used; it is signed in to, and nothing is sent."""
    name = "mail"
    if not settings.smtp_url:
        return []
    # Only this needs it.
    from contentsvc_http.wiring.mailing import sender  # noqa: PLC0415  # other checks send no mail

    server = str(settings.masked()[variable("smtp_url")])
    reason = await sender(settings, timeout_s=_TIMEOUT_S).check()
    if reason is not None:
        advice = "look at CONTENTSVC_SMTP_URL: host, port, user and password; mails wait and are retried meanwhile"
        return [fault(name, f"{server}: {reason}", advice)]
    if not settings.base_url.startswith("https:"):
        advice = "set CONTENTSVC_BASE_URL to the https address that readers use: links in mails begin with it"
        return [warning(name, f"{server} can be used, but links in mails begin with {settings.base_url}", advice)]
    return [ok(name, f"{server} can be used; mails come from {settings.mail_from}")]
