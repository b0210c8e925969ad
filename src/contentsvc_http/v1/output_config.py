"""How triggers and schedules have their posts written: ``outputConfig`` (decisions, ``/v1``)."""

from typing import NoReturn, NotRequired, TypedDict, final

from msgspec import UNSET, Struct, UnsetType

from contentsvc_core.content.house_style import HouseStyle
from contentsvc_http.errors import refuse_request
from contentsvc_http.v1.shapes_house_style import GivenStyle, HouseStyleBody, read_given_style


class OutputConfig(Struct, forbid_unknown_fields=True, rename="camel", frozen=True):
    """How posts are written; ``brandVoiceId``, the hosted product's word, is another name of ``brandIdentityId``."""

    brand_identity_id: str | UnsetType | None = UNSET
    brand_voice_id: str | UnsetType | None = UNSET
    #: Goes before the organization's house style; null: the organization's alone. Absent: it stays.
    house_style: GivenStyle | UnsetType | None = UNSET


class HostedOutputConfig(OutputConfig, frozen=True):
    """How posts are written, as clients of the hosted product send it; the other fields hold nothing."""

    publish_destination: str | None = None
    instructions: str | None = None


@final
class OutputConfigBody(TypedDict):
    """How posts are written; what is not set is absent."""

    brandIdentityId: NotRequired[str]
    houseStyle: NotRequired[HouseStyleBody]


@final
class OutputChanges(TypedDict, total=False):
    """What may be set of a trigger or a schedule; what is absent stays."""

    brand_identity_id: str | None
    house_style: HouseStyle | None


def brand_of(output: OutputConfig | None) -> str | None:
    """Return the brand identity that speaks; ``None``: none in particular.

    Raises:
        Refused: 400: two names are given, and differ; or a field asks for what is not done here.
    """
    if output is None:
        return None
    if isinstance(output, HostedOutputConfig):
        if output.publish_destination is not None:
            refuse_destination("outputConfig.publishDestination")
        if output.instructions is not None and output.instructions.strip():
            fault = "schedules and triggers have none here: set customInstructions of the brand identity"
            refuse_request(f"outputConfig.instructions: {fault}")
    given = {each for each in (output.brand_identity_id, output.brand_voice_id) if each is not UNSET}
    if len(given) > 1:
        refuse_request("outputConfig: brandIdentityId and brandVoiceId are two names of the same, and differ")
    return given.pop() if given else None


def output_changes(output: OutputConfig | UnsetType | None, *, hosted: bool = False) -> OutputChanges:
    """Return what ``outputConfig`` sets of a trigger or a schedule; a house style that is absent stays.

    Args:
        output: The field as it was sent.
        hosted: Whether null leaves the house style. Clients of the hosted product read null where only a house style is
            set, and send back what they read.

    Raises:
        Refused: 400: as for :func:`brand_of`, or the house style has a fault.
    """
    if output is UNSET:
        return OutputChanges()
    if output is None:
        kept = OutputChanges(brand_identity_id=None)
        return kept if hosted else OutputChanges(brand_identity_id=None, house_style=None)
    changes = OutputChanges(brand_identity_id=brand_of(output))
    if output.house_style is not UNSET:
        changes["house_style"] = read_given_style(output.house_style, "outputConfig.houseStyle")
    return changes


def refuse_destination(field: str) -> NoReturn:
    """Raise the refusal of a destination that posts are to be sent to."""
    refuse_request(f"{field}: posts are not sent to other services from here; leave it out")
