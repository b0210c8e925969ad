"""Parts of operations in the OpenAPI document that the framework does not derive from a handler."""

from collections.abc import Mapping
from typing import Any, Final, Literal, final

from attrs import field, frozen

#: Under this name, the options of a handler have a list of :class:`Described`.
DOCUMENT: Final = "document"


#: Schemas of plain fields.
TEXT: Final[Mapping[str, Any]] = {"type": "string"}
TIME: Final[Mapping[str, Any]] = {"type": "string", "format": "date-time"}
TEXT_OR_NULL: Final[Mapping[str, Any]] = {"oneOf": [TEXT, {"type": "null"}]}


@final
@frozen(kw_only=True)
class Described:
    parameters: tuple[Mapping[str, Any], ...] = field(converter=tuple, default=())
    body: Mapping[str, Any] | None = None
    #: Headers of responses by status; ``2XX`` and ``XXX`` are those of several.
    headers: Mapping[str, Mapping[str, Any]] = field(factory=dict[str, Any])

    def add_to(self, operation: dict[str, Any]) -> None:
        if self.parameters:
            operation["parameters"] = [*operation.get("parameters", ()), *self.parameters]
        if self.body is not None:
            operation["requestBody"] = self.body
        for status, response in operation["responses"].items():
            for each in ("XXX", f"{status[0]}XX", status):
                if each in self.headers:
                    response["headers"] = {**response.get("headers", {}), **self.headers[each]}


def header(description: str, *, least: int | None = None, required: bool = False) -> dict[str, Any]:
    """Return a header of a response: a text, or a number with a minimum."""
    schema = {"type": "string"} if least is None else {"type": "integer", "minimum": least}
    return {"schema": schema, "description": description, "required": required, "deprecated": False}


def parameter(
    location: Literal["header", "path", "query"], name: str, description: str, schema: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    schema = {"type": "string"} if schema is None else schema
    return {
        "name": name,
        "in": location,
        "schema": schema,
        "description": description,
        "required": location == "path",
        "deprecated": False,
    }


def reference(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}


def object_of(description: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an object that has all of its fields."""
    return {"description": description, "type": "object", "properties": dict(fields), "required": sorted(fields)}
