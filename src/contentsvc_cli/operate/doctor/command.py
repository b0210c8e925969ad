import asyncio
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Final

import click
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from contentsvc_cli.operate.doctor.examination import examine
from contentsvc_cli.operate.doctor.findings import Finding, FindingState
from contentsvc_cli.operate.doctor.network import BindAddress
from contentsvc_cli.servers import LOCAL_PORT, local_port
from contentsvc_cli.terminal.output import JSON, console, show, style_of, wants_json
from contentsvc_cli.terminal.waiting import waiting
from contentsvc_http.settings import examine_settings

#: The width in columns below which a finding is under its check's name: beside it, words and paths would be cut.
_NARROW: Final = 72


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Host of the server to check.")
@LOCAL_PORT
@JSON
def doctor(host: str, port: int | None) -> None:
    """Check the installation, and suggest fixes.

    Checks settings, database, schema, file and disk, key, engine, runs, executors, deliveries of each integration,
    clock, server, dashboard, public URL, code host APIs, model server, and SMTP server. The command changes nothing and
    shows no secrets. Only the SMTP server gets its password, and the model server its key; no token is sent. It also
    works without a database and with invalid settings.

    The exit code is 1 if there is a fault; warnings do not count.
    """
    examined = examine_settings()
    address = BindAddress(host=host, port=port or local_port(examined.settings.base_url))
    with waiting("looking") as shown:
        findings = asyncio.run(examine(examined, address, shown.say))
    states = Counter(finding.state for finding in findings)
    faults, warnings = states[FindingState.FAULT], states[FindingState.WARNING]
    if wants_json():
        checks = [_body(finding) for finding in findings]
        show({"ok": not faults, "faults": faults, "warnings": warnings, "checks": checks})
    else:
        _show(findings)
        click.echo(f"\n{_counted(faults, 'fault')}, {_counted(warnings, 'warning')}.")
    if faults:
        sys.exit(1)


def _body(finding: Finding) -> dict[str, str | None]:
    return {
        "check": finding.check,
        "state": finding.state.value,
        "found": finding.found,
        "advice": finding.advice,
    }


def _show(findings: Sequence[Finding]) -> None:
    terminal = console()
    state = max(len(finding.state.value) for finding in findings)
    check = max(len(finding.check) for finding in findings)
    is_narrow = terminal.width < _NARROW
    for finding in findings:
        word = finding.state.value
        text = Text(finding.found, style="dim" if finding.state is FindingState.SKIPPED else "")
        table = Table(show_header=False, box=None, pad_edge=False)
        table.add_column(no_wrap=True, min_width=state)
        table.add_column(no_wrap=True, min_width=check)
        table.add_column(overflow="fold")
        table.add_row(Text(word, style=style_of("state", word)), Text(finding.check), "" if is_narrow else text)
        terminal.print(table)
        if is_narrow:
            terminal.print(Padding(text, (0, 0, 0, 2)), overflow="fold")
        if finding.advice is not None:
            # One line even on a narrow terminal, so that commands in it can be copied.
            terminal.print(Text(f"  → {finding.advice}", style="bold"), soft_wrap=True)


def _counted(number: int, word: str) -> str:
    return f"{number or 'no'} {word}{'' if number == 1 else 's'}"
