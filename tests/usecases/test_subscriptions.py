"""Subscribing by e-mail: forms in this process, mails over a real socket, and a manual clock."""

import asyncio
import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial
from itertools import count
from typing import Final, Self, final

import httpx
import pytest
from attrs import evolve, field, frozen
from structlog.testing import capture_logs
from tests.builders import a_post
from tests.changelog.reader import HOME, HOSTILE, Reader, publish
from tests.dashboard.browsing import Seen
from tests.mail_server import MailServer, Received
from tests.refusals import existing

from contentsvc_adapters.mail import SmtpSender
from contentsvc_adapters.markup import SafeMarkdown
from contentsvc_core.content.posts import Post, PostStatus
from contentsvc_core.content.public.changelogs import PublicChangelog
from contentsvc_core.errors import StoreUnavailable, UnreadableRow
from contentsvc_core.outgoing.letters import MailResult, SentLetter
from contentsvc_core.outgoing.messages import MessageStatus
from contentsvc_core.outgoing.retries import MAX_ATTEMPTS
from contentsvc_core.outgoing.smtp import SmtpServer
from contentsvc_core.outgoing.subscribers import (
    RECENT,
    RESEND_AFTER,
    STALE,
    AnnouncedPost,
    LeasedMail,
    MailOutcome,
    Subscriber,
    SubscriberStatus,
    read_address,
    subscription,
)
from contentsvc_core.testing import START
from contentsvc_core.usecases.expire import Sweeper
from contentsvc_core.usecases.mail import Mailer
from contentsvc_http.settings import Settings
from contentsvc_http.wiring.mailing import MailReport

_EVERY: Final = timedelta(minutes=15)
#: The same for all tests, so that they share an application. The mailer gets the address of the real mail server.
_SETTINGS: Final = Settings(
    base_url="https://acme.example", smtp_url="smtp://mail.example", mail_from="changelog@acme.example"
)
#: The application limits each client's address, so each test has its own.
_CLIENTS: Final = count(1)
_URL: Final = re.compile(r"https://acme\.example\S+token=[A-Za-z0-9]+")


