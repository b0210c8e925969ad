"""Signed deliveries of native bodies, a clock that is moved by hand, and repeatable ids."""

import json
from collections.abc import Awaitable, Callable, Iterable
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from itertools import count
from typing import Any, Final, final
from zoneinfo import ZoneInfo

from attrs import evolve

from contentsvc_core.timestamps import whole_ms
from contentsvc_core.webhooks.delivery import Address, Delivery, Headers
from contentsvc_core.webhooks.providers import DEFAULT_PROVIDER
from contentsvc_core.workflows.triggers import Trigger

START: Final = datetime(2026, 1, 1, tzinfo=UTC)


@final
class ManualClock:
    """A clock that only :meth:`advance` moves, by a negative time backwards; times are cut to whole milliseconds."""

    def __init__(self, now: datetime = START) -> None:
        self._now = whole_ms(now)

    def now(self) -> datetime:
        return self._now

    def advance(self, by: timedelta) -> None:
        self._now = whole_ms(self._now + by)


@final
class CountingIds:
    """Ids and tokens that count from 1, so that they are the same in each run.

    Use one source for each store, also for several receivers: to a store, a repeated id is a repeated settlement.
    """

    def __init__(self) -> None:
        self._numbers = count(1)

    def new_id(self, prefix: str) -> str:
        number = next(self._numbers)
        return f"{prefix}00000000-0000-7000-8000-{number:012d}"

    def token(self, length: int) -> str:
        return f"{next(self._numbers):0{length}d}"


@final
class PlainSteps:
    """Steps of a writer whose results are not stored."""

    async def run(self, name: str, step: Callable[[], Awaitable[str]]) -> str:
        _ = name
        return await step()


def switched(*, enabled: bool) -> Callable[[Trigger, ZoneInfo], Trigger]:
    """Return a change that enables or disables a trigger, for :meth:`.Automations.change`."""
    return lambda trigger, _: evolve(trigger, enabled=enabled)


def address(
    provider: str = DEFAULT_PROVIDER.slug,
    organization_id: str = "org_1",
    integration_id: str = "int_1",
    repository_id: int = 1,
) -> Address:
    """Return the address of a hook; the default provider is ``codehost``."""
    return Address(
        provider=provider, organization_id=organization_id, integration_id=integration_id, repository_id=repository_id
    )


def signed(
    body: bytes | dict[str, Any],
    *,
    at: Address,
    secret: str,
    event: str = "push",
    delivery_id: str = "72d3162e-cc78-11e3-81ab-4c9367dc0958",
    headers: Iterable[tuple[bytes, bytes]] = (),
) -> Delivery:
    """Return a delivery as the code host would send it; ``headers`` are added, such as a second one of a name.

    ``event`` is the value of the provider's event header, such as ``Push Hook`` at GitLab. The provider's ``write``
    returns it together with a body.
    """
    raw = body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode()
    provider = at.dialect
    proof = provider.scheme.value(raw, secret).encode("utf-8", "surrogatepass")
    return Delivery(
        address=at,
        headers=Headers.of(
            (
                (b"content-type", b"application/json"),
                (provider.kind_name, event.encode("latin-1")),
                (provider.id_name, delivery_id.encode("latin-1")),
                (provider.scheme.name, proof),
                *headers,
            )
        ),
        body=raw,
    )


def push_body(
    *messages: str,
    repository_id: int = 1,
    repository: str = "acme/lighthouse",
    branch: str = "main",
    default_branch: str = "main",
) -> dict[str, Any]:
    """Return a push in the code host's native form, with a commit for each message; its id depends on the message."""
    url = f"https://codehost.example/{repository}"
    ids = [blake2b(message.encode(), digest_size=20).hexdigest() for message in messages]
    commits = [
        {
            "id": id_,
            "message": message,
            "author": {"name": "Ada", "email": "ada@example.com", "username": "ada"},
            "timestamp": "2026-01-01T12:00:00+02:00",
            "url": f"{url}/commit/{id_}",
        }
        for id_, message in zip(ids, messages, strict=True)
    ]
    return {
        "ref": f"refs/heads/{branch}",
        "commits": commits,
        "head_commit": commits[-1] if commits else None,
        "repository": {"id": repository_id, "full_name": repository, "default_branch": default_branch},
    }


def release_body(
    tag: str = "v1.0.0",
    *,
    action: str = "published",
    body: str | None = None,
    repository_id: int = 1,
    repository: str = "acme/lighthouse",
    draft: bool = False,
    prerelease: bool = False,
    published_at: str | None = "2026-01-01T12:00:00Z",
) -> dict[str, Any]:
    """Return a change of a release in the code host's native form; ``action`` is any word, such as ``deleted``."""
    return {
        "action": action,
        "release": {
            "tag_name": tag,
            "name": tag,
            "body": body,
            "prerelease": prerelease,
            "draft": draft,
            "published_at": published_at,
            "html_url": f"https://codehost.example/{repository}/releases/tag/{tag}",
        },
        "repository": {"id": repository_id, "full_name": repository},
    }
