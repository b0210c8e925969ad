"""``/v1/house-style``: how an organization's changelogs look."""

from typing import Any, Final, TypedDict, final

from litestar import Request, Response, get, put
from litestar.handlers import HTTPRouteHandler
from msgspec import Struct

from contentsvc_core.access.keys import Scope
from contentsvc_core.content.house_style import HouseStyle, options_body, options_of, style_body
from contentsvc_core.ports import Directory
from contentsvc_http.v1.bodies import read_body, takes
from contentsvc_http.v1.gate import Gate, errors
from contentsvc_http.v1.shapes_house_style import GivenStyle, HouseStyleBody, read_given_style

_TAGS: Final = ["house style"]


class HouseStyleFields(Struct, forbid_unknown_fields=True, rename="camel", frozen=True):
    """What ``PUT /v1/house-style`` takes: the whole house style; null resets it."""

    house_style: GivenStyle | None


@final
class HouseStyleAnswer(TypedDict):
    """An organization's house style."""

    #: The fields that are set; null: none is.
    houseStyle: HouseStyleBody | None
    #: Every field but the audience, with the defaults.
    effective: HouseStyleBody


def house_style_routes(gate: Gate, directory: Directory) -> list[HTTPRouteHandler]:
    """Return the routes."""

    @get(
        "/v1/house-style",
        name="get_house_style",
        operation_id="getHouseStyle",
        summary="Get the house style",
        tags=_TAGS,
        responses=errors(),
    )
    async def get_house_style(request: Request[Any, Any, Any]) -> Response[HouseStyleAnswer]:
        key = await gate.caller(request, Scope.READ)
        found = await directory.organization_of(key.organization_id)
        return await gate.answer(key, _body(None if found is None else found.house_style))

    @put(
        "/v1/house-style",
        name="set_house_style",
        operation_id="setHouseStyle",
        summary="Set the house style",
        description="The house style counts from the next run on; posts that are written stay as they are.",
        tags=_TAGS,
        operation_class=takes(HouseStyleFields),
        responses=errors(400, 413, 415),
    )
    async def set_house_style(request: Request[Any, Any, Any]) -> Response[HouseStyleAnswer]:
        key = await gate.caller(request, Scope.WRITE)
        style = read_given_style((await read_body(request, HouseStyleFields)).house_style, "houseStyle")
        await directory.set_house_style(key.organization_id, style)
        return await gate.answer(key, _body(style))

    return [get_house_style, set_house_style]


def _body(style: HouseStyle | None) -> dict[str, Any]:
    return {"houseStyle": style_body(style), "effective": options_body(options_of(style))}
