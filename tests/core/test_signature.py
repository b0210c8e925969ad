import hmac
import re
from collections.abc import Iterator
from hashlib import sha256
from typing import Final

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from contentsvc_core import Belonging, HookConfiguration, sign, verify
from contentsvc_core.testing import address
from contentsvc_core.webhooks.signature import SPECIFIED, HmacSha256, Scheme, SharedToken

SECRET = "It's a Secret to Everybody"
BODY = b"Hello, World!"
#: The published test vector of the code host's documentation of webhook signatures.
VECTOR = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"


def test_the_published_test_vector_holds() -> None:
    assert sign(BODY, SECRET) == VECTOR
    assert verify(BODY, VECTOR.encode(), [SECRET])


@given(st.binary(), st.text(st.characters(exclude_categories=("Cs",)), min_size=1))
def test_a_signature_verifies_and_is_the_hmac_of_rfc_2104(body: bytes, secret: str) -> None:
    signature = sign(body, secret)

    assert signature == "sha256=" + hmac.digest(secret.encode(), body, sha256).hex()
    assert verify(body, signature.encode(), [secret])


@given(st.binary(), st.binary(), st.text("abc", min_size=1), st.text("abc", min_size=1))
def test_another_body_or_another_secret_does_not_verify(one: bytes, other: bytes, mine: str, foreign: str) -> None:
    signature = sign(one, mine).encode()

    assert verify(other, signature, [mine]) == (one == other)
    assert verify(one, signature, [foreign]) == (mine == foreign)


@pytest.mark.parametrize(
    "signature",
    [
        None,
        b"",
        b"sha256=",
        VECTOR.upper().encode(),
        VECTOR.replace("sha256=", "SHA256=").encode(),
        ("sha256=" + VECTOR[7:].upper()).encode(),
        VECTOR.replace("sha256", "sha1").encode(),
        VECTOR[7:].encode(),
        VECTOR[:-1].encode(),
        VECTOR.encode() + b"0",
        VECTOR.encode() + b"\n",
        b" " + VECTOR.encode(),
        VECTOR.encode() + b"," + VECTOR.encode(),
        b"sha256=" + b"\xff" * 64,
        b"sha256=" + "é".encode() * 32,
    ],
)
def test_every_other_form_of_the_header_is_invalid(signature: bytes | None) -> None:
    assert verify(BODY, signature, [SECRET]) is False


def test_a_malformed_header_is_refused_without_the_secrets() -> None:
    # The body is not hashed either: it may be large, and an unsigned request must cost little.
    def untouched() -> Iterator[str]:
        raise AssertionError
        yield SECRET

    assert verify(BODY, b"sha256=abc", untouched()) is False


_ONE_TEXT: Final = r"^one text instead of several secrets: pass a tuple, such as \(secret,\)$"


def test_one_text_is_not_several_secrets() -> None:
    # Otherwise, a signature keyed with one of its letters would be valid.
    with pytest.raises(TypeError, match=_ONE_TEXT) as raised:
        verify(BODY, sign(BODY, "s").encode(), SECRET)
    assert SECRET not in str(raised.value)
    with pytest.raises(TypeError, match=_ONE_TEXT):
        SharedToken(header="X-Token").verifier(SECRET)
    hook = HookConfiguration(
        address=address(), enabled=True, secrets=(), repository=Belonging.THIS_INTEGRATION, version=1
    )
    for secrets in (SECRET, SECRET.encode()):
        with pytest.raises(TypeError, match=_ONE_TEXT):
            evolve(hook, secrets=secrets)
    with pytest.raises(TypeError, match=_ONE_TEXT):
        evolve(hook, former_secrets=SECRET)


def test_a_secret_that_is_no_whole_text_signs_like_any_other() -> None:
    half = "\ud83d"

    assert verify(BODY, sign(BODY, half).encode(), [half])
    assert not verify(BODY, sign(BODY, half).encode(), ["\ufffd", "?"])


