"""The exact sliding log, against a brute-force list of all requests."""

from datetime import datetime
from hashlib import sha256
from itertools import accumulate

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from contentsvc_core.access.rates import (
    CONFIRMING,
    CONFIRMING_TOGETHER,
    FAILED_SIGN_INS,
    RATES,
    SHARED_RATES,
    SUBSCRIBING,
    SUBSCRIBING_ADDRESS,
    SUBSCRIBING_TOGETHER,
    WINDOW_MS,
    Bucket,
    Rate,
    connecting_path,
    rate_of,
)
from contentsvc_core.access.window import (
    Verdict,
    Window,
    hit,
    rate_headers,
    refusal_body,
    refusal_headers,
    refused_until,
    unknown,
    used,
)
from contentsvc_core.testing import START
from contentsvc_core.timestamps import from_ms, to_ms

T0 = to_ms(START)
#: The time from the previous request to a request, in milliseconds; negative for a clock that was set back.
FORWARD = st.sampled_from([0, 1, 40, 999, 20_000, 59_999, 60_000, 60_001]) | st.integers(0, 70_000)
BACK = st.sampled_from([-1, -1000, -59_999, -60_000, -60_001, -3_600_000])


def rate(limit: int) -> Rate:
    return Rate(method="POST", template="/v1/lamps", limit=limit)


def times(steps: st.SearchStrategy[int]) -> st.SearchStrategy[list[int]]:
    return st.lists(steps, min_size=1, max_size=40).map(lambda made: [T0 + each for each in accumulate(made)])


def asked(limit: int, at_ms: list[int], window: Window | None = None) -> tuple[Window, list[Verdict]]:
    """Count a request at each of these times."""
    window = window or Window()
    verdicts: list[Verdict] = []
    for each in at_ms:
        window, verdict = hit(window, rate(limit), from_ms(each))
        verdicts.append(verdict)
    return window, verdicts


def counting(at_ms: list[int], admitted: list[int]) -> dict[int, int]:
    """Return the admitted requests that count for the last one, with their times, computed from the whole history.

    A request counts as of the earliest time of a later request, if that is earlier than its own.
    """
    counted_as = {index: min(at_ms[index:]) for index in admitted}
    return {index: each for index, each in counted_as.items() if at_ms[-1] - each < WINDOW_MS}


@settings(max_examples=100)
@given(st.integers(1, 6), times(FORWARD | FORWARD | FORWARD | BACK))
def test_a_request_is_admitted_if_and_only_if_fewer_than_the_limit_were_in_the_last_60_s(
    limit: int, at_ms: list[int]
) -> None:
    window = Window()
    admitted: list[int] = []
    for index, now in enumerate(at_ms):
        before = window
        window, verdict = hit(window, rate(limit), from_ms(now))

        counts = counting(at_ms[: index + 1], admitted)
        assert verdict.admitted == (len(counts) < limit)
        # A request that has left the window stays out, also when the clock is set back.
        admitted = list(counts)
        counted = list(counts.values())
        if verdict.admitted:
            admitted.append(index)
            counted.append(now)
        elif not before.hits_ms or before.hits_ms[-1] <= now:
            assert window is before
        assert verdict.remaining == limit - len(counted)
        assert verdict.reset_at_ms == min(counted) + WINDOW_MS
        assert sorted(counted) == [each for each in window.hits_ms if now - each < WINDOW_MS]


def test_a_window_that_begins_with_each_minute_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    sliding = hit

    def fixed(window: Window, rate: Rate, at: datetime) -> tuple[Window, Verdict]:
        minute = to_ms(at) - to_ms(at) % WINDOW_MS
        return sliding(evolve(window, hits_ms=[each for each in window.hits_ms if each >= minute]), rate, at)

    monkeypatch.setitem(globals(), "hit", fixed)
    property_of = test_a_request_is_admitted_if_and_only_if_fewer_than_the_limit_were_in_the_last_60_s
    inner = property_of.hypothesis.inner_test  # pyright: ignore[reportFunctionMemberAccess]  # set by Hypothesis
    inner(1, [T0 + 59_999, T0 + 119_999])
    with pytest.raises(AssertionError):
        inner(1, [T0 + 59_999, T0 + 60_000])


@given(st.integers(1, 6), times(FORWARD | FORWARD | BACK))
def test_a_request_is_admitted_after_the_wait_and_not_before_the_reset(limit: int, at_ms: list[int]) -> None:
    window, verdicts = asked(limit, [*at_ms, *[at_ms[-1]] * limit])
    verdict, now = verdicts[-1], at_ms[-1]
    if verdict.admitted:
        window, (verdict,) = asked(limit, [now], window)
    assert not verdict.admitted
    assert 1 <= verdict.retry_after_s <= 60

    assert asked(limit, [now + verdict.retry_after_s * 1000], window)[1][0].admitted
    assert asked(limit, [verdict.reset_at_ms], window)[1][0].admitted
    assert not asked(limit, [verdict.reset_at_ms - 1], window)[1][0].admitted


