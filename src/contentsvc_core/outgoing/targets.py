"""Targets of endpoints: URLs and e-mail addresses, and the formats that they read."""

from collections.abc import Collection
from typing import Final, final
from urllib.parse import urlsplit

from attrs import frozen

from contentsvc_core.content.brand import TEXT_LIMIT
from contentsvc_core.content.site_addresses import SiteAddress, SiteHost, read_site_address
from contentsvc_core.outgoing.formats import EndpointFormat
from contentsvc_core.outgoing.subscribers import read_address
from contentsvc_core.refusals import Refusal, RefusalKind, invalid
from contentsvc_core.text import one_line

MAIL_SCHEME: Final = "mailto:"
#: The most addresses of one target: each message is one mail to all of them.
MAX_ADDRESSES: Final = 10
NO_MAIL: Final = Refusal(
    RefusalKind.UNSUITABLE, "this service sends no mail: set CONTENTSVC_SMTP_URL and restart it", "url"
)
_NOT_HTTPS: Final = invalid(None, "must begin with https://")
_SLACK: Final = frozenset({"hooks.slack.com", "hooks.slack-gov.com"})
_DISCORD: Final = frozenset({"discord.com", "ptb.discord.com", "canary.discord.com", "discordapp.com"})
#: Addresses of Teams workflows, of today and of yesterday, and of the connectors before.
_TEAMS: Final = (".logic.azure.com", ".api.powerplatform.com", ".webhook.office.com")
_PRODUCTS: Final = {
    EndpointFormat.SLACK: "Slack",
    EndpointFormat.DISCORD: "Discord",
    EndpointFormat.TEAMS: "Microsoft Teams",
}


@final
@frozen(kw_only=True)
class Target:
    url: str
    format: EndpointFormat


def read_target(text: str, chosen: EndpointFormat | None, opened: Collection[SiteHost] = ()) -> Target | Refusal:
    """Read the target of an endpoint, and choose its format by the target unless the format is given."""
    if chosen is EndpointFormat.EMAIL or text.casefold().startswith(MAIL_SCHEME) or ("@" in text and "://" not in text):
        if chosen not in {None, EndpointFormat.EMAIL}:
            return invalid("format", "must be email: the target is an e-mail address")
        return _mail_target(text)
    address = read_endpoint_url(text, opened)
    if isinstance(address, Refusal):
        return Refusal(address.kind, address.reason, "url")
    chat_format = _format_of_chat(address.host, address.target.partition("?")[0])
    if chat_format is None or chosen in {None, chat_format}:
        return Target(url=text, format=chosen or chat_format or EndpointFormat.STANDARD)
    product = _PRODUCTS[chat_format]
    fault = f"must be {chat_format.value}, or none: {address.host} is {product}, which reads no other messages"
    return invalid("format", fault)


def read_endpoint_url(text: str, opened: Collection[SiteHost] = ()) -> SiteAddress | Refusal:
    """Read the URL of an endpoint: ``https`` at a public host, or at a host that an operator has allowed.

    Its IP addresses are checked at each attempt, since DNS records may change.
    """
    if text and not text.lower().startswith(("https://", "http://")):
        return _NOT_HTTPS
    address = read_site_address(text, opened, "CONTENTSVC_OUTGOING_HOSTS")
    if isinstance(address, SiteAddress) and address.scheme != "https" and not address.opened:
        return _NOT_HTTPS
    return address


def format_of_target(url: str) -> EndpointFormat:
    if url.startswith(MAIL_SCHEME):
        return EndpointFormat.EMAIL
    parts = urlsplit(url)
    return _format_of_chat(parts.hostname or "", parts.path) or EndpointFormat.STANDARD


def _format_of_chat(host: str, path: str) -> EndpointFormat | None:
    if host in _SLACK:
        return EndpointFormat.SLACK
    if host in _DISCORD:
        # Discord also reads Slack's messages, at an address of its own.
        return EndpointFormat.SLACK if path.rstrip("/").endswith("/slack") else EndpointFormat.DISCORD
    return EndpointFormat.TEAMS if host.endswith(_TEAMS) else None


def addresses_of(url: str) -> tuple[str, ...]:
    return tuple(url.removeprefix(MAIL_SCHEME).split(","))


def shown_target(url: str) -> str:
    """Return a target without its secrets: the host of a URL, or the addresses."""
    return ", ".join(addresses_of(url)) if url.startswith(MAIL_SCHEME) else urlsplit(url).hostname or ""


def _mail_target(text: str) -> Target | Refusal:
    if len(text) > TEXT_LIMIT:
        return invalid("url", f"must have at most {TEXT_LIMIT} characters")
    listed = text[len(MAIL_SCHEME) :] if text.casefold().startswith(MAIL_SCHEME) else text
    addresses: list[str] = []
    for part in listed.split(","):
        address = read_address(part)
        if address is None:
            return invalid("url", f"has '{one_line(part, 64)}', which is no e-mail address")
        addresses.append(address)
    unique = tuple(dict.fromkeys(addresses))
    if len(unique) > MAX_ADDRESSES:
        return invalid("url", f"must have at most {MAX_ADDRESSES} e-mail addresses")
    return Target(url=f"{MAIL_SCHEME}{','.join(unique)}", format=EndpointFormat.EMAIL)
