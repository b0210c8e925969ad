"""A cache of SQLAlchemy's compiled statements for the whole process."""

from typing import Any, Final, final

from sqlalchemy import Engine


@final
class _Compiled(dict[Any, Any]):
    """A cache for all engines whose dialects are of one class; SQLAlchemy's keys begin with the dialect object."""

    def get(self, key: Any, default: Any = None) -> Any:
        return super().get(key[1:], default)

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key[1:], value)


_CACHES: Final[dict[type, _Compiled]] = {}


def share_compiled_statements() -> None:
    """Replace the cache of each engine with one that all engines of this process share.

    Each test opens engines of its own; compiling the same statements again is a fifth of the time of a test.
    """
    setattr(Engine, "_compiled_cache", property(_shared, lambda _engine, _own: None))  # noqa: B010  # a private name


def _shared(engine: Engine) -> _Compiled:
    return _CACHES.setdefault(type(engine.dialect), _Compiled())
