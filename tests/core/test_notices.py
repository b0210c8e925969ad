"""Messages for chats and mailboxes: the text of each event in each format, and foreign text in it."""

import json
import re
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.elements import Elements

from contentsvc_core.outgoing.chats import chat_body, chat_bytes
from contentsvc_core.outgoing.events import TEST_TYPE, EventType
from contentsvc_core.outgoing.formats import EndpointFormat
from contentsvc_core.outgoing.letters import Letter, notice_letter
from contentsvc_core.outgoing.messages import Message
from contentsvc_core.outgoing.notices import JOINER, Link, Notice, notice_of
from contentsvc_core.outgoing.recipients import Addressee, Recipient
from contentsvc_core.testing import START

_BASE: Final = "https://hooks.acme.example"
_GOLDEN: Final = Path(__file__).parent / "golden_notices.json"
_POST: Final[dict[str, Any]] = {
    "id": "post_1",
    "title": "Steer the beam from outside",
    "contentType": "changelog",
    "status": "draft",
    "sourceMetadata": {"repositories": ["acme/lighthouse", "acme/harbour"]},
}
_DATA: Final[dict[str, dict[str, Any]]] = {
    EventType.POST_CREATED.value: _POST,
    EventType.POST_PUBLISHED.value: _POST,
    EventType.DRAFT_WAITING.value: _POST,
    EventType.RUN_FAILED.value: {"id": "run_1", "reason": "the writer is away"},
    EventType.INTEGRATION_FAILING.value: {
        "id": "int_1",
        "provider": "github",
        "repositories": ["acme/lighthouse"],
        "failed": 5,
        "of": 5,
        "cause": "The delivery has no signature.",
        "remedy": "Rotate the secret, and paste the new one into the webhook's settings at the code host.",
        "logId": "log_1",
        "failingSince": "2026-01-01T00:00:00.000Z",
    },
    EventType.INTEGRATION_RECOVERED.value: {
        "id": "int_1",
        "provider": "github",
        "repositories": ["acme/lighthouse"],
        "failingSince": "2026-01-01T00:00:00.000Z",
        "recoveredAt": "2026-01-01T01:00:00.000Z",
    },
    EventType.ENDPOINT_DISABLED.value: {
        "id": "whe_2",
        "description": "The chat",
        "target": "hooks.slack.com",
        "reason": "it answered 410 Gone",
        "disabledAt": "2026-01-01T00:00:00.000Z",
    },
    TEST_TYPE: {"message": "This is a test: nothing has happened."},
    "unknown.yet": {},
}


def _message(kind: str, data: dict[str, Any]) -> Message:
    return Message(
        id="msg_1",
        organization_id="org_1",
        endpoint_id="whe_1",
        type=kind,
        data=data,
        occurred_at=START,
        created_at=START,
        due_at=START,
    )


def _letter(message: Message) -> Letter:
    recipient = Recipient(organization_id="org_1", address="ops@acme.example", digest="0" * 64, asked_at=START)
    return notice_letter(message, notice_of(message, _BASE), Addressee(recipient=recipient, token="t"), "t", _BASE)


def _rendered(format_: EndpointFormat, message: Message) -> Any:
    if format_ is EndpointFormat.EMAIL:
        letter = _letter(message)
        return {"subject": letter.subject, "text": letter.text.splitlines()}
    return chat_body(format_, notice_of(message, _BASE))


def test_each_event_in_each_format_reads_as_before() -> None:
    rendered = {
        kind: {
            format_.value: _rendered(format_, _message(kind, data))
            for format_ in EndpointFormat
            if format_ is not EndpointFormat.STANDARD
        }
        for kind, data in _DATA.items()
    }

    assert set(_DATA) >= {kind.value for kind in EventType}
    # After a change of the text, read the difference, and write the file again.
    assert json.loads(_GOLDEN.read_text(encoding="utf-8")) == rendered


