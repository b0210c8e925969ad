"""Webhook bodies in the specification's native format, for commits and releases: the fields that the service reads."""

from collections.abc import Sequence
from typing import Any, final
from zlib import crc32

from attrs import frozen
from msgspec.structs import replace

from contentsvc_core.events.normalized import MAX_COMMITS, Commit, Event, HeadCommit, Push, Release
from contentsvc_core.webhooks.providers.native import Reading, write
from contentsvc_core.webhooks.providers.tags import is_prerelease


@final
@frozen(kw_only=True)
class HostedRepository:
    #: 1 to 2**63 - 1.
    id: int
    full_name: str
    default_branch: str
    #: The web page, without a trailing slash.
    html_url: str


def stable_id(name: str) -> int:
    """Return an id for ``name``: the CRC-32 of its lower-case form, 1 to 2**32 - 1."""
    return crc32(name.lower().encode("utf-8", "replace")) or 1


def push_body(repository: HostedRepository, commits: Sequence[Commit], *, ref: str | None = None) -> dict[str, Any]:
    """Return the body of a push with ``commits``, oldest first, at least one.

    If there are more commits than a code host sends, the body has the newest.
    """
    natives = tuple(
        replace(commit, url=f"{repository.html_url}/commit/{commit.id}") for commit in commits[-MAX_COMMITS:]
    )
    head, branch = HeadCommit(id=natives[-1].id, message=natives[-1].message), repository.default_branch
    return _body(repository, Push(ref=ref or f"refs/heads/{branch}", branch=branch, commits=natives, head_commit=head))


def release_body(
    repository: HostedRepository,
    *,
    tag: str,
    notes: str | None,
    published_at: str | None,
    action: str = "published",
    draft: bool = False,
    prerelease: bool | None = None,
) -> dict[str, Any]:
    """Return the body of a release event with ``action``, which is named as the code host names it.

    ``published_at`` is ISO 8601, and ``None`` for a draft. A ``prerelease`` of ``None`` is derived from the tag.
    """
    release = Release(
        action=action,
        tag_name=tag,
        name=tag,
        body=notes,
        prerelease=is_prerelease(tag) if prerelease is None else prerelease,
        draft=draft,
        published_at=published_at,
        url=f"{repository.html_url}/releases/tag/{tag}",
    )
    return _body(repository, release)


def _body(repository: HostedRepository, event: Event) -> dict[str, Any]:
    reading = Reading(
        event=event,
        repository_id=repository.id,
        repository=repository.full_name,
        default_branch=repository.default_branch,
    )
    return write(reading)[1]
