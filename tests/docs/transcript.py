"""Replays a page of curl commands and their answers; ``python -m tests.docs.transcript`` writes it again.

Values that differ between runs (ids, times, secrets) are bound at their first occurrence, and must stay the same from
then on; all else must equal the page.
"""

import contextlib
import json
import re
import shlex
import sys
import tempfile
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any, Final, cast, final
from urllib.parse import urlsplit

import httpx
from attrs import define, frozen
from click.testing import CliRunner
from tests.code_host_server import TOKEN, CodeHostServer
from tests.docs.pages import ROOT, Fence, fences
from tests.http_server import StaticSite
from tests.mail_server import in_a_thread
from tests.server_process import Installation, serving, signature

from contentsvc_cli.main import main as main_command

PAGE: Final = ROOT / "docs" / "wire.md"
_PATIENCE_S: Final = 15.0
_UUID: Final = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_VARIABLE: Final = re.compile(
    rf"(?:[a-z]+_)?{_UUID}"
    r"|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"
    r"|(?:whsec|csk)_[\w+/=]+|127\.0\.0\.1:\d+"
    r"|(?<=^\")[0-9a-f]{8,}(?=\"$)"
)
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT.*Z")
_SIGN: Final = re.compile(r"\$\(sign ([a-z.-]+)\)")
#: The headers on the page, and those whose values depend on the time.
SHOWN: Final = (
    *("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"),
    *("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"),
    *("Retry-After", "WWW-Authenticate", "Location", "ETag", "Allow", "Idempotent-Replayed"),
)
#: The website of a brand identity.
_PAGE: Final = b"""<!doctype html><html lang="en"><head><title>Acme Lighthouses</title>
<meta name="description" content="Lamps that are lit at dusk."><meta property="og:site_name" content="Acme"></head>
<body><h1>For keepers</h1></body></html>"""
_OF_THE_MOMENT: Final = frozenset({"RateLimit-Reset", "X-RateLimit-Reset", "Retry-After"})


@final
@frozen(kw_only=True)
class Answer:
    """An answer on the page: the status line, the relevant headers, and the JSON."""

    status: str
    headers: dict[str, str]
    body: Any

    @classmethod
    def read(cls, text: str) -> "Answer":
        head, _, body = text.partition("\n\n")
        status, *lines = head.splitlines()
        headers = dict(line.split(": ", 1) for line in lines)
        return cls(status=status, headers=headers, body=json.loads(body) if body.strip() else None)

    @classmethod
    def of(cls, response: httpx.Response) -> "Answer":
        return cls(
            # Python 3.13 has renamed the phrase of 422.
            status=f"HTTP/1.1 {response.status_code} {response.reason_phrase}".replace("e Content", "e Entity"),
            headers={name: response.headers[name] for name in SHOWN if name in response.headers},
            body=response.json() if response.content else None,
        )

    def text(self) -> str:
        head = "\n".join([self.status, *(f"{name}: {value}" for name, value in self.headers.items())])
        return head if self.body is None else f"{head}\n\n{json.dumps(self.body, ensure_ascii=False, indent=2)}"


@final
@define
class Bindings:
    """The values of the page, and those of this run."""

    known: dict[str, str]

    def here(self, text: str) -> str:
        """Return a text of the page with this run's values."""
        return _VARIABLE.sub(lambda found: self.known.get(found[0], found[0]), text)

    def differences(self, page: object, here: object, where: str) -> list[str]:
        """Compare a value of the page with one of this run; bind new names."""
        if isinstance(page, dict) and isinstance(here, dict):
            pages, heres = cast("dict[str, object]", page), cast("dict[str, object]", here)
            if list(pages) != list(heres):
                return [f"{where}: the page has {list(pages)}, here are {list(heres)}"]
            if where == "answer.body" and isinstance(pages.get("reset"), int):
                heres = {**heres, "reset": pages["reset"]}
            return [each for key in pages for each in self.differences(pages[key], heres[key], f"{where}.{key}")]
        if isinstance(page, list) and isinstance(here, list):
            own_value, foreign = cast("list[object]", page), cast("list[object]", here)
            if len(own_value) != len(foreign):
                return [f"{where}: the page has {len(own_value)} items, here are {len(foreign)}"]
            pairs = enumerate(zip(own_value, foreign, strict=True))
            return [each for index, (one, two) in pairs for each in self.differences(one, two, f"{where}[{index}]")]
        if isinstance(page, str) and isinstance(here, str):
            return [] if self._same(page, here) else [f"{where}: the page has {page!r}, here is {here!r}"]
        same = json.dumps(page) == json.dumps(here)
        return [] if same else [f"{where}: the page has {page!r}, here is {here!r}"]

    def _same(self, page: str, here: str) -> bool:
        if _VARIABLE.split(page) != _VARIABLE.split(here):
            return False
        for name, value in zip(_VARIABLE.findall(page), _VARIABLE.findall(here), strict=True):
            if _TIME.fullmatch(name):
                continue
            if self.known.setdefault(name, value) != value:
                return False
        return True


