"""Hypothesis strategies for the domain's values, for property tests. Needs the extra ``contentsvc[testing]``."""

from contentsvc_core.strategies.deliveries import bodies, deliveries
from contentsvc_core.strategies.values import (
    addresses,
    commits,
    delivery_ids,
    events,
    foreign_text,
    instants,
    pushes,
    releases,
    repository_ids,
)

__all__ = [
    "addresses",
    "bodies",
    "commits",
    "deliveries",
    "delivery_ids",
    "events",
    "foreign_text",
    "instants",
    "pushes",
    "releases",
    "repository_ids",
]
