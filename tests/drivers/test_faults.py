import pytest
import structlog
from structlog.testing import capture_logs

from contentsvc_core.errors import StoreUnavailable, UnreadableRow
from contentsvc_http import faults
from contentsvc_http.errors import refusal


def test_an_outage_is_logged_once_with_an_advice_however_many_requests_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 100.0
    monkeypatch.setattr(faults, "monotonic", lambda: now)
    # A logger that was used before keeps the configuration of that time.
    monkeypatch.setattr(faults, "_LOG", structlog.get_logger())
    monkeypatch.setattr("contentsvc_http.errors.log_fault", faults._Faults())  # pyright: ignore[reportPrivateUsage]
    with capture_logs() as logged:
        for _ in range(9):
            assert refusal(StoreUnavailable("refused")).status == 503
            now += 4
        refusal(StoreUnavailable("no room"))
        now += 61
        refusal(StoreUnavailable("refused"))

    assert [each["reason"] for each in logged] == ["refused", "no room", "refused"]
    assert all("contentsvc doctor" in each["advice"] for each in logged)


def test_the_first_write_after_an_outage_is_logged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(faults, "monotonic", lambda: now)
    monkeypatch.setattr(faults, "_LOG", structlog.get_logger())
    log_fault = faults._Faults()  # pyright: ignore[reportPrivateUsage]
    with capture_logs() as logged:
        log_fault.note_write()
        for _ in range(3):
            log_fault(StoreUnavailable("refused"))
            now += 4
            # One of several connections may work before the others.
            log_fault.note_write()
        for _ in range(2):
            now += 4
            log_fault.note_write()

    assert [(each["event"], each.get("after_s")) for each in logged] == [
        ("store unavailable", None),
        ("store available again", 16.0),
    ]


def test_a_row_that_cannot_be_read_is_logged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(faults, "_LOG", structlog.get_logger())
    log_fault = faults._Faults()  # pyright: ignore[reportPrivateUsage]
    with capture_logs() as logged:
        for _ in range(3):
            log_fault(UnreadableRow("the post post_a cannot be read"))
            log_fault(UnreadableRow("the post post_b cannot be read"))
            log_fault(ValueError("another fault"))

    assert [str(each["exc_info"]) for each in logged] == [
        "the post post_a cannot be read",
        "the post post_b cannot be read",
        *["another fault"] * 3,
    ]
