"""A test ping: the delivery that a code host sends when a hook is created."""

from typing import Final

from contentsvc_core.webhooks.delivery import Address, Delivery, Headers

_BODY: Final = b'{"zen":"A test ping, sent by contentsvc itself."}'


def made_ping(address: Address, *, secret: str, delivery_id: str) -> Delivery:
    """Return a signed ping like a code host's: it is received, verified and logged like any delivery."""
    provider = address.dialect
    headers = {
        "Content-Type": "application/json",
        "Content-Length": str(len(_BODY)),
        **provider.headers("ping", delivery_id, _BODY, secret),
    }
    # In lower case, as ASGI servers pass them.
    raw = Headers.of((name.lower().encode(), value.encode()) for name, value in headers.items())
    return Delivery(address=address, headers=raw, body=_BODY)
