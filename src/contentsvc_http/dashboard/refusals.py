from collections.abc import Callable, Mapping
from typing import Any, TypeVar, final

from attrs import field, frozen

from contentsvc_core.refusals import Refusal, RefusalKind
from contentsvc_http.errors import Refused
from contentsvc_http.words import sentence

_Result = TypeVar("_Result")


def found(result: _Result | Refusal | None, otherwise: str) -> _Result:
    """Return the object of a page; without it (``None``, ``False`` or a refusal), the page is a 404."""
    if result is None or result is False or isinstance(result, Refusal):
        raise Refused(404, {"error": otherwise})
    return result


@final
class Unsaved(Exception):
    """A form has changed nothing. Its page is shown again, with the reason and, if it ``keeps`` them, the typed values.

    ``faults`` have the names of the form's fields as keys.
    """

    def __init__(
        self,
        *,
        error: str | None = None,
        faults: Mapping[str, str] | None = None,
        status: int = 422,
        keeps: bool = True,
    ) -> None:
        super().__init__(error)
        self.error = error
        self.faults = faults
        self.status = status
        self.keeps = keeps


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

    def check(self, values: Mapping[str, Any], fault_of: Callable[[Mapping[str, Any]], object]) -> None:
        """Check each value alone, because the core stops at the first fault; raise all as :class:`Unsaved`."""
        refused = [fault_of({attribute: value}) for attribute, value in values.items()]
        faults = [self.faults(each) for each in refused if isinstance(each, Refusal)]
        if faults:
            raise Unsaved(faults={name: text for each in faults for name, text in each.items()})

    def accepted(self, result: _Result | Refusal) -> _Result:
        """Return the result of a form, or raise its refusal as :class:`Unsaved`, with the fault beside its field."""
        if isinstance(result, Refusal):
            raise Unsaved(faults=self.faults(result))
        return result

    def performed(self, result: _Result | Refusal, status: int = 409) -> _Result:
        """Return the result of a button, or raise its refusal as :class:`Unsaved`, with the fault at the top."""
        if isinstance(result, Refusal):
            raise Unsaved(error=self.sentence(result), status=status, keeps=False)
        return result
