"""Commands: requests to change something, each described once for the bodies of ``/v1``, the command line and forms."""

from collections.abc import Callable, Mapping
from types import NoneType
from typing import Any, TypeVar, Union, cast, get_args

import msgspec
from msgspec import UNSET, UnsetType, structs

from contentsvc_core.refusals import Refusal, invalid, validation_fault

_Command = TypeVar("_Command", bound=msgspec.Struct)


class Command(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"): ...


def changes_of(command: type[msgspec.Struct], name: str, *, clears: tuple[str, ...] = ()) -> type[Any]:
    """Return the command that changes fields: each field is optional, and ``UNSET`` leaves the value unchanged.

    ``command`` creates the resource, or is its form on the wire; ``clears`` are the fields that may be ``None``.
    """
    fields = structs.fields(command)
    return msgspec.defstruct(
        name,
        [(each.name, (each.type if each.name in clears else _set(each.type)) | UnsetType, UNSET) for each in fields],
        namespace={"__doc__": "The fields to change. Send at least one."},
        bases=(Command,),
        module=command.__module__,
        rename={each.name: each.encode_name for each in fields},
        kw_only=True,
    )


def changing(
    command: type[msgspec.Struct], *, clears: tuple[str, ...] = ()
) -> Callable[[type[_Command]], type[_Command]]:
    """Return a decorator that replaces a class, which type checkers see, by :func:`changes_of` the command."""
    return lambda shape: cast("type[_Command]", changes_of(command, shape.__name__, clears=clears))


def values_of(command: msgspec.Struct) -> dict[str, Any]:
    fields = ((name, getattr(command, name)) for name in command.__struct_fields__)
    return {name: value for name, value in fields if value is not UNSET}


def read_command(command: type[_Command], values: Mapping[str, object], **ready: object) -> _Command | Refusal:
    """Read a command from texts of a form or of options; ``ready`` are fields that have their values already."""
    names = dict(zip(command.__struct_encode_fields__, command.__struct_fields__, strict=True))
    by_wire_name = {wire: values[name] for wire, name in names.items() if name in values}
    try:
        return structs.replace(msgspec.convert(by_wire_name, command, strict=False), **ready)
    except msgspec.ValidationError as exc:
        path, fault = validation_fault(str(exc))
        return invalid(names.get(path.partition("[")[0]), fault)


def describe(command: type[msgspec.Struct]) -> dict[str, msgspec.Meta]:
    metas = ((each.name, _meta(each.type)) for each in structs.fields(command))
    return {name: meta for name, meta in metas if meta is not None}


def _meta(kind: Any) -> msgspec.Meta | None:  # noqa: ANN401  # any annotation
    own = [each for each in getattr(kind, "__metadata__", ()) if isinstance(each, msgspec.Meta)]
    if own:  # the last one is the field's; the ones before are of the alias that it annotates
        return own[-1]
    return next((meta for each in get_args(kind) if (meta := _meta(each))), None)


def _set(kind: Any) -> Any:  # noqa: ANN401  # any annotation
    if hasattr(kind, "__metadata__") or NoneType not in get_args(kind):
        return kind
    return cast("Any", Union)[tuple(each for each in get_args(kind) if each is not NoneType)]
