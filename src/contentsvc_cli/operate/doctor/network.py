import asyncio
from collections.abc import Collection
from email.utils import parsedate_to_datetime
from importlib.metadata import version
from ipaddress import ip_address
from typing import Final, final
from urllib.parse import urlsplit

from attrs import field, frozen

from contentsvc_cli.operate.doctor.fetching import HttpAnswer, Unanswered, fetch
from contentsvc_cli.operate.doctor.findings import Finding, Findings, fault, ok, skipped, warning
from contentsvc_cli.servers import serve_command
from contentsvc_core.identifiers import is_loopback
from contentsvc_core.webhooks.providers import provider_named
from contentsvc_http.bounds import FULL
from contentsvc_http.settings import Settings, api_variable, variable
from contentsvc_http.sockets import CannotListen, listen
from contentsvc_http.wiring.code_hosts import probe_url
from contentsvc_http.wiring.diagnostics import in_thread

_OK: Final = 200
_CLIENT_ERROR: Final = 400
_UNAUTHORIZED: Final = 401
_FORBIDDEN: Final = 403
_TOO_MANY_REQUESTS: Final = 429
_SERVER_ERROR: Final = 500
_ANYWHERE: Final = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}  # noqa: S104  # an address to listen on
_TO_SET: Final = (
    "to receive deliveries, set CONTENTSVC_BASE_URL to the public URL of this service, such as "
    "https://hooks.example.org, before you connect repositories"
)


@final
@frozen(kw_only=True)
class BindAddress:
    host: str
    port: int

    @property
    def url(self) -> str:
        host = _ANYWHERE.get(self.host, self.host)
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}"


@final
@frozen(kw_only=True)
class HostCheck:
    finding: Finding
    #: How far its clock is ahead of this machine's, in seconds, to about a second; ``None``: unknown.
    ahead_s: float | None = None
    name: str = ""


@final
@frozen(kw_only=True)
class ServerCheck:
    findings: tuple[Finding, ...] = field(converter=tuple)
    answers: bool = False


async def server(address: BindAddress) -> ServerCheck:
    name = "server"
    at = f"{address.host} port {address.port}"
    status, live = await asyncio.gather(fetch(f"{address.url}/v1/status"), fetch(f"{address.url}/health/live"))
    is_live = isinstance(live, HttpAnswer) and live.json == {"status": "live"}
    if isinstance(status, Unanswered):
        if is_live:
            advice = (
                "the machine is busy, or a receiver loads the rest at its first request: run this again in a moment"
            )
            return ServerCheck(
                findings=[warning(name, f"the server on {at} is live, but slow: {status.reason}", advice)]
            )
        return ServerCheck(findings=[await _unanswered(address, at, status)])
    if status.json == {"error": FULL.error}:
        advice = "end idle connections, or raise CONTENTSVC_MAX_CONNECTIONS and the server's limit of open files"
        return ServerCheck(findings=[fault(name, f"too many connections are open on {at}", advice)])
    if status.version is None and not is_live:
        advice = "use another port ('contentsvc serve --port'), or check the right one with 'doctor --port'"
        return ServerCheck(findings=[warning(name, f"another program answers on {at}", advice)])
    findings = [_versions(at, status)]
    ready = await fetch(f"{address.url}/health/ready")
    if not isinstance(ready, HttpAnswer) or ready.status != _OK:
        body = ready.json if isinstance(ready, HttpAnswer) else None
        sentence = str((body or {}).get("error", "Not ready"))
        findings.append(fault(name, sentence, "see the server's log and the findings above"))
    return ServerCheck(findings=findings, answers=status.version is not None)


def _versions(at: str, status: HttpAnswer) -> Finding:
    running, here = status.version, version("contentsvc")
    if running is None:
        return ok("server", f"a worker answers on {at}")
    if running != here:
        advice = "restart the server with the version installed here, or use the command of the server's version"
        return warning("server", f"contentsvc {running} answers on {at}, and this is {here}", advice)
    return ok("server", f"contentsvc {running} answers on {at}")


async def _unanswered(address: BindAddress, at: str, status: Unanswered) -> Finding:
    if not status.refused:
        advice = "if 'contentsvc serve' has just started, wait; otherwise, find out which program uses the port"
        return warning("server", f"no answer on {at}: {status.reason}", advice)

    def try_() -> None:
        listen(address.host, address.port).close()

    try:
        await in_thread(try_)
    except CannotListen as exc:
        return fault("server", str(exc), "serve on another address ('contentsvc serve --host --port')")
    return ok("server", f"no server runs on {at}; the port is free for '{serve_command(address.port)}'")


