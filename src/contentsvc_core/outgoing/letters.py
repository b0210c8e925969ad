"""Mails to subscribers, as values: text and HTML from the same rendering as the feeds."""

import re
from collections.abc import Sequence
from datetime import datetime
from enum import Enum, auto
from hashlib import blake2b
from html import escape, unescape
from typing import Final, final
from urllib.parse import quote
from zoneinfo import ZoneInfo

from attrs import field, frozen

from contentsvc_core.content.posts import Post
from contentsvc_core.content.public.changelogs import PublicChangelog
from contentsvc_core.content.public.feeds import FeedEntry, feed_of
from contentsvc_core.content.public.links import ALERTS_ROOT, ChangelogLinks
from contentsvc_core.content.public.months import Month
from contentsvc_core.outgoing.messages import Message
from contentsvc_core.outgoing.notices import Notice, defused
from contentsvc_core.outgoing.recipients import Addressee
from contentsvc_core.outgoing.subscribers import LeasedMail
from contentsvc_core.text import one_line
from contentsvc_core.zones import day_of

#: The maximum number of posts in a mail; for more posts, the mail gives their number and links to the changelog.
MAIL_LENGTH: Final = 10
#: The HTML of a mail's posts, in characters: mail programs cut longer messages (one of them at 102 KB).
_POSTS_LIMIT: Final = 60_000
_SUBJECT: Final = 150
_NAME: Final = 80
_SENDER: Final = "contentsvc"
_LINK: Final = re.compile(r'<a [^>]*href="([^"]*)"[^>]*>(.*?)</a>', re.DOTALL)
_PART: Final = re.compile(
    r"(?<!\s)\s*<(?P<end>/?)(?P<name>ul|ol|li|table|thead|tbody|tr|th|td)\b(?P<rest>[^>]*)>(?:\s*<p>)?"
)
_START: Final = re.compile(r'start="([0-9]{1,9})"')
_BREAK: Final = re.compile(r"</(?:p|h[1-6]|pre|blockquote)>|<br ?/?>")
#: Begins an entry or a row on a line of its own, once the text around it is known.
_OWN_LINE: Final = "\0"
_LINE_BREAKS: Final = re.compile(rf"\n*{_OWN_LINE}[\n{_OWN_LINE}]*")
_TAG: Final = re.compile(r"<[^>]*>")
_LINES: Final = re.compile(r"\n\s*\n+")
_PAGE: Final = """\
<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>
:root{{color-scheme:light dark}}body{{overflow-wrap:anywhere}}pre{{white-space:pre-wrap}}
h2{{font-size:22px;line-height:1.3;margin:32px 0 4px}}h2 a{{color:inherit}}div h2{{font-size:17px;margin:20px 0 8px}}
th,td{{text-align:start;padding:4px 12px 4px 0;vertical-align:top}}
</style></head>
<body style="font:16px/1.6 system-ui,sans-serif;max-width:40em;margin:0 auto;padding:16px">
{body}
<hr><p style="font-size:13px">{foot}</p>
</body></html>
"""


@final
@frozen(kw_only=True)
class Letter:
    #: Equal for all attempts: mail programs recognize a repeated mail by this id.
    message_id: str
    sender_name: str
    to: str
    subject: str
    text: str
    html: str
    at: datetime
    #: The URL that ends the mails with one click (RFC 8058); ``None``: the mail confirms a subscription.
    unsubscribe_url: str | None = field(default=None, repr=False)
    #: The first label of the mailing list's id (RFC 2919), by which mail programs sort; ``None``: no list.
    list_label: str | None = None


class MailResult(Enum):
    SENT = auto()
    #: The server has refused the letter permanently.
    REFUSED = auto()
    RETRY = auto()
    NOT_TRIED = auto()


@final
@frozen(kw_only=True)
class SentLetter:
    posting: MailResult
    error: str | None = None


