import sqlite3
import sys
from urllib.parse import unquote

import pytest

from contentsvc_http import settings_checks
from contentsvc_http.settings import InvalidSetting, Settings, examine_settings, load_settings


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in Settings().masked():
        monkeypatch.delenv(name, raising=False)


def test_without_an_environment_everything_has_a_default() -> None:
    assert load_settings() == Settings()
    assert load_settings().database_url == "sqlite+aiosqlite:///contentsvc.db"


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("DATABASE_URL", "x", "CONTENTSVC_DATABASE_URL is no database URL"),
        ("DATABASE_URL", "mysql://u:hunter2@h/d", "CONTENTSVC_DATABASE_URL: 'mysql' is not supported"),
        ("DATABASE_URL", "sqlite+aiosqlite://", "CONTENTSVC_DATABASE_URL names no file"),
        ("DATABASE_URL", "sqlite+aiosqlite:///:memory:", "CONTENTSVC_DATABASE_URL names no file"),
        ("DATABASE_URL", "postgresql+asyncpg://u:hunter2@h", "CONTENTSVC_DATABASE_URL names no database"),
        ("DATABASE_URL", "postgresql://u:p@hunter2@h/d", "CONTENTSVC_DATABASE_URL has an '@' in the password"),
        ("DATABASE_URL", "postgresql://u:p@h/hunter2@h/d", "CONTENTSVC_DATABASE_URL has an '@' in the password"),
        ("DATABASE_URL", "postgresql://u:hunter2@h:hunter2/d", "CONTENTSVC_DATABASE_URL is no database URL"),
        ("DATABASE_URL", "postgresql+psycopg://u:hunter2@h/d", "'postgresql+psycopg' is not supported"),
        ("DATABASE_URL", "postgresql://u:p@h/d?hunter2=1", "takes no options but host, port, ssl, sslmode"),
        ("DATABASE_URL", "postgresql://u:p@/d?host=a&port=hunter2", "a port that is no number"),
        ("DATABASE_URL", "postgresql://u:p@/d?host=hunter2&host=b", "has an option twice"),
        ("DATABASE_URL", "postgresql://u:hunter2@a:1,b:2/d", "several servers after it, as ?host=HOST1,HOST2&port="),
        ("DATABASE_URL", "postgresql://u:hunter2@/d?host=a,b,c&port=1,2", "needs one port, or one for each host"),
        ("DATABASE_POOL_SIZE", "0", "CONTENTSVC_DATABASE_POOL_SIZE must be above 0"),
        ("BASE_URL", "ftp://x", "CONTENTSVC_BASE_URL must be an address"),
        ("BASE_URL", "https://u:hunter2@x.example/?q", "CONTENTSVC_BASE_URL must be an address"),
        ("BASE_URL", "http://x:99999", "CONTENTSVC_BASE_URL must be an address"),
        ("BASE_URL", "http://x/ a", "CONTENTSVC_BASE_URL must be an address"),
        ("BASE_URL", "http://[::1", "CONTENTSVC_BASE_URL must be an address"),
        # The cookie of a session is for `https` alone if the address begins with that.
        ("BASE_URL", "HTTPS://x.example", "CONTENTSVC_BASE_URL must be an address"),
        ("DATABASE_URL", "sqlite+aiosqlite:///x.db?cache=shared", "CONTENTSVC_DATABASE_URL takes no options"),
        ("BASE_URL", "https://", "CONTENTSVC_BASE_URL must be an address"),
        ("FAILED_LOG_ROWS_PER_MINUTE", "many", "CONTENTSVC_FAILED_LOG_ROWS_PER_MINUTE cannot be read"),
        ("FAILED_LOG_ROWS_PER_MINUTE", "0", "CONTENTSVC_FAILED_LOG_ROWS_PER_MINUTE must be above 0"),
        ("MAX_CONNECTIONS", "9", "CONTENTSVC_MAX_CONNECTIONS must be 10 to"),
        ("MAX_LARGE_BODIES_MIB", "49", "CONTENTSVC_MAX_LARGE_BODIES_MIB must be 50 to 16384, not 49: one integration"),
        ("LOG_FORMAT", "xml", "CONTENTSVC_LOG_FORMAT must be one of auto, json, console"),
        ("METRICS", "public", "CONTENTSVC_METRICS must be one of local, on, off, not 'public'"),
        ("TRACES", "public", "CONTENTSVC_TRACES must be one of off, otlp, not 'public'"),
        ("LOG_LEVEL", "loud", "CONTENTSVC_LOG_LEVEL must be one of"),
        ("WRITER_URL", "ftp://x/v1", "CONTENTSVC_WRITER_URL must be what stands before /chat/completions"),
        ("WRITER_URL", "https://ada:hunter2@x.example/v1", "the key goes into CONTENTSVC_WRITER_KEY"),
        ("WRITER_URL", "https://x.example/v1?key=hunter2", "without a user name or a query"),
        ("WRITER_URL", "https://x.example/v1/chat/completions", "what stands before /chat/completions"),
        ("WRITER_URL", "https://x.example/v1", "CONTENTSVC_WRITER_MODEL must name the model"),
        ("WRITER_MODEL", "a\nb", "CONTENTSVC_WRITER_MODEL must be a name in one line"),
        ("WRITER_KEY", "hunter2 hunter2", "CONTENTSVC_WRITER_KEY must be visible ASCII characters without spaces"),
        ("WRITER_TIMEOUT_S", "271", "CONTENTSVC_WRITER_TIMEOUT_S must be 1 to 270, not 271: a run"),
        ("WRITER_TIMEOUT_S", "soon", "CONTENTSVC_WRITER_TIMEOUT_S cannot be read"),
        ("WRITER_MAX_TOKENS", "99", "CONTENTSVC_WRITER_MAX_TOKENS must be 100 to"),
        ("WRITER_CONTEXT_CHARS", "3999", "CONTENTSVC_WRITER_CONTEXT_CHARS must be 4000 to"),
        ("SMTP_URL", "smtps://mail.example", "CONTENTSVC_MAIL_FROM must be the address that mails come from"),
        ("SMTP_URL", "hunter2:25", "CONTENTSVC_SMTP_URL must be smtps://"),
        ("MAIL_FROM", "Acme <hunter2@acme.example>", "CONTENTSVC_MAIL_FROM must be an address such as"),
    ],
)
def test_a_setting_that_cannot_be_used_is_named(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, message: str
) -> None:
    monkeypatch.setenv(f"CONTENTSVC_{name}", value)

    with pytest.raises(InvalidSetting) as raised:
        load_settings()

    assert message in str(raised.value)
    assert "hunter2" not in str(raised.value)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql+asyncpg://ada:hunter2@db.example:5432/contents",
        "postgresql://ada:hunter2@db.example/contents?sslmode=verify-full",
        "postgresql+asyncpg://ada:hunter2@/contents?host=/run/postgresql&port=5433",
        "postgresql+asyncpg://ada:hunter2@/contents?host=one.example,two.example&port=5433,5434",
        "postgresql+asyncpg://ada:hunter2@one.example,two.example:5433/contents",
    ],
)
def test_a_postgresql_url_is_taken_and_shown_without_its_password(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("CONTENTSVC_DATABASE_URL", url)
    settings = load_settings()

    assert settings.database_url == url
    assert not settings.is_sqlite
    assert settings.masked()["CONTENTSVC_DATABASE_POOL_SIZE"] == 10
    shown = str(settings.masked()["CONTENTSVC_DATABASE_URL"])
    assert "ada:***@" in shown
    assert "hunter2" not in str(settings.masked())


def test_masked_settings_have_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTENTSVC_SECRET_KEY", "correct horse battery staple and again")
    monkeypatch.setenv("CONTENTSVC_BASE_URL", "https://user:hunter2@x.example/")
    monkeypatch.setenv("CONTENTSVC_WRITER_KEY", "sk-hunter2")
    monkeypatch.setenv("CONTENTSVC_SMTP_URL", "smtps://acme:hush-hush@mail.example.org")
    monkeypatch.setenv("CONTENTSVC_MAIL_FROM", "a@acme.example")
    settings = load_settings()

    assert settings.masked()["CONTENTSVC_WRITER_KEY"] == "***"
    assert "hunter2" not in str(settings.masked())
    assert settings.masked()["CONTENTSVC_SECRET_KEY"] == "***"
    assert settings.masked()["CONTENTSVC_BASE_URL"] == "https://***@x.example"
    assert "horse" not in repr(settings)
    assert "sk-hunter2" not in repr(settings)
    assert settings.masked()["CONTENTSVC_SMTP_URL"] == "smtps://***@mail.example.org"
    assert "hush" not in repr(settings) + repr(settings.masked())


@pytest.mark.parametrize(
    ("database", "engine", "tables"),
    [
        ("sqlite+aiosqlite:///data/contentsvc.db", "inline", "sqlite:///data/engine.db"),
        (
            "postgresql+asyncpg://u:p%40@db/one?ssl=require",
            "dbos",
            "postgresql://u:p%40@db/one?sslmode=require&target_session_attrs=primary",
        ),
        (
            "postgresql+asyncpg:///one?host=/run/a,/run/b&port=5433",
            "dbos",
            "postgresql:///one?host=/run/a,/run/b&port=5433&target_session_attrs=primary",
        ),
    ],
)
def test_the_engine_goes_with_the_database(database: str, engine: str, tables: str) -> None:
    settings = Settings(database_url=database)
    assert (settings.engine_in_force, unquote(settings.engine_database_url)) == (engine, unquote(tables))
    assert Settings(database_url=database, engine="inline").engine_in_force == "inline"


def test_an_extra_that_is_not_installed_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dbos", None)
    postgresql = "postgresql+asyncpg://u@db/one"

    with pytest.raises(InvalidSetting, match=r"^CONTENTSVC_DATABASE_URL .*'contentsvc\[postgresql\]'$"):
        Settings(database_url=postgresql)
    with pytest.raises(InvalidSetting, match=r"^CONTENTSVC_ENGINE .*'contentsvc\[postgresql\]'$"):
        Settings(engine="dbos")
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter", None)
    with pytest.raises(InvalidSetting, match=r"^CONTENTSVC_TRACES=otlp .*'contentsvc\[otel\]'$"):
        Settings(traces="otlp")

    assert Settings().engine_in_force == "inline"
    assert Settings(database_url=postgresql, engine="inline").engine_in_force == "inline"


def test_an_engine_that_does_not_work_with_this_sqlite_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings_checks, "ENGINE_NEEDS_SUBSEC", True)
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 41, 9))

    with pytest.raises(InvalidSetting, match=r"needs SQLite 3\.42 or newer, .*: use CONTENTSVC_ENGINE=inline$"):
        Settings(engine="dbos")
    assert Settings(database_url="postgresql+asyncpg://u@db/one").engine_in_force == "dbos"
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 42, 0))
    assert Settings(engine="dbos").engine_in_force == "dbos"


def test_everything_that_is_wrong_is_found_at_once_and_the_rest_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    environment = {
        "LOG_LEVEL": "loud",
        "DATABASE_URL": "mysql://u:hunter2@h/d",
        "RUN_CONCURRENCY": "many",
        # Only the model is missing, not the address.
        "WRITER_URL": "http://127.0.0.1:1/v1",
        "METRICS": "off",
        "METRIX": "off",
    }
    for name, value in environment.items():
        monkeypatch.setenv(f"CONTENTSVC_{name}", value)

    examined = examine_settings()

    assert set(examined.faults) == {
        f"CONTENTSVC_{name}" for name in ("LOG_LEVEL", "DATABASE_URL", "RUN_CONCURRENCY", "WRITER_MODEL")
    }
    assert "hunter2" not in str(examined)
    assert examined.in_use == ("CONTENTSVC_METRICS",)
    assert "CONTENTSVC_METRIX" in examined.unknown
    assert examined.settings == Settings(metrics="off")
