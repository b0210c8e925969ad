import pytest

from contentsvc_http.settings import InvalidSetting, Settings, load_settings


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in Settings().masked():
        monkeypatch.delenv(name, raising=False)


def test_without_an_environment_everything_has_a_default() -> None:
    assert load_settings() == Settings()
    assert load_settings().database_url == "sqlite+aiosqlite:///contentsvc.db"


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("DATABASE_URL", "x", "CONTENTSVC_DATABASE_URL is no database URL"),
        ("DATABASE_URL", "mysql://u:hunter2@h/d", "CONTENTSVC_DATABASE_URL: 'mysql' is not supported"),
        ("DATABASE_URL", "sqlite+aiosqlite://", "CONTENTSVC_DATABASE_URL names no file"),
        ("DATABASE_URL", "sqlite+aiosqlite:///:memory:", "CONTENTSVC_DATABASE_URL names no file"),
        ("BASE_URL", "ftp://x", "CONTENTSVC_BASE_URL must be an address"),
        ("BASE_URL", "https://u:hunter2@x.example/?q", "CONTENTSVC_BASE_URL must be an address"),
        ("BASE_URL", "http://x:99999", "CONTENTSVC_BASE_URL must be an address"),
        ("BASE_URL", "http://x/ a", "CONTENTSVC_BASE_URL must be an address"),
        ("BASE_URL", "http://[::1", "CONTENTSVC_BASE_URL must be an address"),
        ("DATABASE_URL", "sqlite+aiosqlite:///x.db?cache=shared", "CONTENTSVC_DATABASE_URL takes no options"),
        ("BASE_URL", "https://", "CONTENTSVC_BASE_URL must be an address"),
        ("FAILED_LOG_ROWS_PER_MINUTE", "many", "CONTENTSVC_FAILED_LOG_ROWS_PER_MINUTE cannot be read"),
        ("FAILED_LOG_ROWS_PER_MINUTE", "0", "CONTENTSVC_FAILED_LOG_ROWS_PER_MINUTE must be above 0"),
        ("LOG_FORMAT", "xml", "CONTENTSVC_LOG_FORMAT must be one of auto, json, console"),
        ("LOG_LEVEL", "loud", "CONTENTSVC_LOG_LEVEL must be one of"),
    ],
)
def test_a_setting_that_cannot_be_used_is_named(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, said: str
) -> None:
    monkeypatch.setenv(f"CONTENTSVC_{name}", value)

    with pytest.raises(InvalidSetting) as raised:
        load_settings()

    assert said in str(raised.value)
    assert "hunter2" not in str(raised.value)


def test_what_is_shown_holds_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTENTSVC_SECRET_KEY", "correct horse battery staple and again")
    monkeypatch.setenv("CONTENTSVC_BASE_URL", "https://user:hunter2@x.example/")
    settings = load_settings()

    assert settings.masked()["CONTENTSVC_SECRET_KEY"] == "***"
    assert settings.masked()["CONTENTSVC_BASE_URL"] == "https://***@x.example"
    assert "horse" not in repr(settings)
