"""The examination of a refused delivery. No secret and no part of the body is kept."""

import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote_to_bytes

import msgspec

from contentsvc_core.received import Match, Received, SignatureHeader, received_to_json
from contentsvc_core.text import one_line
from contentsvc_core.webhooks.delivery import Delivery, HookConfiguration
from contentsvc_core.webhooks.signature import Scheme, SharedToken, sent_name

#: In the order of the page, beside the provider's event and delivery header. None of them authenticates a sender.
SHOWN_HEADERS: Final = (
    "Content-Type",
    "Content-Length",
    "Content-Encoding",
    "Transfer-Encoding",
    "User-Agent",
    "Host",
    "Via",
    "X-GitHub-Hook-ID",
    "X-Gitlab-Instance",
    "X-Gitlab-Webhook-UUID",
    "X-Hook-UUID",
    "X-Attempt-Number",
)
#: The longest kept value of a header, in characters: user agents of code hosts have less than 80.
VALUE_LENGTH: Final = 120
#: The most bytes of the stored form: usual ones have 400.
STORED_BYTES: Final = 1024
#: The largest body whose variants are verified, in bytes: each variant takes as long as the body itself.
_VARIANTS_UP_TO: Final = 256 * 1024
#: The longest source address, in characters: an IPv6 prefix has at most 43.
_SOURCE_LENGTH: Final = 64
_FORM: Final = "application/x-www-form-urlencoded"
_PAYLOAD: Final = b"payload="
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_WHITE_SPACE: Final = b" \t\r\n"
_LINE_END: Final = re.compile(rb"\r?\n")


def examine(delivery: Delivery, hook: HookConfiguration, *, source: str | None, is_complete: bool) -> Received:
    """Return the facts of a refused delivery; ``is_complete``: the whole body was received.

    The body is compared as bytes and never parsed: its sender may be unverified.
    """
    provider = hook.provider
    values = delivery.headers.values(provider.scheme.name)
    signature = _signature(provider.scheme, values)
    match = None
    if is_complete and signature is SignatureHeader.PRESENT:
        match = _match(delivery.body, values[0], hook)
    length = len(values[0]) if values else 0
    content_type = b";".join(delivery.headers.values(b"content-type")).decode("latin-1").lower()
    received = Received(
        headers=tuple(_headers(delivery, (provider.event_header, provider.delivery_header, *SHOWN_HEADERS))),
        size=len(delivery.body) if is_complete else None,
        source=None if source is None else one_line(source, _SOURCE_LENGTH),
        signature=signature,
        signature_length=length,
        match=match,
        had_previous_secret=bool(hook.former_secrets),
        is_form=_FORM in content_type or delivery.body.startswith(_PAYLOAD),
    )
    while received.headers and len(received_to_json(received).encode()) > STORED_BYTES:
        received = msgspec.structs.replace(received, headers=received.headers[:-1])
    return received


def _headers(delivery: Delivery, names: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for name in names:
        values = delivery.headers.values(sent_name(name))
        if values:
            times = "" if len(values) == 1 else f" ({len(values)} times)"
            # The slice bounds the work: a header may have 64 KB.
            text = one_line(values[0][: 8 * VALUE_LENGTH].decode("latin-1"), VALUE_LENGTH)
            yield name, f"{text}{times}"


def _signature(scheme: Scheme, values: tuple[bytes, ...]) -> SignatureHeader:
    if len(values) != 1:
        return SignatureHeader.REPEATED if values else SignatureHeader.ABSENT
    pattern = scheme.pattern
    is_formed = bool(values[0]) if pattern is None else re.fullmatch(pattern, values[0].decode("latin-1")) is not None
    return SignatureHeader.PRESENT if is_formed else SignatureHeader.MALFORMED


def _match(body: bytes, signature: bytes, hook: HookConfiguration) -> Match | None:
    scheme = hook.provider.scheme
    if hook.verifies(body, signature):
        return None
    if hook.former_secrets and scheme.verifier(hook.former_secrets)(body, signature):
        return Match.PREVIOUS_SECRET
    if isinstance(scheme, SharedToken) or len(body) > _VARIANTS_UP_TO:
        # A shared token covers no body.
        return None
    if body.startswith(_PAYLOAD):
        encoded = body[len(_PAYLOAD) :].partition(b"&")[0].replace(b"+", b" ")
        if hook.verifies(unquote_to_bytes(encoded), signature):
            return Match.DECODED_FORM
    if any(hook.verifies(each, signature) for each in _variants(body)):
        return Match.CHANGED_BODY
    return None


def _variants(body: bytes) -> Iterator[bytes]:
    unix = _LINE_END.sub(b"\n", body)
    bare = body.removeprefix(_BYTE_ORDER_MARK).strip(_WHITE_SPACE)
    for variant in (unix, unix.replace(b"\n", b"\r\n"), bare, bare + b"\n", bare + b"\r\n", _BYTE_ORDER_MARK + bare):
        if variant != body:
            yield variant
