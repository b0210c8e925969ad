"""Events as notices for people, defused because strangers write titles. Each format renders the same notice."""

import re
from collections.abc import Mapping
from functools import partial
from typing import Any, Final, cast, final
from urllib.parse import quote

from attrs import frozen

from contentsvc_core.content.posts import ContentType
from contentsvc_core.outgoing.events import TEST_TYPE, EventType
from contentsvc_core.outgoing.messages import Message
from contentsvc_core.text import one_line

#: The most characters of a title and of a text, before a format escapes them.
TITLE_LIMIT: Final = 120
TEXT_LIMIT: Final = 1000
#: The most characters of one untrusted text within a title or a sentence.
_PART: Final = 80
_REASON: Final = 400
_ID: Final = 64
#: U+2060, a word joiner: invisible and without a width.
JOINER: Final = "\u2060"
#: The marks by which chats and mail programs recognize mentions (``@all``) and addresses (``https://``, ``//host``,
#: ``mailto:``, ``a.example``). The name before the dot may end with any sign: a combining mark, or an emoji.
_RECOGNIZED: Final = re.compile(r"(?<=@)|(?=//)|(?<=mailto:)|(?<=[^\s.]\.)(?=[^\W\d])", re.IGNORECASE)
_CONTENT: Final = {kind.value: kind.noun for kind in ContentType}


@final
@frozen(kw_only=True)
class Link:
    label: str
    url: str


@final
@frozen(kw_only=True)
class Notice:
    """An event as people read it. Title and text are one line each, and defused; formats still have to escape them."""

    title: str
    text: str
    links: tuple[Link, ...]
    is_bad: bool = False


def notice_of(message: Message, base_url: str) -> Notice:
    compose = _COMPOSERS.get(message.type, _of_another_type)
    title, text, links, is_bad = compose(message, f"{base_url}/dashboard")
    return Notice(
        title=defused(one_line(title, TITLE_LIMIT)),
        text=defused(one_line(text, TEXT_LIMIT)),
        links=links,
        is_bad=is_bad,
    )


def defused(text: str) -> str:
    """Return a text in which no program recognizes a mention or an address; it looks the same."""
    return _RECOGNIZED.sub(JOINER, text)


_NoticeParts = tuple[str, str, tuple[Link, ...], bool]


def _of_post(begin: str, state: str, label: str, message: Message, pages: str) -> _NoticeParts:
    data = message.data
    title = one_line(_text(data, "title"), TITLE_LIMIT)
    content = _CONTENT.get(_text(data, "contentType"), "post")
    metadata = data.get("sourceMetadata")
    names = cast("dict[str, object]", metadata).get("repositories") if isinstance(metadata, dict) else None
    whence = f" of {_listed(names)}" if names else ""
    return f"{begin}: {title}", f"The {content}{whence} {state}.", (_link(label, f"{pages}/posts", data),), False


def _run_failed(message: Message, pages: str) -> _NoticeParts:
    data = message.data
    reason = one_line(_text(data, "reason"), _REASON).rstrip(".")
    text = f"It has no attempt left and wrote no post: {reason}." if reason else "It has no attempt left."
    return "A run failed", text, (_link("Open the run", f"{pages}/runs", data),), True


def _integration_failing(message: Message, pages: str) -> _NoticeParts:
    data = message.data
    cause = one_line(_text(data, "cause"), _REASON).rstrip(".")
    remedy = one_line(_text(data, "remedy"), _REASON)
    counted = f"{data.get('failed')} of the last {data.get('of')} deliveries failed"
    links = (
        _link("Open the last failed delivery", f"{pages}/integrations/logs", data, "logId"),
        _link("Open the integration", f"{pages}/integrations", data),
    )
    return f"Deliveries of {_listed(data.get('repositories'))} fail", f"{counted}. {cause}. {remedy}", links, True


def _integration_recovered(message: Message, pages: str) -> _NoticeParts:
    data = message.data
    title = f"Deliveries of {_listed(data.get('repositories'))} are accepted again"
    text = f"They had failed since {_text(data, 'failingSince')}."
    return title, text, (_link("Open the integration", f"{pages}/integrations", data),), False


def _endpoint_disabled(message: Message, pages: str) -> _NoticeParts:
    data = message.data
    name = one_line(_text(data, "description") or _text(data, "target"), _PART)
    text = f"It gets no more messages: {one_line(_text(data, 'reason'), _REASON)}. Mend it, then enable it again."
    return f"Endpoint disabled: {name}", text, (_link("Open the endpoint", f"{pages}/endpoints", data),), True


def _test(_message: Message, pages: str) -> _NoticeParts:
    text = "Messages of contentsvc arrive here. Nothing has happened."
    return "This is a test", text, (Link(label="Open the endpoints", url=f"{pages}/endpoints"),), False


def _of_another_type(message: Message, pages: str) -> _NoticeParts:
    return one_line(message.type, _PART), "See the dashboard.", (Link(label="Open the dashboard", url=pages),), False


_COMPOSERS: Final = {
    EventType.POST_CREATED.value: partial(_of_post, "Written", "was written", "Open the post"),
    EventType.POST_PUBLISHED.value: partial(_of_post, "Published", "is published", "Open the post"),
    EventType.DRAFT_WAITING.value: partial(_of_post, "Draft waiting", "waits for an editor", "Edit and publish"),
    EventType.RUN_FAILED.value: _run_failed,
    EventType.INTEGRATION_FAILING.value: _integration_failing,
    EventType.INTEGRATION_RECOVERED.value: _integration_recovered,
    EventType.ENDPOINT_DISABLED.value: _endpoint_disabled,
    TEST_TYPE: _test,
}


def _link(label: str, base: str, data: Mapping[str, Any], name: str = "id") -> Link:
    return Link(label=label, url=f"{base}/{quote(_text(data, name)[:_ID], safe='')}")


def _text(data: Mapping[str, Any], name: str) -> str:
    value = data.get(name)
    return value if isinstance(value, str) else ""


def _listed(names: object) -> str:
    all_names = cast("list[object]", names) if isinstance(names, list) and names else ["?"]
    first, *more = [one_line(str(name), _PART) for name in all_names]
    return f"{first} and {len(more)} more" if more else first