def test_a_clock_set_back_frees_nothing_and_blocks_for_60_s_at_most() -> None:
    window, _ = asked(3, [T0, T0 + 10, T0 + 20])
    back = T0 - 3_600_000

    window, (refused,) = asked(3, [back], window)
    assert not refused.admitted
    assert refused.retry_after_s == 60
    # A refused request keeps the correction: otherwise each later request would be measured from its own time.
    assert window == Window(hits_ms=[back] * 3)
    assert not asked(3, [back + 59_999], window)[1][0].admitted
    assert [verdict.admitted for verdict in asked(3, [back + 60_000] * 4, window)[1]] == [True] * 3 + [False]


def test_a_lower_limit_than_the_window_was_filled_under_waits_until_few_enough_are_left() -> None:
    window, _ = asked(5, [T0, T0 + 1, T0 + 2, T0 + 3, T0 + 4])

    _, (refused,) = asked(2, [T0 + 10], window)
    assert not refused.admitted
    assert refused.reset_at_ms == T0 + 3 + WINDOW_MS
    assert asked(2, [refused.reset_at_ms], window)[1][0].admitted


@given(st.integers(0, 59_999), st.integers(-70_000, 70_000))
def test_a_cached_refusal_equals_the_verdict_of_the_window_while_it_holds(oldest: int, later: int) -> None:
    window, _ = asked(2, [T0, T0 + oldest])
    same, (refused,) = asked(2, [T0 + oldest], window)
    assert same is window
    now = from_ms(T0 + oldest + later)

    cached = refused_until(rate(2), refused.reset_at_ms, now)
    # The next request corrects a step of the clock after which the oldest request still counts.
    if cached is not None and later >= 0:
        assert cached == hit(window, rate(2), now)[1]
    assert (cached is None) == (not T0 <= to_ms(now) < T0 + WINDOW_MS)


@given(st.integers(1, 6), times(FORWARD | FORWARD | BACK), FORWARD | BACK)
def test_the_usage_equals_the_counted_requests(limit: int, at_ms: list[int], later: int) -> None:
    window, _ = asked(limit, at_ms)
    now = from_ms(at_ms[-1] + later)

    verdict = hit(window, rate(limit), now)[1]
    assert used(window, rate(limit), now) == limit - verdict.remaining - verdict.admitted


def test_nothing_counts_in_an_empty_window_nor_exactly_60_s_later() -> None:
    window, _ = asked(3, [T0, T0 + 5])

    assert used(Window(), rate(9), START) == 0
    assert [used(window, rate(9), from_ms(T0 + each)) for each in (-7, 59_999, 60_000, 60_005)] == [2, 2, 1, 0]


