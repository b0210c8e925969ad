"""The contracts of the ports: guarantees with names, which run on the stores of any database."""

from contentsvc_core.testing.contracts.brands import BRANDS, BrandStores
from contentsvc_core.testing.contracts.keys import KEYS
from contentsvc_core.testing.contracts.posts import POSTS
from contentsvc_core.testing.contracts.runs import RUNS, RunStores
from contentsvc_core.testing.contracts.trials import Contract, Guarantee, Scenario, Trial
from contentsvc_core.testing.contracts.triggers import TRIGGERS

__all__ = [
    "BRANDS",
    "KEYS",
    "POSTS",
    "RUNS",
    "TRIGGERS",
    "BrandStores",
    "Contract",
    "Guarantee",
    "RunStores",
    "Scenario",
    "Trial",
]
