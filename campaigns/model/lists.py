"""The model's lists, in the orders that the ports guarantee."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, Protocol, TypeVar

from attrs import evolve
from campaigns.model.model import A_DAY, Logged, Model

from contentsvc_core.content.posts import Post
from contentsvc_core.content.queries import PostQuery
from contentsvc_core.journal import LogEntry
from contentsvc_core.lists.pagination import PageRequest, Pagination, invalid_page
from contentsvc_core.refusals import Refusal

Visible = dict[str, Any]


class _Owned(Protocol):
    @property
    def id(self) -> str: ...
    @property
    def organization_id(self) -> str: ...
    @property
    def created_at(self) -> datetime: ...


_Value = TypeVar("_Value", bound=_Owned)


def of(values: Iterable[_Value], organization_id: str, *, newest_first: bool) -> list[_Value]:
    """List an organization's values by creation time and then id."""
    own = [value for value in values if value.organization_id == organization_id]
    return sorted(own, key=lambda value: (value.created_at, value.id), reverse=newest_first)


def visible(model: Model) -> Visible:
    """Return all lists, by kind and owner."""
    seen: Visible = {
        "organizations": sorted(model.organizations.values(), key=lambda each: each.slug),
        "keys": sorted(model.keys.values(), key=lambda key: (key.created_at, key.prefix)),
    }
    for organization_id in model.organizations:
        own = [key for key in seen["keys"] if key.organization_id == organization_id]
        integrations = of(model.integrations.values(), organization_id, newest_first=False)
        seen |= {
            f"{organization_id} keys": own,
            f"{organization_id} integrations": integrations,
            f"{organization_id} secrets": [(model.secrets[each.id],) for each in integrations],
            f"{organization_id} triggers": of(model.triggers.values(), organization_id, newest_first=False),
            f"{organization_id} contexts": of(model.contexts.values(), organization_id, newest_first=True),
            f"{organization_id} runs": of(model.runs.values(), organization_id, newest_first=True),
            f"{organization_id} posts": of(model.posts.values(), organization_id, newest_first=True),
            f"{organization_id} log": [(each.entry, each.payload) for each in log(model, organization_id)[::-1]],
        }
    return seen


def log(model: Model, organization_id: str) -> list[Logged]:
    """List an organization's log, oldest first."""
    own = [each for each in model.log.values() if each.entry.organization_id == organization_id]
    return sorted(own, key=lambda each: (each.entry.created_at, each.entry.id))


def modelled(entries: Iterable[LogEntry]) -> list[LogEntry]:
    """Return entries without the facts of refused deliveries: the model has none, and the contracts check them."""
    return [evolve(entry, received=None) for entry in entries]


def page(
    model: Model, organization_id: str, query: PostQuery, request: PageRequest
) -> tuple[Sequence[Post], Pagination] | Refusal:
    """Return a page of posts (specification 4.2); an empty list has one page."""
    found = [
        post
        for post in of(model.posts.values(), organization_id, newest_first=not query.ascending)
        if (not query.statuses or post.status in query.statuses)
        and (not query.content_types or post.content_type in query.content_types)
    ]
    pages = [found[start : start + request.limit] for start in range(0, len(found), request.limit)] or [[]]
    if request.page > len(pages):
        return invalid_page(request.page, len(pages))
    pagination = Pagination(
        limit=request.limit, current_page=request.page, total_pages=len(pages), total_items=len(found)
    )
    return pages[request.page - 1], pagination


def sweep(model: Model, organization_id: str, before: datetime, limit: int) -> int:
    """Delete the oldest entries of a log."""
    old = [each.entry.id for each in log(model, organization_id) if each.entry.created_at < before][:limit]
    for entry_id in old:
        del model.log[entry_id]
    return len(old)


def sweep_all(model: Model, now: datetime) -> tuple[int, int]:
    """Delete the data that no plan keeps, and ended claims (specification 8.2)."""
    entries = 0
    for organization in model.organizations.values():
        before = now - timedelta(days=organization.retention_days)
        entries += sweep(model, organization.id, before, len(model.log))
    expired = [key for key, taken in model.claims.items() if now - taken >= A_DAY]
    for key in expired:
        del model.claims[key]
    return entries, len(expired)