def test_both_families_of_headers_and_the_body_agree() -> None:
    _, (verdict,) = asked(3, [T0 + 1])
    assert rate_headers(verdict) == {
        "RateLimit-Limit": "3",
        "X-RateLimit-Limit": "3",
        "RateLimit-Remaining": "2",
        "X-RateLimit-Remaining": "2",
        "RateLimit-Reset": "60",
        # Rounded up: at that second, the request is admitted.
        "X-RateLimit-Reset": str(T0 // 1000 + 61),
    }

    _, (*_, refused) = asked(1, [T0, T0 + 58_999])
    assert rate_headers(refused) == {
        "RateLimit-Limit": "1",
        "X-RateLimit-Limit": "1",
        "RateLimit-Remaining": "0",
        "X-RateLimit-Remaining": "0",
        "RateLimit-Reset": "2",
        "X-RateLimit-Reset": str(T0 // 1000 + 60),
    }
    assert refusal_headers(refused) == {"Retry-After": "2"}
    assert refusal_body(refused) == {
        "error": "Rate limit exceeded",
        "limit": 1,
        "remaining": 0,
        "reset": T0 + WINDOW_MS,
    }


def test_an_unknown_state_refuses_for_a_second() -> None:
    verdict = unknown(rate(7), START)

    assert not verdict.admitted
    assert (verdict.limit, verdict.remaining, verdict.retry_after_s) == (7, 0, 1)


def test_a_window_out_of_order_and_a_limit_below_1_cannot_be() -> None:
    with pytest.raises(ValueError, match=r"^the hits of a window stand in their order, the oldest first$"):
        Window(hits_ms=[T0 + 1, T0])
    with pytest.raises(ValueError, match=r"^a limit and its window must be at least 1, not 0 in 60000 ms$"):
        rate(0)


def test_a_window_is_kept_until_its_last_request_leaves() -> None:
    assert Window().expires_at_ms(rate(9)) == 0
    for hits_ms in ([T0 + 5], [T0, T0 + 5], [T0, T0 + 1, T0 + 5]):
        assert Window(hits_ms=hits_ms).expires_at_ms(rate(9)) == T0 + 5 + 60_000


def test_the_specified_operations_are_limited_and_no_others() -> None:
    assert {(each.method, each.template): each.limit for each in RATES} == {
        ("POST", "/v1/posts/generate"): 10,
        ("PATCH", "/v1/posts/{postId}"): 60,
        ("POST", "/v1/brand-identities/generate"): 5,
        **{("POST", f"/v1/integrations/{slug}"): 20 for slug in ("codehost", "github", "gitlab", "bitbucket")},
    }
    assert connecting_path("github") == "/v1/integrations/github"
    for each in RATES:
        assert rate_of(each.method, each.template) is each
    # A parameter may have any name.
    assert rate_of("PATCH", "/v1/posts/{post_id}") is RATES[1]
    assert rate_of("PATCH", "/v1/posts/generate") is None
    assert rate_of("GET", "/v1/posts/{postId}") is None


def test_limits_beside_the_specified_ones_are_an_organizations() -> None:
    assert {(each.method, each.template): each.limit for each in SHARED_RATES} == {
        ("GET", "/v1/context"): 60,
        ("POST", "/dashboard/preview"): 300,
        ("POST", "/dashboard/keys"): 5,
        ("POST", "/v1/webhook-endpoints"): 30,
        ("POST", "/v1/webhook-endpoints/{endpointId}/test"): 20,
        ("POST", "/v1/posts"): 60,
        ("POST", "/v1/posts/bulk"): 12,
        ("POST", "/v1/posts/{postId}/versions/{number}/restore"): 60,
        ("POST", "/v1/webhook-logs/replay"): 60,
        ("POST", "/v1/integrations/{integrationId}/rotate-secret"): 20,
        ("POST", "/v1/integrations/{integrationId}/reconcile"): 20,
    }
    for each in SHARED_RATES:
        assert each.is_shared
        assert rate_of(each.method, each.template) is each
        assert Bucket.of_organization(each, "org_1").rate.limit == each.limit
    # Reads are not limited, except searches.
    for template in ("/v1/posts", "/v1/webhook-logs", "/v1/context/{customId}", "/v1/schedules", "/v1/integrations"):
        assert rate_of("GET", template) is None


def test_limits_of_mails_and_failures_count_what_is_not_a_request_of_the_api() -> None:
    confirmations = ("POST", "/v1/webhook-endpoints/{endpointId}/confirmations")
    limits = {
        SUBSCRIBING: (("POST", "/changelog/{slug}/subscribe"), 6, 60_000, False),
        SUBSCRIBING_TOGETHER: (("POST", "/changelog/{slug}/subscribe"), 60, 60_000, True),
        SUBSCRIBING_ADDRESS: (("POST", "/changelog/{slug}/subscribe"), 10, 86_400_000, True),
        CONFIRMING: (confirmations, 1, 3_600_000, False),
        CONFIRMING_TOGETHER: (confirmations, 20, 86_400_000, True),
        FAILED_SIGN_INS: (("POST", "/dashboard/sign-in"), 20, 60_000, False),
    }
    for each, expected in limits.items():
        assert ((each.method, each.template), each.limit, each.window_ms, each.is_shared) == expected
        assert rate_of(each.method, each.template) is None


def test_the_keys_of_an_organization_share_ten_times_the_limit_of_one_key() -> None:
    for each in RATES:
        bucket = Bucket.of_organization(each, "org_1")
        assert bucket.rate.limit == 10 * each.limit
        assert bucket.name == f"{each.method} {each.template} organization org_1"


def test_each_caller_and_operation_has_its_own_bucket() -> None:
    names = {
        bucket.name
        for each in RATES
        for bucket in (
            Bucket.of_key(each, "csk_0000000001"),
            Bucket.of_key(each, "csk_0000000002"),
            Bucket.of_address(each, "192.0.2.1"),
            Bucket.of_address(each, "csk_0000000001"),
        )
    }

    assert len(names) == 4 * len(RATES)
    # The key of a stored window, by which the next version finds it.
    assert Bucket.of_key(RATES[0], "csk_1").name == "POST /v1/posts/generate key csk_1"
    assert Bucket.of_address(RATES[1], "192.0.2.1").name == "PATCH /v1/posts/{postId} address 192.0.2.1"
    of_mails = Bucket.of_recipient("org_1", "ops@acme.example")
    assert of_mails.name == f"{CONFIRMING.method} {CONFIRMING.template} recipient org_1 ops@acme.example"
    digest = sha256(b"ops@acme.example").hexdigest()
    assert Bucket.of_reader("ops@acme.example").name == f"POST /changelog/{{slug}}/subscribe reader {digest}"
    # The key has no limit: a version with another limit continues with the same window.
    assert Bucket.of_key(evolve(RATES[0], limit=11), "csk_1").name == Bucket.of_key(RATES[0], "csk_1").name


def test_a_window_may_be_longer_than_a_minute() -> None:
    hourly = Rate(method="POST", template="/v1/lamps", limit=1, window_ms=3_600_000)

    window, first = hit(Window(), hourly, from_ms(T0))
    _, soon = hit(window, hourly, from_ms(T0 + 3_599_999))
    _, later = hit(window, hourly, from_ms(T0 + 3_600_000))

    assert [verdict.admitted for verdict in (first, soon, later)] == [True, False, True]
    assert soon.reset_at_ms == window.expires_at_ms(hourly) == T0 + 3_600_000
    assert [used(window, hourly, from_ms(T0 + each)) for each in (3_599_999, 3_600_000)] == [1, 0]
    assert refused_until(hourly, soon.reset_at_ms, from_ms(T0 + 1)) is not None
