"""Read native bodies (specification 6.1, 6.2), field by field from the dictionaries of the script."""

from typing import Any

from contentsvc_core.events.normalized import Author, Commit, HeadCommit, Push, Release


def why_unwanted(native: dict[str, Any], kind: str) -> str | None:
    """Return why an event is filtered (specification 6.1, 6.2)."""
    if kind == "push":
        default = native["repository"]["default_branch"]
        if native["ref"] != f"refs/heads/{default}":
            return f"{native['ref']} is not the default branch ({default})"
        return None if native["commits"] else "the push contains no commits"
    if native["action"] not in {"published", "prereleased"}:
        return f"the action '{native['action']}' is not processed"
    return "the release is a draft" if native["release"]["draft"] else None


def push_of(native: dict[str, Any]) -> tuple[Push, dict[str, Any]]:
    """Return a push's event and its data (specification 6.1)."""
    ref: str = native["ref"]
    head = native["head_commit"]
    branch = ref.removeprefix("refs/heads/")
    body = {
        "ref": ref,
        "branch": branch,
        "commits": native["commits"],
        "headCommit": None if head is None else {"id": head["id"], "message": head["message"]},
    }
    event = Push(
        ref=ref,
        branch=branch,
        commits=tuple(_commit(commit) for commit in native["commits"]),
        head_commit=None if head is None else HeadCommit(id=head["id"], message=head["message"]),
    )
    return event, body


def _commit(native: dict[str, Any]) -> Commit:
    return Commit(
        id=native["id"],
        message=native["message"],
        author=Author(**native["author"]),
        timestamp=native["timestamp"],
        url=native["url"],
    )


def release_of(native: dict[str, Any]) -> tuple[Release, dict[str, Any]]:
    """Return a release's event and its data (specification 6.2)."""
    fields = native["release"]
    body = {
        "tagName": fields["tag_name"],
        "name": fields["name"],
        "body": fields["body"],
        "prerelease": fields["prerelease"],
        "draft": fields["draft"],
        "publishedAt": fields["published_at"],
        "url": fields["html_url"],
    }
    event = Release(
        action=native["action"],
        tag_name=fields["tag_name"],
        name=fields["name"],
        body=fields["body"],
        prerelease=fields["prerelease"],
        draft=fields["draft"],
        published_at=fields["published_at"],
        url=fields["html_url"],
    )
    return event, body
