"""A check of stores with generated sequences of calls. Needs Hypothesis: the extra ``contentsvc[testing]``."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime, timedelta
from typing import Any, Final, TypeAlias, TypeVar

from attrs import evolve
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from contentsvc_core.content.posts import CHANGED_FIELDS, ContentType, Post, PostStatus
from contentsvc_core.content.queries import PostOrder, PostQuery
from contentsvc_core.content.versions import PostVersion, versions_after
from contentsvc_core.lists.pagination import PageRequest, paginate
from contentsvc_core.ports import PostLibrary
from contentsvc_core.refusals import Refusal
from contentsvc_core.testing.contracts.posts import a_post, matching
from contentsvc_core.testing.contracts.trials import Trial
from contentsvc_core.testing.parts import START

__all__ = ["check_post_sequences"]

_Answer = TypeVar("_Answer")
#: Opens an empty store that knows two organizations, for one sequence.
_Opened: TypeAlias = Callable[[], AbstractAsyncContextManager[PostLibrary]]

#: A store in a database is slow, and its sequences are long.
_SLOW: Final = (HealthCheck.too_slow, HealthCheck.data_too_large)
_HOUR: Final = timedelta(hours=1)
#: Few times, so that several posts have the same.
_TIMES: Final = st.integers(0, 3).map(lambda hours: START + hours * _HOUR)
_QUERIES: Final = st.builds(
    PostQuery,
    ascending=st.booleans(),
    order_by=st.sampled_from(PostOrder),
    statuses=st.lists(st.sampled_from(PostStatus), unique=True).map(tuple),
    content_types=st.lists(st.sampled_from(ContentType), unique=True, max_size=2).map(tuple),
    since=st.none() | _TIMES,
    until=st.none() | _TIMES,
)
_REQUESTS: Final = st.builds(PageRequest, limit=st.integers(1, 3), page=st.integers(1, 4))
#: Positions of posts and organizations: a small one is the simpler example.
_POSITIONS: Final = st.integers(0, 9)


def check_post_sequences(
    opened: _Opened, organization_ids: tuple[str, str], *, profile: "settings | None" = None
) -> None:
    """Check that sequences of calls leave the same posts, versions and lists in a store as in a model of it.

    Call it outside of an event loop. Each sequence has a loop and a store of its own. Hypothesis shrinks a sequence
    that fails, and the message has its calls.

    Args:
        opened: Opens an empty store that knows the organizations, as an asynchronous context manager.
        organization_ids: The ids of two organizations.
        profile: The settings of Hypothesis, such as the number of sequences.

    Raises:
        AssertionError: The store differs from the model.
    """

    class Generated(_PostSequence):
        def __init__(self) -> None:
            super().__init__(opened, organization_ids)

    profile = profile or settings()
    # To explain a fault, Hypothesis would run its sequence some 100 times for each argument.
    phases = [phase for phase in profile.phases if phase is not Phase.explain]
    profile = settings(profile, phases=phases, deadline=None, report_multiple_bugs=False, suppress_health_check=_SLOW)
    run_state_machine_as_test(Generated, settings=profile)


class _PostSequence(RuleBasedStateMachine):
    def __init__(self, opened: _Opened, organization_ids: tuple[str, str]) -> None:
        super().__init__()
        self._runner = asyncio.Runner()
        self._opened = opened()
        store = self._run(self._opened.__aenter__())
        self._trial = Trial("a sequence of calls leaves what it wrote, and nothing else", store, organization_ids)
        #: The posts by their ids: with the removed ones, and the stored ones alone; and the versions of these.
        self._known: dict[str, Post] = {}
        self._stored: dict[str, Post] = {}
        self._versions: dict[str, Sequence[PostVersion]] = {}

    def teardown(self) -> None:
        self._run(self._opened.__aexit__(None, None, None))
        self._runner.close()

    def _run(self, call: Awaitable[_Answer]) -> _Answer:
        async def answered() -> _Answer:
            return await call

        return self._runner.run(answered())

    def _post(self, position: int) -> Post:
        return [*self._known.values()][position % len(self._known)]

    @rule(
        is_own=st.sampled_from([True, False]),
        at=_TIMES,
        occurred_at=_TIMES,
        content_type=st.sampled_from(ContentType),
        status=st.sampled_from(PostStatus),
        publish_at=st.none() | _TIMES,
    )
    def add(self, is_own: bool, at: datetime, publish_at: datetime | None, **fields: Any) -> None:  # noqa: ANN401, FBT001
        owner = self._trial.own if is_own else self._trial.foreign
        scheduled = publish_at if fields["status"] is PostStatus.DRAFT else None
        self._add(a_post(self._trial, at, organization_id=owner, publish_at=scheduled, **fields))

    @precondition(lambda self: bool(self._stored))
    @rule(position=_POSITIONS)
    def repeat(self, position: int) -> None:
        post = self._post(position)
        if post.id in self._stored:
            self._add(post)

    def _add(self, post: Post) -> None:
        self._run(self._trial.store.add(post))
        if post.id not in self._stored:
            self._known[post.id] = self._stored[post.id] = post
            self._versions[post.id] = [PostVersion(number=1, text=post.text, saved_at=post.updated_at)]

    @precondition(lambda self: bool(self._known))
    @rule(
        position=_POSITIONS,
        title=st.sampled_from(["new", "öffnen ⚓"]),
        status=st.sampled_from(PostStatus),
        later=st.integers(-1, 2),
        occurred_at=_TIMES,
        is_current=st.sampled_from([True, True, False]),
    )
    def change(self, position: int, later: int, is_current: bool, **texts: Any) -> None:  # noqa: ANN401, FBT001
        before = self._post(position)
        at = before.updated_at + timedelta(milliseconds=later)
        changed = evolve(before, publish_at=None, updated_at=at, **texts)
        since = before.updated_at if is_current else before.updated_at - timedelta(milliseconds=1)
        stored = self._stored.get(before.id)
        is_written = stored is not None and stored.updated_at == since and at > since
        self._trial.same(self._run(self._trial.store.change(changed, unchanged_since=since)), is_written)
        if stored is not None and is_written:
            now = evolve(stored, **{name: getattr(changed, name) for name in CHANGED_FIELDS})
            self._known[before.id] = self._stored[before.id] = now
            _, self._versions[before.id] = versions_after(self._versions[before.id], stored, now, None)

    @precondition(lambda self: bool(self._known))
    @rule(position=_POSITIONS, since=st.sampled_from(["any", "current", "older"]))
    def remove(self, position: int, since: str) -> None:
        post = self._post(position)
        times = {"current": post.updated_at, "older": post.updated_at - timedelta(milliseconds=1)}
        is_removed = post.id in self._stored and since != "older"
        removal = self._trial.store.remove(post.organization_id, post.id, unchanged_since=times.get(since))
        self._trial.same(self._run(removal), is_removed)
        if is_removed:
            del self._stored[post.id]

    @rule(query=_QUERIES, request=_REQUESTS)
    def page(self, query: PostQuery, request: PageRequest) -> None:
        trial, expected = self._trial, matching(self._of(self._trial.own), query)
        found, pagination = self._run(trial.store.page(trial.own, query, request)), paginate(request, len(expected))
        if isinstance(pagination, Refusal) or isinstance(found, Refusal):
            trial.same(found, pagination)
        else:
            trial.same(found[0], expected[request.offset : request.offset + request.limit])
            trial.same(found[1], pagination)

    @rule(now=_TIMES, limit=st.integers(0, 3))
    def due(self, now: datetime, limit: int) -> None:
        waiting = [post for post in self._stored.values() if post.publish_at is not None and post.publish_at <= now]
        drafts = [post for post in waiting if post.status is PostStatus.DRAFT]
        expected = sorted(drafts, key=lambda post: (post.publish_at, post.id))
        found = self._run(self._trial.store.due(now, limit=limit))
        self._trial.same(found, [(post.organization_id, post.id) for post in expected[:limit]])

    @precondition(lambda self: bool(self._known))
    @rule(position=_POSITIONS)
    def versions(self, position: int) -> None:
        post = self._post(position)
        found = self._run(self._trial.store.versions(post.organization_id, post.id))
        self._trial.same(found, list(self._versions[post.id]) if post.id in self._stored else [])

    @invariant()
    def lists(self) -> None:
        for id_ in (self._trial.own, self._trial.foreign):
            self._trial.same(self._run(self._trial.store.posts(id_)), matching(self._of(id_), PostQuery()))

    def _of(self, organization_id: str) -> list[Post]:
        return [post for post in self._stored.values() if post.organization_id == organization_id]
