"""Letters: the whole text of each kind of mail, in both parts."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo

import pytest
from attrs import asdict, evolve
from tests.builders import a_post

from contentsvc_core.content.posts import Post, PostStatus
from contentsvc_core.content.public.changelogs import PublicChangelog
from contentsvc_core.content.public.links import ChangelogLinks
from contentsvc_core.outgoing.letters import (
    Letter,
    confirmation,
    notice_letter,
    plain,
    posts_letter,
    recipient_confirmation,
)
from contentsvc_core.outgoing.messages import Message, message_for_confirmation
from contentsvc_core.outgoing.notices import notice_of
from contentsvc_core.outgoing.recipients import Addressee, Recipient
from contentsvc_core.outgoing.subscribers import LeasedMail, MailKind, Subscriber
from contentsvc_core.testing import START

_BASE: Final = "https://acme.example"
_GOLDEN: Final = Path(__file__).parent / "golden_letters.json"
_CHANGELOG: Final = PublicChangelog(
    id="chl_1",
    organization_id="org_1",
    slug="acme",
    title="Acme's <lamps>",
    is_public=True,
    created_at=START,
    updated_at=START,
)
_LINKS: Final = ChangelogLinks(base_url=_BASE, slug="acme")
_MAIL: Final = LeasedMail(
    id="mail_1",
    kind=MailKind.POSTS,
    subscriber=Subscriber(
        id="sub_1",
        organization_id="org_1",
        changelog_id="chl_1",
        address="ann@example.org",
        digest="0" * 64,
        created_at=START,
    ),
    token="t",
    batch_id="bat_1",
    attempts=0,
    takes=1,
    created_at=START + timedelta(hours=1),
)
_ADDRESSEE: Final = Addressee(
    recipient=Recipient(organization_id="org_1", address="ops@acme.example", digest="0" * 64, asked_at=START), token="t"
)


def _post(number: int, content: str = "<p>It <b>shines</b>.</p>") -> Post:
    at = START + timedelta(hours=number)
    return a_post(
        at,
        id=f"post_{number}",
        title=f"Lamp {number} & more",
        content=content,
        markdown="It **shines**.",
        status=PostStatus.PUBLISHED,
        published_at=at,
        occurred_at=at,
    )


def _posts_letter(*posts: Post, zone: str = "UTC") -> Letter | None:
    return posts_letter(_MAIL, "t", _CHANGELOG, posts, _LINKS, ZoneInfo(zone))


def _asked(name: str) -> Letter:
    message = message_for_confirmation(
        "whe_1", "org_1", "msg_1", address="ops@acme.example", organization=name, at=START
    )
    return recipient_confirmation(message, _ADDRESSEE, "t", _BASE)


def _notice() -> Letter:
    message = Message(
        id="msg_1",
        organization_id="org_1",
        endpoint_id="whe/1",
        type="run.failed",
        data={"id": "run_1", "reason": "the writer is <away>"},
        occurred_at=None,
        created_at=START + timedelta(seconds=1),
        due_at=START,
    )
    return notice_letter(message, notice_of(message, _BASE), _ADDRESSEE, "t", _BASE)


def _shown(letter: Letter | None) -> dict[str, Any]:
    assert letter is not None
    parts = asdict(letter)
    return parts | {"text": letter.text.split("\n"), "html": letter.html.split("\n"), "at": letter.at.isoformat()}


def test_each_letter_reads_as_before() -> None:
    long = "<p>Long.</p>" + "<p>x</p>" * 7_480
    hostile = evolve(_CHANGELOG, title="Verify @ https://evil.example")
    shown = {
        "confirmation": _shown(confirmation(_MAIL, "t", _CHANGELOG, _LINKS)),
        "confirmation of a stranger": _shown(confirmation(_MAIL, "t", hostile, _LINKS))["text"],
        "one post": _shown(_posts_letter(_post(1), zone="America/Los_Angeles")),
        "eleven posts": _shown(_posts_letter(*(_post(number) for number in range(11))))["html"],
        "twelve posts": _shown(_posts_letter(*(_post(number) for number in range(12))))["text"],
        # Only the posts that fit in the room are whole.
        "three long posts": _shown(_posts_letter(_post(1), _post(2, long), _post(3)))["text"][:12],
        "recipient": _shown(_asked("Acme <Inc> https://evil.example")),
        "recipient without a name": _shown(_asked(""))["subject"],
        "notice": _shown(_notice()),
    }

    # After a change of the text, read the difference, and write the file again.
    assert json.loads(_GOLDEN.read_text(encoding="utf-8")) == shown


def test_a_mail_without_posts_is_none() -> None:
    assert _posts_letter() is None


def test_the_html_of_posts_fits_in_a_mail() -> None:
    at_the_limit = "<p>" + "x" * 59_993 + "</p>"
    fitting, over = _posts_letter(_post(1, at_the_limit)), _posts_letter(_post(1, at_the_limit), _post(2))
    assert fitting is not None
    assert over is not None
    assert at_the_limit in fitting.html
    assert over.html.count("<b>shines</b>") == 0


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>One &amp; two</p>\n<p>three  </p>", "One & two\n\nthree"),
        ("<ul>\n<li><p>a</p></li>\n<li>b</li>\n</ul><p>c</p>", "• a\n\n• b\n\nc"),
        ('<p><a class="x" href="https://a.example/?b&amp;c">see</a></p>', "see (https://a.example/?b&c)"),
        ('<a href="https://a.example">https://a.example</a>', "https://a.example"),
        (
            "<ol>\n<li>a</li>\n<li>b\n<ul>\n<li>c</li>\n</ul>\n</li>\n<li>d</li>\n</ol>\n<p>e</p>",
            "1. a\n2. b\n  • c\n3. d\n\ne",
        ),
        ('<ol start="9">\n<li><p>a</p>\n<ul>\n<li>b</li>\n</ul>\n<p>c</p>\n</li>\n</ol>', "9. a\n\n  • b\nc"),
        (
            "a<table>\n<thead>\n<tr>\n<th>b</th>\n<th>c</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>d</td>\n</tr>\n</table>e",
            "a\nb | c\nd\n\ne",
        ),
        ("a<br>b<br />c<h3>d</h3>e", "a\n\nb\n\ncd\n\ne"),
    ],
)
def test_html_as_plain_text_keeps_paragraphs_entries_rows_and_addresses(html: str, text: str) -> None:
    assert plain(html) == text
