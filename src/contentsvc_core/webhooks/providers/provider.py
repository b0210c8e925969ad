"""The description of a provider: a dialect of the code host, as data and one function for each event kind."""

from collections.abc import Callable, Mapping
from typing import final

from attrs import frozen

from contentsvc_core.webhooks.providers.native import Reading


@final
@frozen(kw_only=True)
class Provider:
    """One dialect: its name, its headers, and its readers of native bodies."""

    #: The name in paths, logs and records.
    slug: str
    #: The header of the event kind.
    event_header: str
    #: The header of the delivery id.
    delivery_header: str
    #: For each event kind with effects, by the value of the event header: reads a body or raises ``Malformed``.
    readers: Mapping[str, Callable[[bytes], Reading]]
