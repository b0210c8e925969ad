"""The posts of pushes that the post of a release contains."""

from collections.abc import Collection

from attrs import evolve

from contentsvc_adapters.memory.state import State
from contentsvc_core.content.posts import Post, PostStatus


def note_pushes(state: State, post: Post, own: str | None, released: Collection[str]) -> None:
    if own is not None:
        state.reports.setdefault((post.organization_id, own), []).append(post.id)
    for push in released:
        state.releases.setdefault((post.organization_id, push), []).append(post.id)
    state.released[post.id] = tuple(released)
    contain(state, post.organization_id, released if own is None else [own])


def contain(state: State, organization_id: str, pushes: Collection[str]) -> None:
    for key in [(organization_id, push) for push in pushes]:
        releases = _posts(state, state.releases.get(key, ()))
        for post in _posts(state, state.reports.get(key, ())):
            containing = [
                (release.occurred_at, release.id)
                for release in releases
                if release.status is PostStatus.PUBLISHED and release.content_type is post.content_type
            ]
            state.posts[post.id] = evolve(post, contained_in=min(containing)[1] if containing else None)


def _posts(state: State, ids: Collection[str]) -> list[Post]:
    return [state.posts[id_] for id_ in ids if id_ in state.posts]