BITBUCKET = HmacSha256(header="X-Hub-Signature")
TOKEN = SharedToken(header="X-Gitlab-Token")
SCHEMES: list[Scheme] = [SPECIFIED, BITBUCKET, TOKEN, HmacSha256(header="X-Sign", prefix="v1:")]


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: scheme.header)
class TestSchemes:
    @given(st.binary(), st.lists(st.text(min_size=1, max_size=9), min_size=1, max_size=3))
    def test_the_value_for_each_secret_verifies(self, scheme: Scheme, body: bytes, secrets: list[str]) -> None:
        verifies = scheme.verifier(secrets)

        for secret in secrets:
            assert verifies(body, scheme.value(body, secret).encode("utf-8", "surrogatepass")) is True

    @given(st.binary(), st.text("abc", min_size=1, max_size=4), st.text("abc", min_size=1, max_size=4))
    def test_the_value_for_another_secret_does_not(self, scheme: Scheme, body: bytes, mine: str, foreign: str) -> None:
        assert scheme.verifier([mine])(body, scheme.value(body, foreign).encode()) is (mine == foreign)

    @given(st.binary(), st.none() | st.binary(), st.lists(st.text(min_size=1, max_size=4)))
    def test_verifying_is_total(self, scheme: Scheme, body: bytes, sent: bytes | None, secrets: list[str]) -> None:
        values = {scheme.value(body, secret).encode("utf-8", "surrogatepass") for secret in secrets}

        assert scheme.verifier(secrets)(body, sent) is (sent in values)

    def test_an_empty_secret_never_verifies(self, scheme: Scheme) -> None:
        verifies = scheme.verifier(["", "other"])

        assert verifies(BODY, scheme.value(BODY, "").encode()) is False
        assert verifies(BODY, None) is False
        assert verifies(BODY, b"") is False

    def test_without_a_secret_nothing_verifies(self, scheme: Scheme) -> None:
        assert scheme.verifier([])(BODY, scheme.value(BODY, SECRET).encode()) is False

    def test_every_secret_is_compared_in_constant_time(self, scheme: Scheme, monkeypatch: pytest.MonkeyPatch) -> None:
        compared: list[bytes] = []

        def compare(made: bytes, sent: bytes) -> bool:
            compared.append(made)
            return made == sent

        monkeypatch.setattr("contentsvc_core.webhooks.signature.hmac.compare_digest", compare)

        assert scheme.verifier(["one", "two"])(BODY, scheme.value(BODY, "one").encode()) is True
        assert compared == [scheme.value(BODY, secret).encode() for secret in ("one", "two")]

    def test_the_document_has_the_form_of_the_value(self, scheme: Scheme) -> None:
        value = scheme.value(BODY, SECRET)

        assert scheme.pattern is None or re.fullmatch(scheme.pattern, value)
        assert scheme.pattern is None or not re.search(scheme.pattern, f"{value}0")


def test_a_token_is_the_secret_and_depends_on_no_body() -> None:
    assert TOKEN.value(b"one", SECRET) == TOKEN.value(b"two", SECRET) == SECRET
    assert TOKEN.pattern is None


def test_a_prefix_is_part_of_the_value() -> None:
    value = BITBUCKET.value(BODY, SECRET)

    assert value == VECTOR
    assert HmacSha256(header="X", prefix="v1:").value(BODY, SECRET) == f"v1:{VECTOR.removeprefix('sha256=')}"
    assert HmacSha256(header="X", prefix="a.c").verifier([SECRET])(BODY, b"abc" + value[7:].encode()) is False


def test_a_scheme_shows_no_secret() -> None:
    assert SECRET not in repr(TOKEN)
    assert SECRET not in repr(SPECIFIED)


def test_people_read_how_a_delivery_proves_its_sender() -> None:
    assert SPECIFIED.description == (
        "`sha256=` followed by the hexadecimal HMAC-SHA256 of the body, keyed with the webhook secret."
    )
    assert SPECIFIED.pattern == "^sha256=[0-9a-f]{64}$"
    assert (SPECIFIED.proof, TOKEN.proof) == ("an HMAC-SHA256 signature over the body", "the secret itself")
    assert TOKEN.description == "The webhook secret."
