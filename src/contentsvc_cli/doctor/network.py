"""What the doctor finds on the network: a server, the address that code hosts know, and their APIs."""

from collections.abc import Collection
from email.utils import parsedate_to_datetime
from importlib.metadata import version
from ipaddress import ip_address
from typing import Final, final
from urllib.parse import urlsplit

from attrs import field, frozen

from contentsvc_cli.doctor.asking import Asked, Unanswered, ask
from contentsvc_cli.doctor.findings import Finding, aside, fault, ok, skipped, warning
from contentsvc_http.settings import Settings, variable
from contentsvc_http.sockets import CannotListen, listen

_OK: Final = 200
_CLIENT_ERROR: Final = 400
_UNAUTHORIZED: Final = 401
_SERVER_ERROR: Final = 500
_ANYWHERE: Final = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}  # noqa: S104  # what a server may listen on
_FORGE: Final = "/api/v1"
_TO_SET: Final = (
    "if one is to reach this service, set CONTENTSVC_BASE_URL to the address that it has from outside, such as "
    "https://hooks.example.org, and connect repositories then"
)


@final
@frozen(kw_only=True)
class Place:
    """Where a server is looked for."""

    host: str
    port: int

    @property
    def url(self) -> str:
        """Give the address that a client on this machine uses."""
        host = _ANYWHERE.get(self.host, self.host)
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}"


@final
@frozen(kw_only=True)
class HostLook:
    """What was found at a code host."""

    finding: Finding
    #: How far its clock is ahead of this machine's, in seconds, to a second or so; ``None``: it did not say.
    ahead_s: float | None = None
    name: str = ""


@final
@frozen(kw_only=True)
class ServerLook:
    """What was found on the port."""

    findings: tuple[Finding, ...] = field(converter=tuple)
    #: Whether contentsvc answers there.
    answers: bool = False


async def server(place: Place) -> ServerLook:
    """Look who answers on the port, and whether it could be listened on."""
    name = "server"
    at = f"{place.host} port {place.port}"
    status = await ask(f"{place.url}/v1/status")
    if isinstance(status, Unanswered):
        return ServerLook(findings=[await _unanswered(place, at, status)])
    if status.version is None:
        live = await ask(f"{place.url}/health/live")
        if not isinstance(live, Asked) or live.json != {"status": "live"}:
            advice = "serve on another port ('contentsvc serve --port'), or look there with 'doctor --port'"
            return ServerLook(findings=[warning(name, f"another program answers on {at}", advice)])
    found = [_versions(at, status)]
    ready = await ask(f"{place.url}/health/ready")
    if not isinstance(ready, Asked) or ready.status != _OK:
        body = ready.json if isinstance(ready, Asked) else None
        said = str((body or {}).get("error", "Not ready"))
        found.append(fault(name, said, "see the server's log; what is found above may be the reason"))
    return ServerLook(findings=found, answers=status.version is not None)


def _versions(at: str, status: Asked) -> Finding:
    running, here = status.version, version("contentsvc")
    if running is None:
        return ok("server", f"a worker answers on {at}")
    if running != here:
        advice = "restart the server with the version that is installed here, or use the command of that one"
        return warning("server", f"contentsvc {running} answers on {at}, and this is {here}", advice)
    return ok("server", f"contentsvc {running} answers on {at}")


async def _unanswered(place: Place, at: str, status: Unanswered) -> Finding:
    if not status.refused:
        return warning("server", f"nobody answers on {at}: {status.reason}", "look what holds the port")

    def try_() -> None:
        listen(place.host, place.port).close()

    try:
        await aside(try_)
    except CannotListen as exc:
        return fault("server", str(exc), "serve on another address ('contentsvc serve --host --port')")
    return ok("server", f"none runs on {at}, and the port is free: 'contentsvc serve' can take it")


