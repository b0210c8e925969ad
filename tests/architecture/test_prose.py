"""The check of docstrings and comments finds its two kinds of faults, and accepts an explained escape."""

import pytest
from tests.architecture.prose import faults


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('def f():\n    """Return the size."""\n', []),
        ('def f():\n    """Give the size."""\n', [(2, "rule 1")]),
        ('class Give:\n    """Give and take."""\n', []),
        ("x = 1\n# The row of whoever\n# has it.\n", [(2, "rule 2")]),
        ("x = 1  #: What is kept.\n", [(1, "rule 2")]),
        ('"""Nobody writes here."""\n', [(1, "rule 2")]),
        ('def f():\n    """Take a lease."""  # prose: lease is the term\n', []),
        ('# prose: a quotation\n# "Nobody is perfect"\n', []),
        ('# prose:\n# "Nobody is perfect"\n', [(2, "rule 2")]),
        ("x = 1  # noqa: E501  # nobody\n", []),
    ],
)
def test_a_text_that_breaks_a_rule_is_found_unless_a_reason_keeps_it(source: str, found: list[tuple[int, str]]) -> None:
    assert [(line, fault.partition(":")[0]) for line, fault in faults(source)] == found
