"""A client of ``/v1``, for commands that work on another machine's service."""

import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Self, TypeAlias, cast, final
from uuid import uuid4

import click
import httpx

from contentsvc_cli.servers import KEY_VARIABLE, Server
from contentsvc_core.identifiers import is_loopback
from contentsvc_core.text import one_line
from contentsvc_core.webhooks.providers import DEFAULT_PROVIDER
from contentsvc_http.wiring.tls import authorities, certificate_advice, failure_reason

if TYPE_CHECKING:
    from types import TracebackType

#: Timeouts of a request, in seconds: connecting, and each part of an answer.
_CONNECT_S: Final = 10.0
_READ_S: Final = 60.0
#: Attempts of a request that may be repeated, and the first pause between two, in seconds; each pause doubles.
_ATTEMPTS: Final = 4
_PAUSE_S: Final = 0.5
#: The longest pause that ``Retry-After`` asks for and the command waits, in seconds.
_PATIENCE_S: Final = 30.0
#: Items of a page: the most that ``/v1`` returns.
_PAGE: Final = 100
_LONGEST: Final = 300
#: The most bytes of an answer, decompressed: eight times the longest page of the log.
MAX_ANSWER: Final = 64 * 1024 * 1024
_PIECE: Final = 64 * 1024
#: Methods that have the same effect if they are sent twice: ``POST`` and ``DELETE`` with an idempotency key.
_REPEATABLE: Final = frozenset({"GET", "PUT", "DELETE", "POST"})
_NO_ROUTE: Final = "Not Found"
#: The beginning of an answer with 400 about an invalid value; the other ones refuse valid values.
_INVALID: Final = "Invalid "
#: The beginning of an answer about an invalid value of a body.
_INVALID_REQUEST: Final = "Invalid request: "
#: In the challenge of a key without the scope (RFC 6750, section 3.1); other refusals with 403 are about the resource.
_NO_SCOPE: Final = 'error="insufficient_scope"'
_BUSY: Final = frozenset({429, 502, 503, 504})


_Items: TypeAlias = list[dict[str, Any]]


class Unavailable(click.ClickException):
    """The server cannot be reached, or does not answer requests at the moment."""


class NotFound(click.ClickException):
    """The server has no such object."""


class UnsuitableValue(click.ClickException):
    """The server refuses a valid value, such as the id of an unknown repository."""


_REFUSALS: Final = {400: UnsuitableValue, 404: NotFound}


