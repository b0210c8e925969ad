"""Exceptions: faults that the developers or the operator must fix. An expected refusal is a value."""

from typing import Self, final


class ContentServiceError(Exception): ...


class StoreUnavailable(ContentServiceError):
    """The store does not answer in time. The outcome of the last write may be unknown; a settlement may be repeated."""


@final
class Overloaded(ContentServiceError):
    """The organization's queue of waiting work is full; nothing was begun. The same call succeeds a little later."""


@final
class Unstorable(ContentServiceError):
    """The store refuses this value, and would refuse it again; nothing of it was written."""

    @classmethod
    def of_another(cls, id_: str) -> Self:
        """Create the error for a value with the id of another one."""
        return cls(f"'{id_}' is the id of another one")

    @classmethod
    def of_no_organization(cls, organization_id: str) -> Self:
        """Create the error for a value of an organization that does not exist."""
        return cls(f"there is no organization '{organization_id}'")


@final
class ProviderUnusable(ContentServiceError):
    """The provider of an installed package cannot be used; the message names it and the fault."""


@final
class ReceivingFailed(ContentServiceError):
    """An internal fault prevented the processing of a delivery (specification 7, status 500); nothing was claimed."""


@final
class SecretUnreadable(ContentServiceError):
    """A sealed secret cannot be opened with the configured keys."""


@final
class UnreadableRow(ContentServiceError):
    """A stored row does not have the expected form; the message names the row."""


@final
class SchemaMismatch(ContentServiceError):
    """The database's schema is not the one that this version needs."""


@final
class WriterUnavailable(ContentServiceError):
    """The language model or writer is unusable now. The message has no key, and nothing of prompt or answer."""
