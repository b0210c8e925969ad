"""A provider: the dialect of a code host as data, one reader for each event kind, and one writer."""

import re
from collections.abc import Callable, Mapping
from typing import TypeAlias, final

from attrs import field, frozen
from attrs.validators import matches_re

from contentsvc_core.identifiers import is_full_name
from contentsvc_core.webhooks.providers.native import Reading
from contentsvc_core.webhooks.signature import Scheme, sent_name

Reader: TypeAlias = Callable[[bytes], Reading]
Writer: TypeAlias = Callable[[Reading], tuple[str, dict[str, object]]]


@final
@frozen(kw_only=True)
class Setup:
    """The instructions for creating the webhook at the code host by hand."""

    where: str
    url_field: str = "Payload URL"
    secret_field: str = "Secret"  # noqa: S105  # the name of a form's field
    #: The content type to choose there; ``None``: the code host offers no choice.
    content_type: str | None = "application/json"
    events: tuple[str, ...] = field(converter=tuple[str, ...])
    events_text: str = "pushes and releases"


@final
@frozen(kw_only=True)
class Provider:
    """One dialect: its names, its authentication, its headers, and how its native bodies are read."""

    #: Lower-case letters: it is in addresses and in names of settings and fields.
    slug: str = field(validator=matches_re("[a-z]+"))
    name: str
    scheme: Scheme
    #: The header that names the event kind.
    event_header: str
    #: The header that carries the delivery id, which is the same for all attempts of a delivery.
    delivery_header: str
    #: For each event kind with effects, by the value of the event header.
    readers: Mapping[str, Reader]
    #: Writes an event as the code host would send it: for histories, samples and tests.
    write: Writer
    setup: Setup
    #: The id of the operation that connects a repository, in the OpenAPI document.
    operation_id: str
    #: The address of the public code host's API; empty: no such host exists.
    api_url: str = ""
    #: The form of an API's address at a server of one's own, for advice; empty: there is no such server.
    own_api_url: str = ""
    #: As ``contentsvc init`` offers them; for those without a public server, the form of their API's address.
    hosts: Mapping[str, str]
    #: Whether clients of the hosted product know this provider (decision 0038).
    is_hosted: bool = False
    #: Whether ``owner`` may be a path of several names, such as ``group/subgroup``.
    has_nested_owners: bool = False
    #: Where a commit's message names its pull request; ``None``: in the subject, as in ``text (#12)``.
    request_number: re.Pattern[str] | None = None

    @property
    def kind_name(self) -> bytes:
        return sent_name(self.event_header)

    @property
    def id_name(self) -> bytes:
        return sent_name(self.delivery_header)

    def is_full_name(self, text: str) -> bool:
        return is_full_name(text, nested=self.has_nested_owners)

    def headers(self, kind: str, delivery_id: str, body: bytes, secret: str) -> dict[str, str]:
        """Return the headers that prove a delivery and name it."""
        return {
            self.event_header: kind,
            self.delivery_header: delivery_id,
            self.scheme.header: self.scheme.value(body, secret),
        }
