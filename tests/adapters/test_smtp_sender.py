"""Sending letters over a real socket: TLS, signing in, refusals, and connections that end."""

import asyncio
import ssl
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from email import message_from_bytes
from email.header import decode_header, make_header
from email.policy import compat32
from pathlib import Path
from threading import Event
from typing import Final

import pytest
from attrs import evolve
from tests.adapters.internet import certified
from tests.mail_server import LOOPBACK, PATIENCE_S, MailServer

from contentsvc_adapters.mail import SmtpSender
from contentsvc_core.outgoing.letters import Letter, MailResult, SentLetter
from contentsvc_core.outgoing.smtp import SmtpServer
from contentsvc_core.testing import START

_FROM: Final = "changelog@acme.example"
_LETTER: Final = Letter(
    message_id="abc",
    sender_name="Äcme, lamps and more",
    to="ann@example.org",
    subject="A lamp ⚓",
    text="It shines.\n.dots stay\n",
    html="<p>It <b>shines</b>.</p>",
    at=START,
    unsubscribe_url="https://acme.example/leave?token=T",
)


def _sender(server: MailServer, *, tls: ssl.SSLContext | None = None, host: str | None = None) -> SmtpSender:
    read = SmtpServer.read(server.url)
    return SmtpSender(evolve(read, host=host or read.host), _FROM, tls=tls, timeout_s=10)


async def test_a_letter_arrives_with_both_parts_and_one_click_to_leave() -> None:
    async with MailServer.running() as server:
        assert await _sender(server).send([_LETTER]) == [SentLetter(posting=MailResult.SENT)]
        [mail] = server.mails

    message = mail.message
    assert (mail.sender, mail.to) == (_FROM, ("ann@example.org",))
    assert message["From"] == f'"Äcme, lamps and more" <{_FROM}>'
    assert (message["To"], message["Subject"]) == ("ann@example.org", "A lamp ⚓")
    assert message["Message-ID"] == "<abc@acme.example>"
    assert message["List-Unsubscribe"] == "<https://acme.example/leave?token=T>"
    assert message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert mail.text == _LETTER.text
    assert mail.html.strip() == _LETTER.html
    assert message.get_content_type() == "multipart/alternative"


async def test_a_long_address_to_leave_stays_readable_for_mail_programs() -> None:
    url = f"https://content.acme.example/changelog/lighthouse/subscribe/leave?token={'T' * 40}"
    async with MailServer.running() as server:
        await _sender(server).send([evolve(_LETTER, message_id="a" * 60, unsubscribe_url=url, list_label="a" * 63)])
        [mail] = server.mails

    # Mail programs do not decode these headers, other than the parser of the test.
    lines = mail.raw.decode().splitlines()
    assert f"List-Unsubscribe: <{url}>" in lines
    assert f"Message-ID: <{'a' * 60}@acme.example>" in lines
    assert f"List-Id: <{'a' * 63}.changelog.acme.example>" in lines


async def test_a_stop_ends_a_batch_after_the_current_letter_with_its_outcome() -> None:
    async with MailServer.running() as server:
        sender = _sender(server)
        server.on_taken = sender.close

        assert [each.posting for each in await sender.send([_LETTER] * 3)] == [
            MailResult.SENT,
            MailResult.NOT_TRIED,
            MailResult.NOT_TRIED,
        ]
        assert len(server.mails) == 1


async def test_a_letter_that_cannot_be_written_stops_no_others() -> None:
    unwritable = evolve(_LETTER, to="no address")
    encoded = evolve(_LETTER, sender_name="=?utf-8?b?////?=", to="bob@example.org")
    async with MailServer.running() as server:
        refused, *sent = await _sender(server).send([unwritable, encoded, _LETTER])

    assert (refused.posting, refused.error) == (MailResult.REFUSED, "the mail cannot be written: InvalidHeaderDefect")
    assert sent == [SentLetter(posting=MailResult.SENT)] * 2
    assert server.mails[0].message["From"] == f"= ?utf-8?b?////?= <{_FROM}>"


