import hmac
from collections.abc import Iterator
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contentsvc_core import sign, verify

SECRET = "It's a Secret to Everybody"
BODY = b"Hello, World!"
#: The test vector that the code host's documentation of webhook signatures publishes.
VECTOR = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"


def test_the_published_test_vector_holds() -> None:
    assert sign(BODY, SECRET) == VECTOR
    assert verify(BODY, VECTOR.encode(), [SECRET])


@given(st.binary(), st.text(st.characters(exclude_categories=("Cs",)), min_size=1))
def test_what_was_signed_verifies_and_is_the_hmac_of_rfc_2104(body: bytes, secret: str) -> None:
    signature = sign(body, secret)

    assert signature == "sha256=" + hmac.digest(secret.encode(), body, sha256).hex()
    assert verify(body, signature.encode(), [secret])


@given(st.binary(), st.binary(), st.text("abc", min_size=1), st.text("abc", min_size=1))
def test_another_body_or_another_secret_does_not_verify(one: bytes, other: bytes, mine: str, theirs: str) -> None:
    signature = sign(one, mine).encode()

    assert verify(other, signature, [mine]) == (one == other)
    assert verify(one, signature, [theirs]) == (mine == theirs)


@given(st.none() | st.binary(), st.lists(st.text(st.characters(), max_size=4)))
def test_verify_is_total_on_arbitrary_headers(signature: bytes | None, secrets: list[str]) -> None:
    assert verify(BODY, signature, secrets) is False


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


def test_for_another_form_of_the_header_no_secret_is_looked_at() -> None:
    # Nor is the body, which may be large: an unsigned request costs nothing.
    def untouched() -> Iterator[str]:
        raise AssertionError
        yield SECRET

    assert verify(BODY, b"sha256=abc", untouched()) is False


def test_a_secret_that_is_no_whole_text_signs_like_any_other() -> None:
    half = "\ud83d"

    assert verify(BODY, sign(BODY, half).encode(), [half])
    assert not verify(BODY, sign(BODY, half).encode(), ["\ufffd", "?"])


def test_an_empty_secret_never_verifies() -> None:
    assert verify(BODY, sign(BODY, "").encode(), [""]) is False
    assert verify(BODY, sign(BODY, "").encode(), []) is False


def test_while_a_secret_is_rotated_both_verify() -> None:
    for secret in ("old", "new"):
        assert verify(BODY, sign(BODY, secret).encode(), ["new", "old"])