def confirmation(mail: LeasedMail, token: str, changelog: PublicChangelog, links: ChangelogLinks) -> Letter:
    url = f"{links.subscribe}/confirm?token={token}"
    # Its organization chose the title, and any visitor the address: both are untrusted.
    name = defused(changelog.title)
    ask = f"This address was entered to get new posts of {name} by mail."
    ignore = "If you did not enter it, ignore this mail: the link ends after 24 hours, and the address is deleted."
    body = f'<p>{escape(ask)}</p><p><a href="{escape(url)}">Confirm the subscription</a></p>'
    subject = one_line(f"Confirm your subscription to {name}", _SUBJECT)
    return Letter(
        # With the time: a repeated request gets a different mail.
        message_id=_message_id(mail.id, mail.created_at.isoformat()),
        sender_name=_SENDER,
        to=mail.subscriber.address,
        subject=subject,
        text=f"{ask}\n\nTo confirm, open this page and press the button:\n\n{url}\n\n{ignore}\n",
        html=_PAGE.format(title=escape(subject), body=body, foot=escape(ignore)),
        at=mail.created_at,
    )


def posts_letter(
    mail: LeasedMail,
    token: str,
    changelog: PublicChangelog,
    posts: Sequence[Post],
    links: ChangelogLinks,
    zone: ZoneInfo,
) -> Letter | None:
    """Return the mail with new posts, newest first; ``None``: the changelog lists none of these posts any more."""
    entries = feed_of(changelog, posts, links=links, updated_at=mail.created_at).entries
    if not entries:
        return None
    listed, more = entries[:MAIL_LENGTH], len(entries) - MAIL_LENGTH
    name, url = changelog.title, f"{links.subscribe}/leave?token={token}"
    subject = one_line(f"{name}: {entries[0].title if len(entries) == 1 else f'{len(entries)} new posts'}", _SUBJECT)
    contents = _contents(listed)
    texts = [f"{entry.title}\n{_day(entry, zone)}\n{entry.url}\n\n{plain(html)}" for entry, html in contents]
    bodies = [
        f'<h2 dir="auto"><a href="{escape(entry.url)}">{escape(entry.title)}</a></h2><p>{_day(entry, zone)}</p>'
        f'<div dir="auto">{html}</div>'
        for entry, html in contents
    ]
    if more > 0:
        rest = f"{more} more {'post' if more == 1 else 'posts'}"
        texts.append(f"{rest}: {links.home}")
        bodies.append(f'<p><a href="{escape(links.home)}">{rest}</a></p>')
    why = f"You get this mail because you subscribed to {name}."
    foot = f'{escape(why)} <a href="{escape(url)}">Unsubscribe</a>'
    return Letter(
        message_id=_message_id(mail.id, mail.created_at.isoformat()),
        sender_name=name,
        to=mail.subscriber.address,
        subject=subject,
        text="\n\n\n".join([*texts, f"{why}\nUnsubscribe: {url}\n"]),
        html=_PAGE.format(title=escape(subject), body="\n".join(bodies), foot=foot),
        at=mail.created_at,
        unsubscribe_url=url,
        list_label=changelog.slug,
    )


def notice_letter(message: Message, notice: Notice, addressee: Addressee, token: str, base_url: str) -> Letter:
    endpoint = f"{base_url}/dashboard/endpoints/{quote(message.endpoint_id, safe='')}"
    leave = f"{base_url}{ALERTS_ROOT}/leave?token={token}"
    why = "You get this mail because your address was entered under Webhooks out."
    links = "\n".join(f"{each.label}: {each.url}" for each in notice.links)
    anchors = "".join(f'<p><a href="{escape(each.url)}">{escape(each.label)}</a></p>' for each in notice.links)
    subject = one_line(notice.title, _SUBJECT)
    return Letter(
        message_id=_message_id(message.id, addressee.recipient.address),
        sender_name=_SENDER,
        to=addressee.recipient.address,
        subject=subject,
        text=f"{notice.title}\n\n{notice.text}\n\n{links}\n\n\n{why}\nOpen the endpoint: {endpoint}\n"
        f"Get no more alerts: {leave}\n",
        html=_PAGE.format(
            title=escape(subject),
            body=f"<h2>{escape(notice.title)}</h2><p>{escape(notice.text)}</p>{anchors}",
            foot=f'{escape(why)} <a href="{escape(endpoint)}">Open the endpoint</a> · '
            f'<a href="{escape(leave)}">Get no more alerts</a>',
        ),
        at=message.occurred_at or message.created_at,
        unsubscribe_url=leave,
    )


