from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import final

from attrs import evolve

from contentsvc_adapters.memory.state import Mail, MemoryStore, State, refuse_unstorable, remove_first
from contentsvc_adapters.sealing import opened
from contentsvc_core.outgoing.events import EventType, Occurrence
from contentsvc_core.outgoing.messages import MessageStatus
from contentsvc_core.outgoing.subscribers import (
    CONFIRM_WITHIN,
    MAX_PENDING,
    MAX_SUBSCRIBERS,
    AnnouncedPost,
    LeasedMail,
    MailKind,
    MailOutcome,
    Subscriber,
    SubscriberStatus,
    WaitingPosts,
    subscription,
)


def announce(state: State, occurrences: Iterable[Occurrence]) -> None:
    owners = {
        occurrence.organization_id
        for occurrence in state.subscribers.values()
        if occurrence.status is SubscriberStatus.CONFIRMED
    }
    for occurrence in occurrences:
        if occurrence.type is EventType.POST_PUBLISHED and occurrence.organization_id in owners:
            post_id: str = occurrence.data["id"]
            state.announced.setdefault(
                post_id, (occurrence.organization_id, AnnouncedPost(post_id=post_id, at=occurrence.since), None)
            )


@final
class MemorySubscribers(MemoryStore):
    async def request(
        self, subscriber: Subscriber, token: str, *, at_most: int = MAX_SUBSCRIBERS, pending: int = MAX_PENDING
    ) -> bool:
        refuse_unstorable(subscriber, token)
        self._state.refuse_stranger(subscriber.organization_id)
        own = [each for each in self._state.subscribers.values() if each.changelog_id == subscriber.changelog_id]
        unconfirmed = sum(each.status is SubscriberStatus.PENDING for each in own)
        existing = next((each for each in own if each.address == subscriber.address), None)
        stored = subscription(subscriber, existing, is_full=len(own) >= at_most or unconfirmed >= pending)
        if isinstance(stored, bool):
            return stored
        self._state.forget_mails(stored.id)
        self._state.subscribers[stored.id] = stored
        self._state.subscriber_tokens[stored.id] = self._sealer.seal(token)
        mail = Mail(
            id=f"confirm/{subscriber.id}",
            organization_id=subscriber.organization_id,
            subscriber_id=stored.id,
            kind=MailKind.CONFIRMATION,
            created_at=subscriber.created_at,
            due_at=subscriber.created_at,
        )
        self._state.mails[mail.id] = mail
        return True

    async def confirm(self, digest: str, *, at: datetime, new_digest: str, new_token: str) -> Subscriber | None:
        subscriber = self._by(digest)
        if (
            subscriber is None
            or subscriber.status is not SubscriberStatus.PENDING
            or subscriber.created_at <= at - CONFIRM_WITHIN
        ):
            return None
        confirmed = evolve(subscriber, status=SubscriberStatus.CONFIRMED, confirmed_at=at, digest=new_digest)
        self._state.subscribers[subscriber.id] = confirmed
        self._state.subscriber_tokens[subscriber.id] = self._sealer.seal(new_token)
        return confirmed

    async def remove(self, digest: str) -> bool:
        subscriber = self._by(digest)
        if subscriber is not None:
            self._state.forget_subscriber(subscriber.id)
        return subscriber is not None

    async def remove_address(self, organization_id: str, address: str) -> int:
        own = [subscriber for subscriber in await self.subscribers(organization_id) if subscriber.address == address]
        for subscriber in own:
            self._state.forget_subscriber(subscriber.id)
        return len(own)

    async def subscribers(self, organization_id: str) -> Sequence[Subscriber]:
        own = [each for each in self._state.subscribers.values() if each.organization_id == organization_id]
        return sorted(own, key=lambda each: (each.changelog_id, each.address))

    async def confirmed(self, organization_id: str) -> Mapping[str, int]:
        own = await self.subscribers(organization_id)
        return Counter(each.changelog_id for each in own if each.status is SubscriberStatus.CONFIRMED)

    async def sweep(self, *, before: datetime, limit: int) -> int:
        unconfirmed = [each for each in self._state.subscribers.values() if each.status is SubscriberStatus.PENDING]
        old = sorted((each.created_at, each.id) for each in unconfirmed if each.created_at < before)[:limit]
        for _, id_ in old:
            self._state.forget_subscriber(id_)
        return len(old)

    def _by(self, digest: str) -> Subscriber | None:
        return next((each for each in self._state.subscribers.values() if each.digest == digest), None)


