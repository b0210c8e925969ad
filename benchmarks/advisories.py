"""``python -m benchmarks.advisories``: list known vulnerabilities of the packages in ``requirements.lock``.

pip-audit queries OSV, which has the advisories of the Python Packaging Authority and of GitHub. It runs in an
environment of its own, pinned like a peer's, and installs none of the audited packages. Exit code 1: there are
advisories; 2: a query failed, so that the result is unknown.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, final

from attrs import frozen

from benchmarks.peer_files import PeerMissing, installed

_LOCK: Final = Path(__file__).parents[1] / "requirements.lock"
#: The lock file is audited without changes: nothing is resolved, and pins without a hash are refused.
_AUDIT: Final = (
    *("--vulnerability-service", "osv", "--requirement", str(_LOCK), "--require-hashes", "--disable-pip"),
    *("--format", "json", "--progress-spinner", "off"),
)
_PATIENCE_S: Final = 600


@final
class NobodyAsked(Exception):
    """The query failed; the message says why."""


@final
@frozen(kw_only=True)
class Findings:
    """The result of an audit."""

    #: The number of packages in the query.
    packages: int
    #: The known advisories, a line each.
    advisories: Sequence[str]
    #: The packages without an answer, with the reason, a line each.
    skipped: Sequence[str]

    @property
    def line(self) -> str:
        """Return the line of figures."""
        return f"advisories: {self.packages} packages, {len(self.advisories)} advisories, {len(self.skipped)} not asked"


def main() -> int:
    """Run the audit, and print its result."""
    try:
        findings = ask()
    except (NobodyAsked, PeerMissing) as exc:
        _say(f"No source of advisories answered, so the result is unknown: {exc}")
        return 2
    for line in (*findings.advisories, *findings.skipped):
        _say(line)
    _say(findings.line)
    if findings.advisories:
        return 1
    return 2 if findings.skipped else 0


def ask() -> Findings:
    """Run pip-audit.

    Raises:
        PeerMissing: pip-audit cannot be installed.
        NobodyAsked: The query failed.
    """
    program = installed("advisor", note=_say) / ".venv/bin/pip-audit"
    try:
        done = subprocess.run(  # noqa: S603  # the project's own
            [str(program), *_AUDIT], check=False, capture_output=True, text=True, timeout=_PATIENCE_S
        )
    except (OSError, subprocess.TimeoutExpired) as exc:
        raise NobodyAsked(str(exc)) from exc
    return read(done.stdout, done.stderr)


def read(answered: str, error: str) -> Findings:
    """Read what pip-audit wrote; its exit code does not tell an advisory from a failure.

    Raises:
        NobodyAsked: It is no answer.
    """
    try:
        answer: dict[str, Any] = json.loads(answered)
        packages: list[dict[str, Any]] = answer["dependencies"]
    except (ValueError, KeyError) as exc:
        lines = error.strip().splitlines() or ["pip-audit said nothing"]
        raise NobodyAsked(lines[-1]) from exc
    return Findings(
        packages=sum("version" in package for package in packages),
        advisories=[
            f"{package['name']} {package['version']}: {vulnerability['id']}"
            f" ({', '.join(vulnerability['aliases']) or 'no other name'}),"
            f" fixed in {', '.join(vulnerability['fix_versions']) or 'no version yet'}"
            for package in packages
            for vulnerability in package.get("vulns", ())
        ],
        skipped=[f"{package['name']}: {package['skip_reason']}" for package in packages if "skip_reason" in package],
    )


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)  # noqa: T201  # a command prints


if __name__ == "__main__":
    sys.exit(main())
