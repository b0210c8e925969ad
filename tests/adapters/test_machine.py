"""The adapters of the machine: clock and ids."""

import re
from datetime import UTC, datetime, timedelta

from contentsvc_adapters.clocks import SystemClock
from contentsvc_adapters.ids import RandomIds
from contentsvc_core.access.keys import key_prefix
from contentsvc_core.identifiers import is_own_id


def test_the_clock_gives_aware_utc_times_in_whole_milliseconds() -> None:
    now = SystemClock().now()

    assert now.tzinfo is UTC
    assert now.microsecond % 1000 == 0
    assert abs(now - datetime.now(UTC)) < timedelta(seconds=5)


def test_minted_ids_are_uuids_of_version_7_in_order_and_fit_into_a_path() -> None:
    ids = RandomIds()
    minted = [ids.new_id("log_") for _ in range(5000)]

    assert minted == sorted(minted)
    assert len(set(minted)) == 5000
    form = re.compile(r"log_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
    assert all(form.fullmatch(id_) and is_own_id(id_) for id_ in minted)


def test_tokens_have_the_requested_length_and_make_a_key() -> None:
    ids = RandomIds()

    assert re.fullmatch(r"[A-Za-z0-9]{40}", ids.token(40))
    assert ids.token(40) != ids.token(40)
    assert key_prefix(f"csk_{ids.token(10)}_{ids.token(40)}") is not None
