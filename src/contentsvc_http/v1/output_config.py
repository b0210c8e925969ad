"""How triggers and schedules have their posts written: ``outputConfig`` (decisions, ``/v1``)."""

from typing import TypedDict, final

from msgspec import UNSET, Struct, UnsetType

from contentsvc_http.errors import Refused


class OutputConfig(Struct, forbid_unknown_fields=True, rename="camel"):
    """How posts are written; ``brandVoiceId``, the hosted product's word, is another name of ``brandIdentityId``."""

    brand_identity_id: str | UnsetType | None = UNSET
    brand_voice_id: str | UnsetType | None = UNSET


@final
class OutputConfigBody(TypedDict):
    """How posts are written."""

    brandIdentityId: str


def brand_of(output: OutputConfig | None) -> str | None:
    """Give the brand identity that speaks; ``None``: none in particular.

    Raises:
        Refused: 400: two names are given, and differ.
    """
    if output is None:
        return None
    given = {each for each in (output.brand_identity_id, output.brand_voice_id) if each is not UNSET}
    if len(given) > 1:
        fault = "outputConfig: brandIdentityId and brandVoiceId are two names of the same, and differ"
        raise Refused(400, {"error": f"Invalid request: {fault}"})
    return given.pop() if given else None
