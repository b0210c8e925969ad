"""Changes and deletes posts (decisions, ``/v1``)."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final, TypeVar, final

from contentsvc_core.content.editing import CONTENT_TOO_LONG, POST_CHANGED, UNKNOWN_POST, PostChange
from contentsvc_core.content.posts import Post
from contentsvc_core.errors import StoreUnavailable
from contentsvc_core.identifiers import is_own_id
from contentsvc_core.ports import Clock, MarkupRenderer, PostLibrary, Share
from contentsvc_core.refusals import Refusal

_Result = TypeVar("_Result")

#: The tries of a change under concurrent changes of the same post. One of the changes succeeds in each turn.
_TURNS: Final = 16


async def unshared(_organization_id: str, work: Callable[[], Awaitable[_Result]], /) -> _Result:
    """Run work at once (port :class:`~contentsvc_core.ports.Share`): for processes that serve one caller."""
    return await work()


def _whatever(_post: Post) -> bool:
    return True


@final
class PostEditor:
    """Changes posts. Concurrent changes run one after the other, and each is checked against the current version."""

    def __init__(
        self, library: PostLibrary, renderer: MarkupRenderer, clock: Clock, *, share: Share = unshared
    ) -> None:
        """Create the use case; ``share`` bounds the rendering of Markdown."""
        self._library = library
        self._renderer = renderer
        self._clock = clock
        self._share = share

    async def change(
        self, organization_id: str, post_id: str, change: PostChange, *, if_: Callable[[Post], bool] = _whatever
    ) -> Post | Refusal:
        """Change a post if ``if_`` accepts its current version; return the changed post.

        The content is rendered from the new Markdown. Markdown whose HTML is too long is refused.

        Raises:
            StoreUnavailable: The post changes constantly, or the store is unavailable.
            Overloaded: The organization has too much work waiting; nothing was changed.
        """
        markdown = change.markdown
        for _ in range(_TURNS):
            seen = await self._post(organization_id, post_id)
            if seen is None:
                return UNKNOWN_POST
            if not if_(seen):
                return POST_CHANGED
            content = seen.content
            if markdown is not None:
                rendered = await self._share(organization_id, partial(self._renderer.render, markdown))
                if rendered is None:
                    return CONTENT_TOO_LONG
                content = rendered
            changed = change.of(seen, content=content, at=self._clock.now())
            if await self._library.change(changed, seen=seen.updated_at):
                return changed
        raise _too_busy()

    async def remove(
        self, organization_id: str, post_id: str, *, if_: Callable[[Post], bool] = _whatever
    ) -> Refusal | None:
        """Delete a post if ``if_`` accepts its current version; ``None``: the post is deleted.

        Raises:
            StoreUnavailable: The post changes constantly, or the store is unavailable.
        """
        for _ in range(_TURNS):
            seen = await self._post(organization_id, post_id)
            if seen is None:
                return UNKNOWN_POST
            if not if_(seen):
                return POST_CHANGED
            if await self._library.remove(organization_id, post_id, seen=seen.updated_at, at=self._clock.now()):
                return None
        raise _too_busy()

    async def _post(self, organization_id: str, post_id: str) -> Post | None:
        return await self._library.post(organization_id, post_id) if is_own_id(post_id) else None


def _too_busy() -> StoreUnavailable:
    return StoreUnavailable("the post is changed faster than it can be read")
