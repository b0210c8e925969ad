"""Records the statements that databases execute."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Engine, event


@contextmanager
def statements() -> Generator[list[tuple[str, Any]]]:
    """Collect the statements and parameters that this process sends to its databases in the block."""
    executed: list[tuple[str, Any]] = []

    def see(_connection: object, _cursor: object, statement: str, parameters: Any, *_: object) -> None:
        executed.append((statement, parameters))

    event.listen(Engine, "before_cursor_execute", see)
    try:
        yield executed
    finally:
        event.remove(Engine, "before_cursor_execute", see)