@final
class Api:
    def __init__(self, server: Server) -> None:
        """Certificates are verified, and no redirect is followed: the key stays with this server."""
        self.url: Final = server.url
        self._client: Final = httpx.Client(
            base_url=server.url,
            headers={"Authorization": f"Bearer {server.key}", "Accept": "application/json"},
            timeout=httpx.Timeout(_READ_S, connect=_CONNECT_S),
            verify=authorities(httpx.URL(server.url).scheme),
            follow_redirects=False,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: "type[BaseException] | None", exc: "BaseException | None", trace: "TracebackType | None"
    ) -> None:
        self._client.close()

    def get(self, path: str, **parameters: object) -> Any:  # noqa: ANN401  # JSON
        """Return a resource. Empty parameters are left out.

        Raises:
                ClickException: The server refuses the request, or cannot be reached.
        """
        return self.send("GET", path, parameters=_filled(parameters))

    def list(self, path: str, name: str, limit: int | None, **parameters: object) -> _Items:
        """Return the items of a paginated list, at most ``limit``, from as many pages as needed."""
        items: _Items = []
        cursor: dict[str, Any] = {}
        size = min(limit or _PAGE, _PAGE)
        while limit is None or len(items) < limit:
            answer: _Body = self.get(path, limit=size, **cursor, **parameters)
            items += answer.items_of(name)
            if "next" in answer:
                cursor = {"before": answer["next"]}
                has_more = answer["next"] is not None
            else:
                page, pages = answer.page_and_pages()
                cursor = {"page": page + 1}
                has_more = page < pages
            if not has_more:
                break
        return items if limit is None else items[:limit]

    def all(self, path: str, name: str) -> _Items:
        """Return the items of a list without pages."""
        answer: _Body = self.get(path)
        return answer.items_of(name)

    def integrations(self) -> Sequence[tuple[str, dict[str, Any]]]:
        """Return the connected repositories, each with its provider."""
        answer: _Body = self.get("/v1/integrations")
        # Every version knows the default provider; without it, this is another service.
        providers = dict.fromkeys((DEFAULT_PROVIDER.slug, *answer))
        return [(provider, repository) for provider in providers for repository in answer.items_of(provider)]

    def send(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        parameters: Mapping[str, str] | None = None,
        content: bytes | None = None,
    ) -> Any:  # noqa: ANN401  # JSON
        """Return the answer to a request; a request that is safe to repeat is repeated after a failure.

        Raises:
                UsageError: A value is invalid: exit code 2, as without a server.
                ClickException: The server refuses the request for another reason, or cannot be reached.
        """
        arguments: dict[str, Any] = {"params": parameters, "content": content}
        if body is not None:
            arguments["json"] = body
        if method in {"POST", "DELETE"}:
            arguments["headers"] = {"Idempotency-Key": str(uuid4())}
        for attempt in range(1, _ATTEMPTS + 1):
            again = attempt < _ATTEMPTS
            pause = _PAUSE_S * 2 ** (attempt - 1)
            try:
                answer = self._answer(method, path, arguments)
            except httpx.TransportError as exc:
                if again and (method in _REPEATABLE or isinstance(exc, httpx.ConnectError)):
                    time.sleep(pause)
                    continue
                raise self._unreachable(exc) from exc
            except httpx.DecodingError as exc:
                message = f"{self.url} sends an answer that cannot be decompressed: {one_line(str(exc), _LONGEST)}"
                raise click.ClickException(message) from exc
            busy = answer.status_code in _BUSY or _is_running(answer)
            if busy and again and (method in _REPEATABLE or answer.status_code == 429):  # noqa: PLR2004
                after = answer.headers.get("Retry-After", "")
                pause = max(pause, float(after) if after.isascii() and after.isdecimal() else 0.0)
                if pause <= _PATIENCE_S:
                    time.sleep(pause)
                    continue
            return self._read(answer)
        raise AssertionError

    def _answer(self, method: str, path: str, arguments: Mapping[str, Any]) -> httpx.Response:
        with self._client.stream(method, path, **arguments) as answer:
            if "," in answer.headers.get("Content-Encoding", ""):
                # Each decompression may make a thousand times of a piece, before its size is known.
                message = "it is compressed several times"
                raise httpx.DecodingError(message)
            body = bytearray()
            for piece in answer.iter_bytes(_PIECE):
                body += piece
                if len(body) > MAX_ANSWER:
                    raise self._too_long()
        # The pieces are decompressed already.
        headers = [(name, value) for name, value in answer.headers.multi_items() if name != "content-encoding"]
        return httpx.Response(answer.status_code, headers=headers, content=bytes(body))

    def _too_long(self) -> click.ClickException:
        fault = f"sends an answer of more than {MAX_ANSWER // 2**20} MiB: use a smaller --limit, or check the URL"
        return click.ClickException(f"{self.url} {fault}")

    def _read(self, answer: httpx.Response) -> Any:  # noqa: ANN401  # JSON
        if answer.is_redirect:
            to = one_line(answer.headers.get("Location", ""), _LONGEST)
            message = f"{self.url} redirects to '{to}': use the URL of the server itself"
            raise click.ClickException(message)
        try:
            read: Any = answer.json(object_hook=partial(_Body, self.url))
        except (ValueError, RecursionError):
            read = None
        body = read if isinstance(read, _Body) else None
        if answer.is_success:
            if body is not None:
                return body
            message = f"{self.url} answers with no JSON object: is this the URL of contentsvc?"
            raise click.ClickException(message)
        error = None if body is None else body.get("error")
        # The answer of an address without a route gives no reason.
        reason = "" if not error or error == _NO_ROUTE else one_line(str(error), _LONGEST)
        raise self._refusal(answer, reason)

    def _refusal(self, answer: httpx.Response, error: str) -> click.ClickException:
        match answer.status_code:
            case 401:
                fault = f"refuses the API key: check {KEY_VARIABLE}, or run 'contentsvc login {self.url}'"
            case 403 if _NO_SCOPE in answer.headers.get("WWW-Authenticate", ""):
                fault = f"refuses: {error}; issue a key that may read and write ('contentsvc key issue' on the server)"
            case 429:
                wait = answer.headers.get("Retry-After", "")
                fault = f"has a rate limit, which your key has used up: try again in {wait or 'some'} seconds"
            case 409 if _is_running(answer):
                fault = "still executes the command: look at its result before you repeat it"
            case 400 if error.startswith(_INVALID):
                return click.UsageError(error.removeprefix(_INVALID_REQUEST))
            case status if error and status < 500:  # noqa: PLR2004  # a refusal with a reason
                refusal = _REFUSALS.get(status, click.ClickException)
                return refusal(error.removeprefix(_INVALID_REQUEST))
            case status if not error and status != 404 and answer.is_client_error:  # noqa: PLR2004
                fault = f"answers with {status}: is this the URL of contentsvc?"
            case 404:
                fault = (
                    "does not know this operation: is this the URL of contentsvc, of this version, and of a process "
                    "that serves the API ('worker' processes do not)?"
                )
            case status:
                fault = f"answers with {status}{f': {error}' if error else ''}"
        refusal = Unavailable if answer.status_code in _BUSY else click.ClickException
        return refusal(f"{self.url} {fault}")

    def _unreachable(self, exc: httpx.TransportError) -> click.ClickException:
        if isinstance(exc, httpx.TimeoutException):
            return Unavailable(f"{self.url} does not answer in time")
        reason = one_line(failure_reason(exc), _LONGEST)
        is_here = isinstance(exc, httpx.ConnectError) and is_loopback(self._client.base_url.host)
        if "WRONG_VERSION_NUMBER" in reason:
            reason = "it answers without encryption: is http:// its URL?"
        elif is_here and not certificate_advice(exc):
            reason = f"{reason}; run 'contentsvc serve', or check the port"
        return Unavailable(f"{self.url} cannot be reached: {reason}")