@final
@frozen(kw_only=True)
class Office:
    """Acme with a mail server, and readers who subscribe."""

    reader: Reader
    server: MailServer
    mailer: Mailer
    #: The outcomes that the mailer has reported.
    outcomes: list[SentLetter]
    #: The faults that the mailer has reported.
    faults: list[Exception]
    #: The readers' address.
    client: str = field(factory=lambda: f"10.0.0.{next(_CLIENTS)}")

    @classmethod
    @asynccontextmanager
    async def opened(cls, **server: object) -> AsyncGenerator[Self]:
        async with MailServer.running(**server) as mail:
            reader = await Reader.made(_SETTINGS)
            world = reader.world
            outcomes: list[SentLetter] = []
            faults: list[Exception] = []
            mailer = Mailer(
                world.stores.mailbox,
                world.stores.changelogs,
                world.stores.directory,
                SmtpSender(SmtpServer.read(mail.url), _SETTINGS.mail_from),
                world.clock,
                world.ids,
                base_url=_SETTINGS.base_url,
                every=_EVERY,
                on_posted=outcomes.extend,
                on_fault=faults.append,
                pause=partial(asyncio.sleep, 0),
            )
            yield cls(reader=reader, server=mail, mailer=mailer, outcomes=outcomes, faults=faults)

    async def post(self, path: str, *, address: str | None = None, **headers: str) -> httpx.Response:
        body = {} if address is None else {"address": address}
        fields = {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.reader.world.send("POST", path, data=body, headers=fields, client=(self.client, 123))

    async def enter(self, address: str, **headers: str) -> httpx.Response:
        return await self.post(f"{HOME}/subscribe", address=address, **headers)

    async def mails(self) -> list[Received]:
        """Send due mails; return and clear the received ones."""
        while await self.mailer.turn():
            pass
        came = list(self.server.mails)
        self.server.mails.clear()
        return came

    async def subscribed(self, address: str = "ann@example.org") -> None:
        assert (await self.enter(address)).status_code == 200
        [mail] = await self.mails()
        assert (await self.post(path_in(mail))).status_code == 200

    def wait(self, by: timedelta = _EVERY + timedelta(seconds=1)) -> None:
        self.reader.world.clock.advance(by)

    async def publish(self, title: str = "A lamp", *, age: timedelta = timedelta(), markdown: str = "It.") -> Post:
        """Publish a draft about an event of the given age."""
        world, acme = self.reader.world, self.reader.acme
        now = world.clock.now()
        draft = a_post(
            now,
            id=world.ids.new_id("post_"),
            organization_id=acme.organization.id,
            title=title,
            content=SafeMarkdown().html(markdown),
            markdown=markdown,
            occurred_at=now - age,
        )
        self.reader.state.posts[draft.id] = draft
        later = now + timedelta(milliseconds=1)
        published = evolve(draft, status=PostStatus.PUBLISHED, updated_at=later, published_at=later)
        assert await world.stores.posts.change(published, unchanged_since=now)
        return published

    def statuses(self) -> dict[str, MessageStatus]:
        return {mail.id: mail.status for mail in self.reader.state.mails.values()}


@pytest.fixture
async def office() -> AsyncGenerator[Office]:
    async with Office.opened() as opened:
        yield opened


def path_in(mail: Received) -> str:
    found = existing(_URL.search(mail.text))
    return found[0].removeprefix("https://acme.example")


async def test_a_reader_subscribes_gets_a_post_and_leaves(office: Office) -> None:
    page = Seen(await office.reader.get("/subscribe"))
    assert [letter["action"] for tag, letter in page.elements if tag == "form"] == [
        f"https://acme.example{HOME}/subscribe"
    ]
    assert Seen(await office.enter(" Ann@Example.ORG ")).heading == "Check your mail"
    [mail] = await office.mails()
    assert mail.to == ("ann@example.org",)
    assert mail.message["Subject"] == "Confirm your subscription to Acme's lamps"
    assert mail.message["List-Unsubscribe"] is None
    link = path_in(mail)
    # Programs that check links do not confirm.
    for _ in range(2):
        assert Seen(await office.reader.world.send("GET", link)).heading == "Confirm your subscription"
    [subscriber] = await office.reader.world.stores.subscribers.subscribers(office.reader.acme.organization.id)
    assert subscriber.status is SubscriberStatus.PENDING
    assert subscriber.id.startswith("sub_")
    assert Seen(await office.post(link)).heading == "You are subscribed"
    again = await office.post(link)
    assert (again.status_code, again.headers["Cache-Control"]) == (410, "no-store")
    assert Seen(again).links == {"Enter your address": f"https://acme.example{HOME}/subscribe"}

    post = await office.publish("Steer the beam", markdown="Turn it.")
    assert await office.mails() == []
    office.wait()
    [letter] = await office.mails()
    assert letter.message["Subject"] == "Acme's lamps: Steer the beam"
    assert "Turn it." in letter.text
    assert "<p>Turn it.</p>" in letter.html
    assert f"https://acme.example{HOME}/" in letter.text
    assert post.id in office.reader.state.announced
    leaving = letter.message["List-Unsubscribe"].strip("<>")
    assert letter.message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert leaving.removeprefix("https://acme.example") == path_in(letter)
    assert letter.message["List-Id"] == "<acme.changelog.acme.example>"
    # The one-click request of a mail program (RFC 8058), which has no origin and no cookie.
    click = await office.reader.world.send(
        "POST", leaving.removeprefix("https://acme.example"), data={"List-Unsubscribe": "One-Click"}
    )
    assert click.status_code == 200
    assert office.reader.state.subscribers == {}
    assert "ann@example.org" not in repr(office.reader.state)
    await office.publish("Another")
    office.wait()
    assert await office.mails() == []


async def test_the_page_to_leave_asks_first_and_works_while_the_changelog_is_off(office: Office) -> None:
    await office.subscribed()
    await office.publish()
    office.wait()
    [mail] = await office.mails()
    await publish(office.reader.acme, is_public=False)

    assert Seen(await office.reader.world.send("GET", path_in(mail))).heading == "Unsubscribe"
    assert len(office.reader.state.subscribers) == 1
    for _ in range(2):
        # A repeated request is accepted: the address is deleted.
        assert Seen(await office.post(path_in(mail))).heading == "You are unsubscribed"
    assert office.reader.state.subscribers == {}


async def test_pages_of_links_without_a_token_are_not_there(office: Office) -> None:
    for page in ("confirm", "leave"):
        assert (await office.reader.world.send("GET", f"{HOME}/subscribe/{page}")).status_code == 404
    assert (await office.post(f"{HOME}/subscribe/confirm?token=nonsense")).status_code == 410


async def test_known_and_unknown_addresses_get_the_same_answer(office: Office) -> None:
    await office.subscribed("ann@example.org")
    await office.enter("bob@example.org")
    answers = [await office.enter(f"{name}@example.org") for name in ("ann", "bob", "eve")]

    assert len({(answer.status_code, answer.content) for answer in answers}) == 1
    # Each address gets one mail: confirmed addresses, and those with a recent mail, get no other one.
    assert sorted(mail.to for mail in await office.mails()) == [("bob@example.org",), ("eve@example.org",)]


async def test_an_invalid_address_is_refused_and_stays_in_the_form(office: Office) -> None:
    for typed in ("", "ann", "ann@example", "a b@example.org", "ann@exa mple.org", f"{'a' * 65}@example.org"):
        answer = await office.enter(typed)
        page = Seen(answer)
        assert answer.status_code == 422
        assert "An address looks like name@example.org" in page.text
        [field] = [attrs for _, attrs in page.elements if attrs.get("name") == "address"]
        assert field["value"] == typed.strip()
    hostile = Seen(await office.enter(HOSTILE))
    assert not [tag for tag, attrs in hostile.elements if tag == "script" and "page.js" not in attrs.get("src", "")]
    assert await office.mails() == []


async def test_no_header_comes_in_by_an_address(office: Office) -> None:
    assert (await office.enter("ann@example.org\r\nBcc: eve@example.org")).status_code == 422
    assert (await office.enter("ann@example.org,eve@example.org")).status_code == 422
    assert office.reader.state.subscribers == {}


async def test_forms_of_other_sites_are_refused(office: Office) -> None:
    for header in ({"Sec_Fetch_Site": "cross-site"}, {"Origin": "https://evil.example"}):
        assert (await office.enter("ann@example.org", **header)).status_code == 403
    assert office.reader.state.subscribers == {}


async def test_confirmations_are_limited_for_an_address_of_the_network(office: Office) -> None:
    answers = [await office.enter(f"a{number}@example.org") for number in range(7)]

    assert [answer.status_code for answer in answers] == [200] * 6 + [429]
    assert "Try again in a minute" in Seen(answers[-1]).text
    assert len(await office.mails()) == 6


async def test_an_address_gets_ten_confirmation_mails_a_day(office: Office) -> None:
    answers: list[httpx.Response] = []
    came = 0
    # Many servers deliver all of these to one mailbox.
    for address in ["ann@example.org", *(f"a.nn+{n}@example.org" for n in range(6))] * 2:
        answers.append(await office.enter(address))
        came += len(await office.mails())
        office.wait()
    assert came == 10
    # The answer does not reveal the mails of other visitors.
    assert len({(answer.status_code, answer.content) for answer in answers}) == 1

    office.wait(timedelta(days=1))
    await office.enter("ann@example.org")
    assert len(await office.mails()) == 1


async def test_posts_that_are_published_together_come_in_one_mail(office: Office) -> None:
    await office.subscribed()
    for number in sorted(range(122), key=str):
        await office.publish(f"Post {number}", age=timedelta(minutes=number))
    office.wait()
    [mail] = await office.mails()

    assert mail.message["Subject"] == "Acme's lamps: 122 new posts"
    assert mail.text.count("It.") == 10
    assert "112 more posts" in mail.text
    # The newest event first.
    positions = [mail.text.index(f"Post {number}\n") for number in range(10)]
    assert positions == sorted(positions)
    # The next mail waits for the same time.
    await office.publish("One more")
    office.wait(_EVERY - timedelta(seconds=1))
    assert await office.mails() == []
    office.wait(timedelta(seconds=2))
    assert len(await office.mails()) == 1


async def test_old_posts_that_are_published_now_are_no_news(office: Office) -> None:
    await office.subscribed()
    await office.publish("Old", age=RECENT + timedelta(days=1))
    office.wait()
    assert await office.mails() == []
    await office.publish("Older", age=timedelta(days=400))
    await office.publish("New", age=RECENT - timedelta(days=1))
    office.wait()
    [mail] = await office.mails()
    assert mail.message["Subject"] == "Acme's lamps: New"
    # Nothing was sent for days: the waiting posts are no longer news.
    await office.publish("Late")
    office.wait(STALE + timedelta(days=1))
    assert await office.mails() == []


@pytest.mark.parametrize("retention_days", [7, 30])
async def test_mails_and_announced_posts_are_kept_as_long_as_a_post_is_news(
    office: Office, retention_days: int
) -> None:
    world, acme = office.reader.world, office.reader.acme.organization
    office.reader.state.organizations[acme.id] = evolve(acme, retention_days=retention_days)
    await office.subscribed()
    await office.publish()
    sweeper = Sweeper(world.stores, world.clock)
    office.wait(RECENT)
    assert (await sweeper.sweep()).messages == 0
    # The mail with the link, and the post a millisecond later.
    office.wait(timedelta(milliseconds=2))
    assert (await sweeper.sweep()).messages == 2


async def test_a_post_that_is_taken_back_before_its_mail_is_not_in_it(office: Office) -> None:
    await office.subscribed()
    post = await office.publish("Too early")
    draft = evolve(post, status=PostStatus.DRAFT, updated_at=post.updated_at + timedelta(seconds=1))
    assert await office.reader.world.stores.posts.change(draft, unchanged_since=post.updated_at)
    office.wait()
    assert await office.mails() == []
    # This also holds for a mail that waits for its server.
    office.server.answers["MAIL"] = "451 later"
    second = await office.publish("Too early, too")
    office.wait()
    assert await office.mails() == []
    draft = evolve(second, status=PostStatus.DRAFT, updated_at=second.updated_at + timedelta(seconds=1))
    assert await office.reader.world.stores.posts.change(draft, unchanged_since=second.updated_at)
    office.server.answers.clear()
    office.wait(timedelta(hours=1))
    assert await office.mails() == []


async def test_a_mail_that_waits_while_its_changelog_is_hidden_has_failed(office: Office) -> None:
    await office.subscribed()
    office.server.answers["MAIL"] = "451 later"
    await office.publish()
    office.wait()
    assert await office.mails() == []
    await publish(office.reader.acme, is_public=False)
    office.server.answers.clear()
    office.wait(timedelta(hours=1))

    assert await office.mails() == []
    [_, mail] = office.reader.state.mails.values()
    assert (mail.status, mail.error) == (MessageStatus.FAILED, "nothing was sent: the changelog is not public")


async def test_a_mail_that_may_have_arrived_comes_again_with_the_same_id(office: Office) -> None:
    await office.subscribed()
    office.server.hangs_up = 1
    await office.publish("Once")
    office.wait()
    [first] = await office.mails()
    assert list(office.statuses().values()).count(MessageStatus.PENDING) == 1
    office.wait(timedelta(seconds=10))
    [second] = await office.mails()
    assert first.message["Message-ID"] == second.message["Message-ID"]
    assert set(office.statuses().values()) == {MessageStatus.DELIVERED}
    office.wait(timedelta(days=2))
    assert await office.mails() == []


async def test_outcomes_of_mails_are_stored_after_an_outage_and_no_mail_is_repeated(
    office: Office,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mailbox = office.reader.world.stores.mailbox
    store, stored = mailbox.record, list[str]()

    async def record(taken: LeasedMail, outcome: MailOutcome) -> None:
        stored.append(taken.id)
        if len(stored) in {1, 2, 4}:
            raise StoreUnavailable
        await store(taken, outcome)

    monkeypatch.setattr(mailbox, "record", record)
    for name in ("ann", "bob", "eve"):
        await office.enter(f"{name}@example.org")

    assert await office.mailer.turn() == 3

    assert [posted.posting for posted in office.outcomes] == [MailResult.SENT] * 3
    assert len(stored) == 6
    office.server.mails.clear()
    office.wait(timedelta(minutes=6))
    assert await office.mails() == []


@pytest.mark.parametrize("is_batched", [False, True])
async def test_an_unreadable_post_does_not_stop_the_mails_of_others(
    office: Office, monkeypatch: pytest.MonkeyPatch, is_batched: bool
) -> None:
    changelogs, torn = office.reader.world.stores.changelogs, UnreadableRow("torn")

    async def unreadable(*_: object) -> Post:
        raise torn

    await office.subscribed()
    if is_batched:
        office.server.answers["MAIL"] = "451 later"
    await office.publish("Torn")
    office.wait()
    if is_batched:
        assert await office.mails() == []
        office.server.answers.clear()
        office.wait(timedelta(seconds=10))
    with monkeypatch.context() as patch:
        patch.setattr(changelogs, "post", unreadable)
        await office.enter("bob@example.org")
        [mail] = await office.mails()
        assert mail.to == ("bob@example.org",)
        assert set(office.faults) == {torn}
    office.wait(timedelta(hours=1))
    [mail] = await office.mails()
    assert mail.message["Subject"] == "Acme's lamps: Torn"


async def test_many_unreadable_organizations_do_not_delay_the_mails_of_others(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = office.reader.world
    changelogs, announced = world.stores.changelogs, office.reader.state.announced
    torn = [f"org_{number:02}" for number in range(45)]
    of = changelogs.all_of

    async def all_of(organization_id: str) -> Sequence[PublicChangelog]:
        if organization_id in torn:
            raise UnreadableRow(organization_id)
        return await of(organization_id)

    await office.subscribed()
    for owner in torn:
        announced[owner] = (owner, AnnouncedPost(post_id=owner, at=world.clock.now()), None)
    office.wait(timedelta(seconds=1))
    await office.publish("A lamp")
    office.wait()
    monkeypatch.setattr(changelogs, "all_of", all_of)

    assert await office.mailer.turn() == 1
    assert [str(fault) for fault in office.faults] == torn
    [mail] = office.server.mails
    assert mail.message["Subject"] == "Acme's lamps: A lamp"


async def test_each_fault_of_a_batch_is_reported_once(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ann", "bob", "eve"):
        await office.enter(f"{name}@example.org")
    messages = iter(["torn", "worn", "torn"])

    async def all_of(_: str) -> Sequence[PublicChangelog]:
        raise UnreadableRow(next(messages))

    monkeypatch.setattr(office.reader.world.stores.changelogs, "all_of", all_of)
    assert await office.mailer.turn() == 3
    assert [str(fault) for fault in office.faults] == ["torn", "worn"]


async def test_mails_whose_sending_has_a_fault_are_retried_and_fail_after_the_last_attempt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with Office.opened() as office:
        await office.enter("ann@example.org")

        async def send(*_: object) -> Sequence[SentLetter]:
            raise ZeroDivisionError

        monkeypatch.setattr(SmtpSender, "send", send)
        turns = 0
        while await office.mailer.turn():
            turns += 1
            office.wait(timedelta(hours=12))

        assert (turns, len(office.faults), len(office.outcomes)) == (MAX_ATTEMPTS, MAX_ATTEMPTS, MAX_ATTEMPTS)
        errors = await office.reader.world.stores.mailbox.errors(office.reader.acme.organization.id)
        assert set(errors.values()) == {"the mail could not be sent: the server's log has the fault"}


@pytest.mark.parametrize(("code", "posting"), [(550, MailResult.REFUSED), (450, MailResult.RETRY)])
async def test_mails_that_the_server_refuses_for_good_have_failed_and_are_reported_without_an_address(
    code: int, posting: MailResult
) -> None:
    async with Office.opened(answers={"RCPT": f"{code} <nobody@example.org>: no such user"}) as office:
        await office.enter("nobody@example.org")
        await office.enter("somebody@example.org")
        for _ in range(1 if posting is MailResult.REFUSED else MAX_ATTEMPTS):
            assert await office.mails() == []
            office.wait(timedelta(hours=13))
        [mail, _] = office.reader.state.mails.values()
        assert (mail.status, mail.error) == (MessageStatus.FAILED, f"the server answered {code}: <…>: no such user")
        assert SentLetter(posting=posting, error=mail.error) in office.outcomes


async def test_mails_wait_for_each_other_while_the_server_is_away() -> None:
    async with Office.opened(answers={"MAIL": "421 come back later"}) as office:
        for number in range(3):
            await office.enter(f"ann{number}@example.org")

        # A full batch is followed by the next one at once, so mails that were not tried do not count.
        assert await office.mailer.turn() == 1
        assert office.outcomes == [
            SentLetter(posting=MailResult.RETRY, error="the server answered 421: come back later"),
            *[SentLetter(posting=MailResult.NOT_TRIED)] * 2,
        ]
        assert [(mail.attempts, mail.error) for mail in office.reader.state.mails.values()] == [
            (1, "the server answered 421: come back later"),
            *[(0, None)] * 2,
        ]


async def test_a_mail_hides_the_details_that_public_pages_hide(office: Office) -> None:
    await office.subscribed()
    link = "https://host.example/commit/abc1234"
    markdown = f"## Fixed\n\n* Stop the horn ([abc1234]({link}))\n\n## Contributors\n\n* @keeper\n"
    await office.publish("Horn", markdown=markdown)
    office.wait()
    [mail] = await office.mails()
    for part in (mail.text, mail.html):
        assert "Stop the horn" in part
        assert "abc1234" not in part
        assert "@keeper" not in part


async def test_hostile_words_stay_words_in_a_mail(office: Office) -> None:
    await publish(office.reader.acme, title=f"Lamps {HOSTILE}"[:90])
    await office.subscribed()
    await office.publish(HOSTILE)
    office.wait()
    [mail] = await office.mails()
    assert "<script" not in mail.html
    assert HOSTILE in mail.text


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("Ann.O'Neil+lamps@Example.org", "ann.o'neil+lamps@example.org"),
        ("ann@bücher.example", "ann@xn--bcher-kva.example"),
        ("änn@example.org", None),
        ("ann@-example.org", None),
        ("ann..b@example.org", None),
        ('"ann b"@example.org', None),
        ("ann@127.0.0.1", None),
        (f"ann@{'a' * 64}.org", None),
        (f"ann@{'a.' * 130}org", None),
        ("=?utf-8?q?ann?=.b@example.org", None),
    ],
)
def test_an_address_has_one_form(typed: str, kept: str | None) -> None:
    assert read_address(typed) == kept


_ASKING: Final = Subscriber(
    id="sub_2", organization_id="org", changelog_id="chl", address="ann@example.org", digest="2", created_at=START
)


@pytest.mark.parametrize(
    ("status", "before", "stores"),
    [
        (SubscriberStatus.PENDING, RESEND_AFTER, True),
        (SubscriberStatus.PENDING, RESEND_AFTER - timedelta(milliseconds=1), False),
        (SubscriberStatus.CONFIRMED, timedelta(days=1), False),
    ],
)
def test_a_pending_address_is_asked_again_after_a_pause(
    status: SubscriberStatus, before: timedelta, stores: bool
) -> None:
    existing = evolve(_ASKING, id="sub_1", digest="1", status=status, created_at=START - before)

    again = evolve(_ASKING, id="sub_1") if stores else True
    assert subscription(_ASKING, existing, is_full=False) == again
    assert subscription(_ASKING, existing, is_full=True) is False


def test_a_new_address_is_stored_if_there_is_a_place_and_a_repeated_request_changes_nothing() -> None:
    assert subscription(_ASKING, None, is_full=False) is _ASKING
    assert subscription(_ASKING, None, is_full=True) is False
    assert subscription(_ASKING, _ASKING, is_full=True) is True


def test_mails_are_counted_and_a_fault_of_the_mail_server_is_logged_once_a_minute(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    times = iter([0.0, 59.0, 59.5, 60.0])
    monkeypatch.setattr("contentsvc_http.wiring.mailing.monotonic", lambda: next(times))
    counted: list[MailResult] = []
    report = MailReport(counted.append)
    with capture_logs() as lines:
        for reason, mails in (("away", 1), ("away", 1), ("busy", 20), ("away", 2)):
            report(
                [
                    SentLetter(posting=MailResult.SENT),
                    *[SentLetter(posting=MailResult.RETRY, error=reason)] * mails,
                ]
            )

    assert [(line["event"], line["log_level"], line["reason"], line["mails"]) for line in lines] == [
        ("mails not sent", "warning", "away", 1),
        ("mails not sent", "warning", "busy", 20),
        ("mails not sent", "warning", "away", 2),
    ]
    assert all("contentsvc doctor" in line["advice"] for line in lines)
    assert (counted.count(MailResult.SENT), counted.count(MailResult.RETRY)) == (4, 24)
