import contextlib
import errno
import fcntl
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from contentsvc_adapters.sql import check_writable, serving_alone
from contentsvc_adapters.sql.serving import access_fault
from contentsvc_core.errors import SchemaMismatch, StoreUnavailable

HOLD = """
import sys
from pathlib import Path
from contentsvc_adapters.sql import serving_alone
with serving_alone(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_second_process_is_refused_until_the_first_has_ended_however_it_ends(tmp_path: Path) -> None:
    database = tmp_path / "x.db"
    command = [sys.executable, "-c", HOLD, str(database)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as first:
        try:
            assert first.stdout is not None
            assert first.stdout.readline() == "held\n"
            with pytest.raises(StoreUnavailable, match="another process serves"), serving_alone(database):
                pass
        finally:
            first.kill()
            first.wait()
    with serving_alone(database):
        assert [path.name for path in tmp_path.iterdir()] == ["x.db.serving"]
    with serving_alone(database):
        pass


def test_no_lock_file_is_left_beside_a_file_of_another_application(tmp_path: Path) -> None:
    for left in ([], ["x.db.serving"]):
        message = "another application"
        with pytest.raises(SchemaMismatch), serving_alone(tmp_path / "x.db"):
            raise SchemaMismatch(message)
        assert [path.name for path in tmp_path.iterdir()] == left
        # A lock file that was there before stays.
        (tmp_path / "x.db.serving").touch()


def test_a_full_disk_is_named(tmp_path: Path) -> None:
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    # No file can grow, as on a full disk.
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, old[1]))
    try:
        with (
            pytest.raises(StoreUnavailable, match=r"x\.db\.serving cannot be written: .*; see that its disk has room"),
            serving_alone(tmp_path / "x.db"),
        ):
            pass
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with (
        pytest.raises(StoreUnavailable, match="its folder does not exist; create it"),
        serving_alone(tmp_path / "missing" / "x.db"),
    ):
        pass


def test_a_folder_and_a_file_without_access_are_named() -> None:
    user = os.geteuid()
    with tempfile.TemporaryDirectory(dir="/tmp") as named:
        database = Path(named) / "x.db"
        database.touch(0)
        database.with_name("x.db.serving").touch(0)
        for mode, fault in ((0o555, "you may not write in its folder"), (0o777, "you may not read and write it")):
            Path(named).chmod(mode)
            if user == 0:
                # Root may do all.
                os.seteuid(65534)
            try:
                with (
                    pytest.raises(StoreUnavailable, match=rf"x\.db' cannot be opened: {fault}"),
                    serving_alone(database),
                ):
                    pass
            finally:
                os.seteuid(user)


def test_a_file_system_that_is_read_only_or_has_no_locks_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    def read_only(_: object) -> SimpleNamespace:
        return SimpleNamespace(f_flag=os.ST_RDONLY)

    monkeypatch.setattr(fcntl, "flock", no_locks)
    with (
        pytest.raises(StoreUnavailable, match=r"x\.db\.serving cannot be locked: .*; use a local disk"),
        serving_alone(tmp_path / "x.db"),
    ):
        pass
    # Mounting one needs permissions that not every machine grants.
    monkeypatch.setattr(os, "statvfs", read_only)
    assert "its file system is read-only; mount it" in str(access_fault(tmp_path / "x.db"))


def test_a_read_only_file_and_a_read_only_log_are_refused_and_a_locked_file_is_not() -> None:
    user = os.geteuid()
    with tempfile.TemporaryDirectory(dir="/tmp") as named:
        Path(named).chmod(0o777)
        database = Path(named) / "x.db"
        with contextlib.closing(sqlite3.connect(database, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("CREATE TABLE kept (x)")
            connection.execute("BEGIN IMMEDIATE")
            check_writable(database)
        log, index = (database.with_name(f"x.db-{end}") for end in ("wal", "shm"))
        for file, mode, fault in (
            (database, 0o444, "cannot be opened: you may not read and write it"),
            (log, 0o444, "cannot be written: attempt to write a readonly database; give"),
        ):
            for each in (database, log, index):
                each.touch()
                each.chmod(0o666)
            file.chmod(mode)
            if user == 0:
                # Root may do all.
                os.seteuid(65534)
            try:
                with pytest.raises(StoreUnavailable, match=fault):
                    check_writable(database)
            finally:
                os.seteuid(user)
        log.chmod(0o666)
        check_writable(database)
