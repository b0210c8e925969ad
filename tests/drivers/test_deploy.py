"""The files in `deploy/`.

No container is run here: the files are compared with the real commands, or executed in parts.
"""

import configparser
import json
import re
import shlex
import subprocess
import sys
import tomllib
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final, cast

import attrs
import httpx
import pytest
import yaml
from tests import postgres
from tests.api.world import ApiWorld
from tests.changelog.reader import publish
from tests.docs.pages import ROOT, command_at, fences, shell_lines
from tests.drivers.delivering import deliver
from tests.server_process import PLAIN, Installation, prepare, serving

from contentsvc_core.webhooks.decision import MAX_BODY
from contentsvc_http.settings import Settings, load_settings, variable

DEPLOY: Final = ROOT / "deploy"
FILES: Final = sorted(path for path in DEPLOY.iterdir() if path.name not in {".gitignore", ".env"})
CONTAINERFILE: Final = (DEPLOY / "Containerfile").read_text("utf-8")
CADDYFILE: Final = (DEPLOY / "Caddyfile").read_text("utf-8")
README: Final = (DEPLOY / "README.md").read_text("utf-8")
COMPOSE: Final = (DEPLOY / "compose.yaml").read_text("utf-8")
SERVICES: Final = cast("dict[str, dict[str, Any]]", yaml.safe_load(COMPOSE)["services"])
NODES: Final = sorted(name for name in SERVICES if name.startswith("node-"))
#: The longest time of a stop, in seconds (docs/operations.md).
STOP_S: Final = 10
#: A value that compose reads from `.env`.
GIVEN: Final = re.compile(r"\$\{(\w+):\?[^}]*\}")


def instructions(name: str) -> list[str]:
    """Return the arguments of an instruction of the container file, continued lines joined."""
    joined = re.sub(r"\\\n +", "", CONTAINERFILE)
    return re.findall(rf"^\s*{name} (.+)$", joined, re.MULTILINE)


def unit() -> dict[str, dict[str, str]]:
    parser = configparser.RawConfigParser(strict=True)
    parser.read(DEPLOY / "contentsvc.service", "utf-8")
    return {section: dict(parser[section]) for section in parser.sections()}


def calls() -> list[list[str]]:
    """Return every call of the service's command in these files, as its arguments."""
    (entry,), (default,) = instructions("ENTRYPOINT"), instructions("CMD")
    assert json.loads(entry) == ["contentsvc"]
    service = unit()["Service"]
    in_unit = [shlex.split(service["execstart"])]
    assert {words[0].rpartition("/")[2] for words in in_unit} == {"contentsvc"}
    in_compose = [each["command"] for each in SERVICES.values() if each["image"] == "contentsvc" and "command" in each]
    lines = "\n".join(fence.text for fence in fences(README, "sh")).splitlines()
    in_readme = [shlex.split(line.partition(" contentsvc ")[2]) for line in lines if " exec " in line]
    assert len(in_readme) == 2
    found = [json.loads(default), *(words[1:] for words in in_unit), *in_compose, *in_readme]
    return [words for index, words in enumerate(found) if words not in found[:index]]


@pytest.mark.parametrize("words", calls(), ids=" ".join)
def test_every_command_is_a_real_one_with_real_options(words: list[str]) -> None:
    command, rest = command_at(words)

    # Only parses.
    command.make_context(words[0], rest)


def test_every_command_in_a_fence_is_a_real_one() -> None:
    for fence in fences(README, "sh"):
        for words in shell_lines(fence.text):
            command, rest = command_at(words[1:])
            command.make_context(words[0], rest)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_setting_is_one(path: Path) -> None:
    named = set(re.findall(r"\bCONTENTSVC_[A-Z_]*[A-Z]", path.read_text("utf-8")))

    assert named <= {variable(field.name) for field in attrs.fields(Settings)}


def given() -> dict[str, str]:
    """Return the names of `env.example`, each with a value as its comment requires."""
    names = re.findall(r"^(\w+)=", (DEPLOY / "env.example").read_text("utf-8"), re.MULTILINE)
    return {name: f"{name.lower().replace('_', '')}0123456789abcdef0123456789abcdef" for name in names}


def node_settings() -> dict[str, str]:
    (environment,) = {json.dumps(SERVICES[node]["environment"]) for node in (*NODES, "migrate")}
    return json.loads(GIVEN.sub(lambda match: given()[match[1]], environment))


