from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Final, Generic, TypeVar, final
from zoneinfo import ZoneInfo

from attrs import field, frozen

from contentsvc_core.content.posts import ContentType, PostStatus
from contentsvc_core.events.normalized import Push, Release
from contentsvc_core.lists.parameters import all_read, bad_query, choices, listed, read_time
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
    event_types = listed(parameters.get("eventType", ""))
    unknown = next((value for value in event_types if value not in EVENT_TYPES), None)
    if unknown is not None:
        return bad_query("eventType", f"'{one_line(unknown, 64)}' is not one of {', '.join(EVENT_TYPES)}")
    return all_read(
        partial(ContextSearch, repository=parameters.get("repository", "").strip(), event_types=event_types),
        terms=read_terms(parameters.get("query", "")),
        since=read_time("since", parameters.get("since", ""), zone),
    )


def read_post_search(parameters: Mapping[str, str]) -> PostSearch | Refusal:
    """Read ``query``, ``status`` and ``contentType`` (comma lists) and ``since``; empty parameters are ignored."""
    return all_read(
        PostSearch,
        terms=read_terms(parameters.get("query", "")),
        statuses=choices("status", parameters.get("status", ""), PostStatus),
        content_types=choices("contentType", parameters.get("contentType", ""), ContentType),
        since=read_time("since", parameters.get("since", "")),
    )
