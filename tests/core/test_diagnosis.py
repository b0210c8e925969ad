"""Facts of a refused delivery, its diagnosis, and the health of an integration."""

from datetime import timedelta
from pathlib import Path
from urllib.parse import quote_plus

from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.golden_text import check_text
from tests.refusals import existing

from contentsvc_core import (
    Belonging,
    Delivery,
    Fault,
    Headers,
    HookConfiguration,
    VerifiedDelivery,
    admit,
    decide,
    settlement,
)
from contentsvc_core import strategies as ours
from contentsvc_core.journal import Direction, LogEntry, LogOutcome, LogStatus
from contentsvc_core.received import SignatureHeader, received_from_json, received_to_json
from contentsvc_core.testing import START, CountingIds, address, push_body, signed
from contentsvc_core.webhooks.decision import rejected
from contentsvc_core.webhooks.delivery import Address
from contentsvc_core.webhooks.diagnosis import (
    CONSIDERED,
    FAILING_AFTER,
    NO_RUNS,
    DiagnosisCause,
    IntegrationFacts,
    command_of,
    diagnose,
    health_of,
)
from contentsvc_core.webhooks.examination import SHOWN_HEADERS, STORED_BYTES, examine
from contentsvc_core.webhooks.signature import SIGNATURE_HEADER, sign

AT = address()
SECRET = "secret"
BODY = b'{"a": 1}\n'
SIGNATURE = SIGNATURE_HEADER.encode()


def hook(at: Address = AT, **changes: object) -> HookConfiguration:
    known = HookConfiguration(
        address=at,
        enabled=True,
        secrets=("secret",),
        former_secrets=("old",),
        repository=Belonging.THIS_INTEGRATION,
        version=1,
    )
    return evolve(known, **changes)


def sent(body: bytes = BODY, *headers: tuple[bytes, bytes], at: Address = AT) -> Delivery:
    return Delivery(address=at, headers=Headers.of(headers), body=body)


def with_signature(body: bytes, signed_body: bytes, secret: str = SECRET) -> Delivery:
    return sent(body, (SIGNATURE, sign(signed_body, secret).encode()))


def entry(delivery: Delivery, known: HookConfiguration, fault: Fault | None = None) -> LogEntry:
    """Return the log entry of a delivery, as the receiver creates it."""
    admission = rejected(delivery, fault, "no") if fault else admit(delivery, known)
    outcome = decide(admission) if isinstance(admission, VerifiedDelivery) else admission
    settling = existing(settlement(outcome, known, at=START, new_id=CountingIds().new_id))
    log = settling.log
    if log.status is LogStatus.FAILED:
        return evolve(log, received=examine(delivery, known, source="192.0.2.7", is_complete=True))
    return log


def cause(line: LogEntry, known: IntegrationFacts | None = None) -> DiagnosisCause | None:
    found = diagnose(line, known)
    return None if found is None else found.cause


FORM = b"payload=" + quote_plus(BODY).encode()
SIGNATURES = [
    sent(),
    sent(BODY, (SIGNATURE, b"sha1=00")),
    sent(BODY, (SIGNATURE, b"x"), (SIGNATURE, b"x")),
    with_signature(BODY, BODY, "old"),
    with_signature(BODY, BODY, "unknown"),
    with_signature(FORM, BODY),
    with_signature(FORM + b"&more=1", BODY),
    with_signature(FORM, BODY, "unknown"),
    with_signature(BODY.rstrip(), BODY),
    with_signature(b"\xef\xbb\xbf" + BODY, BODY),
    with_signature(b'{\r\n"a": 1}', b'{\n"a": 1}'),
    with_signature(b'{\n"a": 1}', b'{\r\n"a": 1}'),
]


