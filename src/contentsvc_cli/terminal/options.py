from collections.abc import Callable, Collection, Mapping
from enum import Enum
from typing import Any, TypeVar

import click
import msgspec
from msgspec import UNSET, inspect, structs

from contentsvc_cli.terminal.output import misused
from contentsvc_core.commands import describe
from contentsvc_core.refusals import wire_name

_Function = TypeVar("_Function", bound=Callable[..., None])


def options(
    command: type[msgspec.Struct],
    names: Mapping[str, str],
    more: Mapping[str, Mapping[str, Any]],
    *,
    without: Collection[str] = (),
    last: Collection[str] = (),
) -> Callable[[_Function], _Function]:
    """Return a decorator that adds an option for each field.

    ``names`` has the options whose names differ from their fields, ``more`` further settings of options, by field.
    Options of the fields in ``last`` come after the others.
    """
    described = describe(command)

    def decorate(function: _Function) -> _Function:
        fields = sorted(structs.fields(command), key=lambda info: info.name in last)
        for info in reversed(fields):
            if info.name not in without:
                meta = described.get(info.name)
                settings: dict[str, Any] = {
                    "help": None if meta is None else meta.description,
                    # click takes an explicit default for a value, so that a required option could be left out.
                    **({"required": True} if info.required else {"default": None}),
                    **_settings(inspect.type_info(info.type)),
                    **more.get(info.name, {}),
                }
                option = names.get(info.name) or f"--{info.name.replace('_', '-')}"
                if settings.get("multiple"):
                    settings["help"] = f"{settings['help']} Repeat for several."
                if isinstance(info.default, Enum):
                    settings["help"] = f"{settings['help']}  [default: {info.default.value}]"
                if info.default in {UNSET, True} and settings.pop("is_flag", False):
                    option = f"{option}/--no-{option[2:]}"
                function = click.option(option, info.name, **settings)(function)
        return function

    return decorate


def option_of(command: click.Command, field: str | None) -> str | None:
    """Return the option or argument of a command for a field of a refusal; ``None``: the command has none."""
    name = wire_name(field or "")
    parameter = next((each for each in command.params if wire_name(each.name or "") == name), None)
    return parameter.opts[0] if isinstance(parameter, click.Option) else parameter and parameter.human_readable_name


def given(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None and value != ()}


def check_changes(changes: object) -> None:
    if not changes:
        misused("there is nothing to change: name at least one option")


def _settings(kind: inspect.Type) -> dict[str, Any]:
    match kind:
        case inspect.Metadata(type=inner):
            return _settings(inner)
        case inspect.UnionType(types=types):
            return _settings(next(type_ for type_ in types if not isinstance(type_, inspect.NoneType)))
        case inspect.EnumType(cls=cls):
            return {"type": click.Choice([member.value for member in cls])}
        case inspect.LiteralType(values=values):
            return {"type": click.Choice(list(map(str, values)))}
        case inspect.IntType(ge=least, le=most):
            return {"type": click.IntRange(least, most)}
        case inspect.BoolType():
            return {"is_flag": True}
        case inspect.ListType() | inspect.VarTupleType() | inspect.CollectionType():
            return {**_settings(kind.item_type), "multiple": True}
        case _:
            return {}
