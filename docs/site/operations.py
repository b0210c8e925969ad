"""The operations of an OpenAPI document, as a page."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

_Object: TypeAlias = Mapping[str, Any]

_METHODS: Final = ("get", "post", "put", "patch", "delete")
_TITLES: Final = {
    "webhooks": "The receiver",
    "posts": "Posts and their generation",
    "status": "Status",
    "health": "Health",
}
_BOUNDS: Final = {
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minimum": "at least {}",
    "maximum": "at most {}",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "pattern": "`{}`",
}


def operations_page(document: _Object) -> str:
    """Return a page with every operation of a document, by subject, and every body."""
    subjects: dict[str, list[str]] = {}
    for path, item in document["paths"].items():
        for method in _METHODS:
            if method in item:
                operation = item[method]
                (subject, *_) = operation.get("tags") or ["else"]
                subjects.setdefault(subject, []).append(_operation(method, path, operation))
    texts = [
        f"## {_TITLES.get(subject, subject[:1].upper() + subject[1:])}\n\n" + "\n".join(lines)
        for subject, lines in subjects.items()
    ]
    schemas: _Object = document.get("components", {}).get("schemas", {})
    bodies = [f"### {name}\n\n{_schema(schemas[name])}" for name in sorted(schemas)]
    return "\n".join([*texts, "## Bodies\n", *bodies])


def _operation(method: str, path: str, operation: _Object) -> str:
    parts = [f"### `{method.upper()} {path}`\n"]
    parts += [
        f"{text.strip().removesuffix('.')}.\n"
        for text in (operation.get("summary"), operation.get("description"))
        if text
    ]
    if operation.get("security"):
        scope = "read" if method == "get" else "write"
        parts.append(f"Needs an API key with the scope `{scope}`.\n")
    parameters = operation.get("parameters", ())
    if parameters:
        rows = (
            (
                f"`{each['name']}`",
                each["in"],
                _type(each.get("schema", {})),
                _needed(each.get("required", False)),
                _words(each),
            )
            for each in parameters
        )
        parts.append(_table(("parameter", "in", "type", "", "meaning"), rows))
    if body := operation.get("requestBody"):
        kinds = "; ".join(f"`{kind}`: {_type(entry.get('schema', {}))}" for kind, entry in body["content"].items())
        parts.append(f"**Body** ({_needed(body.get('required', False))}): {kinds}\n")
        examples = (entry["example"] for entry in body["content"].values() if "example" in entry)
        parts += [f"```json\n{json.dumps(each, indent=2)}\n```\n" for each in examples]
    rows = ((f"`{status}`", _content(answer), _words(answer)) for status, answer in operation["responses"].items())
    parts.append(_table(("answer", "body", "when"), rows))
    return "\n".join(parts)


def _content(answer: _Object) -> str:
    return ", ".join(_type(entry.get("schema", {})) for entry in answer.get("content", {}).values())


def _schema(schema: _Object) -> str:
    text = f"{_sentence(schema['description'])}\n\n" if schema.get("description") else ""
    if "properties" not in schema:
        return f"{text}{_type(schema)}\n"
    required = set(schema.get("required", ()))
    rows = (
        (f"`{name}`", _type(entry), _needed(name in required), _words(entry))
        for name, entry in schema["properties"].items()
    )
    return text + _table(("field", "type", "", "meaning"), rows)


def _type(schema: _Object) -> str:
    """Return the type of a schema's value, in words."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    for key in ("oneOf", "anyOf"):
        if key in schema:
            return " or ".join(dict.fromkeys(_type(each) for each in schema[key]))
    if "allOf" in schema:
        return ", ".join([" and ".join(_type(each) for each in schema["allOf"]), *_default(schema)])
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return " or ".join("null" if each is None else f"`{each}`" for each in schema["enum"])
    kind: list[str] | str = schema.get("type", "any value")
    if isinstance(kind, list):
        return " or ".join(_type({**schema, "type": each}) for each in kind)
    text = f"list of {_type(schema['items'])}" if kind == "array" and "items" in schema else kind
    if "format" in schema:
        text += f" ({schema['format']})"
    bounds = [words.format(schema[key]) for key, words in _BOUNDS.items() if key in schema]
    return ", ".join([text, *bounds, *_default(schema)])


def _default(schema: _Object) -> list[str]:
    return [] if schema.get("default") is None else [f"`{schema['default']}` unless given"]


def _words(entry: _Object) -> str:
    return _sentence(entry.get("description") or entry.get("schema", {}).get("description", ""))


def _sentence(text: str) -> str:
    return " ".join(text.split())


def _needed(required: object) -> str:
    return "required" if required else "optional"


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    titles = list(head)
    lines = ["| " + " | ".join(titles) + " |", "|" + "---|" * len(titles)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"
