import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.refusals import accepted, the_refusal

from contentsvc_core import PageRequest, Pagination, paginate
from contentsvc_core.lists.pagination import read_limit
from contentsvc_core.refusals import Refusal, RefusalKind


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        (None, 10), ("", 10), ("abc", 10), ("5.5", 10), ("1e3", 10), ("١٢", 10), ("²", 10), ("1_0", 10), (" 5", 10),
        ("5 ", 10), ("5\n", 10), ("0x5", 10), ("--5", 10), ("+", 10), ("-", 10),
        ("5", 5), ("+5", 5), ("005", 5), ("0", 1), ("-0", 1),
        ("-5", 1), ("1", 1), ("100", 100), ("101", 100), ("9" * 10_000, 100), ("-" + "9" * 10_000, 1),
        ("0" * 10_000 + "7", 7),
    ],
)  # fmt: skip
def test_limit_is_read_as_specified(text: str | None, limit: int) -> None:
    assert PageRequest.read(limit=text, page=None).limit == limit


def test_a_list_may_have_a_limit_of_its_own_without_a_number() -> None:
    assert [read_limit(text, default=20) for text in (None, "x", "5", "101")] == [20, 20, 5, 100]


@pytest.mark.parametrize(
    ("text", "page"),
    [
        (None, 1), ("", 1), ("x", 1), ("1.5", 1), ("0", 1), ("-3", 1), ("2", 2), ("+2", 2),
        ("9223372036854775807", 2**63 - 1), ("9223372036854775808", 2**63 - 1), ("9" * 5000, 2**63 - 1),
    ],
)  # fmt: skip
def test_page_is_read_as_decided(text: str | None, page: int) -> None:
    assert PageRequest.read(limit=None, page=text).page == page


@given(st.text() | st.none(), st.text() | st.none())
def test_reading_is_total_and_in_bounds(limit: str | None, page: str | None) -> None:
    request = PageRequest.read(limit=limit, page=page)

    assert 1 <= request.limit <= 100
    assert 1 <= request.page <= 2**63 - 1


@given(st.integers(0, 500), st.integers(1, 100))
def test_pages_partition_the_list_for_any_limit(total: int, limit: int) -> None:
    positions: list[int] = []
    page: int | None = 1
    while page is not None:
        request = PageRequest(limit=limit, page=page)
        position = accepted(paginate(request, total))
        positions += list(range(total))[request.offset : request.offset + limit]
        assert position.body["previousPage"] == (page - 1 if page > 1 else None)
        page = position.body["nextPage"]

    assert positions == list(range(total))


@given(st.integers(0, 10_000), st.integers(1, 100), st.integers(1, 2**63 - 1))
def test_a_page_exists_exactly_up_to_the_last_one(total: int, limit: int, page: int) -> None:
    position = paginate(PageRequest(limit=limit, page=page), total)
    last = max(1, (total + limit - 1) // limit)

    assert isinstance(position, Refusal) == (page > last)
    assert (position.details["totalPages"] if isinstance(position, Refusal) else position.total_pages) == last


def test_an_empty_list_has_one_page() -> None:
    assert paginate(PageRequest(), 0) == Pagination(limit=10, current_page=1, total_pages=1, total_items=0)
    refusal = the_refusal(paginate(PageRequest(page=2), 0))
    assert refusal.details["message"] == "Page 2 does not exist. The list has 1 page."


def test_the_wire_form_has_the_specified_fields() -> None:
    page = Pagination(limit=10, current_page=2, total_pages=3, total_items=25)

    assert page.body == {
        "limit": 10,
        "currentPage": 2,
        "nextPage": 3,
        "previousPage": 1,
        "totalPages": 3,
        "totalItems": 25,
    }


def test_the_refusal_has_the_specified_shape() -> None:
    refusal = the_refusal(paginate(PageRequest(page=9), 15))

    assert (refusal.kind, refusal.message()) == (RefusalKind.QUERY, "Invalid page number")
    assert refusal.details == {
        "message": "Page 9 does not exist. The list has 2 pages.",
        "totalPages": 2,
        "requestedPage": 9,
    }