def test_a_shared_token_covers_no_body_and_may_be_the_previous_one() -> None:
    at = address("gitlab")
    known = hook(at)
    former = entry(sent(BODY, (b"x-gitlab-token", b"old"), at=at), known)
    other = entry(sent(BODY, (b"x-gitlab-token", b"other"), at=at), known)
    assert (cause(former), cause(other)) == (DiagnosisCause.PREVIOUS_SECRET, DiagnosisCause.WRONG_SECRET)
    assert other.received is not None
    assert "other" not in received_to_json(other.received)


def described(name: str, line: LogEntry, known: IntegrationFacts | None = None) -> str:
    found = existing(diagnose(line, known))
    command = command_of(found, "int_1") or "-"
    what = f"{name}: {found.cause.wire} ({found.cause.word}), {found.remedy.value}, {command}"
    return f"{what}\n  {found.sentence}\n  {found.advice}\n"


def test_each_refusal_reads_like_this() -> None:
    with_token = IntegrationFacts(has_token=True)
    lines = [described(f"signature {number}", entry(case, hook())) for number, case in enumerate(SIGNATURES, 1)]
    lines += [described("unknown secret, token", entry(with_signature(BODY, BODY, "unknown"), hook()), with_token)]
    lines += [described("request not stored", evolve(entry(sent(), hook()), received=None), with_token)]
    form = (b"content-type", b"application/x-www-form-urlencoded")
    lines += [
        described("unknown secret, form", entry(sent(BODY, form, (SIGNATURE, sign(BODY, "no").encode())), hook()))
    ]
    shared = address("gitlab")
    for name, token in (("no token", ()), ("another token", ((b"x-gitlab-token", b"other"),))):
        lines += [described(name, entry(sent(BODY, *token, at=shared), hook(shared)))]
    lines += [described("token not stored", evolve(entry(sent(at=shared), hook(shared)), received=None))]
    for fault in Fault:
        if fault.log_title:
            lines += [described(fault.name, entry(sent(), hook(), fault), IntegrationFacts(is_enabled=False))]
    lines += [described("disabled, and enabled now", entry(sent(), hook(), Fault.INTEGRATION_DISABLED))]
    lines += [described("form", entry(signed(push_body("a"), at=AT, secret="secret", headers=(form,)), hook()))]
    lines += [described("no trigger", entry(signed(push_body("a"), at=AT, secret="secret"), hook()))]

    check_text(Path(__file__).with_name("golden_diagnoses.txt"), "".join(lines))


def test_a_form_that_verifies_is_a_form() -> None:
    form = (b"content-type", b"application/x-www-form-urlencoded")
    body = push_body("a")
    line = entry(signed(body, at=AT, secret="secret", headers=(form,)), hook())
    assert (line.status_code, cause(line)) == (400, DiagnosisCause.FORM)
    assert cause(evolve(line, received=None)) is not DiagnosisCause.FORM


def test_accepted_deliveries_need_no_remedy_but_a_trigger() -> None:
    processed = entry(signed(push_body("a"), at=AT, secret="secret"), hook())
    assert (processed.outcome, processed.received) == (LogOutcome.PROCESSED, None)
    assert cause(processed) is DiagnosisCause.NO_TRIGGER
    assert cause(evolve(processed, reason="1 workflow run started")) is None
    collected = f"{NO_RUNS}; collected by 1 trigger for a later post"
    assert cause(evolve(processed, reason=collected)) is None
    assert cause(evolve(processed, reason=f"{NO_RUNS}; filtered: no trigger matched: branch")) is None
    assert cause(evolve(processed, reason=f"{NO_RUNS}; replayed from log_1")) is DiagnosisCause.NO_TRIGGER
    assert cause(evolve(processed, direction=Direction.OUTGOING)) is None
    assert evolve(processed, direction=Direction.OUTGOING).outcome is None