@pytest.mark.parametrize(
    ("kind", "data", "title", "text"),
    [
        ("run.failed", {"reason": "..away.."}, "A run failed", "It has no attempt left and wrote no post: ..away."),
        ("run.failed", {}, "A run failed", "It has no attempt left."),
        (
            "endpoint.disabled",
            {"target": "acme", "reason": "gone"},
            "Endpoint disabled: acme",
            "It gets no more messages: gone. Mend it, then enable it again.",
        ),
        (
            "integration.failing",
            {"repositories": ["acme/lamp"], "failed": 1, "of": 2, "cause": ".No secret..", "remedy": "Set one."},
            "Deliveries of acme/lamp fail",
            "1 of the last 2 deliveries failed. .No secret. Set one.",
        ),
    ],
)
def test_a_notice_has_one_period_and_the_name_that_is_there(
    kind: str, data: dict[str, Any], title: str, text: str
) -> None:
    notice = notice_of(_message(kind, data), _BASE)

    assert (notice.title.replace(JOINER, ""), notice.text.replace(JOINER, "")) == (title, text)


def test_a_chat_shows_the_marks_of_its_language_as_they_are() -> None:
    marks = "1. <a> & *b* [c]"
    notice = Notice(title=marks, text=marks, links=(Link(label="A & B", url="https://acme.example/"),), is_bad=False)
    in_slack = "1. &lt;a&gt; &amp; *b* [c]"
    in_discord = r"1\. \<a\> & \*b\* \[c\]"

    slack: Any = chat_body(EndpointFormat.SLACK, notice)
    (embed,) = chat_body(EndpointFormat.DISCORD, notice)["embeds"]
    (card,) = chat_body(EndpointFormat.TEAMS, notice)["attachments"]

    assert slack["text"] == f"{in_slack}\n{in_slack}\n<https://acme.example/|A &amp; B>"
    assert [block["text"]["text"] for block in slack["blocks"][:2]] == [in_slack, in_slack]
    assert (embed["title"], embed["description"]) == (in_discord, f"{in_discord}\n\n[A & B](https://acme.example/)")
    assert [block["inlines"][0]["text"] for block in card["content"]["body"]] == [marks, marks]


@pytest.mark.parametrize("format_", [EndpointFormat.STANDARD, EndpointFormat.EMAIL])
def test_a_format_that_is_not_a_chat_has_no_chat_message(format_: EndpointFormat) -> None:
    with pytest.raises(ValueError, match=f"^'{format_.value}' is the format of no chat$"):
        chat_body(format_, notice_of(_message(TEST_TYPE, {}), _BASE))


_HOSTILE: Final = st.one_of(
    st.text(max_size=300),
    st.lists(
        st.sampled_from([
            "<!channel>", "<!here|x>", "<@U123>", "<#C1>", "@everyone", "@here", "@channel", "@all",
            "<at>all</at>", "<https://evil.example|click>", "[click](https://evil.example)",
            "https://evil.example", "evil.example", "www.evil.example", "mailto:eve@evil.example", "//evil.example",
            # Names in domains may end with a sign that is no letter.
            "\u2764.example", "cafe\u0301.example", "\u0939\u093f\u0928\u094d\u0926\u0940.example",
            "<a href='https://evil.example'>x</a>", "<script>", "&lt;", "\\", "`", "**", "__", "||",
            "\u202e", "\u2028", "\r\nBcc: eve@evil.example", "](", "1. ", "# ", "> ", "- ", "\x00", "é",
            "z" * 5000,
        ]),
        max_size=40,
    ).map("".join),
)  # fmt: skip


def _is_dashboard_url(url: str) -> bool:
    return re.fullmatch(r"https://hooks\.acme\.example/dashboard[A-Za-z0-9/_.~%-]*", url) is not None


def _mentions_or_links(text: str) -> bool:
    """Check whether a chat or a mail program would recognize a mention or an address in a plain text."""
    return re.search(rf"@\w|(?<!{JOINER})//|mailto:[^{JOINER}\s]|[^\s.]\.[^\W\d]", text, re.IGNORECASE) is not None


