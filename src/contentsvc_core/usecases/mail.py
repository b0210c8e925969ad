"""The mailer: batches announced posts, and sends the mails of the mailbox. At least once, with a stable Message-ID."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import timedelta
from functools import partial
from typing import Final, final

from attrs import evolve, field, frozen

from contentsvc_core.content.posts import Post
from contentsvc_core.content.public.changelogs import PublicChangelog
from contentsvc_core.content.public.links import ChangelogLinks
from contentsvc_core.errors import StoreUnavailable
from contentsvc_core.outgoing.letters import Letter, MailResult, SentLetter, confirmation, posts_letter
from contentsvc_core.outgoing.messages import MessageStatus
from contentsvc_core.outgoing.retries import NotSent, next_attempt_at, until_stored
from contentsvc_core.outgoing.subscribers import RECENT, STALE, AnnouncedPost, LeasedMail, MailKind, MailOutcome
from contentsvc_core.ports import Changelogs, Clock, Directory, IdSource, Mailbox, MailSender
from contentsvc_core.timestamps import whole_ms
from contentsvc_core.usecases.zones import zone_of

#: The number of mails per connection: sending them must be shorter than the lease.
BATCH_SIZE: Final = 20
#: The duration of a lease: longer than a connection with all waiting for a database.
LEASE: Final = timedelta(minutes=5)
_ORGANIZATIONS: Final = 20
_POSTS: Final = 500
_NOTHING: Final = "nothing was sent: the changelog does not list the posts any more"
_HIDDEN: Final = "nothing was sent: the changelog is not public"
_SEALED: Final = "nothing was sent: the subscriber's secret cannot be opened with the keys that are set"
_UNREADABLE: Final = SentLetter(
    posting=MailResult.RETRY, error="nothing was sent: a post or its changelog cannot be read"
)
_FAULT: Final = SentLetter(posting=MailResult.RETRY, error="the mail could not be sent: the server's log has the fault")


@final
@frozen(eq=False, repr=False)
class Mailer:
    """``every`` is how long the oldest post waits: the minimum time between two mails to one subscriber.

    ``on_posted`` is called with the outcomes of the mails of one connection; their errors have no addresses.
    During an outage of the store, outcomes are stored again after each ``pause``.
    ``on_fault`` is called with the fault of a changelog or a post: its mails are tried again, and others are sent.
    """

    _mailbox: Mailbox
    _changelogs: Changelogs
    _directory: Directory
    _sender: MailSender
    _clock: Clock
    _ids: IdSource
    _base_url: str = field(kw_only=True, alias="base_url")
    _every: timedelta = field(kw_only=True, alias="every")
    _on_posted: Callable[[Sequence[SentLetter]], object] = field(kw_only=True, alias="on_posted")
    _on_fault: Callable[[Exception], object] = field(kw_only=True, alias="on_fault")
    _pause: Callable[[], Awaitable[object]] = field(kw_only=True, alias="pause")

    async def turn(self) -> int:
        """Batch the posts that have waited long enough, send the mails of one connection, and return their number.

        Mails that were not tried do not count: the caller waits before it connects again.
        """
        await self._batch()
        now = self._clock.now()
        taken = await self._mailbox.take(limit=BATCH_SIZE, now=now, lease=LEASE)
        ready: list[tuple[LeasedMail, Letter]] = []
        cached_posts: dict[tuple[str, str], list[Post]] = {}
        # Each once for all mails of a batch.
        faults: dict[str, Exception] = {}
        for mail in taken:
            try:
                letter = await self._letter(mail, cached_posts)
            except StoreUnavailable:
                raise
            except Exception as exc:  # noqa: BLE001  # an unreadable post must not stop the mails of others
                faults[repr(exc)] = exc
                await self._note(mail, _UNREADABLE)
                continue
            if isinstance(letter, Letter):
                ready.append((mail, letter))
            else:
                await self._mailbox.record(
                    mail, MailOutcome(status=MessageStatus.FAILED, at=now, due_at=now, error=letter)
                )
        for fault in faults.values():
            self._on_fault(fault)
        if not ready:
            return len(taken)
        try:
            sent = await self._sender.send([letter for _, letter in ready])
        except Exception as exc:  # noqa: BLE001  # a mail that always fails must end
            self._on_fault(exc)
            sent = [_FAULT] * len(ready)
        outcomes = [_without_address(posted, letter) for (_, letter), posted in zip(ready, sent, strict=True)]
        self._on_posted(outcomes)
        for (mail, _), posted in zip(ready, outcomes, strict=True):
            await until_stored(partial(self._note, mail, posted), self._pause)
        return len(taken) - sum(posted.posting is MailResult.NOT_TRIED for posted in outcomes)

    async def _batch(self) -> None:
        # Organizations that cannot be read in this turn: they still wait, and take the places of others.
        left: set[str] = set()
        while unreadable := await self._batch_some(left):
            left |= unreadable

    async def _batch_some(self, left: Collection[str]) -> set[str]:
        """Batch the posts of some organizations, and return the unreadable organizations."""
        now = self._clock.now()
        limit = _ORGANIZATIONS + len(left)
        unreadable: set[str] = set()
        for waiting in await self._mailbox.waiting(now - self._every, limit=limit, posts=_POSTS):
            if waiting.organization_id in left:
                continue
            fresh = [each for each in waiting.posts if now - each.at <= STALE]
            try:
                showing = [
                    changelog.id
                    for changelog in await self._changelogs.all_of(waiting.organization_id)
                    if changelog.is_public and await self._listed(changelog, fresh, limit=1)
                ]
            except StoreUnavailable:
                raise
            except Exception as exc:  # noqa: BLE001  # an unreadable post must not stop the mails of others
                self._on_fault(exc)
                unreadable.add(waiting.organization_id)
                continue
            await self._mailbox.batch(waiting, self._ids.new_id("bat_"), changelog_ids=showing, at=now)
        return unreadable

    async def _listed(self, changelog: PublicChangelog, announced: Sequence[AnnouncedPost], limit: int) -> list[Post]:
        posts: list[Post] = []
        for announcement in announced:
            post = await self._changelogs.post(changelog, announcement.post_id)
            if post is not None and changelog.lists(post) and announcement.at - post.occurred_at <= RECENT:
                posts.append(post)
                if len(posts) == limit:
                    break
        return posts

    async def _letter(self, mail: LeasedMail, cached_posts: dict[tuple[str, str], list[Post]]) -> Letter | str:
        subscriber = mail.subscriber
        own = await self._changelogs.all_of(subscriber.organization_id)
        changelog = next((each for each in own if each.id == subscriber.changelog_id and each.is_public), None)
        if changelog is None:
            return _HIDDEN
        if mail.token is None:
            return _SEALED
        links = ChangelogLinks(base_url=self._base_url, slug=changelog.slug)
        if mail.kind is MailKind.CONFIRMATION or mail.batch_id is None:
            return confirmation(mail, mail.token, changelog, links)
        key = (mail.batch_id, changelog.id)
        if key not in cached_posts:
            announced = await self._mailbox.posts(mail.batch_id)
            posts = await self._listed(changelog, announced, limit=_POSTS)
            cached_posts[key] = sorted(posts, key=lambda post: (post.occurred_at, post.id), reverse=True)
        zone = await zone_of(self._directory, subscriber.organization_id)
        return posts_letter(mail, mail.token, changelog, cached_posts[key], links, zone) or _NOTHING

    async def _note(self, mail: LeasedMail, posted: SentLetter) -> None:
        now = self._clock.now()
        match posted.posting:
            case MailResult.SENT:
                outcome = MailOutcome(status=MessageStatus.DELIVERED, at=now, due_at=now)
            case MailResult.REFUSED:
                outcome = MailOutcome(status=MessageStatus.FAILED, at=now, due_at=now, error=posted.error)
            case MailResult.RETRY:
                again = next_attempt_at(mail.id, mail.attempts, NotSent(error=posted.error or ""), now)
                status = MessageStatus.FAILED if again is None else MessageStatus.PENDING
                outcome = MailOutcome(status=status, at=now, due_at=whole_ms(again or now), error=posted.error)
            case MailResult.NOT_TRIED:
                await self._mailbox.requeue(mail, due_at=now)
                return
        await self._mailbox.record(mail, outcome)


def _without_address(posted: SentLetter, letter: Letter) -> SentLetter:
    """Return an outcome to store and to log: servers repeat the address, which may be deleted before the outcome."""
    return posted if posted.error is None else evolve(posted, error=posted.error.replace(letter.to, "…"))