@pytest.mark.parametrize(
    "subject",
    [
        "€ Donaudampfschifffahrtsgesellschaftskapitän €",
        "v2.0.0: Acme € 👩\u200d👩\u200d👧\u200d👦 Donaudampfschifffahrtsgesellschaftskapitän lampenlampenlampe",
        # Encoded words with a further header, with a body, and in a text that has to be encoded.
        "Lamps =?utf-8?q?=0D=0ABcc:_eve=40example.org?=",
        "=?utf-8?q?a=0D=0A=0D=0Ahello?= =?utf-8?b?YQ==?=",
        "Lämps =?utf-8?q?=0D=0ABcc:_eve=40example.org?=",
    ],
)
async def test_a_subject_reads_as_it_was_written(subject: str) -> None:
    async with MailServer.running() as server:
        await _sender(server).send([evolve(_LETTER, subject=subject)])
        [mail] = server.mails

    message = message_from_bytes(mail.raw, policy=compat32)
    assert message["Bcc"] is None
    assert message.is_multipart()
    written = message["Subject"]
    assert max(map(len, f"Subject: {written}".splitlines())) <= 76
    assert str(make_header(decode_header(written))) == subject


async def test_no_header_comes_in_by_a_name_or_a_subject() -> None:
    hostile = "Lamps\r\nBcc: eve@example.org\r\n\r\nhello"
    async with MailServer.running() as server:
        sent = await _sender(server).send([evolve(_LETTER, sender_name=hostile, subject=hostile)])
        [mail] = server.mails

    assert sent == [SentLetter(posting=MailResult.SENT)]
    assert mail.to == ("ann@example.org",)
    assert mail.message["Bcc"] is None
    assert mail.message["Subject"] == "Lamps Bcc: eve@example.org hello"
    assert mail.message["From"].addresses[0].addr_spec == _FROM


async def test_the_password_is_sent_under_tls_alone(tmp_path: Path) -> None:
    tls, trust = certified(tmp_path, "localhost")
    async with MailServer.running(tls=tls, user="acme", password="pass word/") as server:
        sent = await _sender(server, tls=trust, host="localhost").send([_LETTER])
        assert sent == [SentLetter(posting=MailResult.SENT)]
        assert [(mail.encrypted, mail.user) for mail in server.mails] == [(True, "acme")]
        # The system's authorities did not issue the certificate.
        distrusted = await _sender(server, host="localhost").check()
        server.password = "another"
        refused = await SmtpSender(
            evolve(SmtpServer.read(server.url), host="localhost", password="wrong"), _FROM, tls=trust
        ).check()
    assert distrusted is not None
    assert "certificate is not valid" in distrusted
    assert refused == "the server answered 535: 5.7.8 wrong user or password"


async def test_letters_take_no_thread_of_other_work() -> None:
    loop, end = asyncio.get_running_loop(), Event()
    loop.set_default_executor(ThreadPoolExecutor(max_workers=1))
    other = loop.run_in_executor(None, end.wait)
    try:
        async with MailServer.running() as server, asyncio.timeout(PATIENCE_S):
            assert await _sender(server).send([_LETTER]) == [SentLetter(posting=MailResult.SENT)]
    finally:
        end.set()
        await other


async def test_a_server_without_starttls_gets_nothing() -> None:
    async with MailServer.running() as server:
        read = evolve(SmtpServer.read(server.url), in_clear=False)
        [posted] = await SmtpSender(read, _FROM).send([_LETTER])

    assert posted.posting is MailResult.RETRY
    assert posted.error is not None
    assert "STARTTLS" in posted.error
    assert server.mails == []


@pytest.mark.parametrize(
    ("begin", "reply", "posting"),
    [
        ("RCPT", "550 5.1.1 no such user", MailResult.REFUSED),
        ("RCPT", "450 4.2.0 greylisted", MailResult.RETRY),
        ("DATA", "554 5.7.1 spam", MailResult.REFUSED),
        ("DATA", "451 later", MailResult.RETRY),
        ("MAIL", "550 not your address", MailResult.RETRY),
    ],
)
async def test_a_permanent_refusal_of_the_server_is_not_retried(begin: str, reply: str, posting: MailResult) -> None:
    async with MailServer.running(answers={begin: reply}) as server:
        sent = await _sender(server).send([_LETTER, _LETTER])

    assert [each.posting for each in sent] == [posting] * 2
    assert sent[0].error == f"the server answered {reply[:3]}: {reply[4:]}"
    assert server.mails == []


