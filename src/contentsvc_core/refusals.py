"""Expected refusals of use cases. Each driver maps ``kind`` and ``field`` to answers; ``reason`` is for people."""

from collections.abc import Mapping
from enum import Enum, auto
from typing import Any, Final, final

import attrs
from attrs import frozen

#: The placeholder for the field's name in a reason: each driver calls the field by another name.
FIELD: Final = "{field}"


class RefusalKind(Enum):
    INVALID = auto()
    QUERY = auto()
    #: The values are valid, but do not fit the organization: for example, an unknown repository.
    UNSUITABLE = auto()
    NOT_FOUND = auto()
    DUPLICATE = auto()
    LIMIT = auto()
    CONFLICT = auto()
    DISABLED = auto()
    STALE = auto()
    HOST_REFUSED = auto()
    HOST_BUSY = auto()
    HOST_UNREACHABLE = auto()


@final
@frozen
class Refusal:
    kind: RefusalKind
    #: For people. :data:`FIELD` is the placeholder for the field's name.
    reason: str
    #: The field at fault, by its attribute in the core; ``None``: no field in particular.
    field: str | None = None
    details: Mapping[str, Any] = attrs.field(factory=dict[str, Any], hash=False, kw_only=True)
    retry_after_s: int | None = attrs.field(default=None, kw_only=True)

    def message(self, name: str | None = None) -> str:
        """Return the reason; ``name`` is what the driver calls the field, by default its name on the wire."""
        return self.reason.replace(FIELD, name or wire_name(self.field or "the request"))


def invalid(attribute: str | None, fault: str) -> Refusal:
    """Return the refusal of an invalid value; ``fault`` continues a sentence that begins with the field's name."""
    return Refusal(RefusalKind.INVALID, f"{FIELD} {fault}", attribute)


def too_many(what: str, at_most: int) -> Refusal:
    """Return the refusal of an addition that exceeds a limit; ``what`` is the limited resource, in the plural."""
    return Refusal(RefusalKind.LIMIT, f"An organization has at most {at_most} {what}")


def wire_name(attribute: str) -> str:
    """Return the name of an attribute on the wire: ``dayOfWeek`` for ``day_of_week``."""
    head, *rest = attribute.split("_")
    return head + "".join(part.capitalize() for part in rest)
