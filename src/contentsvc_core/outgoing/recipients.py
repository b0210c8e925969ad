"""Recipients: the e-mail addresses of an organization's endpoints, and whether their owners have confirmed them."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from enum import Enum
from typing import Final, Self, final

from attrs import field, frozen
from msgspec import Struct

#: The type of the message that asks an address for its confirmation; no endpoint subscribes to it.
CONFIRMATION_TYPE: Final = "endpoint.confirmation"


class RecipientStatus(Enum):
    """The consent of an address: only a confirmed one gets messages."""

    #: Its owner was not asked yet, or has not answered.
    UNCONFIRMED = "unconfirmed"
    CONFIRMED = "confirmed"
    #: Its owner has removed it, and only its owner can confirm it again.
    REMOVED = "removed"


@final
@frozen(kw_only=True)
class Recipient:
    """An address that was asked for its confirmation; it answers for all endpoints of the organization."""

    organization_id: str
    address: str
    status: RecipientStatus = RecipientStatus.UNCONFIRMED
    #: SHA-256 of the token in links: in the confirmation link first, then in the links that remove the address.
    #: ``None``: the address was entered before addresses were asked, and has no link yet.
    digest: str | None = field(repr=False)
    #: The time of the last confirmation mail.
    asked_at: datetime
    confirmed_at: datetime | None = None


@final
@frozen(kw_only=True)
class Addressee:
    """A recipient with its token, for a mail."""

    recipient: Recipient
    #: ``None``: there is no token, or it cannot be opened with the configured keys.
    token: str | None = field(repr=False)


@final
class RecipientBody(Struct, frozen=True):
    """An e-mail address of an endpoint. Only confirmed addresses get messages."""

    address: str
    status: RecipientStatus

    @classmethod
    def of(cls, address: str, known: Mapping[str, Recipient]) -> Self:
        recipient = known.get(address)
        return cls(address=address, status=recipient.status if recipient else RecipientStatus.UNCONFIRMED)


def by_address(recipients: Iterable[Recipient]) -> Mapping[str, Recipient]:
    return {recipient.address: recipient for recipient in recipients}


def confirmed(addressees: Iterable[Addressee], *, without: Sequence[str] = ()) -> list[Addressee]:
    """Return the addressees that get a message; ``without`` are the addresses that have it already."""
    return [
        each
        for each in addressees
        if each.recipient.status is RecipientStatus.CONFIRMED and each.recipient.address not in without
    ]


def to_confirm(addressees: Iterable[Addressee], address: object, at: datetime | None) -> list[Addressee]:
    """Return the addressee of a confirmation mail that was requested at a time.

    Empty: the address has answered, or a newer mail asks it.
    """
    return [
        each
        for each in addressees
        if each.recipient.address == address
        and each.recipient.status is RecipientStatus.UNCONFIRMED
        and each.recipient.asked_at == at
        and each.token is not None
    ]
