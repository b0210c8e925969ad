from collections.abc import Iterable
from typing import Annotated, Any, TypeAlias

from attrs import fields, frozen
from msgspec import Meta

from contentsvc_core.content.posts import ContentType, PostStatus

AutoPublish: TypeAlias = Annotated[
    bool, Meta(title="Publish its posts at once", description="Publish posts at once, or keep them as drafts.")
]
Enabled: TypeAlias = Annotated[bool, Meta(title="Switched on")]
OutputType: TypeAlias = Annotated[ContentType, Meta(description="Content type.")]


def ascending_ids(ids: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted(set(ids)))


@frozen(kw_only=True)
class OutputFields:
    brand_identity_id: str | None = None
    auto_publish: bool = False

    @property
    def post_status(self) -> PostStatus:
        return PostStatus.PUBLISHED if self.auto_publish else PostStatus.DRAFT

    def post_settings(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(OutputFields)}