@given(st.lists(st.tuples(st.sampled_from([b"user-agent", b"host", b"via", b"x-other"]), st.binary(max_size=3000))))
def test_the_stored_request_is_bounded_and_has_no_secret(headers: list[tuple[bytes, bytes]]) -> None:
    secret = sign(BODY, "unknown").encode()
    delivery = sent(BODY, *headers, (SIGNATURE, secret), (b"authorization", b"Bearer s3cret"), (b"cookie", b"s3cret"))
    received = examine(delivery, hook(), source="192.0.2.7", is_complete=True)
    stored = received_to_json(received)
    assert len(stored.encode()) <= STORED_BYTES
    assert received_from_json(stored) == received
    assert secret.decode()[7:] not in stored
    assert "s3cret" not in stored
    assert (received.signature, received.signature_length) == (SignatureHeader.PRESENT, 71)
    assert received.header("X-Other") is None


def test_long_headers_are_cut_and_the_last_ones_are_left_out() -> None:
    headers = [(name.encode(), b"x" * 200) for name in ("Content-Type", "user-agent", "Via", "X-Attempt-Number")]
    several = examine(sent(BODY, *headers, (b"via", b"y"), (b"host", b"")), hook(), source="s" * 90, is_complete=True)
    cut = f"{'x' * 119}…"
    assert several.headers == (
        *(("Content-Type", cut), ("User-Agent", cut), ("Host", "")),
        *(("Via", f"{cut} (2 times)"), ("X-Attempt-Number", cut)),
    )
    assert several.source == f"{'s' * 63}…"

    every = examine(
        sent(BODY, *((name.encode(), b"x" * 200) for name in SHOWN_HEADERS)), hook(), source=None, is_complete=True
    )
    assert [name for name, _ in every.headers] == list(SHOWN_HEADERS[: len(every.headers)])
    one_more = replace(every, headers=(*every.headers, (SHOWN_HEADERS[len(every.headers)], cut)))
    assert len(received_to_json(every).encode()) <= STORED_BYTES < len(received_to_json(one_more).encode())


@given(ours.deliveries())
def test_examining_is_total(delivery: Delivery) -> None:
    received = examine(delivery, hook(delivery.address), source=None, is_complete=False)
    assert received.size is None


def refused_and_accepted() -> tuple[LogEntry, LogEntry]:
    accepted = evolve(entry(signed(push_body("a"), at=AT, secret="secret"), hook()), reason="1 workflow run started")
    return entry(with_signature(BODY, BODY, "unknown"), hook()), accepted


def test_an_integration_fails_when_its_newest_deliveries_are_refused() -> None:
    refused, accepted = refused_and_accepted()
    assert not health_of([]).is_failing
    assert not health_of([accepted] * 3).is_failing
    assert health_of([refused]).is_failing
    assert health_of([refused]).summary == "the last delivery was refused: signature"
    # With the diagnosis of older refusals.
    mended = evolve(health_of([accepted]), diagnosis=health_of([refused]).diagnosis)
    assert mended.summary == "earlier deliveries were refused: signature"
    assert not health_of([refused] * (FAILING_AFTER - 1) + [accepted]).is_failing
    found = health_of([refused] * FAILING_AFTER + [accepted])
    assert found.is_failing
    assert found.summary == "3 of the last 4 deliveries were refused: signature"
    assert not health_of([accepted] + [refused] * 9).is_failing
    assert health_of([refused] * 6).summary == "6 of the last 6 deliveries were refused: signature"
    assert health_of([refused] * 100).considered == CONSIDERED


def test_the_dominant_cause_is_the_most_frequent_one() -> None:
    refused, _ = refused_and_accepted()
    unsigned = entry(sent(), hook())
    found = existing(health_of([unsigned, refused, refused]).diagnosis)
    assert found.cause is DiagnosisCause.WRONG_SECRET
    newest = existing(health_of([unsigned, refused]).diagnosis)
    assert newest.cause is DiagnosisCause.NO_SIGNATURE


def test_calls_of_the_service_are_no_deliveries() -> None:
    _, accepted = refused_and_accepted()
    call = evolve(accepted, direction=Direction.OUTGOING, created_at=START + timedelta(seconds=1))
    assert health_of([call]).last is None
    assert health_of([call, accepted]).last == accepted
