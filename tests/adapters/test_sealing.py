import stat
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from cryptography.fernet import Fernet
from hypothesis import given
from hypothesis import strategies as st

from contentsvc_adapters.sealing import FernetSealer, UnusableKey, key_beside
from contentsvc_core.errors import SecretUnreadable

LONG = "correct horse battery staple and again"


@given(st.text(st.characters(exclude_categories=("Cs",))))
def test_a_sealed_secret_opens_again_and_is_not_readable_in_the_seal(secret: str) -> None:
    sealer = FernetSealer(LONG)
    sealed = sealer.seal(secret)

    assert sealer.open(sealed) == secret
    assert sealer.seal(secret) != sealed
    assert len(secret) < 4 or secret not in sealed


def test_keys_are_rotated_by_putting_the_new_one_first() -> None:
    old, new = Fernet.generate_key().decode(), LONG
    sealed = FernetSealer(old).seal("s")

    assert FernetSealer(f"{new}, {old}").open(sealed) == "s"
    with pytest.raises(SecretUnreadable, match="CONTENTSVC_SECRET_KEY"):
        FernetSealer(new).open(sealed)
    with pytest.raises(SecretUnreadable):
        FernetSealer(old).open(FernetSealer(f"{new},{old}").seal("s"))


@pytest.mark.parametrize("keys", ["", " , \n", "short", f"{LONG},short"])
def test_a_missing_or_short_key_is_refused_and_not_quoted(keys: str) -> None:
    with pytest.raises(UnusableKey) as raised:
        FernetSealer(keys)

    assert "short," not in str(raised.value)
    assert "at least 32 characters" in str(raised.value)


def test_the_key_file_is_made_once_and_is_its_owners_alone(tmp_path: Path) -> None:
    database = tmp_path / "x.db"
    key = key_beside(database, may_make=True)

    assert key_beside(database, may_make=True) == key
    assert stat.S_IMODE((tmp_path / "x.db.key").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["x.db.key"]
    assert FernetSealer(key).open(FernetSealer(key).seal("s")) == "s"


def test_of_many_that_start_at_once_all_get_the_same_key(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(partial(key_beside, may_make=True), [tmp_path / "x.db"] * 8))

    assert len(keys) == 1


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnusableKey, match=r"x\.db\.key cannot be used: No such file or directory"):
        key_beside(tmp_path / "missing" / "x.db", may_make=True)


@pytest.mark.parametrize("content", [b"", b" \n", b"\xff\xfe", b"Zm9vYmFyIGtleSB0aGF0IHdhcyBjd"])
def test_a_key_file_that_holds_no_key_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.db.key").write_bytes(content)

    for may_make in (True, False):
        with pytest.raises(UnusableKey, match=r"x\.db\.key holds no key"):
            key_beside(tmp_path / "x.db", may_make=may_make)


def test_a_key_is_not_made_where_something_was_sealed_with_another(tmp_path: Path) -> None:
    with pytest.raises(UnusableKey, match="is gone"):
        key_beside(tmp_path / "x.db", may_make=False)
    assert list(tmp_path.iterdir()) == []
    created = key_beside(tmp_path / "x.db", may_make=True)
    assert key_beside(tmp_path / "x.db", may_make=False) == created
