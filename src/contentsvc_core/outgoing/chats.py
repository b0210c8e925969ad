"""Notices in the forms of chats. Each chat has its own way to escape text, and its own limits."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, assert_never

import msgspec

from contentsvc_core.outgoing.formats import EndpointFormat
from contentsvc_core.outgoing.notices import Link, Notice
from contentsvc_core.text import one_line

#: The limits of Slack for a header and for the text of a section, in characters.
_SLACK_HEADER: Final = 150
_SLACK_SECTION: Final = 3000
#: The limits of Discord for the title and the description of an embed, in characters.
_DISCORD_TITLE: Final = 256
_DISCORD_DESCRIPTION: Final = 4096
_RED, _BLUE = 0xC0392B, 0x2F6FDE
#: The characters with a meaning in Discord's Markdown, at any place of a line.
_MARKDOWN: Final = re.compile(r"([\\*_~`|<>\[\]()#+-])")
#: A list of Markdown begins so, and only at the beginning of a line.
_NUMBERED: Final = re.compile(r"^(\d+)\.")
#: The version of the Adaptive Cards schema that Teams reads on all devices.
_CARD_VERSION: Final = "1.4"


def chat_bytes(format_: EndpointFormat, notice: Notice) -> bytes:
    return msgspec.json.encode(chat_body(format_, notice))


def chat_body(format_: EndpointFormat, notice: Notice) -> Mapping[str, Any]:
    match format_:
        case EndpointFormat.SLACK:
            return _slack(notice)
        case EndpointFormat.DISCORD:
            return _discord(notice)
        case EndpointFormat.TEAMS:
            return _teams(notice)
        case EndpointFormat.STANDARD | EndpointFormat.EMAIL:
            message = f"'{format_.value}' is the format of no chat"
            raise ValueError(message)
        case _:
            assert_never(format_)


def _slack(notice: Notice) -> dict[str, Any]:
    links = [f"<{each.url}|{_slack_escaped(each.label)}>" for each in notice.links]
    # No buttons: Slack shows a warning beside a button of a webhook, which cannot answer clicks.
    return {
        "text": "\n".join([_slack_escaped(notice.title), _slack_escaped(notice.text), *links]),
        "blocks": [
            _slack_block("header", _plain(_fitted(notice.title, _SLACK_HEADER, _slack_escaped))),
            _slack_block("section", _plain(_fitted(notice.text, _SLACK_SECTION, _slack_escaped))),
            # Verbatim: Slack makes no links of its own.
            _slack_block("section", {"type": "mrkdwn", "text": "  ·  ".join(links), "verbatim": True}),
        ],
        "unfurl_links": False,
        "unfurl_media": False,
    }


def _slack_block(kind: str, text: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": kind, "text": text}


def _plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text, "emoji": False}


def _slack_escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _discord(notice: Notice) -> dict[str, Any]:
    links = "\n".join(f"[{_discord_escaped(each.label)}]({each.url})" for each in notice.links)
    text = _fitted(notice.text, _DISCORD_DESCRIPTION - len(links) - 2, _discord_escaped)
    return {
        "embeds": [
            {
                "title": _fitted(notice.title, _DISCORD_TITLE, _discord_escaped),
                "description": f"{text}\n\n{links}",
                "color": _RED if notice.is_bad else _BLUE,
            }
        ],
        "allowed_mentions": {"parse": []},
    }


def _discord_escaped(text: str) -> str:
    return _NUMBERED.sub(r"\1\\.", _MARKDOWN.sub(r"\\\1", text))


def _teams(notice: Notice) -> dict[str, Any]:
    return {
        "type": "message",
        "attachments": [
            {
                "contentType": "application/vnd.microsoft.card.adaptive",
                "contentUrl": None,
                "content": {
                    "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
                    "type": "AdaptiveCard",
                    "version": _CARD_VERSION,
                    "body": [
                        _teams_block(notice.title, size="Large", weight="Bolder"),
                        _teams_block(notice.text),
                    ],
                    "actions": [_teams_action(each) for each in notice.links],
                    "msteams": {"width": "Full"},
                },
            }
        ],
    }


def _teams_block(text: str, **style: str) -> dict[str, Any]:
    # Runs of text, not text blocks: only these read Markdown.
    return {"type": "RichTextBlock", "inlines": [{"type": "TextRun", "text": text, **style}]}


def _teams_action(link: Link) -> dict[str, Any]:
    return {"type": "Action.OpenUrl", "title": link.label, "url": link.url}


def _fitted(text: str, limit: int, escaped: Callable[[str], str]) -> str:
    length = len(text)
    while len(fitted := escaped(one_line(text, length))) > limit and length > 1:
        length = max(1, length - max(1, (len(fitted) - limit) // 8))
    return fitted
