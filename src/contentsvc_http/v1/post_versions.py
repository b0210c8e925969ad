import asyncio
from typing import Annotated, Any, Final, TypedDict

from litestar import Request, Response
from litestar.handlers import HTTPRouteHandler
from litestar.openapi.spec.enums import OpenAPIType
from litestar.params import Parameter

from contentsvc_core.content.editing import UNKNOWN_VERSION, entity_tag
from contentsvc_core.content.posts import PostBody
from contentsvc_core.content.versions import DiffLineBody, VersionBody, differences
from contentsvc_http.errors import accepted
from contentsvc_http.v1.conditions import changeable
from contentsvc_http.v1.gate import Caller, Gate
from contentsvc_http.v1.operations import TAGGED, Operations

_Id = Annotated[str, Parameter(description="Id of the post.")]
#: Documented as a whole number, and read by :func:`read_number`: any other text is an unknown version.
_Number = Annotated[
    str, Parameter(description="Number of the version.", schema_extra={"type": OpenAPIType.INTEGER, "minimum": 1})
]
#: The most digits of a number: the longest that fit a column.
_DIGITS: Final = 9


class VersionLineBody(TypedDict):
    """A version in the list, without its text."""

    number: int
    title: str
    savedAt: str
    author: str | None


class VersionListBody(TypedDict):
    """The versions of a post, newest first; the first is the current text."""

    versions: list[VersionLineBody]


class OneVersionBody(TypedDict):
    """A version, and the difference of its Markdown from the previous version."""

    version: VersionBody
    changes: list[DiffLineBody]


class RestoredPostBody(TypedDict):
    """The post with the restored text."""

    post: PostBody


def version_routes(gate: Gate) -> list[HTTPRouteHandler]:
    operation = Operations(gate, "posts")
    editor, shares = gate.app.post_editor, gate.app.shares

    @operation("GET /v1/posts/{post_id:str}/versions", "listPostVersions", "List the versions of a post")
    async def list_post_versions(key: Caller, post_id: _Id) -> Response[VersionListBody]:
        versions = accepted(await editor.versions(key.organization_id, post_id))
        bodies = map(VersionBody.of, versions)
        lines: list[VersionLineBody] = [
            {"number": body.number, "title": body.title, "savedAt": body.saved_at, "author": body.author}
            for body in bodies
        ]
        return await gate.answer(key, {"versions": lines})

    @operation("GET /v1/posts/{post_id:str}/versions/{number:str}", "getPostVersion", "Get a version of a post")
    async def get_post_version(key: Caller, post_id: _Id, number: _Number) -> Response[OneVersionBody]:
        stored = accepted(await editor.versions(key.organization_id, post_id))
        index = next((index for index, version in enumerate(stored) if version.number == read_number(number)), None)
        version = stored[accepted(UNKNOWN_VERSION if index is None else index)]
        before = next(
            (earlier.text.markdown for earlier in stored if earlier.number < version.number), version.text.markdown
        )
        changes = await shares.heavy(
            key.organization_id, lambda: asyncio.to_thread(differences, before, version.text.markdown)
        )
        return await gate.answer(key, {"version": VersionBody.of(version), "changes": changes})

    @operation(
        "POST /v1/posts/{post_id:str}/versions/{number:str}/restore",
        "restorePostVersion",
        "Restore a version of a post",
        description="Gives the post this text again, as a new version. Its state stays.",
        conditions=["If-Match", "If-None-Match"],
        headers=[TAGGED],
    )
    async def restore_post_version(
        request: Request[Any, Any, Any], key: Caller, post_id: _Id, number: _Number
    ) -> Response[RestoredPostBody]:
        restored = await editor.restore(
            key.organization_id,
            post_id,
            read_number(number),
            if_=changeable(request),
            author=key.prefix,
        )
        changed = accepted(restored)
        headers = {"ETag": entity_tag(changed)}
        return await gate.answer(key, {"post": gate.answers.post(changed)}, headers=headers)

    return operation.routes


def read_number(text: str) -> int:
    """Read the number of a version; 0, which no version has, for any other text."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _DIGITS else 0
