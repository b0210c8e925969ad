import re
from base64 import b64encode
from collections.abc import Callable, Mapping
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, TypeAlias, cast, get_args, get_type_hints, is_typeddict

from litestar import Litestar, Request, Response, Router, get
from litestar.handlers import HTTPRouteHandler
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin, SwaggerRenderPlugin
from litestar.openapi.spec import Components, SecurityScheme
from litestar.params import FromPath
from litestar.response import File
from litestar.routes import HTTPRoute
from msgspec import Struct

from contentsvc_http.described import DOCUMENT
from contentsvc_http.errors import Refused
from contentsvc_http.field_descriptions import described
from contentsvc_http.v1.answers import Answers
from contentsvc_http.v1.hosted import HostedAnswers, describe, successes, with_organization
from contentsvc_http.v1.response_examples import ORGANIZATION, delivery_examples, response_examples
from contentsvc_http.webhooks_document import (
    WEBHOOK_PATH,
    WEBHOOK_SCHEMAS,
    message_operations,
    message_schemas,
    webhook_operations,
)

_KEY: Final = "apiKey"
_ASSETS: Final = "/schema/assets"
_SNAKE: Final = re.compile(r"_([a-z])")
_OF_SPECIFICATION: Final = re.compile(r" \(specification[^)]*\)")
_METHODS: Final = frozenset({"get", "post", "patch", "delete", "put"})
_FILES: Final = {
    "swagger-ui-bundle.js": "text/javascript",
    "swagger-ui-standalone-preset.js": "text/javascript",
    "swagger-ui.css": "text/css",
    "favicon-32x32.png": "image/png",
}
#: Content security policy of the documentation page: own files, the inline script and style by hash, and own requests.
_POLICY: Final = (
    "default-src 'none'; script-src 'self' {scripts}; style-src 'self' {styles}; img-src 'self' data:; "
    "connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)
_NO_PAGE: Final = "default-src 'none'; frame-ancestors 'none'"
_GUARD: Final = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin"}
_OPEN: Final = frozenset({"/v1/status"})
_NOT_FOUND: Final = 404
#: The most that fits the type of an integer without a format in compiled clients.
_MAX_INT32: Final = 2**31 - 1
#: Schema description of the framework's own 400 response. ``/v1`` validates by itself, so this response never occurs.
_FRAMEWORKS: Final = "Validation Exception"
_SCHEMA: Final = "#/components/schemas/"
#: An object of any shape: clients in Rust and Kotlin demand the fields of all schemas of a choice at once.
_PAYLOAD: Final = {
    "oneOf": [{"type": "object", "additionalProperties": True}, {"type": "null"}],
    "description": "The event of a delivery, a call to a code host, or a message. Null: nothing is stored.",
}
#: Names of choices that generated clients do not compile with: a class of .NET, and a keyword of Rust and PHP.
_RENAMED: Final = {"ContentType": "PostContentType", "Match": "SignatureMatch"}
#: Keywords of a field that differ from those of its type.
_OF_FIELDS: Final = ("description", "default")
#: Names and descriptions of choices that the framework does not name, by a field that has each.
_CHOICES: Final = {
    "BrandJobBody.step": ("BrandJobStep", "A step of a job that creates a brand identity."),
    "DiffLineBody.mark": ("DiffMark", "How a line differs from the previous version."),
    "GenerationJobBody.status": ("JobStatus", "The state of a job."),
    "HouseStyleBody.audience": ("Audience", "The readers of changelogs."),
    "HouseStyleBody.foldSections": ("Section", "A section of a changelog."),
    "HouseStyleBody.notes": ("NotesUse", "The use of the notes of a release."),
    "HouseStyleBody.upkeepPosts": ("UpkeepPosts", "The use of pushes that consist of upkeep."),
    "JobEventBody.type": ("JobEventType", "A step in the history of a job."),
    "LogBody.direction": ("LogDirection", "Whether a message was received or sent."),
    "OwnKeyBody.scopes": ("KeyScope", "A scope of an API key."),
    "TriggerSourceBody.eventTypes": ("RepositoryEventType", "A type of event that starts a run."),
}
#: From the application and the framework's document.
_Documented: TypeAlias = Callable[[Litestar, dict[str, Any]], dict[str, Any]]


def openapi(version: str, *, hosted: bool = False) -> OpenAPIConfig:
    documented = _hosted if hosted else _plain
    page = _Page(documented)

    def guarded(response: Response[Any]) -> Response[Any]:
        answer = _plain_not_found(response)
        is_page = answer.media_type == "text/html"
        answer.headers.update(_GUARD | {"Content-Security-Policy": page.policy if is_page else _NO_PAGE})
        return answer

    return OpenAPIConfig(
        title="contentsvc",
        version=version,
        openapi_router=Router("/schema", route_handlers=[], include_in_schema=False, after_request=guarded),
        description="contentsvc receives the webhooks of your code host and turns them into changelogs and posts.",
        components=Components(
            security_schemes={
                _KEY: SecurityScheme(
                    type="http",
                    scheme="bearer",
                    description="Send your API key as `Authorization: Bearer csk_…`. Reading needs the scope `read`, "
                    "everything else `write`.",
                )
            }
        ),
        render_plugins=[
            _Json(documented),
            page,
        ],
    )


def _plain_not_found(response: Response[Any]) -> Response[Any]:
    if response.status_code == _NOT_FOUND:
        return Response({"error": "Not Found"}, status_code=_NOT_FOUND, media_type="application/json")
    return response


def asset_route() -> HTTPRouteHandler:
    """Return the route of the page's assets: files of Swagger UI, read from the package that ships them."""
    package = find_spec("swagger_ui")
    assert package is not None
    assert package.origin is not None
    folder = Path(package.origin).with_name("static")

    @get(f"{_ASSETS}/{{name:str}}", include_in_schema=False)
    async def asset(name: FromPath[str]) -> File:
        # Looked up in a table, so that no requested name reaches the file system.
        media_type = _FILES.get(name)
        if media_type is None:
            raise Refused(_NOT_FOUND, {"error": "Not Found"})
        return File(folder / name, media_type=media_type, content_disposition_type="inline", headers=_GUARD)

    return asset


class _Json(JsonRenderPlugin):
    """The document as JSON, rendered once: the route is public and not rate limited."""

    def __init__(self, documented: _Documented) -> None:
        super().__init__(path="/openapi.json")
        self._documented = documented
        self._rendered: bytes | None = None

    def render(self, request: "Request[Any, Any, Any]", openapi_schema: dict[str, Any]) -> bytes:
        if self._rendered is None:
            self._rendered = super().render(request, self._documented(request.app, openapi_schema))  # pyright: ignore[reportUnknownMemberType]
        return self._rendered


class _Page(SwaggerRenderPlugin):
    policy: str = _NO_PAGE

    def __init__(self, documented: _Documented) -> None:
        super().__init__(
            js_url=f"{_ASSETS}/swagger-ui-bundle.js",
            css_url=f"{_ASSETS}/swagger-ui.css",
            standalone_preset_js_url=f"{_ASSETS}/swagger-ui-standalone-preset.js",
            favicon=f'<link rel="icon" href="{_ASSETS}/favicon-32x32.png">',
            path="/",
        )
        self._documented = documented
        self._rendered: bytes | None = None

    def render(self, request: "Request[Any, Any, Any]", openapi_schema: dict[str, Any]) -> bytes:
        if self._rendered is None:
            self._rendered = super().render(request, self._documented(request.app, openapi_schema))  # pyright: ignore[reportUnknownMemberType]
            scripts, styles = (_hashes(tag, self._rendered) for tag in ("script", "style"))
            self.policy = _POLICY.format(scripts=scripts, styles=styles)
        return self._rendered


def _hashes(tag: str, page: bytes) -> str:
    """Return the CSP hashes of the inline scripts or styles of a page (CSP level 3, section 2.3.1)."""
    inline = re.findall(rf"<{tag}(?![^>]* src=)[^>]*>(.*?)</{tag}>".encode(), page, re.DOTALL)
    return " ".join(f"'sha256-{b64encode(sha256(content).digest()).decode()}'" for content in inline)


def _handlers(app: Litestar) -> list[HTTPRouteHandler]:
    return [handler for route in app.routes if isinstance(route, HTTPRoute) for handler in route.route_handlers]


def _types(app: Litestar) -> list[Any]:
    handlers = _handlers(app)
    answers = [cast("Any", answer) for handler in handlers for answer in (handler.responses or {}).values()]
    return [
        *(handler.parsed_fn_signature.return_type.annotation for handler in handlers),
        *(answer.data_container for answer in answers),
    ]


def _describe_bodies(type_: Any, found: dict[str, str]) -> None:  # noqa: ANN401  # any annotation
    """Collect the descriptions of a type's bodies by their names: the framework leaves docstrings out."""
    for part in get_args(type_):
        _describe_bodies(part, found)
    is_body = isinstance(type_, type) and (is_typeddict(type_) or issubclass(type_, Struct))
    if is_body and type_.__name__ not in found:
        text = _OF_SPECIFICATION.sub("", " ".join((type_.__doc__ or "").split()))
        found[type_.__name__] = text.replace("``", "`")
        for field in get_type_hints(type_).values():
            _describe_bodies(field, found)


def _as_specified(app: Litestar, document: dict[str, Any]) -> dict[str, Any]:
    described_by_id = {handler.operation_id: handler.opt.get(DOCUMENT, ()) for handler in _handlers(app)}
    paths: dict[str, Any] = {WEBHOOK_PATH: webhook_operations()}
    components = document["components"]
    schemas = {**WEBHOOK_SCHEMAS, **{name: _timed(schema) for name, schema in components["schemas"].items()}}
    schemas |= message_schemas(schemas["PostBody"])
    schemas["LogBody"]["properties"]["payload"] = _PAYLOAD
    # Unix milliseconds.
    schemas["RateLimitedBody"]["properties"]["reset"]["format"] = "int64"
    for path, item in document["paths"].items():
        operations = dict(item)
        for method in [name for name in item if name in _METHODS]:
            operation = dict(operations[method])
            for each in described_by_id[operation["operationId"]]:
                each.add_to(operation)
            operation["parameters"] = [
                {**parameter, "name": _camel(parameter["name"])} if parameter["in"] == "path" else parameter
                for parameter in _named(operation.get("parameters", []), schemas)
            ]
            if "requestBody" in operation:
                operation["requestBody"] = _named(operation["requestBody"], schemas)
            operation["responses"] = {
                status: answer for status, answer in operation["responses"].items() if not _is_frameworks(answer)
            }
            # An empty list says that the operation needs no key.
            operation["security"] = [{_KEY: []}] if path.startswith("/v1/") and path not in _OPEN else []
            operations[method] = operation
        paths[_camel(path)] = operations
    descriptions: dict[str, str] = {}
    for type_ in _types(app):
        _describe_bodies(type_, descriptions)
    schemas = {
        name: {**({"description": descriptions[name]} if name in descriptions else {}), **schema}
        for name, schema in described(schemas).items()
    }
    names = _choices(schemas)
    # A choice itself is no part that refers to it.
    parts = {name: schema if "enum" in schema else _chosen(schema, names) for name, schema in schemas.items()}
    return {
        **document,
        "paths": _chosen(paths, names),
        "webhooks": {"message": message_operations()},
        "components": {**components, "schemas": parts},
    }


def _timed(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a body with the format of its times: names that end with "At", "Until" or "since"."""
    fields = {
        name: _with_format(field) if name.endswith(("At", "Until", "since")) else _without_choice(field)
        for name, field in schema.get("properties", {}).items()
    }
    return {**schema, "properties": fields} if fields else schema


def _without_choice(field: dict[str, Any]) -> dict[str, Any]:
    """Return a field without a choice of one schema, which the framework writes for a field that may be absent."""
    choices = field.get("oneOf", ())
    if len(choices) != 1:
        return field
    return {**{key: field[key] for key in field if key != "oneOf"}, **choices[0]}


def _with_format(field: dict[str, Any]) -> dict[str, Any]:
    if "oneOf" in field:
        return {**field, "oneOf": [_with_format(each) for each in field["oneOf"]]}
    return {**field, "format": "date-time"} if field.get("type") == "string" else field


def _choices(schemas: dict[str, Any]) -> dict[frozenset[str], str]:
    """Return the names of the choices in ``schemas``, after adding those of :data:`_CHOICES`."""
    for path, (name, description) in _CHOICES.items():
        title, _, field = path.partition(".")
        choice = schemas[title]["properties"][field]
        values = choice.get("items", choice)["enum"]
        schemas[name] = {"title": name, "description": description, "type": "string", "enum": values}
    for name, new in _RENAMED.items():
        schemas[new] = {**schemas.pop(name), "title": new}
    return {frozenset(schema["enum"]): name for name, schema in schemas.items() if "enum" in schema}


def _chosen(value: Any, names: Mapping[frozenset[str], str]) -> Any:  # noqa: ANN401  # any part of a JSON document
    """Return a part of the document whose choices refer to their schemas, so that clients have one type each."""
    match value:
        case list():
            return [_chosen(part, names) for part in cast("list[Any]", value)]
        case {"enum": list()} if (name := names.get(frozenset(value["enum"]) - {None})) is not None:
            reference = {"$ref": f"{_SCHEMA}{name}"}
            beside = {key: value[key] for key in _OF_FIELDS if key in value}
            if None in value["enum"]:
                return {"oneOf": [reference, {"type": "null"}], **beside}
            return {"allOf": [reference], **beside} if beside else reference
        case {"$ref": str(target)} if (new := _RENAMED.get(target.removeprefix(_SCHEMA))) is not None:
            return {**value, "$ref": f"{_SCHEMA}{new}"}
        case {"type": "integer", "maximum": int(most)} if most > _MAX_INT32:
            return {**value, "format": "int64"}
        case dict():
            return {key: _chosen(part, names) for key, part in cast("dict[str, Any]", value).items()}
        case _:
            return value


def _named(value: Any, schemas: dict[str, Any]) -> Any:  # noqa: ANN401  # any part of a JSON document
    """Return a request with its titled objects and choices moved to ``schemas``, so that clients have one type each."""
    match value:
        case list():
            return [_named(part, schemas) for part in cast("list[Any]", value)]
        case {"title": str(name), "type": "object" | "string" as kind} if kind == "object" or "enum" in value:
            if name not in schemas:
                schemas[name] = {key: _named(part, schemas) for key, part in value.items() if key != "default"}
            known = schemas[name]
            # A field may have a description and a default of its own.
            beside = {key: value[key] for key in _OF_FIELDS if key in value and value[key] != known.get(key)}
            fields = "properties" if kind == "object" else "enum"
            assert set(known[fields]) == set(value[fields]), f"two types have the name {name}"
            reference = {"$ref": f"{_SCHEMA}{name}"}
            return {"allOf": [reference], **beside} if beside else reference
        case {"title": str(name), "anyOf": [{"type": "integer"}, {"type": "string"} as text]}:
            # Numbers are accepted, too. Clients in PHP, Rust and Kotlin have no type for a choice of a number and a
            # text, and would send an empty object.
            schemas[name] = {**{key: value[key] for key in value if key != "anyOf"}, **text}
            return {"$ref": f"{_SCHEMA}{name}"}
        case dict():
            return {key: _named(part, schemas) for key, part in cast("dict[str, Any]", value).items()}
        case _:
            return value


def _hosted(app: Litestar, document: dict[str, Any]) -> dict[str, Any]:
    documented = describe(_as_specified(app, document))
    examples = response_examples(HostedAnswers())
    examples |= {name: with_organization(examples[name], ORGANIZATION) for name in successes(documented)}
    return _with_examples(documented, examples)


def _plain(app: Litestar, document: dict[str, Any]) -> dict[str, Any]:
    return _with_examples(_as_specified(app, document), response_examples(Answers()))


def _with_examples(documented: dict[str, Any], examples: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document with an example of each response, by the name of its body."""
    for operation in (operation for item in documented["paths"].values() for operation in item.values()):
        for answer in operation["responses"].values():
            for body in answer.get("content", {}).values():
                name = body["schema"].get("$ref", "").rpartition("/")[2]
                if name in examples:
                    body["example"] = examples[name]
    received = documented["paths"][WEBHOOK_PATH]["post"]["responses"]["200"]
    received["content"]["application/json"]["examples"] = delivery_examples()
    return documented


def _is_frameworks(answer: dict[str, Any]) -> bool:
    bodies = answer.get("content", {}).values()
    return any(body.get("schema", {}).get("description") == _FRAMEWORKS for body in bodies)


def _camel(name: str) -> str:
    return _SNAKE.sub(lambda match: match[1].upper(), name)
