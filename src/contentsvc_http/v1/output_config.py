from typing import Annotated, Any, NoReturn, TypeAlias, TypedDict

from msgspec import UNSET, Meta, Struct, UnsetType

from contentsvc_core.content.house_style import HouseStyle, style_fault
from contentsvc_core.content.style_fields import read_style, style_schema
from contentsvc_core.refusals import Refusal
from contentsvc_http.errors import refuse_request

#: A house style in a request. The schema is for the OpenAPI document; the core's reader validates the value.
StyleInput: TypeAlias = Annotated[dict[str, Any], Meta(extra_json_schema=style_schema())]


class OutputConfig(Struct, forbid_unknown_fields=True, rename="camel", frozen=True):
    """How posts are written. `brandVoiceId` is an alias of `brandIdentityId`; without both, the default is used."""

    brand_identity_id: str | UnsetType | None = UNSET
    brand_voice_id: str | UnsetType | None = UNSET
    house_style: StyleInput | UnsetType | None = UNSET


class HostedOutputConfig(OutputConfig, frozen=True):
    """How posts are written. `publishDestination` and `instructions` must be null or empty."""

    publish_destination: str | None = None
    instructions: str | None = None


class OutputChanges(TypedDict, total=False):
    """Output settings to change. Absent keys stay unchanged."""

    brand_identity_id: str | None
    house_style: HouseStyle | None


def brand_of(output: OutputConfig | None) -> str | None:
    if output is None:
        return None
    if isinstance(output, HostedOutputConfig):
        if output.publish_destination is not None:
            refuse_destination("outputConfig.publishDestination")
        if output.instructions is not None and output.instructions.strip():
            fault = "not supported here: set customInstructions of the brand identity"
            refuse_request(f"outputConfig.instructions: {fault}")
    return one_brand(output.brand_identity_id, output.brand_voice_id, place="outputConfig: ")


def one_brand(*aliases: str | UnsetType | None, place: str = "") -> str | None:
    """Return the brand identity that fields with the same meaning name. Null is no name: typed clients send it."""
    brand_ids = {brand_id for brand_id in aliases if isinstance(brand_id, str)}
    if len(brand_ids) > 1:
        refuse_request(f"{place}brandVoiceId is an alias of brandIdentityId: send one, or the same value")
    return brand_ids.pop() if brand_ids else None


def output_changes(output: OutputConfig | UnsetType | None, *, hosted: bool) -> OutputChanges:
    """Return the settings that ``outputConfig`` changes; for ``hosted`` clients, null keeps the house style."""
    if output is UNSET:
        return OutputChanges()
    if output is None:
        unset = OutputChanges(brand_identity_id=None)
        return unset if hosted else OutputChanges(brand_identity_id=None, house_style=None)
    changes = OutputChanges(brand_identity_id=brand_of(output))
    if output.house_style is not UNSET:
        changes["house_style"] = read_style_input(output.house_style, "outputConfig.houseStyle")
    return changes


def refuse_destination(field: str) -> NoReturn:
    refuse_request(f"{field}: posts cannot be sent to other services from here; leave it out")


def read_style_input(value: object, path: str) -> HouseStyle | None:
    """Return the house style of a request; ``None`` if no field is set. A 400 names a field below ``path``."""
    style = read_style(value)
    if isinstance(style, Refusal):
        refuse_request(style_fault(style, path))
    return style
