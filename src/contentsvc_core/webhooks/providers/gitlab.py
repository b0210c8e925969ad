"""The provider ``gitlab``, from version 17.4 on. Its webhooks carry the secret as a token; a push lists 20 commits."""

import re
from typing import Annotated, Final, assert_never

import msgspec

from contentsvc_core.events.normalized import MAX_COMMITS, HeadCommit, Push, Release
from contentsvc_core.on_demand import late
from contentsvc_core.webhooks.providers.decoding import decode_body
from contentsvc_core.webhooks.providers.native import (
    BRANCH,
    NO_COMMIT,
    NativeCommit,
    Paths,
    Reading,
    optional_text,
    read_action,
    read_commit,
    repository_name,
    storable_text,
    written_commit,
)
from contentsvc_core.webhooks.providers.provider import Provider, Setup
from contentsvc_core.webhooks.providers.tags import is_prerelease, release_action
from contentsvc_core.webhooks.signature import SharedToken

_TIME: Final = late(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d{1,9})?) UTC", re.ASCII)
_CREATED: Final = "create"
_TAG: Final = "refs/tags/"


class _Project(msgspec.Struct, kw_only=True, frozen=True, gc=False):
    id: int
    path_with_namespace: str
    default_branch: str | None = None


class _Push(msgspec.Struct, kw_only=True, frozen=True, gc=False):
    ref: str
    before: str
    after: str
    project: _Project
    commits: Annotated[list[NativeCommit], msgspec.Meta(max_length=MAX_COMMITS)]
    total_commits_count: int


class _TaggedCommit(msgspec.Struct, kw_only=True, frozen=True, gc=False):
    id: str


class _Release(msgspec.Struct, kw_only=True, frozen=True, gc=False):
    action: str
    tag: str
    name: str | None
    description: str | None
    released_at: str | None
    url: str
    project: _Project
    commit: _TaggedCommit | None = None


_PUSH: Final = msgspec.json.Decoder(_Push)
_RELEASE: Final = msgspec.json.Decoder(_Release)


def _read_push(body: bytes) -> Reading:
    native = decode_body(body, _PUSH)
    paths = Paths()
    commits = [read_commit(commit, paths) for commit in native.commits]
    if len(commits) > 1 and commits[0].id == native.after:
        # The button "Test" lists the newest commit first, and a push lists it last.
        commits.reverse()
    ref = storable_text(native.ref)
    head = next((commit for commit in commits if commit.id == native.after), None)
    is_cut = native.total_commits_count > len(commits) > 0
    return Reading(
        event=Push(
            ref=ref,
            branch=ref.removeprefix(BRANCH),
            commits=tuple(commits),
            head_commit=head and HeadCommit(id=head.id, message=head.message),
            is_cut=is_cut,
            before=storable_text(native.before) if is_cut and not NO_COMMIT.fullmatch(native.before) else "",
        ),
        repository_id=native.project.id,
        repository=repository_name(native.project.path_with_namespace, "project.path_with_namespace"),
        default_branch=storable_text(native.project.default_branch or ""),
    )


def _read_release(body: bytes) -> Reading:
    native = decode_body(body, _RELEASE)
    tag = storable_text(native.tag)
    return Reading(
        event=Release(
            # GitLab has neither drafts nor a flag for pre-releases.
            action=release_action(tag) if native.action == _CREATED else read_action(native.action),
            tag_name=tag,
            name=optional_text(native.name),
            body=optional_text(native.description),
            prerelease=is_prerelease(tag),
            draft=False,
            published_at=_time(native.released_at),
            url=storable_text(native.url),
            commit=storable_text(native.commit.id) if native.commit else "",
        ),
        repository_id=native.project.id,
        repository=repository_name(native.project.path_with_namespace, "project.path_with_namespace"),
    )


def _time(text: str | None) -> str | None:
    written = _TIME.fullmatch(text or "")
    return f"{written[1]}T{written[2]}Z" if written else optional_text(text)


def _write(reading: Reading) -> tuple[str, dict[str, object]]:
    event = reading.event
    project = {
        "id": reading.repository_id,
        "path_with_namespace": reading.repository,
        "default_branch": reading.default_branch,
    }
    match event:
        case Push():
            none = "0" * 40
            is_tag = event.ref.startswith(_TAG)
            return "Tag Push Hook" if is_tag else "Push Hook", {
                "object_kind": "tag_push" if is_tag else "push",
                "ref": event.ref,
                "before": event.before or none,
                "after": event.commits[-1].id if event.commits else none,
                "project": project,
                "commits": [written_commit(each) for each in event.commits],
                "total_commits_count": len(event.commits) + event.is_cut,
            }
        case Release():
            return "Release Hook", {
                "object_kind": "release",
                "action": _CREATED,
                "tag": event.tag_name,
                "name": event.name,
                "description": event.body,
                "released_at": event.published_at,
                "url": event.url,
                "project": project,
                "commit": {"id": event.commit},
            }
        case _:
            assert_never(event)


GITLAB: Final = Provider(
    slug="gitlab",
    name="GitLab",
    scheme=SharedToken(header="X-Gitlab-Token"),
    event_header="X-Gitlab-Event",
    # X-Gitlab-Webhook-UUID is new with each attempt, and one push to two branches has one X-Gitlab-Event-UUID
    # (docs/decisions/0059-providers.md).
    delivery_header="Idempotency-Key",
    readers={"Push Hook": _read_push, "Tag Push Hook": _read_push, "Release Hook": _read_release},
    write=_write,
    setup=Setup(
        where="In the project there, under Settings, Webhooks",
        url_field="URL",
        secret_field="Secret token",  # noqa: S106  # the name of a form's field
        content_type=None,
        events=("Push events", "Releases events"),
    ),
    operation_id="connectGitlab",
    api_url="https://gitlab.com/api/v4",
    own_api_url="https://HOST/api/v4",
    hosts={"gitlab": ""},
    has_nested_owners=True,
    request_number=re.compile(r"^See merge request \S*?!([0-9]{1,10})[ \t]*$", re.MULTILINE | re.ASCII),
)
