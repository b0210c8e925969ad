from typing import Annotated, Any, Final, TypedDict

from litestar import Request, Response
from litestar.handlers import HTTPRouteHandler
from litestar.params import Parameter

from contentsvc_core.access.keys import ApiKey
from contentsvc_core.content.public.changelogs import ChangelogBody, ExposureBody, PublicChangelog, exposure_body
from contentsvc_core.content.public.changes import ChangeChangelog, CreateChangelog
from contentsvc_core.content.public.images import IMAGE_LIMIT, ImageKind
from contentsvc_core.content.public.links import ChangelogLinks
from contentsvc_core.organizations import Organization
from contentsvc_core.refusals import Refusal, RefusalKind
from contentsvc_core.text import one_line
from contentsvc_http.errors import Refused, accepted
from contentsvc_http.v1.gate import Caller, Gate, Sent
from contentsvc_http.v1.operations import LOCATED, Operations

_UNKNOWN: Final = {"error": "Changelog not found"}
_Id = Annotated[str, Parameter(description="Id or slug of the changelog.")]
#: The document names the media types; the bytes themselves determine the type. Some generators of clients know only the
#: last of them, and all need a schema.
_PICTURE: Final = {
    "content": {
        media_type: {"schema": {"type": "string", "format": "binary"}}
        for media_type in ("image/png", "image/jpeg", "image/webp", "application/octet-stream")
    },
    "required": True,
}
_Kind = Annotated[
    str,
    Parameter(
        description="Kind of picture: `logo`, `icon` or `card`.",
        schema_extra={"enum": [kind.value for kind in ImageKind]},
    ),
]


class ChangelogListBody(TypedDict):
    """The public changelogs of an organization, oldest first."""

    changelogs: list[ChangelogBody]


class OneChangelogBody(TypedDict):
    """A public changelog."""

    changelog: ChangelogBody


class ChangelogRemovedBody(TypedDict):
    """The id of the deleted changelog."""

    id: str


def public_changelog_routes(gate: Gate) -> list[HTTPRouteHandler]:  # noqa: C901  # its routes
    operation = Operations(gate, "public changelogs")
    app, editor = gate.app, gate.app.changelog_editor

    def body_of(changelog: PublicChangelog) -> ChangelogBody:
        return ChangelogBody.of(changelog, url=ChangelogLinks(base_url=app.base_url, slug=changelog.slug).home)

    async def owner(key: ApiKey) -> Organization:
        organization = await app.stores.directory.organization_of(key.organization_id)
        if organization is None:
            raise Refused(404, _UNKNOWN)
        return organization

    async def named(key: ApiKey, name: str) -> tuple[Organization, PublicChangelog]:
        organization = await owner(key)
        changelog = await editor.find(organization, name)
        if changelog is None:
            raise Refused(404, _UNKNOWN)
        return organization, changelog

    @operation("GET /v1/changelogs", "listChangelogs", "List public changelogs")
    async def list_changelogs(key: Caller) -> Response[ChangelogListBody]:
        changelogs = await editor.all_of(await owner(key))
        return await gate.answer(key, {"changelogs": [body_of(changelog) for changelog in changelogs]})

    @operation(
        "POST /v1/changelogs",
        "createChangelog",
        "Create a public changelog",
        description="The changelog is hidden unless you send `isPublic: true`.",
        body=CreateChangelog,
        status=201,
        headers=[LOCATED],
        fails=[409],
    )
    async def create_changelog(key: Caller, command: Sent[CreateChangelog]) -> Response[OneChangelogBody]:
        created = _accepted(await editor.create(await owner(key), command))
        location = f"/v1/changelogs/{created.id}"
        return await gate.answer(key, {"changelog": body_of(created)}, location=location)

    @operation("GET /v1/changelogs/{changelog_id:str}", "getChangelog", "Get a public changelog")
    async def get_changelog(key: Caller, changelog_id: _Id) -> Response[OneChangelogBody]:
        _, changelog = await named(key, changelog_id)
        return await gate.answer(key, {"changelog": body_of(changelog)})

    @operation(
        "GET /v1/changelogs/{changelog_id:str}/exposure",
        "getChangelogExposure",
        "Preview a public changelog",
        description="Returns the posts that the changelog shows, or would show if it were public.",
    )
    async def get_exposure(key: Caller, changelog_id: _Id) -> Response[ExposureBody]:
        return await gate.answer(key, exposure_body(*await editor.preview(*await named(key, changelog_id))))

    @operation(
        "PATCH /v1/changelogs/{changelog_id:str}",
        "updateChangelog",
        "Update a public changelog",
        description="Absent fields stay unchanged. If the changelog was public, its previous slug redirects to the new "
        "one.",
        body=ChangeChangelog,
        fails=[409],
    )
    async def change_changelog(
        key: Caller, command: Sent[ChangeChangelog], changelog_id: _Id
    ) -> Response[OneChangelogBody]:
        organization, changelog = await named(key, changelog_id)
        changed = await editor.change(organization, command, changelog)
        return await gate.answer(key, {"changelog": body_of(_accepted(changed))})

    @operation(
        "DELETE /v1/changelogs/{changelog_id:str}",
        "deleteChangelog",
        "Delete a public changelog",
        description="Its posts are not deleted. You cannot delete the first changelog of an organization; hide it "
        "instead.",
        fails=[400],
    )
    async def delete_changelog(key: Caller, changelog_id: _Id) -> Response[ChangelogRemovedBody]:
        _, changelog = await named(key, changelog_id)
        accepted(await editor.remove(changelog))
        return await gate.answer(key, {"id": changelog.id})

    @operation(
        "PUT /v1/changelogs/{changelog_id:str}/images/{kind:str}",
        "setChangelogImage",
        "Set a picture of a public changelog",
        description=f"Send a PNG, JPEG or WebP picture of at most {IMAGE_LIMIT // 1024} KiB as the body.",
        body=_PICTURE,
        fails=[400, 408, 409, 413],
    )
    async def set_image(
        request: Request[Any, Any, Any], key: Caller, changelog_id: _Id, kind: _Kind
    ) -> Response[OneChangelogBody]:
        _, changelog = await named(key, changelog_id)
        changed = await editor.set_image(changelog, _read_kind(kind), await request.body())
        return await gate.answer(key, {"changelog": body_of(_accepted(changed))})

    @operation(
        "DELETE /v1/changelogs/{changelog_id:str}/images/{kind:str}",
        "deleteChangelogImage",
        "Delete a picture of a public changelog",
    )
    async def delete_image(key: Caller, changelog_id: _Id, kind: _Kind) -> Response[OneChangelogBody]:
        _, changelog = await named(key, changelog_id)
        changed = await editor.set_image(changelog, _read_kind(kind), None)
        return await gate.answer(key, {"changelog": body_of(_accepted(changed))})

    return operation.routes


def _read_kind(text: str) -> ImageKind:
    try:
        return ImageKind(text)
    except ValueError as exc:
        kinds = ", ".join(kind.value for kind in ImageKind)
        raise Refused(404, {"error": f"Picture not found: '{one_line(text, 64)}' is not one of {kinds}"}) from exc


def _accepted(result: PublicChangelog | Refusal) -> PublicChangelog:
    if isinstance(result, Refusal) and result.kind is RefusalKind.LIMIT:
        # A slug too many is the fault of the request.
        raise Refused(409, {"error": f"Invalid request: {result.message()}"})
    return accepted(result)