async def dashboard(address: BindAddress, result: ServerCheck) -> Finding:
    # Not a constant of the dashboard: the import of its modules stops the event loop until other checks time out.
    name, url = "dashboard", f"{address.url}/dashboard"
    if not result.answers:
        return skipped(name, f"it will be at {url} when '{serve_command(address.port)}' runs")
    page = await fetch(url)
    if isinstance(page, HttpAnswer) and (page.status < _CLIENT_ERROR or page.status == _UNAUTHORIZED):
        return ok(name, url)
    sentence = f"answers {page.status}" if isinstance(page, HttpAnswer) else page.reason
    return warning(name, f"{url}: {sentence}", "see the server's log")


async def base_url(settings: Settings) -> Finding:
    name = "base_url"
    url = str(settings.masked()[variable("base_url")])
    host = urlsplit(settings.base_url).hostname or ""
    if is_loopback(host):
        return warning(name, f"{url} is only reachable on this machine: code hosts elsewhere cannot reach it", _TO_SET)
    answered = await fetch(f"{settings.base_url}/v1/status")
    if isinstance(answered, Unanswered):
        advice = "start the server; check DNS, the proxy and its certificate"
        return warning(name, f"{url} cannot be reached from here: {answered.reason}", advice)
    if answered.version is None:
        advice = "configure the proxy to pass /api/webhooks and /v1 unchanged"
        return warning(name, f"{url} answers {answered.status} to /v1/status, but is not contentsvc", advice)
    if _is_private(host):
        return warning(name, f"{url} answers, but is in a private network: code hosts outside cannot reach it", _TO_SET)
    if settings.base_url.startswith("http:"):
        advice = "use a proxy with TLS, and set CONTENTSVC_BASE_URL to its https URL"
        return warning(name, f"{url} answers without TLS: deliveries and API keys can be read on the network", advice)
    return ok(name, f"{url} answers as contentsvc {answered.version}")


async def code_host(provider: str, api_url: str) -> HostCheck:
    name = f"code host {provider}"
    set_ = api_variable(provider)
    answered = await fetch(probe_url(provider, api_url))
    if isinstance(answered, Unanswered):
        advice = f"check {set_}, DNS and the firewall; deliveries still arrive, but webhooks cannot be created"
        return HostCheck(finding=warning(name, f"{api_url} cannot be reached: {answered.reason}", advice))
    host = urlsplit(api_url).hostname or api_url
    ahead_s = _ahead_s(answered)
    if answered.status >= _SERVER_ERROR:
        finding = warning(name, f"{api_url} answers {answered.status}", "wait, or ask its operator")
    elif "json" not in answered.headers.get("Content-Type", ""):
        provider_of = provider_named(provider)
        form = (provider_of and (provider_of.own_api_url or provider_of.api_url)) or api_url
        advice = f"set {set_} to the URL of its API: {form}"
        finding = warning(name, f"{api_url} answers {answered.status}, but not as an API", advice)
    else:
        finding = ok(name, f"{api_url} answers {answered.status} (requested without a token)")
    return HostCheck(finding=finding, ahead_s=ahead_s, name=host)


async def model(settings: Settings) -> Findings:
    """Check that the model server answers and accepts the key; no text is requested."""
    name = "model"
    if not settings.writer_url:
        return []
    url = settings.writer_url
    answered = await fetch(f"{url}/models", key=settings.writer_key)
    meanwhile = "meanwhile, rules write the posts"
    if isinstance(answered, Unanswered):
        advice = f"start it, or check CONTENTSVC_WRITER_URL, DNS and the firewall; {meanwhile}"
        return [fault(name, f"{url} cannot be reached: {answered.reason}", advice)]
    if answered.status in {_UNAUTHORIZED, _FORBIDDEN}:
        return [fault(name, f"{url} answers {answered.status}", f"check CONTENTSVC_WRITER_KEY; {meanwhile}")]
    if answered.status >= _SERVER_ERROR or answered.status == _TOO_MANY_REQUESTS:
        return [warning(name, f"{url} answers {answered.status}", f"wait, or ask its operator; {meanwhile}")]
    if answered.status == _OK and answered.json is None:
        advice = f"set CONTENTSVC_WRITER_URL to the URL of its API, without /chat/completions; {meanwhile}"
        return [warning(name, f"{url} answers {answered.status}, but not as an API", advice)]
    # Not every server lists its models: other refusals also show that it is there.
    return [ok(name, f"{url} answers {answered.status} (no text was requested)")]


def hosts_to_check(settings: Settings, variables: Collection[str], providers: Collection[str]) -> dict[str, str]:
    return {
        provider: url
        for provider, url in settings.api_urls.items()
        if url and (api_variable(provider) in variables or provider in providers)
    }


def _ahead_s(answered: HttpAnswer) -> float | None:
    try:
        # The header has whole seconds: add half a second, the average error.
        date_s = parsedate_to_datetime(answered.headers.get("Date", "")).timestamp() + 0.5
    except ValueError:
        return None
    return date_s - answered.at


def _is_private(host: str) -> bool:
    try:
        return ip_address(host).is_private
    except ValueError:
        return False