@final
@frozen(kw_only=True)
class Exchange:
    """A command of the page, and its answer on the page."""

    fence: Fence
    command: str
    answer: str

    @classmethod
    def read(cls, fence: Fence) -> "Exchange":
        command, found, answer = fence.text.removeprefix("$ ").partition("\nHTTP/1.1 ")
        return cls(fence=fence, command=command.strip(), answer=f"HTTP/1.1 {answer.strip()}" if found else "")


@final
class Stage:
    """The page's service, and the names in its commands."""

    def __init__(self, base: str, client: httpx.Client, variables: dict[str, str], files: dict[str, str]) -> None:
        self.base = base
        self.bindings = Bindings({})
        self._variables = {"BASE": base, **variables}
        self._files = files
        self._client = client

    def ask(self, command: str) -> Answer:
        """Perform a curl command."""
        command = self.bindings.here(command).replace("\\\n", " ")
        command = _SIGN.sub(lambda found: signature(self._files[found[1]].encode(), self._variables["SECRET"]), command)
        for name in sorted(self._variables, key=len, reverse=True):
            command = command.replace(f"${name}", self._variables[name])
        method, url, headers, content = _curl(shlex.split(command), self._files)
        return Answer.of(self._client.request(method, url, headers=headers, content=content))

    def differences(self, exchange: Exchange) -> list[str]:
        """Replay an exchange; return the differences from the page. Answers that need time are polled."""
        deadline = time.monotonic() + _PATIENCE_S
        shown = Answer.read(exchange.answer)
        while True:
            difference = self._compared(shown, self.ask(exchange.command))
            if not difference or not exchange.fence.rest or time.monotonic() > deadline:
                return difference
            time.sleep(0.05)

    def _compared(self, shown: Answer, here: Answer) -> list[str]:
        before = dict(self.bindings.known)
        headers = {
            name: shown.headers.get(name, value) if name in _OF_THE_MOMENT else value
            for name, value in here.headers.items()
        }
        difference = self.bindings.differences(
            {"status": shown.status, "headers": shown.headers, "body": shown.body},
            {"status": here.status, "headers": headers, "body": here.body},
            "answer",
        )
        if difference:
            self.bindings.known = before
        return difference


def _curl(words: list[str], files: dict[str, str]) -> tuple[str, str, list[tuple[str, str]], bytes | None]:
    assert words[:2] == ["curl", "-i"], words
    method, url, content = "GET", "", None
    headers: list[tuple[str, str]] = []
    rest = iter(words[2:])
    for word in rest:
        match word:
            case "-X":
                method = next(rest)
            case "-H":
                name, _, value = next(rest).partition(": ")
                headers.append((name, value))
            case "--json" | "--data-binary":
                argument = next(rest)
                content = (files[argument[1:]] if argument.startswith("@") else argument).encode()
                method = "POST" if method == "GET" else method
                if word == "--json":
                    headers.append(("Content-Type", "application/json"))
            case _:
                assert word.startswith("http"), f"an option that is not known here: {word}"
                url = word
    return method, url, headers, content


