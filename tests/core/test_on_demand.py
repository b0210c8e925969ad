"""Packages whose names are imported when they are first used: each name has one home, in the table and for types."""

import ast
import importlib
import sys
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import attrs
import pytest

from contentsvc_core.application import Application
from contentsvc_core.on_demand import module_on_demand, package_on_demand
from contentsvc_core.ports import Stores

PACKAGES: Final = (
    *("contentsvc_core", "contentsvc_core.ports", "contentsvc_core.webhooks.providers"),
    *("contentsvc_adapters.sql", "contentsvc_adapters.sql.schema"),
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
    homes = {name: f"{package}.{home}" for home, names in module._HOMES.items() for name in names.split()}

    assert homes == _for_types(package)
    assert sorted(homes) == sorted(module.__all__)
    for name, home in homes.items():
        assert getattr(module, name) is getattr(importlib.import_module(home), name)


def test_any_other_name_is_missing_as_usual() -> None:
    ports = importlib.import_module("contentsvc_core.ports")

    with pytest.raises(AttributeError, match=r"module 'contentsvc_core\.ports' has no attribute 'Lantern'"):
        _ = ports.Lantern
    with pytest.raises(ImportError, match="Lantern"):
        exec("from contentsvc_core.ports import Lantern")  # noqa: S102  # as a module would


class _Named:
    """Each attribute is its name."""

    def __getattr__(self, name: str) -> str:
        return name


def test_each_use_case_has_what_its_parameters_name() -> None:
    named: Any = _Named()
    names = (
        "clock",
        "ids",
        "renderer",
        "offload",
        "hosts",
        "notify",
        "base_url",
        "mails",
        "site_hosts",
        "outgoing_hosts",
    )
    texts: Any = {name: name for name in names}
    application = Application(stores=named, shares=named, **texts)
    application.load()
    other_names = {
        ("RateLimiter", "store"): "rate_limits",
        ("Replayer", "store"): "deliveries",
        ("Replayer", "library"): "contexts",
        ("Briefs", "library"): "contexts",
        ("PostEditor", "library"): "posts",
        ("PostEditor", "share"): "heavy",
        ("BulkReplayer", "share"): "lists",
        ("BrandEditor", "opened"): "site_hosts",
        ("BrandGenerator", "opened"): "site_hosts",
        ("EndpointEditor", "opened"): "outgoing_hosts",
    }
    known = {*attrs.fields_dict(Application), *Stores.__annotations__, *other_names.values()}
    properties = {name: each for name, each in vars(Application).items() if isinstance(each, cached_property)}
    use_cases = [getattr(application, name) for name in properties]

    homes = [each.func.__annotations__["return"] for each in properties.values()]
    assert [type(each).__name__ for each in use_cases] == homes
    for use_case in use_cases:
        kind = type(use_case).__name__
        for attribute, value in vars(use_case).items():
            name = attribute.removeprefix("_")
            expected = other_names.get((kind, name), name)
            if expected in known or isinstance(value, str):
                assert (kind, name, value) == (kind, name, expected)
            elif not isinstance(value, int | float | dict):
                assert value in use_cases


def test_a_module_without_a_package_is_imported_at_its_first_use(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "colorsys"
    monkeypatch.delitem(sys.modules, name, raising=False)

    module_on_demand(name)
    placeholder = importlib.import_module(name)
    found = placeholder.hsv_to_rgb

    assert sys.modules[name] is not placeholder
    assert found is importlib.import_module(name).hsv_to_rgb
    # Found without another import from now on.
    assert vars(placeholder)["hsv_to_rgb"] is found


def test_a_module_on_demand_is_imported_at_its_first_use(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "wsgiref.headers"
    monkeypatch.delitem(sys.modules, name, raising=False)

    module_on_demand(name)
    placeholder = importlib.import_module(name)
    assert importlib.import_module("wsgiref").headers is placeholder
    found = placeholder.Headers

    loaded = sys.modules[name]
    assert loaded is importlib.import_module("wsgiref").headers is not placeholder
    assert found is loaded.Headers is placeholder.Headers
    # A module that is imported already stays.
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
    # A package that is imported already stays.
    package_on_demand("lantern")
    assert sys.modules["lantern"] is placeholder
