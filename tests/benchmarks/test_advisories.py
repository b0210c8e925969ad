"""The output of the audit tool is read correctly; a missing answer is not a good one."""

import json
from typing import Any

import pytest
from benchmarks.advisories import NobodyAsked, read


def test_advisories_are_listed_with_the_version_that_fixes_them() -> None:
    known: dict[str, Any] = {"id": "PYSEC-1", "aliases": ["CVE-1", "GHSA-1"], "fix_versions": ["1.1"]}
    unmended: dict[str, Any] = {"id": "GHSA-2", "aliases": [], "fix_versions": [], "description": "…"}
    answered: dict[str, Any] = {
        "dependencies": [
            {"name": "lamp", "version": "1.0", "vulns": [known, unmended]},
            {"name": "beam", "version": "2.0", "vulns": []},
            {"name": "lens", "skip_reason": "not found"},
        ],
        "fixes": [],
    }

    found = read(json.dumps(answered), "Found 2 known vulnerabilities in 1 package\n")

    assert found.advisories == [
        "lamp 1.0: PYSEC-1 (CVE-1, GHSA-1), fixed in 1.1",
        "lamp 1.0: GHSA-2 (no other name), fixed in no version yet",
    ]
    assert found.skipped == ["lens: not found"]
    assert found.line == "advisories: 2 packages, 2 advisories, 1 not asked"


@pytest.mark.parametrize(
    ("answered", "error", "message"),
    [
        ("", "Traceback …\nConnectionError: no route\n", "ConnectionError: no route"),
        ("<html>", "ERROR: 403", "ERROR: 403"),
        ("{}", "", "pip-audit said nothing"),
    ],
)
def test_a_missing_answer_is_reported(answered: str, error: str, message: str) -> None:
    with pytest.raises(NobodyAsked, match=message):
        read(answered, error)
