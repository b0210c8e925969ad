"""Calls of each operation of the OpenAPI document, with valid and invalid requests."""

import traceback
from collections import Counter

from campaigns.fuzz.receiving import Found
from schemathesis.core.failures import FailureGroup
from tests.api.described import subject, try_operation

_MODES = ("positive", "negative")
#: The calls of each operation in each mode at a time.
EXAMPLES = 25


def operations() -> int:
    """Count the operations."""
    return len(subject().operations)


def fuzz_operations(seed: int) -> Found:
    """Call each operation in both modes; return the calls by mode, and the answers that contradict the document."""
    calls = Counter[str]()
    faults: list[str] = []
    for operation in subject().operations:
        for mode in _MODES:

            def called(mode: str = mode) -> None:
                calls[mode] += 1

            try:
                try_operation(operation, mode, examples=EXAMPLES, seeded=seed, on_call=called)
            except (Exception, FailureGroup):  # noqa: BLE001  # the test looks for any exception
                error = traceback.format_exc(limit=-1).strip()
                faults.append(f"seed {seed}, {operation.label}, {mode}: {error}")
    return Found(outcomes=calls, faults=faults)
