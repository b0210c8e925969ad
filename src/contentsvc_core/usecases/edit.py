from collections.abc import Awaitable, Callable, Sequence
from enum import Enum
from functools import partial
from typing import ClassVar, Final, TypeVar, final

from attrs import field, frozen

from contentsvc_core.commands import values_of
from contentsvc_core.content.editing import (
    CONTENT_TOO_LONG,
    POST_CHANGED,
    UNKNOWN_POST,
    UNKNOWN_VERSION,
    ChangePost,
    CreatePost,
    changed_post,
    due_post,
    new_post,
    post_fault,
)
from contentsvc_core.content.posts import Post, PostStatus
from contentsvc_core.content.queries import PostQuery
from contentsvc_core.content.versions import PostVersion, current_first
from contentsvc_core.errors import StoreUnavailable, UnreadableRow
from contentsvc_core.ports import Clock, IdSource, MarkupRenderer, PostLibrary, Share
from contentsvc_core.refusals import Refusal

_Result = TypeVar("_Result")

#: The tries of a change under concurrent changes of the same post. One of the changes succeeds in each turn.
_TURNS: Final = 16
#: The most posts that one request publishes, unpublishes or deletes: some seconds of work.
MAX_BULK: Final = 500


async def unshared(_organization_id: str, work: Callable[[], Awaitable[_Result]], /) -> _Result:
    """Run work at once (port :class:`~contentsvc_core.ports.Share`): for processes that serve one caller."""
    return await work()


def _whatever(_post: Post) -> bool:
    return True


class BulkAction(Enum):
    """An action on several posts."""

    PUBLISH = "publish"
    UNPUBLISH = "unpublish"
    DELETE = "delete"


@final
@frozen(kw_only=True)
class BulkResult:
    """The posts that are as wanted, and the refusals of the others."""

    done: tuple[str, ...] = field(converter=tuple[str, ...])
    failed: tuple[tuple[str, Refusal], ...] = field(converter=tuple[tuple[str, Refusal], ...])


