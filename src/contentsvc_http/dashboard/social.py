from typing import Any, Final

from contentsvc_core.content.plain import text_of
from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.prompting.answer import LENGTH_LIMITS, length_of

_NETWORKS: Final = {ContentType.LINKEDIN_POST: "LinkedIn", ContentType.TWITTER_POST: "X"}


def social_card(content_type: ContentType, markdown: str) -> dict[str, Any] | None:
    network = _NETWORKS.get(content_type)
    if network is None:
        return None
    text, limit = text_of(markdown), LENGTH_LIMITS[content_type]
    length = length_of(text, content_type)
    return {"network": network, "text": text, "length": length, "limit": limit, "is_too_long": length > limit}
