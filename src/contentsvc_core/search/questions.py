from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, Generic, TypeVar, final
from zoneinfo import ZoneInfo

from attrs import field, frozen

from contentsvc_core.content.posts import ContentType, PostStatus
from contentsvc_core.events.normalized import Push, Release
from contentsvc_core.lists.parameters import bad_query, choices, listed, read_time
from contentsvc_core.lists.terms import Term, read_terms
from contentsvc_core.read_model import folded
from contentsvc_core.refusals import Refusal
from contentsvc_core.text import one_line
from contentsvc_core.zones import DEFAULT_ZONE

EVENT_TYPES: Final = (Push.type, Release.type)
_Item = TypeVar("_Item")


@final
@frozen(kw_only=True)
class ContextSearch:
    """A filter of context records; empty fields do not restrict the search."""

    terms: tuple[Term, ...] = field(converter=tuple[Term, ...], default=())
    #: Only of the repository ``owner/name``, compared without the case of ASCII letters, as code hosts do.
    repository: str = field(converter=folded, default="")
    event_types: tuple[str, ...] = field(converter=tuple[str, ...], default=())
    since: datetime | None = None


@final
@frozen(kw_only=True)
class PostSearch:
    """A filter of posts; empty fields do not restrict the search."""

    terms: tuple[Term, ...] = field(converter=tuple[Term, ...], default=())
    statuses: tuple[PostStatus, ...] = field(converter=tuple[PostStatus, ...], default=())
    content_types: tuple[ContentType, ...] = field(converter=tuple[ContentType, ...], default=())
    since: datetime | None = None


@final
@frozen(kw_only=True)
class Hits(Generic[_Item]):
    found: Sequence[_Item]
    #: Whether there are older matches: the next part begins behind the last item of ``found``.
    has_more: bool
    #: The number of the organization's recent documents that could not be searched yet.
    behind: int = 0


def read_context_search(parameters: Mapping[str, str], zone: ZoneInfo = DEFAULT_ZONE) -> ContextSearch | Refusal:
    """Read ``query``, ``repository``, ``eventType`` (a comma list) and ``since``; empty parameters are ignored."""
    terms = read_terms(parameters.get("query", ""))
    if isinstance(terms, Refusal):
        return terms
    event_types = listed(parameters.get("eventType", ""))
    for value in event_types:
        if value not in EVENT_TYPES:
            return bad_query("eventType", f"'{one_line(value, 64)}' is not one of {', '.join(EVENT_TYPES)}")
    since = read_time("since", parameters.get("since", ""), zone)
    if isinstance(since, Refusal):
        return since
    return ContextSearch(
        terms=terms, repository=parameters.get("repository", "").strip(), event_types=event_types, since=since
    )


def read_post_search(parameters: Mapping[str, str]) -> PostSearch | Refusal:
    """Read ``query``, ``status`` and ``contentType`` (comma lists) and ``since``; empty parameters are ignored."""
    terms = read_terms(parameters.get("query", ""))
    if isinstance(terms, Refusal):
        return terms
    statuses = choices("status", parameters.get("status", ""), PostStatus)
    if isinstance(statuses, Refusal):
        return statuses
    content_types = choices("contentType", parameters.get("contentType", ""), ContentType)
    if isinstance(content_types, Refusal):
        return content_types
    since = read_time("since", parameters.get("since", ""))
    if isinstance(since, Refusal):
        return since
    return PostSearch(terms=terms, statuses=statuses, content_types=content_types, since=since)