async def dashboard(place: Place, look: ServerLook) -> Finding:
    """Look where the dashboard is."""
    # What answers with pages takes its time to be imported, and is asked for one word.
    from contentsvc_http.dashboard.visits import ROOT  # noqa: PLC0415  # Litestar comes with it

    name, url = "dashboard", f"{place.url}{ROOT}"
    if not look.answers:
        return skipped(name, f"it is at {url} once 'contentsvc serve' runs there")
    page = await ask(url)
    if isinstance(page, Asked) and (page.status < _CLIENT_ERROR or page.status == _UNAUTHORIZED):
        return ok(name, url)
    said = f"answers {page.status}" if isinstance(page, Asked) else page.reason
    return warning(name, f"{url}: {said}", "see the server's log")


async def base_url(settings: Settings) -> Finding:
    """Look whether the address that code hosts are given can be reached."""
    name = "base_url"
    url = str(settings.masked()[variable("base_url")])
    host = urlsplit(settings.base_url).hostname or ""
    if _is_loopback(host):
        return warning(name, f"{url} is this machine's alone: no code host elsewhere can reach it", _TO_SET)
    answered = await ask(f"{settings.base_url}/v1/status")
    if isinstance(answered, Unanswered):
        advice = "start the server; else look at DNS, the proxy in front of it, and its certificate"
        return warning(name, f"{url} cannot be reached from here: {answered.reason}", advice)
    if answered.version is None:
        advice = "have the proxy in front pass /api/webhooks and /v1 on to the server, unchanged"
        return warning(name, f"{url} answers {answered.status} to /v1/status, and not as contentsvc", advice)
    if _is_private(host):
        return warning(
            name, f"{url} answers, but it is of a private network: no code host outside it reaches it", _TO_SET
        )
    if settings.base_url.startswith("http:"):
        advice = "put a proxy with TLS in front, and set CONTENTSVC_BASE_URL to its https address"
        return warning(name, f"{url} answers, in clear: who listens on the way reads deliveries and API keys", advice)
    return ok(name, f"{url} answers as contentsvc {answered.version}")


async def code_host(provider: str, api_url: str) -> HostLook:
    """Look whether a code host's API can be reached; no token is needed for that, and none is sent."""
    name = f"code host {provider}"
    set_ = variable(f"{provider}_api_url")
    answered = await ask(f"{api_url}/version" if api_url.endswith(_FORGE) else f"{api_url}/")
    if isinstance(answered, Unanswered):
        advice = f"look at {set_}, DNS and the way out; deliveries come in all the same, but no webhook can be made"
        return HostLook(finding=warning(name, f"{api_url} cannot be reached: {answered.reason}", advice))
    host = urlsplit(api_url).hostname or api_url
    ahead_s = _ahead_s(answered)
    if answered.status >= _SERVER_ERROR:
        finding = warning(name, f"{api_url} answers {answered.status}", "wait, or ask who runs it")
    elif "json" not in answered.headers.get("Content-Type", ""):
        advice = f"set {set_} to its API's address: https://HOST/api/v3, or https://HOST/api/v1 for Forgejo and Gitea"
        finding = warning(name, f"{api_url} answers {answered.status}, and not as an API does", advice)
    else:
        finding = ok(name, f"{api_url} answers {answered.status}; it was asked without a token")
    return HostLook(finding=finding, ahead_s=ahead_s, name=host)


def hosts_to_ask(settings: Settings, given: Collection[str], providers: Collection[str]) -> dict[str, str]:
    """Choose the APIs that are meant to be used: those that were set, and those of what is connected."""
    configured = {"codehost": settings.codehost_api_url, "github": settings.github_api_url}
    return {
        provider: url
        for provider, url in configured.items()
        if url and (variable(f"{provider}_api_url") in given or provider in providers)
    }


def _ahead_s(answered: Asked) -> float | None:
    try:
        # Cut to whole seconds: half a second is added, on average.
        said = parsedate_to_datetime(answered.headers.get("Date", "")).timestamp() + 0.5
    except ValueError:
        return None
    return said - answered.at


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _is_private(host: str) -> bool:
    try:
        return ip_address(host).is_private
    except ValueError:
        return False
