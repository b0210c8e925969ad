"""A forked process behaves like a started one."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests import preloaded
from tests.server_process import LOOPBACK, Installation, ServerProcess, until

pytestmark = pytest.mark.slow("starts servers and commands")


def _serve(installation: Installation, log: Path) -> preloaded.Forked:
    with log.open("wb") as out:
        arguments = ("serve", "--host", LOOPBACK, "--port", "0")
        started = preloaded.start(arguments, environment=installation.environment, stdout=out, stderr=out)
    until(lambda: b'"ready"' in log.read_bytes(), "the server is ready")
    return started


def test_the_exit_code_and_the_output_are_returned(tmp_path: Path) -> None:
    done = preloaded.run(("nonsense",), environment=Installation(tmp_path).environment, timeout_s=30)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Usage: contentsvc ")


def test_it_has_the_folder_and_the_environment_that_it_is_given_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CONTENTSVC_LOG_LEVEL", "debug")
    given = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    started = _serve(Installation(tmp_path), tmp_path / "log")
    try:
        process = Path(f"/proc/{started.pid}")
        assert (process / "cwd").readlink() == tmp_path
        assert os.getpgid(started.pid) == started.pid
        assert (process / "fd/0").readlink() == Path(os.devnull)
    finally:
        started.kill()
        assert started.wait(10) == -signal.SIGKILL
    done = preloaded.run(("settings", "--json"), environment=given, timeout_s=30)
    assert '"CONTENTSVC_LOG_LEVEL": "info"' in done.stdout, done


def test_it_hears_signals_and_its_end_is_waited_for(tmp_path: Path) -> None:
    started = _serve(Installation(tmp_path), tmp_path / "log")
    assert started.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        started.wait(0.05)
    started.send_signal(signal.SIGTERM)
    assert started.wait(30) == 0
    assert started.poll() == 0
    # No signal is sent to another process that has the number now.
    started.kill()


def test_outside_of_pytest_the_command_is_started_directly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for version, kind in ((os.environ["PYTEST_VERSION"], preloaded.Forked), (None, subprocess.Popen)):
        if version is None:
            monkeypatch.delenv("PYTEST_VERSION")
        with ServerProcess(Installation(tmp_path)) as server:
            server.start()
            assert isinstance(server.process, kind)
