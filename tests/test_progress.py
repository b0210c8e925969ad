"""The progress of a campaign, also without a terminal."""

import io

from tests.progress import progress


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_without_a_terminal_a_line_is_written_now_and_then() -> None:
    log = io.StringIO()

    with progress("deliveries", 1_000_000, stream=log, every_s=0.0) as advance:
        advance(200)
        advance(1_300)

    assert [line.rpartition(" after ")[0] for line in log.getvalue().splitlines()] == [
        "deliveries: 200 of 1,000,000",
        "deliveries: 1,500 of 1,000,000",
    ]


def test_a_fast_task_writes_no_line() -> None:
    log = io.StringIO()

    with progress("kills", 2, stream=log) as advance:
        advance()
        advance()

    assert log.getvalue() == ""


def test_a_terminal_shows_a_bar() -> None:
    terminal = _Terminal()

    with progress("kills", 3, stream=terminal) as advance:
        advance()
        assert "1/3" in terminal.getvalue()
        advance(2)

    assert "3/3" in terminal.getvalue()
