import pytest
import structlog
from structlog.testing import capture_logs

from contentsvc_core.errors import StoreUnavailable
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
        now += 6
        refusal(StoreUnavailable("refused"))

    assert [each["reason"] for each in logged] == ["refused", "no room", "refused"]
    assert all("contentsvc doctor" in each["advice"] for each in logged)
