import difflib
from collections.abc import Iterable
from typing import Final

from contentsvc_cli.operate.doctor.findings import Finding, fault, ok, warning
from contentsvc_http.settings import Examined

#: Variables of single commands, not settings.
_OF_COMMANDS: Final = frozenset(
    f"CONTENTSVC_{name}" for name in ("WEBHOOK_SECRET", "CODEHOST_TOKEN", "API_KEY", "ORGANIZATION", "SERVER")
)
_OF_TESTS: Final = "CONTENTSVC_TEST_"
_NAME: Final = "settings"


def misspelt(unknown: Iterable[str], known: Iterable[str]) -> dict[str, str]:
    """Return an advice for each unknown variable that no command and no test uses."""
    known = [*known]
    advice: dict[str, str] = {}
    for name in unknown:
        if name not in _OF_COMMANDS and not name.startswith(_OF_TESTS):
            near = difflib.get_close_matches(name, known, n=1)
            advice[name] = f"did you mean {near[0]}?" if near else "'contentsvc settings' lists all settings"
    return advice


def settings_found(examined: Examined) -> list[Finding]:
    shown = examined.settings.masked()
    findings = [
        fault(_NAME, text if text.startswith(name) else f"{name}: {text}", f"correct {name}, or unset it")
        for name, text in sorted(examined.faults.items())
    ]
    for name, advice in misspelt(examined.unknown, shown).items():
        findings.append(warning(_NAME, f"{name} is set, but is not a setting", advice))
    used = [f"{name}={shown[name]}" for name in examined.in_use]
    if used:
        sentence = f"{len(used)} of {len(shown)} are set: {', '.join(used)}"
    else:
        sentence = (
            "all others have their defaults" if findings else f"none is set: all {len(shown)} have their defaults"
        )
    return [*findings, ok(_NAME, sentence)]
