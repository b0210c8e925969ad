from collections.abc import Mapping
from typing import final

from attrs import field, frozen

from contentsvc_core.refusals import Refusal, RefusalKind
from contentsvc_http.errors import Refused
from contentsvc_http.words import sentence


@final
@frozen(kw_only=True)
class FormRefusals:
    """Shows the refusals of a use case on a page. All mappings have the attributes of the core as keys."""

    fields: Mapping[str, str] = field(factory=dict[str, str])
    labels: Mapping[str, str] = field(factory=dict[str, str])
    #: The page's own sentences, by the kind of refusal or by its field.
    words: Mapping[RefusalKind | str, str] = field(factory=dict[RefusalKind | str, str])

    def sentence(self, refusal: Refusal) -> str:
        """Return the refusal as a sentence; an unknown resource of the page is a 404."""
        own = self.words.get(refusal.kind) or self.words.get(refusal.field or "")
        text = own or sentence(refusal.message(self.labels.get(refusal.field or "")))
        if refusal.kind is RefusalKind.NOT_FOUND:
            raise Refused(404, {"error": text})
        return text

    def faults(self, refusal: Refusal) -> dict[str, str]:
        return {self.fields.get(refusal.field or "", ""): self.sentence(refusal)}
