"""Webhook bodies in the specification's native format, for commits and releases."""

import re
from collections.abc import Sequence
from typing import Any, Final, final
from zlib import crc32

from attrs import frozen

from contentsvc_cli.develop.changes import LocalCommit, Person
from contentsvc_core.webhooks.providers.native import MAX_COMMITS
from contentsvc_core.webhooks.providers.tags import is_prerelease

#: Private e-mail addresses of code hosts: ``user@users.noreply.…``, ``1234+user@users.noreply.…``.
_NOREPLY: Final = re.compile(r"(?:\d+\+)?(?P<user>[A-Za-z0-9][A-Za-z0-9-]*(?:\[bot\])?)@users\.noreply\.[^@]+")


@final
@frozen(kw_only=True)
class HostedRepository:
    #: 1 to 2**63 - 1.
    id: int
    full_name: str
    default_branch: str
    #: The web page, without a trailing slash.
    html_url: str

    @property
    def native(self) -> dict[str, Any]:
        owner, _, name = self.full_name.partition("/")
        return {
            "id": self.id,
            "name": name,
            "full_name": self.full_name,
            "default_branch": self.default_branch,
            "html_url": self.html_url,
            "private": False,
            "owner": {"login": owner},
        }


def stable_id(name: str) -> int:
    """Return an id for ``name``: the CRC-32 of its lower-case form, 1 to 2**32 - 1."""
    return crc32(name.lower().encode("utf-8", "replace")) or 1


def username(person: Person) -> str | None:
    match = _NOREPLY.fullmatch(person.email)
    return match["user"] if match else None


def login(person: Person) -> str:
    return username(person) or person.name


def push_body(
    repository: HostedRepository, commits: Sequence[LocalCommit], *, before: str | None, ref: str | None = None
) -> dict[str, Any]:
    """Return the body of a push with ``commits``, oldest first, at least one.

    If there are more commits than a code host sends, the body has the newest. ``before`` is ``None`` if the push
    created the branch.
    """
    head = commits[-1]
    old = before or "0" * len(head.id)
    natives = [_native_commit(repository, commit) for commit in commits[-MAX_COMMITS:]]
    return {
        "ref": ref or f"refs/heads/{repository.default_branch}",
        "before": old,
        "after": head.id,
        "created": before is None,
        "deleted": False,
        "forced": False,
        "base_ref": None,
        "compare": f"{repository.html_url}/compare/{old[:12]}...{head.id[:12]}",
        "commits": natives,
        "head_commit": natives[-1],
        "repository": repository.native,
        # The author: the committer of a merge on the code host's pages is the code host.
        "pusher": {"name": login(head.author), "email": head.author.email},
        "sender": sender(login(head.author)),
    }


def release_body(
    repository: HostedRepository,
    *,
    tag: str,
    notes: str | None,
    published_at: str | None,
    by: str,
    action: str = "published",
    draft: bool = False,
    prerelease: bool | None = None,
) -> dict[str, Any]:
    """Return the body of a release event with ``action``, which is named as the code host names it.

    ``published_at`` is ISO 8601, and ``None`` for a draft. A ``prerelease`` of ``None`` is derived from the tag.
    """
    return {
        "action": action,
        "release": {
            "id": stable_id(f"{repository.full_name} {tag}"),
            "tag_name": tag,
            "target_commitish": repository.default_branch,
            "name": tag,
            "body": notes,
            "draft": draft,
            "prerelease": is_prerelease(tag) if prerelease is None else prerelease,
            "published_at": published_at,
            "html_url": f"{repository.html_url}/releases/tag/{tag}",
        },
        "repository": repository.native,
        "sender": sender(by),
    }


def sender(login: str) -> dict[str, Any]:
    return {"login": login, "id": stable_id(login)}


def _native_commit(repository: HostedRepository, commit: LocalCommit) -> dict[str, Any]:
    return {
        "id": commit.id,
        "tree_id": commit.tree_id,
        "distinct": True,
        "message": commit.message,
        "timestamp": commit.committed_at,
        "url": f"{repository.html_url}/commit/{commit.id}",
        "author": _native_person(commit.author),
        "committer": _native_person(commit.committer),
        "added": list(commit.added),
        "removed": list(commit.removed),
        "modified": list(commit.modified),
    }


def _native_person(person: Person) -> dict[str, Any]:
    account = username(person)
    identity = {"name": person.name, "email": person.email}
    return identity if account is None else identity | {"username": account}