def recipient_confirmation(message: Message, addressee: Addressee, token: str, base_url: str) -> Letter:
    """Return the mail that asks an address whether it wants alerts."""
    url, leave = (f"{base_url}{ALERTS_ROOT}/{page}?token={token}" for page in ("confirm", "leave"))
    # Its administrator chose the name, and may be a stranger to the owner of the address.
    name = defused(one_line(str(message.data.get("organization", "")), _NAME)) or _SENDER
    ask = f"This address was entered as a recipient of alerts from {name}."
    ignore = "If you do not want them, ignore this mail: the link ends after 24 hours, and nothing is sent."
    never = "To keep your address from being entered again, open this page:"
    subject = one_line(f"Confirm that you want alerts from {name}", _SUBJECT)
    return Letter(
        message_id=_message_id(message.id, addressee.recipient.address),
        sender_name=_SENDER,
        to=addressee.recipient.address,
        subject=subject,
        text=f"{ask}\n\nTo confirm, open this page and press the button:\n\n{url}\n\n{ignore}\n{never}\n\n{leave}\n",
        html=_PAGE.format(
            title=escape(subject),
            body=f'<p>{escape(ask)}</p><p><a href="{escape(url)}">Confirm the address</a></p>',
            foot=f'{escape(ignore)} <a href="{escape(leave)}">Never ask me again</a>',
        ),
        at=message.created_at,
        unsubscribe_url=leave,
    )


def plain(html: str) -> str:
    """Return the service's own HTML as plain text: marked entries, rows as lines, links with their address."""
    text = _LINK.sub(lambda found: _linked(found[1], found[2]), html.replace(_OWN_LINE, ""))
    text = _BREAK.sub("\n\n", _PART.sub(_Parts().marked, text))
    text = _LINE_BREAKS.sub(lambda found: "\n\n" if "\n\n" in found[0] else "\n", text)
    text = unescape(_TAG.sub("", text))
    return _LINES.sub("\n\n", "\n".join(line.rstrip() for line in text.splitlines())).strip()


@final
class _Parts:
    """The open lists and the row of a text, tag by tag."""

    def __init__(self) -> None:
        #: The number of the next entry of each open list; ``None``: its entries have bullets.
        self._lists: list[int | None] = []
        self._begins_row = True

    def marked(self, tag: re.Match[str]) -> str:
        match tag["end"], tag["name"]:
            case "", "ul":
                self._lists.append(None)
            case "", "ol":
                start = _START.search(tag["rest"])
                self._lists.append(1 if start is None else int(start[1]))
            case "/", "ul" | "ol":
                del self._lists[-1:]
                return _OWN_LINE if self._lists else "\n\n"
            case "", "li":
                return f"{_OWN_LINE}{self._mark()} "
            case "", "tr":
                self._begins_row = True
                return _OWN_LINE
            case "", "th" | "td":
                begins_row, self._begins_row = self._begins_row, False
                return "" if begins_row else " | "
            case "/", "table":
                return "\n\n"
            case _:
                pass
        return ""

    def _mark(self) -> str:
        indent = "  " * (len(self._lists) - 1)
        number = self._lists[-1] if self._lists else None
        if number is None:
            return f"{indent}•"
        self._lists[-1] = number + 1
        return f"{indent}{number}."


def _linked(url: str, text: str) -> str:
    return text if url == text else f"{text} ({url})"


def _contents(entries: Sequence[FeedEntry]) -> list[tuple[FeedEntry, str]]:
    remaining, contents = _POSTS_LIMIT, list[tuple[FeedEntry, str]]()
    for entry in entries:
        is_whole = len(entry.content) <= remaining
        remaining -= len(entry.content) if is_whole else 0
        contents.append((entry, entry.content if is_whole else f"<p>{escape(entry.summary)}</p>"))
    return contents


def _day(entry: FeedEntry, zone: ZoneInfo) -> str:
    day = day_of(zone, entry.occurred_at)
    return f"{day.day} {Month(day.year, day.month).name}"


def _message_id(*parts: str) -> str:
    key = "\n".join(parts)
    return blake2b(key.encode(), digest_size=16).hexdigest()
