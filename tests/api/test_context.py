"""``/v1/context`` over HTTP: searching records, and reading one."""

from typing import Any
from urllib.parse import quote

import pytest
from tests.api.world import Caller

PATH = "/v1/context"


async def found(acme: Caller, **parameters: Any) -> list[str]:
    answer = await acme("GET", PATH, params=parameters)
    assert answer.status_code == 200, answer.text
    return [each["deliveryId"] for each in answer.json()["context"]]


@pytest.fixture
async def busy(acme: Caller) -> Caller:
    await acme.push("d-1", "feat: turn the lamp on at dusk", "fix: count each key once")
    await acme.push("d-2", "fix: the door")
    await acme.release("d-3", "v1.2.3")
    return acme


async def test_a_hit_has_its_excerpts(busy: Caller) -> None:
    answer = await busy("GET", PATH, params={"query": "LAMP dusk"})

    (hit,) = answer.json()["context"]
    assert answer.json() == {"context": [hit], "next": None, "behind": 0}
    assert hit["customId"] == f"codehost:{busy.repository_id}:d-1"
    (excerpt,) = hit["excerpts"]
    assert excerpt["text"].startswith("feat: turn the lamp on at dusk (")


async def test_words_and_filters(busy: Caller) -> None:
    assert await found(busy) == ["d-3", "d-2", "d-1"]
    assert await found(busy, query="fix") == ["d-2", "d-1"]
    assert await found(busy, query="fix", repository="ACME/Lighthouse") == ["d-2", "d-1"]
    assert await found(busy, repository="acme/other") == []
    assert await found(busy, eventType="release") == ["d-3"]
    assert await found(busy, eventType="release, push", limit=1) == ["d-3"]
    assert await found(busy, since="2026-01-01T02:00:01+02:00") == []


async def test_hits_have_their_text_on_request(busy: Caller) -> None:
    hits = (await busy("GET", PATH, params={"content": "true"})).json()["context"]
    records = [(await busy("GET", f"{PATH}/{hit['customId']}")).json()["context"] for hit in hits]

    assert [hit["content"] for hit in hits] == [record["content"] for record in records]
    plain = (await busy("GET", PATH, params={"content": "false"})).json()["context"]
    assert plain == [{name: value for name, value in hit.items() if name != "content"} for hit in hits]


async def test_a_page_of_texts_is_shorter(busy: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contentsvc_http.v1.context.MAX_TEXT_BYTES", 1)
    page = (await busy("GET", PATH, params={"content": "true"})).json()

    assert len(page["context"]) == 1
    assert page["next"] is not None
    assert len(await found(busy)) == 3


async def test_parts_lead_through_all_of_it(busy: Caller) -> None:
    read: list[str] = []
    following: str | None = ""
    while following is not None:
        parameters = {"limit": "2", "before": following}
        body = (await busy("GET", PATH, params=parameters)).json()
        read += [each["deliveryId"] for each in body["context"]]
        following = body["next"]
    assert read == ["d-3", "d-2", "d-1"]


@pytest.mark.parametrize(
    ("parameters", "error"),
    [
        ({"query": "!"}, "Invalid query: it has no word, only signs"),
        ({"before": "here"}, "Invalid before: send the next of the previous page"),
        ({"content": "yes"}, "Invalid content: it is neither true nor false"),
    ],
)
async def test_an_invalid_query_is_refused_with_its_fault(acme: Caller, parameters: dict[str, str], error: str) -> None:
    answer = await acme("GET", PATH, params=parameters)
    assert (answer.status_code, answer.json()) == (400, {"error": error})


async def test_a_record_whole(busy: Caller) -> None:
    custom_id = f"codehost:{busy.repository_id}:d-2"

    answer = await busy("GET", f"{PATH}/{custom_id}")

    assert answer.status_code == 200
    record = answer.json()["context"]
    assert record["customId"] == custom_id
    assert record["content"].startswith("Codehost push event for acme/lighthouse (pushed).\n\nData:\n{")
    assert "fix: the door" in record["content"]


async def test_a_record_whose_delivery_id_has_signs(acme: Caller) -> None:
    await acme.push("a/b?c%2Fd#e", "feat: x")
    custom_id = f"codehost:{acme.repository_id}:a/b?c%2Fd#e"

    answer = await acme("GET", f"{PATH}/{quote(custom_id, safe='')}")

    assert answer.json()["context"]["customId"] == custom_id


@pytest.mark.parametrize("custom_id", ["x", "codehost:1:%00"])
async def test_an_unknown_record_is_404(acme: Caller, custom_id: str) -> None:
    answer = await acme("GET", f"{PATH}/{custom_id}")
    assert (answer.status_code, answer.json()) == (404, {"error": "Context record not found"})
