"""Tokens of sessions and of forms."""

import hmac
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contentsvc_core.access.sessions import (
    SESSION_LIFE,
    TOKEN_LENGTH,
    Session,
    csrf_matches,
    csrf_token,
    link_digest,
    token_digest,
)
from contentsvc_core.testing import START

_TOKEN = "a" * TOKEN_LENGTH


def test_a_token_is_known_by_its_digest() -> None:
    assert token_digest(_TOKEN) == sha256(_TOKEN.encode()).hexdigest()
    session = Session(
        digest=token_digest(_TOKEN) or "", key_prefix="csk_1", created_at=START, expires_at=START + SESSION_LIFE
    )
    assert session.digest not in repr(session)


@pytest.mark.parametrize(
    "presented", ["", "a" * 39, "a" * 41, "a" * 39 + "-", "a" * 39 + "é", "a" * 40 + "\n", "a" * 39 + "\ud800"]
)
def test_an_invalid_token_has_no_digest(presented: str) -> None:
    assert token_digest(presented) is None
    assert link_digest(presented) is None


def test_a_links_token_is_no_sessions_token() -> None:
    assert link_digest(_TOKEN) == sha256(f"contentsvc/sign-in-link/1:{_TOKEN}".encode()).hexdigest()
    assert link_digest(_TOKEN) != token_digest(_TOKEN)


def test_a_form_carries_a_keyed_hash_of_the_token() -> None:
    expected = hmac.new(_TOKEN.encode(), b"contentsvc/csrf/1", sha256).hexdigest()

    assert csrf_token(_TOKEN) == expected
    assert expected not in {token_digest(_TOKEN), _TOKEN}


@given(presented=st.text(st.characters(exclude_categories=())))
def test_any_presented_token_of_a_form_is_compared(presented: str) -> None:
    assert csrf_matches(_TOKEN, presented) == (presented == csrf_token(_TOKEN))
    assert csrf_matches(_TOKEN, csrf_token(_TOKEN))
    assert not csrf_matches(_TOKEN, csrf_token("b" * TOKEN_LENGTH))