def exchanges(text: str) -> list[Exchange]:
    return [Exchange.read(fence) for fence in fences(text, "console")]


def files_of(text: str) -> dict[str, str]:
    return {fence.title: fence.text.strip() for fence in fences(text, "json") if fence.title}


@contextlib.contextmanager
def stage(folder: Path, text: str) -> Generator[Stage]:
    """Serve the page's setup: two organizations with a repository each, a code host, a website and a mail server."""
    with CodeHostServer() as host, StaticSite(_PAGE) as site, in_a_thread() as mail:
        host.repositories["acme/harbour"] = {
            **host.repositories["acme/lighthouse"],
            "id": 9,
            "full_name": "acme/harbour",
        }
        installation = Installation(
            folder,
            codehost_api_url=host.api_url,
            site_hosts=site.place,
            base_url="https://hooks.example",
            smtp_url=mail.url,
            mail_from="alerts@hooks.example",
        )
        acme, other = (
            _set_up(installation, slug, repository_id) for slug, repository_id in (("acme", 4242), ("other", 77))
        )
        reader = _command(installation, "key", "issue", "--organization", "acme", "--scope", "read")["key"]
        _command(
            *(installation, "integration", "connect", "acme/pier"),
            *("--organization", "acme", "--repository-id", "4343"),
        )
        path = urlsplit(str(acme["webhookUrl"])).path
        with serving(installation) as server, httpx.Client(trust_env=False, timeout=30) as client:
            yield Stage(
                server.url,
                client,
                {
                    "KEY": acme["key"],
                    "OTHER_KEY": other["key"],
                    "READ_ONLY_KEY": reader,
                    "SECRET": acme["webhookSecret"],
                    "HOOK": f"{server.url}{path}",
                    "HOOK_OF_ANOTHER_REPOSITORY": f"{server.url}{path.removesuffix('4242')}4343",
                    "INTEGRATION": acme["integrationId"],
                    "SITE": f"{site.url}/",
                    "TOKEN": TOKEN,
                },
                files_of(text),
            )


def _set_up(installation: Installation, slug: str, repository_id: int) -> dict[str, Any]:
    """Create an organization with a repository and a key; return the printed values."""
    _command(installation, "organization", "create", slug.title())
    connected = _command(
        *(installation, "integration", "connect", f"{slug}/lighthouse"),
        *("--organization", slug, "--repository-id", str(repository_id)),
    )
    return connected | _command(installation, "key", "issue", "--organization", slug)


def _command(installation: Installation, *arguments: str) -> dict[str, Any]:
    # In this process, because a dozen starts would take too long.
    done = CliRunner(env=installation.environment).invoke(main_command, [*arguments, "--json"])
    assert done.exit_code == 0, done.output
    return cast("dict[str, Any]", json.loads(done.stdout))


def written(text: str, on: Stage) -> str:
    """Return the page with the current answers."""
    for exchange in exchanges(text):
        answer = on.ask(exchange.command)
        deadline = time.monotonic() + _PATIENCE_S
        awaited = exchange.fence.rest.removeprefix("until=")
        while awaited and f'"{awaited}"' not in answer.text():
            assert time.monotonic() < deadline, f"{exchange.command}: never {awaited}: {answer.text()}"
            time.sleep(0.05)
            answer = on.ask(exchange.command)
        opening = f"```console {exchange.fence.rest}".rstrip()
        old = f"{opening}\n{exchange.fence.text}```"
        assert old in text, exchange.command
        # The page's names are replaced by those of this run.
        bound = on.bindings
        if exchange.answer:
            bound.differences(Answer.read(exchange.answer).body, answer.body, "answer.body")
        text = text.replace(old, f"{opening}\n$ {exchange.command}\n{answer.text()}\n```", 1)
        sys.stdout.write(f"{answer.status}  {exchange.command.splitlines()[0][:110]}\n")
    return on.bindings.here(text)


def main() -> None:
    text = PAGE.read_text("utf-8")
    with tempfile.TemporaryDirectory() as folder, stage(Path(folder), text) as on:
        PAGE.write_text(written(text, on), "utf-8")


if __name__ == "__main__":
    main()
