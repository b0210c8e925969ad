"""The query parameters of a list of posts (specification 4.2, decisions)."""

from collections.abc import Mapping
from enum import Enum
from typing import final

from attrs import field, frozen

from contentsvc_core.content.posts import ContentType, PostStatus
from contentsvc_core.lists.parameters import bad_query, choices, listed
from contentsvc_core.refusals import Refusal
from contentsvc_core.text import one_line


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


def read_post_query(parameters: Mapping[str, str]) -> PostQuery | Refusal:
    """Return the query of ``sort``, ``orderBy`` and the comma lists ``status``, ``contentType``, ``brandIdentityId``.

    An empty list means all. The caller checks that the brand identities exist, and answers :func:`unknown_brand`.
    """
    sort = parameters.get("sort", "")
    if sort not in {"", "asc", "desc"}:
        return bad_query("sort", f"'{one_line(sort, 64)}' is not one of asc, desc")
    orders = {order.value: order for order in PostOrder}
    order_by = orders.get(given := parameters.get("orderBy", "") or PostOrder.CREATED_AT.value)
    if order_by is None:
        return bad_query("orderBy", f"'{one_line(given, 64)}' is not one of {', '.join(orders)}")
    statuses = choices("status", parameters.get("status", ""), PostStatus)
    if isinstance(statuses, Refusal):
        return statuses
    content_types = choices("contentType", parameters.get("contentType", ""), ContentType)
    if isinstance(content_types, Refusal):
        return content_types
    return PostQuery(
        ascending=sort == "asc",
        order_by=order_by,
        statuses=statuses,
        content_types=content_types,
        brand_identity_ids=listed(parameters.get("brandIdentityId", "")),
    )


def unknown_brand(brand_identity_id: str) -> Refusal:
    """Return the refusal of an unknown brand identity."""
    return bad_query("brandIdentityId", f"'{one_line(brand_identity_id, 64)}' is unknown")
