"""The camelCase bodies of values on the wire, and the JSON of events in stores."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import msgspec
from attrs import AttrsInstance, fields

from contentsvc_core.webhooks.events import Author, Commit, Event, HeadCommit, Push, Release

if TYPE_CHECKING:
    from cattrs import Converter


def camel(name: str) -> str:
    """Convert a Python name to the wire's spelling: ``tag_name`` becomes ``tagName``."""
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


_KEPT: Final[Mapping[type, Sequence[str]]] = {
    Commit: ("distinct", "added", "modified", "removed", "paths_cut"),
    Release: ("commit",),
}


@cache
def _converter(*, stored: bool) -> "Converter":
    # Imported on first use: cattrs alone costs as much as half of the core, and a service that only decides does not
    # need it.
    from cattrs import Converter  # noqa: PLC0415
    from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override  # noqa: PLC0415

    converter = Converter()
    classes: tuple[type[AttrsInstance], ...] = (Author, HeadCommit, Commit, Push, Release)
    for cls in classes:
        # The generators take attribute names and options alike as keywords, which no type checker can tell apart.
        named: dict[str, Any] = {field.name: override(rename=camel(field.name)) for field in fields(cls)}
        if cls is Author:
            named["username"] = override(omit_if_default=True)
        # Specification 6.1 and 6.2 have no such fields; a store keeps them for the writers, unless they are empty.
        for name in _KEPT.get(cls, ()):
            named[name] = override(omit_if_default=True, rename=camel(name)) if stored else override(omit=True)
        converter.register_unstructure_hook(cls, make_dict_unstructure_fn(cls, converter, **named))
        converter.register_structure_hook(cls, make_dict_structure_fn(cls, converter, **named))
    return converter


_KINDS: Final[Mapping[str, type[Push | Release]]] = {Push.type: Push, Release.type: Release}


def event_data(event: Event) -> dict[str, Any]:
    """Return the ``data`` of a normalized event (specification 6.1, 6.2)."""
    data: dict[str, Any] = _converter(stored=False).unstructure(event)
    data.pop("action", None)
    return data


def event_body(event: Event) -> dict[str, Any]:
    """Return a normalized event: ``{type, action, data}`` (specification 6)."""
    return {"type": event.type, "action": event.action, "data": event_data(event)}


def event_to_json(event: Event) -> str:
    """Return the stored form of an event; :func:`event_from_json` reads it back, equal."""
    return msgspec.json.encode(_converter(stored=True).unstructure(event)).decode()


def event_from_json(kind: str, text: str | bytes) -> Event:
    """Read an event of the given type from its stored form."""
    return _converter(stored=True).structure(msgspec.json.decode(text), _KINDS[kind])
