"""Packages that import names at their first use, from where the imports for type checkers find them."""

import ast
import importlib
import inspect
import pkgutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Final, cast, get_args, get_type_hints

import pytest

from contentsvc_core.commands import Command
from contentsvc_core.on_demand import module_on_demand, names_on_demand, package_on_demand

PACKAGES: Final = (
    *("contentsvc_core", "contentsvc_core.ports", "contentsvc_core.webhooks.providers"),
    "contentsvc_adapters.sql",
)


def _for_types(package: str) -> dict[str, str]:
    """Return the module of each name, by the imports for type checkers."""
    module = importlib.import_module(package)
    tree = ast.parse(Path(str(module.__file__)).read_text("utf-8"))
    (checked,) = (node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    return {
        alias.name: str(node.module)
        for node in checked.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


@pytest.mark.parametrize("package", PACKAGES)
def test_a_name_comes_from_where_type_checkers_find_it(package: str) -> None:
    module = importlib.import_module(package)
    homes, find = _for_types(package), names_on_demand(package)

    assert homes
    assert sorted(homes) == sorted(module.__all__)
    assert set(homes) <= set(dir(module))
    for name, home in homes.items():
        assert getattr(module, name) is find(name) is getattr(importlib.import_module(home), name)


def test_every_command_of_a_use_case_is_public() -> None:
    core = importlib.import_module("contentsvc_core")
    for module in pkgutil.walk_packages(core.__path__, "contentsvc_core."):
        importlib.import_module(module.name)

    def below(command: type[Command]) -> Iterator[type[Command]]:
        for each in command.__subclasses__():
            yield each
            yield from below(each)

    names = {each.__name__ for each in below(Command) if each.__module__.startswith("contentsvc_core.")}
    commands = {name for name in names if name.startswith(("Create", "Change", "Generate", "Replay"))}
    assert {"CreatePost", "ReplayDeliveries"} <= commands
    assert commands <= set(core.__all__)


def test_every_type_in_a_signature_of_a_public_name_is_public() -> None:
    modules = [importlib.import_module(f"contentsvc_core{name}") for name in ("", ".ports", ".testing", ".strategies")]
    public = {name: value for module in modules for name, value in _public(module).items()}
    # The composition imports all ports at its first use.
    signatures = [each for name, value in public.items() if name != "Application" for each in _signatures(value)]

    types = {type_ for signature in signatures for hint in get_type_hints(signature).values() for type_ in _types(hint)}

    assert len(types) > 200
    named = {each for each in types if each.__module__.startswith("contentsvc_core") and each.__name__[0] != "_"}
    # Type checkers see a dictionary: the fields follow from the settings of a house style.
    assert {each.__name__ for each in named if public.get(each.__name__) is not each} == {"HouseStyleBody"}


def _public(module: ModuleType) -> dict[str, object]:
    names = getattr(module, "__all__", None) or [name for name in dir(module) if not name.startswith("_")]
    return {name: getattr(module, name) for name in names}


def _signatures(value: object) -> Iterator[Any]:
    """Return a function; or a class, for its attributes, and its public methods and properties."""
    if inspect.isfunction(value):
        yield value
    elif isinstance(value, type):
        yield value
        for name, member in inspect.getmembers_static(value):
            method = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
            if inspect.isfunction(method) and (name == "__init__" or not name.startswith("_")):
                yield method


def _types(hint: Any) -> Iterator[type]:
    if isinstance(hint, type):
        yield hint
    parts = cast("Sequence[Any]", hint if isinstance(hint, list) else get_args(hint))
    for part in parts:
        yield from _types(part)


def test_any_other_name_is_missing_as_usual() -> None:
    ports = importlib.import_module("contentsvc_core.ports")

    with pytest.raises(AttributeError, match=r"module 'contentsvc_core\.ports' has no attribute 'Lantern'"):
        _ = ports.Lantern
    with pytest.raises(ImportError, match="Lantern"):
        exec("from contentsvc_core.ports import Lantern")  # noqa: S102  # as a module would


def test_a_module_without_a_package_is_imported_at_its_first_use(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "colorsys"
    monkeypatch.delitem(sys.modules, name, raising=False)

    module_on_demand(name)
    placeholder = importlib.import_module(name)
    found = placeholder.hsv_to_rgb

    assert sys.modules[name] is not placeholder
    assert found is importlib.import_module(name).hsv_to_rgb
    # Later uses need no import.
    assert vars(placeholder)["hsv_to_rgb"] is found


def test_a_module_on_demand_is_imported_at_its_first_use(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "xml.etree.ElementInclude"
    monkeypatch.delitem(sys.modules, name, raising=False)

    module_on_demand(name)
    placeholder = importlib.import_module(name)
    assert importlib.import_module("xml.etree").ElementInclude is placeholder
    found = placeholder.default_loader

    loaded = sys.modules[name]
    assert loaded is importlib.import_module("xml.etree").ElementInclude is not placeholder
    assert found is loaded.default_loader is placeholder.default_loader
    # An imported module stays.
    module_on_demand(name)
    assert sys.modules[name] is loaded


def test_a_package_on_demand_is_executed_at_its_first_use_and_its_modules_are_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    package = tmp_path / "lantern"
    package.mkdir()
    (package / "__init__.py").write_text("from lantern.wick import LENGTH\nOIL = 2\n")
    (package / "wick.py").write_text("from . import glass\nLENGTH = 1\n")
    (package / "glass.py").write_text("")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    for name in ("lantern", "lantern.wick", "lantern.glass"):
        # Undone after the test.
        monkeypatch.setitem(sys.modules, name, None)
        del sys.modules[name]

    package_on_demand("lantern")
    wick = importlib.import_module("lantern.wick")
    placeholder = sys.modules["lantern"]

    assert "OIL" not in vars(placeholder)
    assert wick is placeholder.wick
    assert placeholder.OIL == 2
    assert placeholder.LENGTH == 1
    with pytest.raises(AttributeError, match="flame"):
        _ = placeholder.flame
    # An imported package stays.
    package_on_demand("lantern")
    assert sys.modules["lantern"] is placeholder