@final
@frozen(eq=False, repr=False)
class PostEditor:
    """Changes posts. Concurrent changes run one after the other, and each is checked against the current version."""

    _library: PostLibrary
    _renderer: MarkupRenderer
    _clock: Clock
    _ids: IdSource
    _share: Share = field(default=unshared, kw_only=True, alias="share")

    async def create(self, organization_id: str, command: CreatePost, *, author: str | None = None) -> Post | Refusal:
        if (fault := post_fault(values_of(command))) is not None:
            return fault
        content = await self._rendered(organization_id, command.markdown)
        if content is None:
            return CONTENT_TOO_LONG
        post = new_post(
            command,
            post_id=self._ids.new_id("post_"),
            organization_id=organization_id,
            content=content,
            at=self._clock.now(),
        )
        if isinstance(post, Post):
            await self._library.add(post, author=author)
        return post

    async def change(
        self,
        organization_id: str,
        post_id: str,
        change: ChangePost,
        *,
        if_: Callable[[Post], bool] = _whatever,
        author: str | None = None,
    ) -> Post | Refusal:
        """Change a post by a ``ChangePost`` if ``if_`` accepts its current version; return the changed post.

        A changed text becomes a new version. ``StoreUnavailable`` may mean that the post changes constantly. After
        ``Overloaded``, nothing was changed.
        """
        values = values_of(change)
        if (fault := post_fault(values)) is not None:
            return fault
        for _ in range(_TURNS):
            stored = await self._library.post(organization_id, post_id)
            if stored is None:
                return UNKNOWN_POST
            if not if_(stored):
                return POST_CHANGED
            content = stored.content
            if "markdown" in values:
                rendered = await self._rendered(organization_id, values["markdown"])
                if rendered is None:
                    return CONTENT_TOO_LONG
                content = rendered
            changed = changed_post(stored, values, content=content, at=self._clock.now())
            if isinstance(changed, Refusal):
                return changed
            if await self._library.change(changed, unchanged_since=stored.updated_at, author=author):
                return changed
        raise _too_busy()

    async def remove(
        self, organization_id: str, post_id: str, *, if_: Callable[[Post], bool] = _whatever
    ) -> Refusal | None:
        for _ in range(_TURNS):
            stored = await self._library.post(organization_id, post_id)
            if stored is None:
                return UNKNOWN_POST
            if not if_(stored):
                return POST_CHANGED
            if await self._library.remove(
                organization_id, post_id, unchanged_since=stored.updated_at, at=self._clock.now()
            ):
                return None
        raise _too_busy()

    async def bulk(
        self, organization_id: str, action: BulkAction, post_ids: Sequence[str], *, author: str | None = None
    ) -> BulkResult:
        """Publish, unpublish or delete posts, one after the other. A post that has the state already counts as done."""
        done: list[str] = []
        failed: list[tuple[str, Refusal]] = []
        for post_id in dict.fromkeys(post_ids):
            fault = await self._one_of_many(organization_id, action, post_id, author)
            if fault is None:
                done.append(post_id)
            else:
                failed.append((post_id, fault))
        return BulkResult(done=done, failed=failed)

    async def chosen(self, organization_id: str, query: PostQuery) -> tuple[Sequence[tuple[str, str]], int]:
        """Return the ids and titles of the first :data:`MAX_BULK` posts of a filter, and the number of all."""
        return await self._library.chosen(organization_id, query, limit=MAX_BULK)

    async def versions(self, organization_id: str, post_id: str) -> Sequence[PostVersion] | Refusal:
        """Return the kept texts of a post, newest first; the first is the current text."""
        post = await self._library.post(organization_id, post_id)
        if post is None:
            return UNKNOWN_POST
        return current_first(await self._library.versions(organization_id, post_id), post)

    async def restore(
        self,
        organization_id: str,
        post_id: str,
        number: int,
        *,
        if_: Callable[[Post], bool] = _whatever,
        author: str | None = None,
    ) -> Post | Refusal:
        versions = await self.versions(organization_id, post_id)
        if isinstance(versions, Refusal):
            return versions
        text = next((each.text for each in versions if each.number == number), None)
        if text is None:
            return UNKNOWN_VERSION
        change = ChangePost(title=text.title, markdown=text.markdown, summary=text.summary, labels=text.labels)
        return await self.change(organization_id, post_id, change, if_=if_, author=author)

    async def _one_of_many(
        self, organization_id: str, action: BulkAction, post_id: str, author: str | None
    ) -> Refusal | None:
        if action is BulkAction.DELETE:
            return await self.remove(organization_id, post_id)
        status = PostStatus.PUBLISHED if action is BulkAction.PUBLISH else PostStatus.DRAFT
        stored = await self._library.post(organization_id, post_id)
        if stored is None:
            return UNKNOWN_POST
        if stored.status is status and stored.publish_at is None:
            return None
        answer = await self.change(organization_id, post_id, ChangePost(status=status), author=author)
        return answer if isinstance(answer, Refusal) else None

    async def _rendered(self, organization_id: str, markdown: str) -> str | None:
        return await self._share(organization_id, partial(self._renderer.render, markdown))


@final
@frozen(eq=False, repr=False)
class Publisher:
    """Publishes drafts whose time has come; safe to call at any time, from any number of processes.

    ``on_fault`` is called with the fault of a post, and the other posts are published.
    """

    AT_ONCE: ClassVar[int] = 100

    _library: PostLibrary
    _clock: Clock
    _on_fault: Callable[[Exception], None] = field(kw_only=True, alias="on_fault")

    async def turn(self) -> int:
        """Publish due posts, and return their number; from :attr:`AT_ONCE` on, more may be due."""
        published = 0
        #: Tried in this turn, and still due.
        left: set[tuple[str, str]] = set()
        while published < self.AT_ONCE:
            found = await self._library.due(self._clock.now(), limit=self.AT_ONCE + len(left))
            due = [each for each in found if each not in left]
            if not due:
                break
            for organization_id, post_id in due:
                try:
                    is_published = await self._publish(organization_id, post_id)
                except StoreUnavailable:
                    raise
                except Exception as exc:  # noqa: BLE001  # an unreadable post must not stop the others
                    fault = UnreadableRow(f"the scheduled post {post_id} cannot be read: {type(exc).__name__}: {exc}")
                    fault.__cause__ = exc
                    self._on_fault(fault)
                    is_published = False
                published += is_published
                if not is_published:
                    left.add((organization_id, post_id))
        return published

    async def _publish(self, organization_id: str, post_id: str) -> bool:
        stored = await self._library.post(organization_id, post_id)
        published = None if stored is None else due_post(stored, self._clock.now())
        # Of concurrent processes and editors, one changes this version. A changed post is due again in the next turn.
        return (
            stored is not None
            and published is not None
            and await self._library.change(published, unchanged_since=stored.updated_at)
        )


def _too_busy() -> StoreUnavailable:
    return StoreUnavailable("the post is changed faster than it can be read")