@final
class MemoryMailbox(MemoryStore):
    async def waiting(self, before: datetime, *, limit: int, posts: int) -> Sequence[WaitingPosts]:
        own: dict[str, list[AnnouncedPost]] = {}
        for owner, announced, batch_id in sorted(
            self._state.announced.values(), key=lambda each: (each[1].at, each[1].post_id)
        ):
            if batch_id is None:
                own.setdefault(owner, []).append(announced)
        due = [WaitingPosts(organization_id=owner, posts=of[:posts]) for owner, of in own.items() if of[0].at <= before]
        return due[:limit]

    async def batch(self, waiting: WaitingPosts, batch_id: str, *, changelog_ids: Sequence[str], at: datetime) -> int:
        ids = [each.post_id for each in waiting.posts]
        if any(each not in self._state.announced or self._state.announced[each][2] is not None for each in ids):
            return 0
        for each in ids:
            owner, announced, _ = self._state.announced[each]
            self._state.announced[each] = (owner, announced, batch_id)
        recipients = [
            each
            for each in self._state.subscribers.values()
            if each.changelog_id in changelog_ids and each.status is SubscriberStatus.CONFIRMED
        ]
        for each in recipients:
            id_ = f"{batch_id}/{each.id}"
            self._state.mails[id_] = Mail(
                id=id_,
                organization_id=each.organization_id,
                subscriber_id=each.id,
                kind=MailKind.POSTS,
                batch_id=batch_id,
                created_at=at,
                due_at=at,
            )
        return len(recipients)

    async def posts(self, batch_id: str) -> Sequence[AnnouncedPost]:
        own = [announced for _, announced, batch in self._state.announced.values() if batch == batch_id]
        return sorted(own, key=lambda each: (each.at, each.post_id))

    async def take(self, *, limit: int, now: datetime, lease: timedelta) -> Sequence[LeasedMail]:
        due = [
            mail for mail in self._state.mails.values() if mail.status is MessageStatus.PENDING and mail.due_at <= now
        ]
        due.sort(key=lambda mail: (mail.kind.value, mail.due_at, mail.id))
        ahead: Counter[tuple[MailKind, str]] = Counter()
        turns: list[tuple[str, int, Mail]] = []
        for mail in due:
            turns.append((mail.kind.value, ahead[mail.kind, mail.organization_id], mail))
            ahead[mail.kind, mail.organization_id] += 1
        turns.sort(key=lambda turn: turn[:2])
        return [self._take(mail, now + lease) for _, _, mail in turns[:limit]]

    def _take(self, mail: Mail, until: datetime) -> LeasedMail:
        owned = evolve(mail, takes=mail.takes + 1, due_at=until)
        self._state.mails[mail.id] = owned
        return LeasedMail(
            id=owned.id,
            kind=owned.kind,
            subscriber=self._state.subscribers[owned.subscriber_id],
            token=next(iter(opened(self._sealer, [self._state.subscriber_tokens[owned.subscriber_id]])), None),
            batch_id=owned.batch_id,
            attempts=owned.attempts + 1,
            takes=owned.takes,
            created_at=owned.created_at,
        )

    async def record(self, taken: LeasedMail, outcome: MailOutcome) -> None:
        refuse_unstorable(outcome)
        mail = self._held(taken)
        if mail is not None:
            self._state.mails[mail.id] = evolve(
                mail, status=outcome.status, attempts=taken.attempts, due_at=outcome.due_at, error=outcome.error
            )

    async def errors(self, organization_id: str) -> Mapping[str, str]:
        failed = [
            (mail.created_at, mail.id, mail.subscriber_id, mail.error)
            for mail in self._state.mails.values()
            if mail.organization_id == organization_id and mail.status is MessageStatus.FAILED
        ]
        return {subscriber_id: error for *_, subscriber_id, error in sorted(failed) if error is not None}

    async def requeue(self, taken: LeasedMail, *, due_at: datetime) -> None:
        mail = self._held(taken)
        if mail is not None:
            self._state.mails[mail.id] = evolve(mail, due_at=due_at)

    async def sweep(self, organization_id: str, *, before: datetime, limit: int) -> int:
        mails = [
            (mail.created_at, mail.id)
            for mail in self._state.mails.values()
            if mail.organization_id == organization_id and mail.created_at < before
        ]
        posts = [
            (announced.at, id_)
            for id_, (owner, announced, _) in self._state.announced.items()
            if owner == organization_id and announced.at < before
        ]
        return remove_first(self._state.mails, mails, limit) + remove_first(self._state.announced, posts, limit)

    def _held(self, taken: LeasedMail) -> Mail | None:
        mail = self._state.mails.get(taken.id)
        if mail is None or mail.status is not MessageStatus.PENDING:
            return None
        return mail if mail.takes == taken.takes else None
