"""The deliveries: signed pushes in a code host's form, generated here."""

import hashlib
import hmac
import json
from typing import Any, Final, final

from attrs import frozen

#: The size of a push of one commit in bytes, and the number of different pushes.
PUSH_BYTES: Final = 8192
VARIANTS: Final = 8
BRANCH: Final = "main"
_HOST: Final = "https://codehost.example"
_API: Final = "https://api.codehost.example"
#: The URLs with which a code host describes each repository.
_LINKS: Final = (
    *("archive", "assignees", "blobs", "branches", "collaborators", "comments", "commits", "compare", "contents"),
    *("contributors", "deployments", "downloads", "events", "forks", "git_commits", "git_refs", "git_tags", "hooks"),
    *("issue_comment", "issue_events", "issues", "keys", "labels", "languages", "merges", "milestones"),
    *("notifications", "pulls", "releases", "stargazers", "statuses", "subscribers", "subscription", "tags", "teams"),
    "trees",
)
_WORDS: Final = (
    *("lamp", "beam", "lens", "turn", "signal", "tower", "keeper", "fog", "harbour", "chart", "buoy", "tide"),
    *("clock", "mirror", "glass", "storm", "watch", "bell", "pilot", "rock", "channel", "range", "sector", "light"),
)


@final
@frozen(kw_only=True)
class Hook:
    """The address and the secret of deliveries."""

    organization: str
    integration: str
    repository: str
    repository_id: int
    secret: str

    @property
    def path(self) -> str:
        """Return the address's path."""
        return f"/api/webhooks/codehost/{self.organization}/{self.integration}/{self.repository_id}"


@final
@frozen(kw_only=True)
class Signed:
    """A signed body for many deliveries, each with an id of its own."""

    body: bytes
    signature: str


def signed(body: bytes, secret: str) -> Signed:
    """Sign a body as the specification says."""
    return Signed(body=body, signature=f"sha256={hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}")


def pushes(hook: Hook, *, count: int = VARIANTS, size: int = PUSH_BYTES) -> list[Signed]:
    """Return signed pushes of one commit each, all of the same size."""
    return [signed(push(hook, number, commits=1, size=size), hook.secret) for number in range(count)]


def push(hook: Hook, number: int, *, commits: int, size: int | None = None) -> bytes:
    """Return the body of a push.

    Args:
        hook: The repository's hook.
        number: Pushes of different numbers differ in every commit.
        commits: The number of commits.
        size: The size of the body in bytes, reached by long messages. ``None``: no padding.

    Raises:
        ValueError: The body is longer than ``size`` without padding.
    """
    body = _encoded(_push(hook, number, commits, ""))
    if size is None:
        return body
    missing = size - len(body)
    if missing < 0:
        message = f"a push of {commits} commits has {len(body)} bytes, more than {size}"
        raise ValueError(message)
    # The last commit occurs twice: in the list, and as the head.
    share, rest = divmod(missing, commits + 1)
    padded = _push(hook, number, commits, _prose(number, share))
    padded["repository"]["description"] += "." * rest
    return _encoded(padded)


def _push(hook: Hook, number: int, commits: int, padding: str) -> dict[str, Any]:
    native_commits = [_commit(hook, number, place) for place in range(commits)]
    for commit in native_commits:
        commit["message"] += padding
    ids = [commit["id"] for commit in native_commits]
    return {
        "ref": f"refs/heads/{BRANCH}",
        "before": _digest(hook, number, -1),
        "after": ids[-1],
        "repository": _repository(hook),
        "pusher": {"name": "ada", "email": "ada@codehost.example"},
        "sender": _account("ada", 42),
        "created": False,
        "deleted": False,
        "forced": False,
        "base_ref": None,
        "compare": f"{_HOST}/{hook.repository}/compare/{ids[0][:12]}...{ids[-1][:12]}",
        "commits": native_commits,
        "head_commit": native_commits[-1],
    }


def _commit(hook: Hook, number: int, place: int) -> dict[str, Any]:
    id_ = _digest(hook, number, place)
    person = {"name": "Ada Keeper", "email": "ada@codehost.example", "username": "ada"}
    what = _prose(number * 31 + place * 7, 48)
    return {
        "id": id_,
        "tree_id": _digest(hook, number + 1, place),
        "distinct": True,
        "message": f"feat(lamp): {what} ({number}.{place})",
        "timestamp": "2026-01-02T03:04:05+00:00",
        "url": f"{_HOST}/{hook.repository}/commit/{id_}",
        "author": person,
        "committer": person,
        "added": [f"src/{_WORDS[place % len(_WORDS)]}/new_{place}.py"],
        "removed": [],
        "modified": ["README.md", f"src/{_WORDS[number % len(_WORDS)]}/main.py"],
    }


def _repository(hook: Hook) -> dict[str, Any]:
    owner, _, name = hook.repository.partition("/")
    api = f"{_API}/repos/{hook.repository}"
    return {
        "id": hook.repository_id,
        "node_id": "R_kgDOAAAAAA",
        "name": name,
        "full_name": hook.repository,
        "private": False,
        "owner": _account(owner, 7),
        "html_url": f"{_HOST}/{hook.repository}",
        "description": "Keeps the light burning",
        "fork": False,
        "url": api,
        **{f"{link}_url": f"{api}/{link}{{/sha}}" for link in _LINKS},
        **{f"{scheme}_url": f"{scheme}://codehost.example/{hook.repository}.git" for scheme in ("git", "ssh", "svn")},
        "created_at": 1_577_836_800,
        "updated_at": "2026-01-02T03:00:00Z",
        "pushed_at": 1_767_322_800,
        "homepage": None,
        "size": 4096,
        "stargazers_count": 128,
        "watchers_count": 128,
        "language": "Python",
        "has_issues": True,
        "has_projects": True,
        "has_downloads": True,
        "has_wiki": False,
        "has_pages": False,
        "forks_count": 16,
        "archived": False,
        "disabled": False,
        "open_issues_count": 8,
        "license": {"key": "mit", "name": "MIT License", "spdx_id": "MIT", "url": f"{_API}/licenses/mit"},
        "topics": list(_WORDS[:6]),
        "visibility": "public",
        "default_branch": BRANCH,
        "master_branch": BRANCH,
    }


def _account(name: str, number: int) -> dict[str, Any]:
    api = f"{_API}/users/{name}"
    parts = ("followers", "following", "gists", "starred", "subscriptions", "organizations", "repos", "events")
    return {
        "login": name,
        "id": number,
        "node_id": "U_kgDOAAAAAA",
        "avatar_url": f"{_HOST}/avatars/{number}?v=4",
        "url": api,
        "html_url": f"{_HOST}/{name}",
        **{f"{part}_url": f"{api}/{part}" for part in parts},
        "type": "User",
        "site_admin": False,
    }


def _digest(hook: Hook, number: int, place: int) -> str:
    return hashlib.blake2b(f"{hook.repository}:{number}:{place}".encode(), digest_size=20).hexdigest()


def _prose(seed: int, length: int) -> str:
    """Return ASCII text of the given length, with few repetitions."""
    words: list[str] = []
    size = 0
    place = seed
    while size < length:
        place = (place * 1_103_515_245 + 12_345) & 0x7FFF_FFFF
        word = f" {_WORDS[place % len(_WORDS)]}"
        words.append(word)
        size += len(word)
    return "".join(words)[:length]


def _encoded(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
