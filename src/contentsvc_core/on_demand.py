"""Modules that are imported, and patterns that are compiled, when they are first used (PEP 562)."""

import re
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any, Protocol, cast


class _Loader(Protocol):
    def get_data(self, path: str, /) -> bytes: ...


def names_on_demand(package: str) -> Callable[[str], object]:
    """Return the ``__getattr__`` of a package, for the names that its source imports for type checkers.

    Each import is a line ``from HOME import NAME as NAME`` under ``if TYPE_CHECKING``; other imports are not indented.
    A short command starts several times faster when a package imports only the modules that are used.
    """
    spec = sys.modules[package].__spec__
    assert spec is not None
    assert spec.origin is not None
    # Not ``get_source``: it imports a tokenizer.
    source = cast("_Loader", spec.loader).get_data(spec.origin).decode()
    imports = (line.split() for line in source.splitlines() if line.startswith("    from "))
    home_of = {name: home for _, home, _, name, *_ in imports}

    def get(name: str) -> object:
        home = home_of.get(name)
        if home is None:
            message = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(message)
        value: object = getattr(import_module(home), name)
        setattr(sys.modules[package], name, value)
        return value

    # For help() and completion.
    vars(sys.modules[package])["__dir__"] = lambda: sorted({*vars(sys.modules[package]), *home_of})
    vars(sys.modules[package]).setdefault("__all__", sorted(home_of))
    return get


def module_on_demand(name: str) -> None:
    """Register a placeholder for a module that libraries import, but hardly use; its first use imports it."""
    if name in sys.modules:
        return
    placeholder = ModuleType(name)

    def get(attribute: str) -> object:
        if sys.modules.get(name) is placeholder:
            del sys.modules[name]
        value: object = getattr(import_module(name), attribute)
        setattr(placeholder, attribute, value)
        return value

    vars(placeholder)["__getattr__"] = get
    sys.modules[name] = placeholder
    package, _, submodule = name.rpartition(".")
    if package:
        setattr(import_module(package), submodule, placeholder)


def package_on_demand(name: str) -> None:
    """Register a package whose modules are imported without the package itself; its first use executes the package."""
    if name in sys.modules:
        return
    spec = find_spec(name)
    assert spec is not None
    assert spec.loader is not None
    package, loader = module_from_spec(spec), spec.loader

    def get(attribute: str) -> object:
        if find_spec(f"{name}.{attribute}") is not None:
            return import_module(f"{name}.{attribute}")
        if vars(package).pop("__getattr__", None) is not None:
            loader.exec_module(package)
        return getattr(package, attribute)

    vars(package)["__getattr__"] = get
    sys.modules[name] = package


class _Late:
    def __init__(self, pattern: str, flags: int) -> None:
        self._source = pattern, flags

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  # of a pattern
        value = getattr(re.compile(*self._source), name)
        setattr(self, name, value)
        return value


def late(pattern: str, flags: int = 0) -> "re.Pattern[str]":
    """Return a pattern for rare texts, which is compiled when it is first used: a short command uses few patterns."""
    return cast("re.Pattern[str]", _Late(pattern, flags))
