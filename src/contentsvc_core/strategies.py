"""Hypothesis strategies for the domain's values, for property tests. Needs the extra ``contentsvc[testing]``."""

from datetime import datetime
from typing import Any

from attrs import evolve
from hypothesis import strategies as st

from contentsvc_core.events.normalized import Author, Commit, Event, HeadCommit, Push, Release
from contentsvc_core.testing import address, push_body, release_body, signed
from contentsvc_core.text import one_line
from contentsvc_core.timestamps import from_ms
from contentsvc_core.webhooks.delivery import Address, Delivery, Headers
from contentsvc_core.webhooks.providers import PROVIDERS
from contentsvc_core.webhooks.providers.native import Reading
from contentsvc_core.webhooks.providers.provider import Provider

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


def foreign_text(*, max_size: int = 200) -> st.SearchStrategy[str]:
    """Return texts as events have them, after the sanitizer: any characters but U+0000 and surrogates."""
    return st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=max_size)


def repository_ids() -> st.SearchStrategy[int]:
    return st.integers(1, 2**63 - 1)


def delivery_ids() -> st.SearchStrategy[str]:
    """Return delivery ids: UUIDs, and any other valid ids."""
    token = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1, max_size=255)
    return st.uuids().map(str) | token


def instants() -> st.SearchStrategy[datetime]:
    """Return points in time from 1970 to 2100: UTC, whole milliseconds."""
    return st.integers(0, 4_102_444_800_000).map(from_ms)


def addresses() -> st.SearchStrategy[Address]:
    ids = st.from_regex(r"[A-Za-z0-9_-]{1,20}", fullmatch=True)
    return st.builds(
        address,
        provider=st.sampled_from([provider.slug for provider in PROVIDERS]),
        organization_id=ids,
        integration_id=ids,
        repository_id=repository_ids(),
    )


def commits() -> st.SearchStrategy[Commit]:
    return st.builds(
        Commit,
        id=st.text("0123456789abcdef", min_size=40, max_size=40),
        message=foreign_text(),
        author=st.builds(
            Author, name=foreign_text(max_size=40), email=foreign_text(max_size=40), username=st.none() | foreign_text()
        ),
        timestamp=foreign_text(max_size=30),
        url=foreign_text(max_size=80),
        distinct=st.booleans(),
        added=_paths(),
        modified=_paths(),
        removed=_paths(),
        paths_cut=st.integers(0, 9),
    )


def _paths() -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(foreign_text(max_size=20), max_size=2).map(tuple)


def pushes() -> st.SearchStrategy[Push]:
    return st.builds(
        Push,
        ref=foreign_text(max_size=60),
        branch=foreign_text(max_size=60),
        commits=st.lists(commits(), max_size=4).map(tuple),
        head_commit=st.none() | st.builds(HeadCommit, id=foreign_text(), message=foreign_text()),
    )


def releases() -> st.SearchStrategy[Release]:
    return st.builds(
        Release,
        action=st.sampled_from(["published", "prereleased", "created"]) | foreign_text().map(_word),
        tag_name=foreign_text(max_size=40),
        name=st.none() | foreign_text(),
        body=st.none() | foreign_text(),
        prerelease=st.booleans(),
        draft=st.booleans(),
        published_at=st.none() | foreign_text(max_size=30),
        url=foreign_text(max_size=80),
        commit=st.sampled_from(["", "0" * 40, "f" * 64]),
    )


def _word(text: str) -> str:
    return one_line(text, 64)


def events() -> st.SearchStrategy[Event]:
    return pushes() | releases()


def _push_body(messages: list[str], *, branch: str, repository_id: int) -> dict[str, Any]:
    return push_body(*messages, branch=branch, repository_id=repository_id)


def _with_repository(body: dict[str, Any], value: object) -> dict[str, Any]:
    return {**body, "repository": value}


def bodies(*, repository_id: int = 1) -> st.SearchStrategy[bytes | dict[str, Any]]:
    """Return bodies: well-formed ones of ``codehost`` and ``github``, JSON of other shapes, and arbitrary bytes."""
    json_values = st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
        lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=8), children, max_size=3),
        max_leaves=8,
    )
    well_formed = st.builds(
        _push_body,
        st.lists(foreign_text(), max_size=3),
        branch=st.sampled_from(["main", "dev"]),
        repository_id=st.just(repository_id),
    ) | st.builds(
        release_body,
        foreign_text(max_size=20),
        action=st.sampled_from(["published", "prereleased", "created", "deleted"]),
        draft=st.booleans(),
        repository_id=st.just(repository_id),
    )
    broken = st.builds(_with_repository, well_formed, json_values)
    return well_formed | broken | st.dictionaries(st.text(max_size=8), json_values, max_size=3) | st.binary()


def _written(provider: Provider, repository_id: int) -> st.SearchStrategy[tuple[str, dict[str, object]]]:
    pushed = st.builds(
        _push, st.sampled_from(["main", "dev"]), commits=st.lists(commits(), min_size=1, max_size=3).map(tuple)
    )
    readings = st.builds(
        Reading,
        event=pushed | releases(),
        repository_id=st.just(repository_id),
        repository=st.just("acme/lighthouse"),
        default_branch=st.just("main"),
    )
    return readings.map(provider.write)


def _push(branch: str, *, commits: tuple[Commit, ...]) -> Push:
    head = HeadCommit(id=commits[-1].id, message=commits[-1].message)
    return Push(ref=f"refs/heads/{branch}", branch=branch, commits=commits, head_commit=head)


@st.composite
def deliveries(draw: st.DrawFn, *, at: Address | None = None, secret: str = "secret") -> Delivery:  # noqa: S107
    """Return deliveries to ``at``, signed with ``secret``: to a hook with another secret, they are forged.

    Half of them are pushes and releases as the provider of ``at`` writes them; the others have any body. The names of
    headers are in lower case, capitalized or in upper case.
    """
    at = address() if at is None else at
    kinds = st.sampled_from([*at.dialect.readers, "ping", "issues"])
    of_any_kind = st.tuples(kinds, bodies(repository_id=at.repository_id))
    event, body = draw(of_any_kind | _written(at.dialect, at.repository_id))
    delivery = signed(body, at=at, secret=secret, event=event, delivery_id=draw(delivery_ids()))
    spelled = draw(st.sampled_from([bytes.lower, bytes.title, bytes.upper]))
    return evolve(delivery, headers=Headers.of((spelled(name), value) for name, value in delivery.headers))
