"""Exceptions: something that is ours (or the operator's) to fix.

An expected refusal, such as a wrong signature or a page that does not exist, is a value and not in here.
"""

from typing import final


class ContentServiceError(Exception):
    """The base of every exception that the core and its adapters raise on purpose."""


class StoreUnavailable(ContentServiceError):
    """The store cannot be reached, or does not answer in time; the outcome of the last write may be unknown.

    Waiting may mend it. A fault that waiting does not mend, such as a missing table, is another error of this module.

    Sending the same settlement again is harmless: the claim decides.
    """


@final
class Overloaded(ContentServiceError):
    """The organization has too much work waiting already; nothing was begun. The same call succeeds a little later."""


@final
class Unstorable(ContentServiceError):
    """The store refuses this very value, and would refuse it again; nothing of it was written."""


@final
class ReceivingFailed(ContentServiceError):
    """A delivery could not be processed for a reason of our own (specification 7, status 500); nothing was claimed."""


@final
class SecretUnreadable(ContentServiceError):
    """A sealed secret cannot be opened with the keys that are configured."""


@final
class UnreadableRow(ContentServiceError):
    """A stored row is not what this code writes; the message names it."""


@final
class SchemaMismatch(ContentServiceError):
    """The database's schema is not the one that this code was written for."""


@final
class WriterUnavailable(ContentServiceError):
    """Who writes content does not answer, refuses, or answers what cannot be used.

    The message names the fault, and holds neither a key nor anything of what was sent or written.
    """
