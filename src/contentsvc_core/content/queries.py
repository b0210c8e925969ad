"""The query parameters of a list of posts (specification 4.2, decisions)."""

from collections.abc import Mapping
from enum import Enum
from typing import TypeVar, final

from attrs import field, frozen

from contentsvc_core.content.posts import ContentType, PostStatus
from contentsvc_core.text import one_line

_Choice = TypeVar("_Choice", bound=Enum)


class PostOrder(Enum):
    """The time that a list of posts is sorted by."""

    CREATED_AT = "createdAt"
    OCCURRED_AT = "occurredAt"


@final
@frozen(kw_only=True)
class PostQuery:
    """A filter and an order of posts."""

    #: Newest first, unless ascending.
    ascending: bool = False
    order_by: PostOrder = PostOrder.CREATED_AT
    #: Only these statuses; empty: all.
    statuses: tuple[PostStatus, ...] = field(converter=tuple, factory=tuple)
    #: Only these content types; empty: all.
    content_types: tuple[ContentType, ...] = field(converter=tuple, factory=tuple)
    #: Only posts of these brand identities, by id; empty: all.
    brand_identity_ids: tuple[str, ...] = field(converter=tuple, factory=tuple)


@final
@frozen(kw_only=True)
class InvalidQuery:
    """An invalid value of a query parameter."""

    error: str


def read_post_query(parameters: Mapping[str, str]) -> PostQuery | InvalidQuery:
    """Return the query of ``sort``, ``orderBy`` and the comma lists ``status``, ``contentType``, ``brandIdentityId``.

    An empty list means all. The caller checks that the brand identities exist, and answers :func:`unknown_brand`.
    """
    sort = parameters.get("sort", "")
    if sort not in {"", "asc", "desc"}:
        return InvalidQuery(error=f"Invalid sort: '{one_line(sort, 64)}' is not one of asc, desc")
    orders = {order.value: order for order in PostOrder}
    order_by = orders.get(given := parameters.get("orderBy", "") or PostOrder.CREATED_AT.value)
    if order_by is None:
        return InvalidQuery(error=f"Invalid orderBy: '{one_line(given, 64)}' is not one of {', '.join(orders)}")
    statuses = choices("status", parameters.get("status", ""), PostStatus)
    if isinstance(statuses, InvalidQuery):
        return statuses
    content_types = choices("contentType", parameters.get("contentType", ""), ContentType)
    if isinstance(content_types, InvalidQuery):
        return content_types
    return PostQuery(
        ascending=sort == "asc",
        order_by=order_by,
        statuses=statuses,
        content_types=content_types,
        brand_identity_ids=listed(parameters.get("brandIdentityId", "")),
    )


def unknown_brand(brand_identity_id: str) -> InvalidQuery:
    """Return the refusal of an unknown brand identity."""
    return InvalidQuery(error=f"Invalid brandIdentityId: '{one_line(brand_identity_id, 64)}' is unknown")


def listed(text: str) -> tuple[str, ...]:
    """Split a comma list: without surrounding spaces, empty parts and repeats."""
    return tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def choices(name: str, text: str, kind: type[_Choice]) -> tuple[_Choice, ...] | InvalidQuery:
    """Read a comma list of the values that the parameter ``name`` allows."""
    known = {choice.value: choice for choice in kind}
    asked = listed(text)
    for value in asked:
        if value not in known:
            return InvalidQuery(error=f"Invalid {name}: '{one_line(value, 64)}' is not one of {', '.join(known)}")
    return tuple(known[value] for value in asked)
