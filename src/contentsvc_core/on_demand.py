"""Modules that are imported, and patterns that are compiled, when they are first used (PEP 562)."""

import re
import sys
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, cast

if TYPE_CHECKING:
    from importlib.abc import SourceLoader

#: An import of names in an indented block: its module, and its names, which may be in brackets.
_IMPORT: Final = re.compile(r"^    from (\S+) import (\([^)]*\)|.*)$", re.MULTILINE)
#: A name, without the ``as`` that exports it under the same name.
_NAME: Final = re.compile(r"(\w+)(?: as \w+)?")


def names_on_demand(package: str, homes: Mapping[str, str] | None = None) -> Callable[[str], object]:
    """Return the ``__getattr__`` of a package, which has the names that it imports under ``TYPE_CHECKING``.

    A short command starts several times faster when a package imports only the modules that are used. ``homes`` has
    names, separated by spaces, by their module, if they are not to be read from the source.
    """

    @cache
    def home_of() -> Mapping[str, str]:
        imports = (
            _imports(package) if homes is None else [(f"{package}.{home}", names) for home, names in homes.items()]
        )
        return {name: home for home, names in imports for name in _NAME.findall(names)}

    def get(name: str) -> object:
        if name == "__all__":
            return sorted(home_of())
        home = home_of().get(name)
        if home is None:
            message = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(message)
        value: object = getattr(import_module(home), name)
        setattr(sys.modules[package], name, value)
        return value

    # For help() and completion.
    vars(sys.modules[package])["__dir__"] = lambda: sorted({*vars(sys.modules[package]), *home_of()})
    return get


def _imports(package: str) -> list[tuple[str, str]]:
    loader = cast("SourceLoader", sys.modules[package].__loader__)
    declared = (loader.get_source(package) or "").partition("\nif TYPE_CHECKING:\n")[2]
    return _IMPORT.findall(declared)


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