@pytest.mark.parametrize("kind", sorted(_DATA))
@settings(max_examples=60)
@given(text=_HOSTILE)
@example(text="<!channel> @everyone [x](https://evil.example) <https://evil.example|x>")
def test_foreign_text_has_no_mentions_and_no_links(kind: str, text: str) -> None:
    data = {name: text if isinstance(value, str) else value for name, value in _DATA[kind].items()}
    data |= {name: [text] for name in data if name == "repositories"}
    data |= {name: {"repositories": [text, text]} for name in data if name == "sourceMetadata"}
    message = _message(kind, data)
    notice = notice_of(message, _BASE)

    assert not _mentions_or_links(f"{notice.title} {notice.text}")
    assert all(_is_dashboard_url(each.url) for each in notice.links)
    for format_ in (EndpointFormat.SLACK, EndpointFormat.DISCORD, EndpointFormat.TEAMS):
        assert len(chat_bytes(format_, notice)) < 28_000

    slack: Any = msgspec.json.decode(chat_bytes(EndpointFormat.SLACK, notice))
    header, section, links = slack["blocks"]
    assert 0 < len(header["text"]["text"]) <= 150
    assert 0 < len(section["text"]["text"]) <= 3000
    assert header["text"]["type"] == section["text"]["type"] == "plain_text"
    assert links["text"]["verbatim"] is True
    for plain in (header["text"]["text"], section["text"]["text"]):
        assert not set("<>") & set(plain)
        assert not _mentions_or_links(plain)
    for full_text in (slack["text"], links["text"]["text"]):
        found = re.findall(r"<([^<>|]*)\|([^<>|]*)>", full_text)
        assert [url for url, _ in found] == [each.url for each in notice.links]
        assert not set("<>") & set(re.sub(r"<[^<>|]*\|[^<>|]*>", "", full_text))

    discord: Any = msgspec.json.decode(chat_bytes(EndpointFormat.DISCORD, notice))
    (embed,) = discord["embeds"]
    assert discord["allowed_mentions"] == {"parse": []}
    assert "content" not in discord
    assert 0 < len(embed["title"]) <= 256
    assert 0 < len(embed["description"]) <= 4096
    sentence, _, anchors = embed["description"].rpartition("\n\n")
    assert anchors == "\n".join(f"[{each.label}]({each.url})" for each in notice.links)
    for escaped in (embed["title"], sentence):
        # Every mark of Markdown has an odd number of backslashes before it.
        bare = re.sub(r"\\.", "", escaped)
        assert not set("\\*_~`|<>[]()#") & set(bare)
        assert not _mentions_or_links(re.sub(r"\\(.)", r"\1", escaped))

    teams: Any = msgspec.json.decode(chat_bytes(EndpointFormat.TEAMS, notice))
    card = teams["attachments"][0]["content"]
    assert {block["type"] for block in card["body"]} == {"RichTextBlock"}
    assert "entities" not in card["msteams"]
    assert [action["url"] for action in card["actions"]] == [each.url for each in notice.links]

    letter = _letter(message)
    assert len(letter.subject) <= 150
    assert not re.search(r"[\r\n]", letter.subject)
    page = Elements(letter.html)
    assert page.tags <= {*("html", "head", "meta", "title", "style", "body", "h2", "p", "a", "hr"), "!doctype html"}
    assert {name for tag, each in page.seen if tag != "body" for name in each} <= {"href", "lang", "charset", "style"}
    leave = f"{_BASE}/changelog/-/alerts/leave?token=t"
    assert all(_is_dashboard_url(url) or url == leave for url in page.values("href"))
    assert not _mentions_or_links(" ".join(page.words))
    remaining = letter.text.replace(f"{_BASE}/dashboard", "").replace(leave, "")
    assert not re.search(r"@\w|://", remaining)


def test_defused_text_looks_the_same() -> None:
    title = "fix: see https://acme.example/a.md (@ann), v1.4.2"
    notice = notice_of(_message("post.published", _POST | {"title": title}), _BASE)

    assert notice.title.replace(JOINER, "") == f"Published: {title}"
    assert "1.4.2" in notice.title
