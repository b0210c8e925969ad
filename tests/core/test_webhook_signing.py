"""Signatures of outgoing webhooks, compared with the package of the reference implementation."""

import base64
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standardwebhooks import Webhook, WebhookVerificationError

from contentsvc_core.outgoing.signing import secret_of, signature, signed_headers
from contentsvc_core.testing import START, CountingIds

SECRET = secret_of("0123456789abcdefghijABCDEFGHIJ_-")
OLD = secret_of("another-secret-that-is-as-long--")


def test_the_example_that_the_specification_s_libraries_are_tested_with() -> None:
    signed = signature(
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        message_id="msg_p5jXN8AQM9LWM0D4loKWxJek",
        timestamp_s=1614265330,
        body=b'{"test": 2432232314}',
    )

    assert signed == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


@given(
    token=st.text("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", min_size=24, max_size=64),
    message_id=st.text("abcdef0123456789_", min_size=1, max_size=40),
    timestamp_s=st.integers(0, 4_102_444_800),
    body=st.text(st.characters(exclude_categories=["Cs"])),
)
def test_every_signature_is_the_reference_implementation_s(
    token: str, message_id: str, timestamp_s: int, body: str
) -> None:
    secret = secret_of(token)
    expected = Webhook(secret).sign(message_id, datetime.fromtimestamp(timestamp_s, UTC), body)

    assert signature(secret, message_id=message_id, timestamp_s=timestamp_s, body=body.encode()) == expected


def test_during_an_overlap_both_secrets_verify_and_no_other_does() -> None:
    body = b'{"type":"post.created"}'
    headers = signed_headers([SECRET, OLD], message_id="msg_1", at=datetime.now(UTC), body=body)

    assert headers["webhook-signature"].count("v1,") == 2
    for secret in (SECRET, OLD):
        assert Webhook(secret).verify(body, headers) == {"type": "post.created"}
    for other, sent in ((secret_of("x" * 32), body), (SECRET, body + b" ")):
        with pytest.raises(WebhookVerificationError):
            Webhook(other).verify(sent, headers)


def test_the_time_is_in_whole_seconds() -> None:
    at = datetime(2026, 1, 1, 0, 0, 0, 999_000, tzinfo=UTC)

    assert signed_headers([SECRET], message_id="msg_1", at=at, body=b"{}")["webhook-timestamp"] == "1767225600"


def test_a_new_secret_is_as_long_as_the_specification_wants_it() -> None:
    secret = secret_of(CountingIds().token(32))

    assert secret.startswith("whsec_")
    assert 24 <= len(base64.b64decode(secret.removeprefix("whsec_"), validate=True)) <= 64


@pytest.mark.parametrize(
    ("secret", "reason"),
    [
        ("", "^a webhook secret begins with whsec_$"),
        ("MDEyMw==", "^a webhook secret begins with whsec_$"),
        ("whsec_öö", "^behind whsec_, a webhook secret is Base64$"),
        ("whsec_MDEy*", "^behind whsec_, a webhook secret is Base64$"),
        ("whsec_MDE", "^behind whsec_, a webhook secret is Base64$"),
    ],
)
def test_a_malformed_secret_is_refused(secret: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        signature(secret, message_id="msg_1", timestamp_s=1, body=b"{}")


def test_a_message_without_a_secret_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^nothing is sent unsigned$"):
        signed_headers([], message_id="msg_1", at=START, body=b"{}")
    assert list(signed_headers(["whsec_MDEyMw=="], message_id="msg_1", at=START, body=b"{}")) == [
        "webhook-id",
        "webhook-timestamp",
        "webhook-signature",
    ]
