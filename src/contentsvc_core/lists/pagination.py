"""Pages of a list (specification 2.2 and 4.2)."""

import re
from collections.abc import Iterable
from typing import Final, TypedDict, final

from contentsvc_core.on_demand import late
from contentsvc_core.refusals import Refusal, RefusalKind
from contentsvc_core.values import Value

#: The items of a page: by default, and at most.
DEFAULT_LIMIT: Final = 10
MAX_LIMIT: Final = 100
#: The largest page number that is echoed and looked up: a signed 64-bit integer.
MAX_PAGE: Final = 2**63 - 1

#: A sign and any number of digits are numeric; ``5.5``, ``1e3``, ``""`` and digits outside ASCII are not.
_NUMERIC: Final = late(r"([+-]?)0*([0-9]+)", re.ASCII)


def _integer(text: str | None) -> int | None:
    match = _NUMERIC.fullmatch(text or "")
    if match is None:
        return None
    sign, digits = match.groups()
    # Longer numbers exceed the bound anyway, and int() refuses thousands of digits.
    size = int(digits) if len(digits) <= len(str(MAX_PAGE)) else MAX_PAGE
    return -min(size, MAX_PAGE) if sign == "-" else min(size, MAX_PAGE)


def read_limit(text: str | None, *, default: int = DEFAULT_LIMIT) -> int:
    """Read the number of items of a page (specification 4.2).

    Below 1 becomes 1, above 100 becomes 100, non-numeric becomes the default.
    """
    size = _integer(text)
    return default if size is None else min(max(size, 1), MAX_LIMIT)


@final
class PageRequest(Value, frozen=True, kw_only=True):
    """The wanted page of a list."""

    limit: int = DEFAULT_LIMIT
    page: int = 1

    @classmethod
    def read(cls, *, limit: str | None, page: str | None) -> "PageRequest":
        """Read the query parameters; nothing in them is an error (specification 4.2).

        ``page``: below 1 and non-numeric become 1.
        """
        number = _integer(page)
        return cls(limit=read_limit(limit), page=1 if number is None else max(number, 1))

    @property
    def offset(self) -> int:
        return (self.page - 1) * self.limit


class PaginationBody(TypedDict):
    """The position of a page in its list."""

    limit: int
    currentPage: int
    nextPage: int | None
    previousPage: int | None
    totalPages: int
    totalItems: int


@final
class Pagination(Value, frozen=True, kw_only=True):
    """The place of a page in its list, for the answer."""

    limit: int
    current_page: int
    total_pages: int
    total_items: int

    @property
    def body(self) -> PaginationBody:
        return {
            "limit": self.limit,
            "currentPage": self.current_page,
            "nextPage": self.current_page + 1 if self.current_page < self.total_pages else None,
            "previousPage": self.current_page - 1 if self.current_page > 1 else None,
            "totalPages": self.total_pages,
            "totalItems": self.total_items,
        }


def invalid_page(requested_page: int, total_pages: int) -> Refusal:
    """Return the refusal of a page beyond the last one (specification 4.2)."""
    pages = "1 page" if total_pages == 1 else f"{total_pages} pages"
    details = {
        "message": f"Page {requested_page} does not exist. The list has {pages}.",
        "totalPages": total_pages,
        "requestedPage": requested_page,
    }
    return Refusal(RefusalKind.QUERY, "Invalid page number", "page", details=details)


def paginate(request: PageRequest, total_items: int) -> Pagination | Refusal:
    """Return the place of a page in a list of ``total_items``, or the refusal of a page after the last one.

    An empty list has one page.
    """
    total_pages = max(1, -(-total_items // request.limit))
    if request.page > total_pages:
        return invalid_page(request.page, total_pages)
    return Pagination(limit=request.limit, current_page=request.page, total_pages=total_pages, total_items=total_items)


def how_many_fit(sizes: Iterable[int], budget: int) -> int:
    """Return how many of the first sizes fit into ``budget``; the first one always counts."""
    fitting = 0
    for size in sizes:
        budget -= size
        if budget < 0 and fitting:
            break
        fitting += 1
    return fitting
