"""A revert names the release that had the reverted change, if the store has that release."""

from hashlib import sha1
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.builders import a_release
from tests.golden import REPOSITORY_ID
from tests.usecases.conftest import World
from tests.usecases.test_perform import deliver, perform_all, pushed, released

from contentsvc_core.events.normalized import Author, Commit, Event, Push
from contentsvc_core.testing import push_body
from contentsvc_core.usecases import briefs
from contentsvc_core.usecases.release_history import RevertHistory

PUBLISHED = "2026-01-02T00:00:00Z"
UNDONE = 'Revert "feat: export in parallel"'
LINE = "Revert “export in parallel”"


async def newest(world: World) -> str:
    await perform_all(world)
    return (await world.stores.posts.posts(world.organization.id))[0].markdown


async def exported(world: World) -> str:
    """Push a feature that later releases contain; return its hash."""
    body: dict[str, Any] = push_body("feat: export in parallel", repository_id=REPOSITORY_ID)
    await deliver(world, "push", body, "p-1")
    return str(body["commits"][0]["id"])


@pytest.mark.parametrize("by_hash", [True, False])
async def test_a_revert_names_the_release_of_the_reverted_change(
    world: World, monkeypatch: pytest.MonkeyPatch, *, by_hash: bool
) -> None:
    # The change is some steps before the release that reverts it.
    monkeypatch.setattr(briefs, "_STEP", 1)
    sha = await exported(world)
    await released(world, "r-1", "2.3.0-rc1", published_at=PUBLISHED, prerelease=True)
    await released(world, "r-2", "2.3.0", published_at=PUBLISHED)
    await released(world, "r-3", "2.4.0", published_at=PUBLISHED)
    await perform_all(world)

    await pushed(world, "p-2", f"{UNDONE}\n\nThis reverts commit {sha}." if by_hash else UNDONE, "feat: ring")
    assert f"- {LINE} (released in 2.3.0)" in await newest(world)

    await released(world, "r-4", "2.5.0", published_at=PUBLISHED)
    assert f"- {LINE} (released in 2.3.0)" in await newest(world)


async def test_a_revert_of_an_unreleased_change_names_no_release(world: World) -> None:
    await exported(world)
    await pushed(world, "p-2", UNDONE, "feat: ring")
    assert f"- {LINE} " in await newest(world)


async def test_a_change_reverted_before_the_release_was_not_in_it(world: World) -> None:
    await exported(world)
    await pushed(world, "p-2", UNDONE)
    await released(world, "r-1", "2.3.0", published_at=PUBLISHED)
    await pushed(world, "p-3", UNDONE, "feat: ring")
    assert "released in" not in await newest(world)


def _push(*messages: str, ref: str = "refs/heads/main") -> Push:
    author = Author(name="Ada", email="")
    ids = [sha1(text.encode(), usedforsecurity=False).hexdigest() for text in messages]
    created = [
        Commit(id=sha, message=text, author=author, timestamp="", url="")
        for sha, text in zip(ids, messages, strict=True)
    ]
    return Push(ref=ref, branch=ref, commits=tuple(created), head_commit=None)


@given(
    st.lists(
        st.sampled_from(["do", "undo", "both", "other", "undo other", "elsewhere", "release", "draft"]), max_size=12
    )
)
def test_no_revert_names_a_release_that_did_not_have_it(steps: list[str]) -> None:
    """Compare with what a history contains at each release."""
    events: list[Event] = []
    in_it, had = False, ""
    for index, step in enumerate(steps):
        match step:
            case "do":
                events.append(_push("feat: export in parallel"))
                in_it, had = True, ""
            case "undo":
                events.append(_push(UNDONE))
                in_it, had = False, ""
            case "release":
                events.append(a_release(f"v{index}"))
                had = had or (f"v{index}" if in_it else "")
            case "draft":
                events.append(a_release(f"v{index}", draft=True))
            case "both":
                events.append(_push("feat: export in parallel", UNDONE))
                in_it, had = False, ""
            case "undo other":
                events.append(_push('Revert "fix: drip"'))
            case "elsewhere":
                events.append(_push("feat: export in parallel", ref="refs/heads/next"))
            case _:
                events.append(_push("fix: drip"))
    last = _push(UNDONE, "docs: how to revert")
    history = RevertHistory()
    history.add(last, finds_reverts=True)
    for event in reversed(events):
        history.add(event)
    assert history.found == ({last.commits[0].id: had} if had else {})
