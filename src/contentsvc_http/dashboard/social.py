from typing import Final, final

from attrs import frozen

from contentsvc_core.content.plain import text_of
from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.prompting.answer import LENGTH_LIMITS, length_of

_NETWORKS: Final = {ContentType.LINKEDIN_POST: "LinkedIn", ContentType.TWITTER_POST: "X"}


@final
@frozen(kw_only=True)
class SocialCard:
    network: str
    text: str
    length: int
    limit: int

    @property
    def is_too_long(self) -> bool:
        return self.length > self.limit


def social_card(content_type: ContentType, markdown: str) -> SocialCard | None:
    network = _NETWORKS.get(content_type)
    if network is None:
        return None
    text = text_of(markdown)
    length = length_of(text, content_type)
    return SocialCard(network=network, text=text, length=length, limit=LENGTH_LIMITS[content_type])
