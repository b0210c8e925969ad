"""The page of curl commands, replayed against a server; it has every operation of the OpenAPI document."""

import re
from pathlib import Path

import httpx
import pytest
from tests.docs.transcript import PAGE, exchanges, stage


@pytest.mark.slow("starts a server, and asks for every operation")
def test_every_command_of_the_page_has_the_documented_answer(tmp_path: Path) -> None:
    text = PAGE.read_text("utf-8")

    with stage(tmp_path, text) as on:
        faults = {exchange.command: fault for exchange in exchanges(text) if (fault := on.differences(exchange))}
        document = httpx.get(f"{on.base}/schema/openapi.json", trust_env=False).json()

    assert faults == {}
    described = {(method.upper(), path) for path, item in document["paths"].items() for method in item}
    assert not {each for each in described if not any(_calls(exchange.command, *each) for exchange in exchanges(text))}


def _calls(command: str, method: str, path: str) -> bool:
    named = re.search(r"-X (\w+)", command)
    sent = named[1] if named else "POST" if re.search(r"--json|--data-binary", command) else "GET"
    where = re.escape(path)
    where = re.sub(r"\\\{[^}]+\\\}", r"[\\w$:-]+", where)
    url = command.replace("$HOOK ", "$BASE/api/webhooks/codehost/org/int/4242 ")
    return sent == method and re.search(rf"\$BASE{where}(?=[ '?\"]|$)", url) is not None
