from typing import TypedDict

from litestar import Response
from litestar.handlers import HTTPRouteHandler
from msgspec import Struct

from contentsvc_core.content.house_style import HouseStyle, style_body
from contentsvc_core.content.style_bodies import HouseStyleBody
from contentsvc_core.content.style_fields import options_body, options_of
from contentsvc_http.v1.gate import Caller, Gate, Sent
from contentsvc_http.v1.operations import Operations
from contentsvc_http.v1.output_config import StyleInput, read_style_input


class HouseStyleFields(Struct, forbid_unknown_fields=True, rename="camel", frozen=True):
    """The complete house style. Send null to reset it."""

    house_style: StyleInput | None


class OneHouseStyleBody(TypedDict):
    """An organization's house style."""

    houseStyle: HouseStyleBody | None
    #: Every field except the audience, with defaults filled in.
    effective: HouseStyleBody


def house_style_routes(gate: Gate) -> list[HTTPRouteHandler]:
    operation = Operations(gate, "house style")
    directory = gate.app.stores.directory

    @operation("GET /v1/house-style", "getHouseStyle", "Get the house style")
    async def get_house_style(key: Caller) -> Response[OneHouseStyleBody]:
        organization = await directory.organization_of(key.organization_id)
        return await gate.answer(key, _body(None if organization is None else organization.house_style))

    @operation(
        "PUT /v1/house-style",
        "setHouseStyle",
        "Set the house style",
        description="The new house style applies to posts written from now on. Existing posts do not change.",
        body=HouseStyleFields,
    )
    async def set_house_style(key: Caller, command: Sent[HouseStyleFields]) -> Response[OneHouseStyleBody]:
        style = read_style_input(command.house_style, "houseStyle")
        await directory.set_house_style(key.organization_id, style)
        return await gate.answer(key, _body(style))

    return operation.routes


def _body(style: HouseStyle | None) -> OneHouseStyleBody:
    return {"houseStyle": style_body(style), "effective": options_body(options_of(style))}
