"""For tests of services that use the core: signed deliveries, a clock, repeatable ids, and checks of stores."""

from contentsvc_core.testing.contracts import (
    BRANDS,
    KEYS,
    POSTS,
    RUNS,
    TRIGGERS,
    BrandStores,
    Contract,
    Guarantee,
    RunStores,
    Scenario,
    Trial,
)
from contentsvc_core.testing.limits import check_rate_limits
from contentsvc_core.testing.parts import (
    START,
    CountingIds,
    ManualClock,
    PlainSteps,
    address,
    push_body,
    release_body,
    signed,
    switched,
)
from contentsvc_core.testing.stores import check_store

__all__ = [
    "BRANDS",
    "KEYS",
    "POSTS",
    "RUNS",
    "START",
    "TRIGGERS",
    "BrandStores",
    "Contract",
    "CountingIds",
    "Guarantee",
    "ManualClock",
    "PlainSteps",
    "RunStores",
    "Scenario",
    "Trial",
    "address",
    "check_rate_limits",
    "check_store",
    "push_body",
    "release_body",
    "signed",
    "switched",
]