async def test_a_connection_that_ends_leaves_the_rest_for_later() -> None:
    async with MailServer.running(hangs_up=1) as server:
        sent = await _sender(server).send([_LETTER] * 3)

    assert [each.posting for each in sent] == [MailResult.RETRY, MailResult.NOT_TRIED, MailResult.NOT_TRIED]
    assert sent[0].error == "the server ended the connection"


@pytest.mark.parametrize("begin", ["MAIL", "RCPT"])
async def test_a_server_that_is_too_busy_leaves_the_rest_for_later(begin: str) -> None:
    async with MailServer.running(answers={begin: "421 too busy"}) as server:
        sent = await _sender(server).send([_LETTER] * 3)

    assert [each.posting for each in sent] == [MailResult.RETRY, MailResult.NOT_TRIED, MailResult.NOT_TRIED]
    assert sent[0].error == "the server answered 421: too busy"


@pytest.mark.parametrize("answers", [{}, {"QUIT": "250 fine"}, {"QUIT": "500 unknown command"}])
async def test_a_limit_of_mails_for_a_connection_takes_no_attempt_of_the_rest(answers: dict[str, str]) -> None:
    async with MailServer.running(per_connection=1, answers=answers) as server:
        sent = await _sender(server).send([_LETTER] * 3)
        assert len(server.mails) == 1

    later = SentLetter(posting=MailResult.NOT_TRIED, error="the server answered 450: 4.7.1 too much mail")
    assert sent == [SentLetter(posting=MailResult.SENT), later, later]


async def test_a_slow_server_leaves_the_rest_for_later() -> None:
    async with MailServer.running() as server:
        sent = await SmtpSender(SmtpServer.read(server.url), _FROM, within_s=0).send([_LETTER] * 3)
        assert len(server.mails) == 1

    later = SentLetter(posting=MailResult.NOT_TRIED, error="the server was slow with the mails before")
    assert sent == [SentLetter(posting=MailResult.SENT), later, later]


async def test_a_server_that_does_not_answer_is_not_called_unreachable() -> None:
    silent = await asyncio.start_server(lambda _, writer: held.append(writer), LOOPBACK, 0)
    held: list[asyncio.StreamWriter] = []
    async with silent:
        port = silent.sockets[0].getsockname()[1]
        server = SmtpServer.read(f"smtp://{LOOPBACK}:{port}?starttls=off")
        assert await SmtpSender(server, _FROM, timeout_s=0.05).check() == "the server did not answer in time"
        # Since Python 3.12, a server waits for its connections.
        for writer in held:
            writer.close()


@pytest.mark.parametrize(
    ("piece", "pause_s", "reason"),
    [
        (b"220-hello\r\n" * 1000, 0, "the server sent a reply without end"),
        (b"220-hello\r\n", 0.01, "the server did not answer in time"),
        (b"2", 0.01, "the server did not answer in time"),
    ],
)
async def test_a_reply_without_end_ends_the_connection(piece: bytes, pause_s: float, reason: str) -> None:
    async def answer(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while True:
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(pause_s)
        writer.close()

    async with await asyncio.start_server(answer, LOOPBACK, 0) as endless:
        port = endless.sockets[0].getsockname()[1]
        server = SmtpServer.read(f"smtp://{LOOPBACK}:{port}?starttls=off")
        timeout_s = 0.1 if pause_s else PATIENCE_S
        assert await SmtpSender(server, _FROM, timeout_s=timeout_s).check() == reason


async def test_a_server_that_is_away_is_tried_again() -> None:
    async with MailServer.running(answers={"QUIT": "250 fine"}) as server:
        sender = _sender(server)
        assert await sender.check() is None
    sent = await sender.send([_LETTER])

    assert sent[0].posting is MailResult.RETRY
    assert "cannot be reached" in str(sent[0].error)


async def test_a_server_of_another_protocol_is_called_so() -> None:
    async def answer(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"SSH-2.0-lamp\r\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, LOOPBACK, 0) as other:
        server = SmtpServer.read(f"smtp://{LOOPBACK}:{other.sockets[0].getsockname()[1]}?starttls=off")
        assert await SmtpSender(server, _FROM).check() == "the server does not speak SMTP: 2.0-lamp"
