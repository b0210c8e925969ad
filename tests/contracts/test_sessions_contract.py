"""``Sessions``: finding by digest, removal, and sweeps of expired sessions."""

import asyncio
from datetime import datetime

import pytest
from attrs import evolve
from contract_values import IDS, Stores, later

from contentsvc_core.access.sessions import SESSION_LIFE, Session
from contentsvc_core.errors import Unstorable
from contentsvc_core.testing import START


def _session(at: datetime = START) -> Session:
    digest = f"{int(IDS.token(8)):064x}"
    return Session(digest=digest, key_prefix="csk_1", created_at=at, expires_at=at + SESSION_LIFE)


async def test_a_session_reads_back_as_it_was(stores: Stores) -> None:
    one, other = _session(later(milliseconds=1)), _session()
    for session in (one, other, one):
        await stores.sessions.add(session)

    assert await stores.sessions.session(one.digest) == one
    assert await stores.sessions.session(other.digest) == other
    assert await stores.sessions.session("unknown") is None


async def test_an_existing_session_is_left_unchanged(stores: Stores) -> None:
    session = _session()
    await stores.sessions.add(session)
    await stores.sessions.add(evolve(session, key_prefix="csk_2"))

    assert await stores.sessions.session(session.digest) == session


async def test_a_session_that_is_removed_is_gone(stores: Stores) -> None:
    one, other = _session(), _session()
    for session in (one, other):
        await stores.sessions.add(session)
    assert [await stores.sessions.remove(one.digest) for _ in range(2)] == [True, False]

    assert await stores.sessions.session(one.digest) is None
    assert await stores.sessions.session(other.digest) == other


async def test_of_many_that_remove_a_session_at_once_one_has_removed_it(stores: Stores) -> None:
    session = _session()
    await stores.sessions.add(session)

    answers = await asyncio.gather(*(stores.sessions.remove(session.digest) for _ in range(16)))

    assert sorted(answers) == [*[False] * 15, True]


async def test_expired_sessions_are_swept_oldest_first(stores: Stores) -> None:
    sessions = [_session(later(hours=hours)) for hours in (3, 1, 0, 2, 4)]
    for session in sessions:
        await stores.sessions.add(session)

    async def left() -> list[Session]:
        return [each for each in sessions if await stores.sessions.session(each.digest) is not None]

    # A session is invalid at its end, and valid a millisecond before.
    before = sessions[0].expires_at
    assert await stores.sessions.sweep(before=before, limit=2) == 2
    assert await left() == [sessions[0], sessions[3], sessions[4]]
    assert [await stores.sessions.sweep(before=before, limit=9) for _ in range(2)] == [2, 0]
    assert await left() == [sessions[4]]


async def test_unstorable_text_is_refused(stores: Stores) -> None:
    with pytest.raises(Unstorable):
        await stores.sessions.add(evolve(_session(), key_prefix="\ud800"))