def test_the_example_has_exactly_the_required_settings() -> None:
    assert set(GIVEN.findall(COMPOSE)) == set(given())
    assert set(re.findall(r"\{\$(\w+)\}", CADDYFILE)) <= set(SERVICES["proxy"]["environment"])
    # No secret has a value here, not even a placeholder.
    example = (DEPLOY / "env.example").read_text("utf-8")
    assert re.findall(r"^(?:POSTGRES_PASSWORD|CONTENTSVC_SECRET_KEY)=(.*)$", example, re.MULTILINE) == ["", ""]
    assert (
        "deploy/.env"
        not in subprocess.run(
            ["git", "ls-files", "deploy"], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout.split()
    )


def test_the_settings_of_a_node_can_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in node_settings().items():
        monkeypatch.setenv(name, value)
    settings = load_settings()
    database = SERVICES["database"]["environment"]

    assert not settings.is_sqlite
    assert str(settings.secret_key)
    assert settings.metrics == "on"
    expected = f"postgresql+asyncpg://{database['POSTGRES_USER']}:***@database:5432/{database['POSTGRES_DB']}"
    assert settings.masked()["CONTENTSVC_DATABASE_URL"] == expected


def test_ports_and_names_agree() -> None:
    (exposed,) = instructions("EXPOSE")
    (default,) = instructions("CMD")
    words = json.loads(default)

    assert words[words.index("--port") + 1] == exposed
    assert words[words.index("--host") + 1] == "0.0.0.0"  # noqa: S104  # inside a container
    assert f"http://127.0.0.1:{exposed}/" in CONTAINERFILE
    (proxied,) = re.findall(r"reverse_proxy (.+) \{", CADDYFILE)
    assert sorted(proxied.split()) == [f"{node}:{exposed}" for node in NODES]
    assert len(NODES) == 2
    assert sorted(SERVICES["proxy"]["depends_on"]) == NODES


def test_nothing_runs_as_root_and_a_stop_has_the_time_that_it_takes() -> None:
    *_, user = instructions("USER")

    assert user == "contentsvc"
    assert f"useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin {user}" in CONTAINERFILE
    assert instructions("STOPSIGNAL") == ["SIGTERM"]
    for node in NODES:
        assert int(SERVICES[node]["stop_grace_period"].removesuffix("s")) > STOP_S
    service = unit()["Service"]
    assert int(service["timeoutstopsec"]) > STOP_S
    assert service["user"] == "contentsvc"
    # The commands create the files of the unit.
    folder = f"/var/lib/{service['statedirectory']}"
    assert f"useradd --system --home-dir {folder} --shell /usr/sbin/nologin {service['user']}\n" in README
    assert f"install --mode 0600 /dev/null {service['environmentfile'].removeprefix('-')} " in README


def test_nothing_is_installed_in_the_image_without_its_hash() -> None:
    calls = [call for line in instructions("RUN") for call in re.findall(r"-m pip [^&]+", line)]
    assert len(calls) == 4
    # Downloads have hashes; the rest is built from the downloaded files alone.
    assert [call for call in calls if "--no-index" not in call] == [calls[0]]
    assert "--require-hashes" in calls[0]
    assert all("--no-build-isolation" in call for call in calls if call.split()[-1] == ".")


def test_the_unit_restricts_the_process() -> None:
    service = unit()["Service"]

    assert service["umask"] == "0077"
    assert int(service["memorymax"].removesuffix("G")) >= 1
    assert service["systemcallarchitectures"] == "native"
    for name in (
        *("NoNewPrivileges", "PrivateTmp", "PrivateDevices", "ProtectHome", "ProtectClock", "ProtectHostname"),
        *("ProtectKernelTunables", "ProtectKernelModules", "ProtectKernelLogs", "ProtectControlGroups"),
        *("RestrictSUIDSGID", "RestrictNamespaces", "RestrictRealtime", "LockPersonality", "RemoveIPC"),
        "MemoryDenyWriteExecute",
    ):
        assert service[name.lower()] == "true", name


@pytest.mark.slow("starts pip for each step of the image")
def test_the_image_copies_only_existing_files() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    for copied in instructions("COPY"):
        *sources, _ = [word for word in copied.split() if not word.startswith("--")]
        if "--from=" not in copied:
            assert all((ROOT / source).exists() for source in sources), copied
    assert "--requirement requirements.lock" in CONTAINERFILE
    (extras,) = re.findall(r'"contentsvc\[([\w,]+)\]"', CONTAINERFILE)
    assert set(extras.split(",")) <= set(project["optional-dependencies"])
    for line in instructions("RUN"):
        for name, options in re.findall(r"-m pip (\w+) ([^&]+)", line):
            shown = subprocess.run(
                [sys.executable, "-m", "pip", name, "--help"], capture_output=True, text=True, check=True
            ).stdout
            for option in re.findall(r"(?<!\S)--[a-z-]+", options):
                assert re.search(rf"{option}\b", shown), (name, option)


def passes(path: str) -> bool:
    """Return whether the proxy's configuration hands a path to the nodes."""
    shipped = "\n".join(line.partition("#")[0] for line in CADDYFILE.splitlines())
    matchers = dict(re.findall(r"^\t(@\w+) (path [^\n]+|\{[^}]+\})", shipped, re.MULTILINE))
    handled = re.findall(r"^\thandle (@\w+) \{\s+import nodes\s+\}", shipped, re.MULTILINE)
    patterns = [each for name in handled for line in re.findall(r"path (.+)", matchers[name]) for each in line.split()]
    return any(fnmatchcase(path, pattern) for pattern in patterns)


async def asked_through_the_proxy(world: ApiWorld, method: str, path: str, **headers: str) -> httpx.Response:
    """Send a request as the proxy does; paths that the proxy blocks are answered by it."""
    return await world.send(method, path, headers=headers) if passes(path) else httpx.Response(404, text="proxy")


#: By public route: the status, and a part of the answer.
ROUTES: Final = {
    "GET /": (303, ""),
    "GET /changelog/acme": (200, "<h1"),
    "GET /changelog/acme/feed.atom": (200, "<feed"),
    "GET /changelog/acme/embed/fragment": (200, "<section"),
    "GET /changelog/-/style.css": (200, "body"),
    "GET /dashboard": (303, ""),
    "GET /dashboard/sign-in": (200, "API key"),
    "GET /dashboard/assets/style.css": (200, "body"),
    "POST /mcp": (401, "error"),
    "GET /v1/status": (200, "version"),
    "GET /schema/openapi.json": (200, "openapi"),
    "POST /api/webhooks/codehost/org_1/int_1/1": (404, "Integration not found"),
    "GET /metrics": (404, "proxy"),
    "GET /health/live": (404, "proxy"),
    "GET /health/ready": (404, "proxy"),
}


async def test_the_proxy_passes_on_every_public_route() -> None:
    world = ApiWorld()
    await publish(await world.caller())

    for route, (status, part) in ROUTES.items():
        answer = await asked_through_the_proxy(world, *route.split(), Accept="text/html")
        assert (route, answer.status_code) == (route, status), answer.text
        assert part in answer.text, route


async def test_the_proxy_forwards_exactly_the_documented_paths() -> None:
    document = (await ApiWorld().send("GET", "/schema/openapi.json")).json()

    assert {path for path in document["paths"] if not passes(path)} == {"/health/live", "/health/ready"}
    (uri,) = re.findall(r"health_uri (\S+)", CADDYFILE)
    assert uri == "/health/live"
    assert uri in document["paths"]


def test_nginx_allows_the_largest_delivery_and_keeps_back_what_is_for_operators() -> None:
    (block,) = re.findall(r"```nginx\n(.*?)```", README, re.DOTALL)

    assert re.findall(r"client_max_body_size (\d+)m;", block) == [str(MAX_BODY // 1024**2)]
    kept_back = re.findall(r"location (?:= )?(\S+) \{ return 404; \}", block)
    assert kept_back == [path for path in ("/metrics", "/health/") if not passes(path)]


def health_check(port: int) -> int:
    """Do what the image's health check does, on another port."""
    (check,) = instructions("HEALTHCHECK")
    words = json.loads(check.partition("CMD ")[2])
    assert words[0] == "python"
    (exposed,) = instructions("EXPOSE")
    script = words[2].replace(f":{exposed}/", f":{port}/")
    return subprocess.run([sys.executable, words[1], script], capture_output=True, check=False, timeout=30).returncode


@pytest.mark.slow("starts the processes of the compose file")
def test_the_sequence_of_the_compose_file_works_outside_of_containers(tmp_path: Path) -> None:
    own = {name.removeprefix("CONTENTSVC_").lower(): value for name, value in node_settings().items()}
    with postgres.database(migrated=False) as url:
        installation = Installation(tmp_path, **(own | {"database_url": url}))
        too_early = installation.run("serve", "--port", "0")
        assert too_early.returncode == 1
        assert "contentsvc migrate" in too_early.stderr

        migrated = installation.run(*SERVICES["migrate"]["command"])
        assert migrated.returncode == 0, migrated.stderr
        prepared = prepare(tmp_path, **(own | {"database_url": url}))
        with serving(installation, name="node-1") as first, serving(installation, name="node-2") as second:
            assert health_check(first.port) == 0
            answers = [deliver(prepared, node, "d-1").json()["message"] for node in (first, second)]
            assert answers == ["Processed push event (pushed)", "Webhook already processed (duplicate delivery)"]
            installation.until_runs_ended()
            pages = [
                httpx.get(f"{node.url}/metrics", trust_env=False, verify=PLAIN, timeout=30).text
                for node in (first, second)
            ]
            assert all("contentsvc_store_up 1.0" in page for page in pages)
            assert all('contentsvc_runs{status="pending"} 0.0' in page for page in pages)
            for node in (first, second):
                node.terminate()
                assert node.process.wait(timeout=STOP_S + 5) == 0
            assert health_check(first.port) != 0
        assert prepared.left_by("d-1")["contexts"] == 1