class _Body(dict[str, Any]):
    """A JSON object of a server's answer; a missing field means another service, or another version of this one."""

    def __init__(self, url: str, fields: Mapping[str, Any]) -> None:
        super().__init__(fields)
        self._url = url

    def __missing__(self, name: str) -> Any:  # noqa: ANN401  # as the class
        message = f"{self._url} answers without '{name}': is this the URL of contentsvc, and of this version?"
        raise click.ClickException(message)

    def items_of(self, name: str) -> _Items:
        items: object = self[name]
        if isinstance(items, list) and all(isinstance(item, _Body) for item in cast("list[object]", items)):
            return cast("_Items", items)
        return self.__missing__(name)

    def page_and_pages(self) -> tuple[int, int]:
        pagination: object = self["pagination"]
        if isinstance(pagination, _Body):
            page, pages = pagination["currentPage"], pagination["totalPages"]
            if isinstance(page, int) and isinstance(pages, int):
                return page, pages
        return self.__missing__("pagination")


def _is_running(answer: httpx.Response) -> bool:
    """Check whether an earlier attempt of this request is still running, or was interrupted less than a minute ago."""
    return answer.status_code == 409 and "Retry-After" in answer.headers  # noqa: PLR2004


def _filled(parameters: Mapping[str, object]) -> dict[str, str]:
    filled: dict[str, str] = {}
    for name, value in parameters.items():
        if isinstance(value, Sequence) and not isinstance(value, str):
            value = ",".join(cast("Sequence[str]", value))  # noqa: PLW2901
        if value not in {None, ""}:
            filled[name] = str(value)
    return filled
