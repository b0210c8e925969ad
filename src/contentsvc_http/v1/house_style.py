from typing import Any, Final, TypedDict, cast, final

from litestar import Request, Response, get, put
from litestar.handlers import HTTPRouteHandler
from msgspec import Struct

from contentsvc_core.access.keys import Scope
from contentsvc_core.content.house_style import HouseStyle, style_body
from contentsvc_core.content.style_bodies import HouseStyleBody
from contentsvc_core.content.style_fields import options_body, options_of
from contentsvc_core.ports import Directory
from contentsvc_http.v1.bodies import read_body, takes
from contentsvc_http.v1.gate import Gate, errors
from contentsvc_http.v1.schemas_house_style import StyleInput, read_style_input

_TAGS: Final = ["house style"]


class HouseStyleFields(Struct, forbid_unknown_fields=True, rename="camel", frozen=True):
    """The complete house style. Send null to reset it."""

    house_style: StyleInput | None


@final
class HouseStyleAnswer(TypedDict):
    """An organization's house style."""

    #: The fields that are set; null if no field is set.
    houseStyle: HouseStyleBody | None
    #: Every field except the audience, with defaults filled in.
    effective: HouseStyleBody


def house_style_routes(gate: Gate, directory: Directory) -> list[HTTPRouteHandler]:
    @get(
        "/v1/house-style",
        operation_id="getHouseStyle",
        summary="Get the house style",
        tags=_TAGS,
        responses=errors(),
    )
    async def get_house_style(request: Request[Any, Any, Any]) -> Response[HouseStyleAnswer]:
        key = await gate.caller(request, Scope.READ)
        organization = await directory.organization_of(key.organization_id)
        return await gate.answer(key, _body(None if organization is None else organization.house_style))

    @put(
        "/v1/house-style",
        operation_id="setHouseStyle",
        summary="Set the house style",
        description="The new house style applies to posts written from now on. Existing posts do not change.",
        tags=_TAGS,
        operation_class=takes(HouseStyleFields),
        responses=errors(400, 413, 415),
    )
    async def set_house_style(request: Request[Any, Any, Any]) -> Response[HouseStyleAnswer]:
        key = await gate.caller(request, Scope.WRITE)
        style = read_style_input((await read_body(request, HouseStyleFields)).house_style, "houseStyle")
        await directory.set_house_style(key.organization_id, style)
        return await gate.answer(key, _body(style))

    return [get_house_style, set_house_style]


def _body(style: HouseStyle | None) -> HouseStyleAnswer:
    # The fields of a style are data, and a test compares them with the declared shape.
    return {
        "houseStyle": cast("HouseStyleBody | None", style_body(style)),
        "effective": cast("HouseStyleBody", options_body(options_of(style))),
    }
