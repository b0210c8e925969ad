"""Normalized pushes."""

from typing import Any

_BRANCH = "refs/heads/"


def push_data(native: dict[str, Any]) -> dict[str, Any]:
    """Return a push's data for the store and the answer.

    Raises:
        KeyError: A field is missing.
        TypeError: A field has another type.
    """
    ref = native["ref"]
    head = native["head_commit"]
    return {
        "ref": ref,
        "branch": ref.removeprefix(_BRANCH),
        "commits": [
            {
                "id": commit["id"],
                "message": commit["message"],
                "author": _author(commit["author"]),
                "timestamp": commit["timestamp"],
                "url": commit["url"],
            }
            for commit in native["commits"]
        ],
        "headCommit": head and {"id": head["id"], "message": head["message"]},
    }


def _author(native: dict[str, Any]) -> dict[str, Any]:
    author = {"name": native["name"], "email": native["email"] or ""}
    if username := native.get("username"):
        author["username"] = username
    return author


def why_filtered(native: dict[str, Any]) -> str | None:
    """Return why a push is filtered; ``None``: it is processed."""
    default_branch = native["repository"]["default_branch"]
    if native["ref"] != f"{_BRANCH}{default_branch}":
        return f"{native['ref']} is not the default branch ({default_branch})"
    return None if native["commits"] else "the push contains no commits"
