"""The query parameters of a list of posts (specification 4.2, decisions)."""

from collections.abc import Mapping
from datetime import datetime
from enum import Enum
from typing import final
from zoneinfo import ZoneInfo

from contentsvc_core.content.posts import ContentType, Label, PostStatus
from contentsvc_core.lists.parameters import all_read, bad_query, choices, listed, read_time
from contentsvc_core.lists.terms import Term, read_terms
from contentsvc_core.refusals import Refusal
from contentsvc_core.text import one_line
from contentsvc_core.values import Value
from contentsvc_core.zones import DEFAULT_ZONE


class PostOrder(Enum):
    """The time that posts are ordered by."""

    CREATED_AT = "createdAt"
    OCCURRED_AT = "occurredAt"


@final
class PostQuery(Value, frozen=True, kw_only=True):
    """The filters and the order of a list of posts."""

    #: Newest first, unless ascending.
    ascending: bool = False
    order_by: PostOrder = PostOrder.CREATED_AT
    statuses: tuple[PostStatus, ...] = ()
    content_types: tuple[ContentType, ...] = ()
    brand_identity_ids: tuple[str, ...] = ()
    labels: tuple[Label, ...] = ()
    #: Only posts about one of these repositories, ``owner/name`` in any case; empty: all.
    repositories: tuple[str, ...] = ()
    #: Only posts whose title or text has all these words; empty: all.
    terms: tuple[Term, ...] = ()
    #: Only posts from ``since`` on and before ``until``, by the time that the list is sorted by; ``None``: no limit.
    since: datetime | None = None
    until: datetime | None = None

    @property
    def is_counted(self) -> bool:
        """Return whether the filter has only fields that the stores keep counts of."""
        return not (self.labels or self.repositories or self.terms or self.since or self.until)


def read_post_query(parameters: Mapping[str, str], zone: ZoneInfo = DEFAULT_ZONE) -> PostQuery | Refusal:
    """Return the query of the parameters of a list of posts. An empty parameter means all; days are those of ``zone``.

    The caller checks that the brand identities exist, and answers :func:`unknown_brand`.
    """
    sort = parameters.get("sort", "")
    if sort not in {"", "asc", "desc"}:
        return bad_query("sort", f"'{one_line(sort, 64)}' is not one of asc, desc")
    orders = {order.value: order for order in PostOrder}
    order_by = orders.get(order_name := parameters.get("orderBy", "") or PostOrder.CREATED_AT.value)
    if order_by is None:
        return bad_query("orderBy", f"'{one_line(order_name, 64)}' is not one of {', '.join(orders)}")
    return all_read(
        PostQuery,
        statuses=choices("status", parameters.get("status", ""), PostStatus),
        content_types=choices("contentType", parameters.get("contentType", ""), ContentType),
        labels=choices("label", parameters.get("label", ""), Label),
        terms=read_terms(parameters.get("query", "")),
        since=read_time("since", parameters.get("since", ""), zone),
        until=read_time("until", parameters.get("until", ""), zone),
        repositories=listed(parameters.get("repository", "")),
        ascending=sort == "asc",
        order_by=order_by,
        brand_identity_ids=listed(parameters.get("brandIdentityId", "")),
    )


def unknown_brand(brand_identity_id: str) -> Refusal:
    return bad_query("brandIdentityId", f"'{one_line(brand_identity_id, 64)}' is unknown")
