"""Releases: posts that announce one tag of a repository, or several tags of one commit."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Self, cast, final

from attrs import field, frozen

from contentsvc_core.content.posts import Post


@final
@frozen(kw_only=True)
class ReleaseOfPosts:
    """Releases that are announced together, and the posts that announce them; mostly one post."""

    tags: tuple[str, ...]
    repository: str
    posts: tuple[Post, ...] = field(converter=tuple[Post, ...])


@final
@frozen(kw_only=True)
class PostLine:
    id: str
    title: str
    occurred_at: datetime
    path: str | None = field(default=None, eq=False)

    @classmethod
    def of(cls, post: Post) -> Self:
        return cls(id=post.id, title=post.title, occurred_at=post.occurred_at, path=post.path)


def repositories_in(metadata: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Return the repositories that a post's source metadata names, each once; untrusted metadata may have any form."""
    value: object = (metadata or {}).get("repositories")
    names = cast("list[Any]", value) if isinstance(value, list) else []
    return tuple(dict.fromkeys(name for name in names if isinstance(name, str)))


def repository_of(post: Post) -> str:
    """Return the repository that a post is about; empty: no repository, or several."""
    names = repositories_in(post.source_metadata)
    return names[0] if len(names) == 1 else ""


def tags_of(post: Post) -> tuple[str, ...]:
    """Return the tags that a post announces, its own first; untrusted metadata may have any form."""
    if post.release_tag is None:
        return ()
    value: object = (post.source_metadata or {}).get("releaseTags")
    tags = cast("list[Any]", value) if isinstance(value, list) else []
    return tuple(dict.fromkeys((post.release_tag, *(tag for tag in tags if isinstance(tag, str)))))


def by_release(posts: Iterable[Post]) -> list[ReleaseOfPosts]:
    """Group posts that announce the same tags of the same repository, in the order of each group's first post."""
    groups: dict[tuple[str, tuple[str, ...]], list[Post]] = {}
    for post in posts:
        if tags := tags_of(post):
            groups.setdefault((repository_of(post), tags), []).append(post)
    return [ReleaseOfPosts(tags=tags, repository=name, posts=each) for (name, tags), each in groups.items()]
