"""Recorded deliveries: every body survives writing and reading byte for byte, and a bad line is reported."""

import io
import json
import re
from base64 import b64encode
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.builders import TOO_DEEP

from contentsvc_cli.develop.recordings import (
    MAX_LINE,
    BadRecording,
    RecordedDelivery,
    headers_for,
    line_of,
    read_lines,
    read_recording,
)
from contentsvc_core.webhooks.decision import admit, decide
from contentsvc_core.webhooks.delivery import Address, Belonging, Delivery, Headers, HookConfiguration, VerifiedDelivery
from contentsvc_core.webhooks.outcomes import Pong
from contentsvc_core.webhooks.providers import PROVIDERS, Provider

_visible = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1, max_size=255)
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
_bodies = (
    st.binary()
    | _json.map(lambda value: json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))
    | _json.map(lambda value: json.dumps(value, indent=1).encode())
)
_recorded = st.builds(RecordedDelivery, event=_visible, delivery=_visible, body=_bodies)


def _read(lines: bytes) -> list[RecordedDelivery]:
    return list(read_lines(io.BytesIO(lines), "some.jsonl"))


def _ping(**fields: object) -> bytes:
    return json.dumps({"event": "ping", "delivery": "d-1", "body": {}} | fields).encode()


@given(st.lists(_recorded, max_size=5))
@example([RecordedDelivery(event="ping", delivery="1", body=b"")])
@example([RecordedDelivery(event="ping", delivery="1", body=b'"\xe2\x80\xa8\xc2\x85"')])
@example([RecordedDelivery(event="ping", delivery="1", body=b'"\xed\xa0\x80"')])
@example([RecordedDelivery(event="ping", delivery="1", body=b'{"a":1,"a":2}')])
@example([RecordedDelivery(event="ping", delivery="1", body=b'{"a":"\xff"}')])
@example([RecordedDelivery(event="ping", delivery="1", body=b"[" * 5000)])
@example([RecordedDelivery(event="ping", delivery="1", body=b"[" * 5000 + b"]" * 5000)])
def test_written_deliveries_are_read_back_byte_for_byte(deliveries: list[RecordedDelivery]) -> None:
    written = io.BytesIO()
    written.writelines(map(line_of, deliveries))
    assert _read(written.getvalue()) == deliveries
    assert written.getvalue().count(b"\n") == len(deliveries)


@given(_json)
def test_a_compact_body_is_readable_in_its_line(value: object) -> None:
    body = json.dumps(value, separators=(",", ":")).encode()
    line: dict[str, object] = json.loads(line_of(RecordedDelivery(event="push", delivery="1", body=body)))
    if not re.search(rb"\\ud[89a-f]", body):
        assert line == {"event": "push", "delivery": "1", "body": value}


def test_white_space_between_the_parts_of_a_body_is_left_out_and_nothing_else_changes() -> None:
    line = b'{"event":"push","delivery":"1","body": { "n" : 1.50e1000, "t": "a  \\u00e9 \xc3\xa9", "n":[ 1 , 2 ] } }'
    assert _read(line)[0].body == b'{"n":1.50e1000,"t":"a  \\u00e9 \xc3\xa9","n":[1,2]}'


def test_raw_bytes_are_read_from_base64() -> None:
    line = json.dumps(
        {"event": "push", "delivery": "1", "bodyBase64": b64encode(b"\xff{").decode(), "more": 1}
    ).encode()
    assert _read(line) == [RecordedDelivery(event="push", delivery="1", body=b"\xff{")]


def test_empty_lines_and_a_byte_order_mark_are_passed_over() -> None:
    assert len(_read(b"\xef\xbb\xbf" + _ping() + b"\r\n\n  \n" + _ping())) == 2


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (b"[]", "the line must be an object"),
        (b"{", "truncated"),
        (_ping(event=None), "`event` must be a string"),
        (_ping(event=""), "`event` must be 1 to 255 visible ASCII"),
        (_ping(event="a\r\nX-Evil: 1"), "`event` must be"),
        (_ping(delivery="ä"), "`delivery` must be"),
        (b'{"event":"a","body":{}}', "`delivery`"),
        (b'{"event":"a","delivery":"b"}', "exactly one of `body` and `bodyBase64`"),
        (_ping(bodyBase64=""), "exactly one of `body` and `bodyBase64`"),
        (b'{"event":"a","delivery":"b","bodyBase64":"@"}', "base64"),
        (b'{"event":"a","delivery":"b","body":"\xff"}', "not UTF-8 (byte 37)"),
        (b'{"event":"a","delivery":"b","body":NaN}', "malformed"),
        (b'{"event":"a","delivery":"b","body":' + b"[" * TOO_DEEP, "nested too deep"),
    ],
)
def test_a_bad_line_names_file_line_and_fault_and_the_lines_before_it_were_given(line: bytes, fault: str) -> None:
    reading = read_lines(io.BytesIO(_ping() + b"\n\n" + line + b"\n" + _ping()), "some.jsonl")
    assert next(reading).event == "ping"
    with pytest.raises(BadRecording, match=r"^some\.jsonl, line 3: ") as raised:
        next(reading)
    assert fault in str(raised.value)


def test_a_line_without_an_end_is_not_read_into_memory() -> None:
    class Endless(io.BytesIO):
        calls = 0

        def readline(self, size: int | None = -1, /) -> bytes:
            assert size is not None
            assert 0 < size <= MAX_LINE + 1
            self.calls += 1
            return b"x" * size

    endless = Endless()
    with pytest.raises(BadRecording, match="longer than 64 MiB"):
        list(read_lines(endless, "endless"))
    assert endless.calls == 1


def test_lines_are_read_as_they_are_asked_for() -> None:
    source = io.BytesIO(b"".join(_ping(delivery=f"d-{number}") + b"\n" for number in range(1000)))
    reading = read_lines(source, "some.jsonl")
    assert next(reading).delivery == "d-0"
    assert source.tell() == len(_ping(delivery="d-0")) + 1


def test_files_and_standard_input_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "one.jsonl"
    file.write_bytes(_ping())
    assert [delivery.delivery for delivery in read_recording(file)] == ["d-1"]
    with file.open("r") as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        assert [delivery.delivery for delivery in read_recording("-")] == ["d-1"]


def test_a_file_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadRecording, match=r"missing\.jsonl: No such file or directory"):
        list(read_recording(tmp_path / "missing.jsonl"))
    with pytest.raises(BadRecording, match="Is a directory"):
        list(read_recording(tmp_path))


@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda provider: provider.slug)
def test_the_headers_of_a_recording_are_admitted_by_the_core(provider: Provider) -> None:
    delivery = RecordedDelivery(event="ping", delivery="d-1", body='{"zen":"ü"}'.encode())
    headers = headers_for(delivery, provider, "geheim-ü")
    address = Address(provider=provider.slug, organization_id="o", integration_id="i", repository_id=1)
    hook = HookConfiguration(
        address=address, enabled=True, secrets=("geheim-ü",), repository=Belonging.THIS_INTEGRATION, version=1
    )
    sent = Headers.of((name.encode(), value.encode()) for name, value in headers)
    verified = admit(Delivery(address=address, headers=sent, body=delivery.body), hook)
    assert isinstance(verified, VerifiedDelivery)
    assert decide(verified) == Pong(delivery_id="d-1")
    assert re.fullmatch(r"contentsvc/\d+\.\d+\.\d+\S*", dict(headers)["User-Agent"])
    assert dict(headers)["Content-Type"] == "application/json"
