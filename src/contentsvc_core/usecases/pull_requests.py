"""Reads from code hosts what deliveries lack: commits that were cut, and pull requests that commits name."""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, final

import msgspec
from attrs import evolve, field, frozen

from contentsvc_core.code_hosts import CommitRange, HostRefusal
from contentsvc_core.content.pull_requests import NamedPullRequests, PullRequest, named_pull_requests
from contentsvc_core.content.writing import Chapter
from contentsvc_core.events.normalized import Commit, Event, Push
from contentsvc_core.organizations import Integration, Repository
from contentsvc_core.ports import Clock, CodeHost, Directory, Steps
from contentsvc_core.usecases.briefs import BriefSources
from contentsvc_core.usecases.code_host_service import ByHand, CodeHostService, HostAccess
from contentsvc_core.webhooks.providers import provider_named
from contentsvc_core.workflows.causes import Source
from contentsvc_core.workflows.runs import WorkflowRun

_STEP: Final = "pull_requests"
_COMMITS_STEP: Final = "commits"
#: The title of a refused call in the log, and its operation.
_PULL_REQUESTS: Final = ("Pull request lookup", "read_pull_requests")
_COMMITS: Final = ("Commit lookup", "read_commits")
#: The most commits of a run that are read for cut pushes. The step's result has some 300 bytes a commit.
MAX_COMMITS_READ: Final = 1000
#: The most pull requests of a run, newest first: the step's result has at most 400 KB.
MAX_PULL_REQUESTS: Final = 120
#: The time limit for one provider's code host, in seconds. The run occupies a place of the engine meanwhile.
_PATIENCE_S: Final = 20.0
#: The most bytes of the answers of one provider's code host: as many as the longest texts of all pull requests need.
_MOST_READ: Final = 32 * 1024 * 1024
#: The pause after a refusal: a slow host must not delay every run, nor a refused token fill the log.
_PAUSE: Final = timedelta(minutes=1)
_LONG_PAUSE: Final = timedelta(hours=1)


@frozen(kw_only=True)
class _Lookup:
    source: Source
    full_name: str
    named: NamedPullRequests
    access: HostAccess


@frozen(kw_only=True)
class _Answers:
    found: dict[str, tuple[PullRequest, ...]] = field(factory=dict[str, tuple[PullRequest, ...]])
    missing: str | None = None


class _Listed(msgspec.Struct, frozen=True, kw_only=True):
    commits: tuple[Commit, ...]
    is_cut: bool


@final
class PullRequestReader:
    """Reads commits and pull requests where an integration has a token; else says why pull requests are missing."""

    def __init__(self, directory: Directory, calls: CodeHostService, clock: Clock) -> None:
        self._directory = directory
        self._calls = calls
        self._clock = clock
        self._paused: dict[str, tuple[datetime, str]] = {}

    async def read(self, run: WorkflowRun, gathered: BriefSources, steps: Steps) -> tuple[BriefSources, str | None]:
        """Return the gathered input with its pull requests, read in a step, and why some of them are missing."""
        gathered = await self._with_all_commits(run, gathered, steps)
        brief = gathered.brief
        mentions = [
            named_pull_requests(chapter.events, _request_number(source))
            for chapter, source in zip(brief.chapters, gathered.sources, strict=True)
        ]
        if not any(mentions):
            return gathered, None
        integrations = await self._directory.integrations(run.organization_id)
        lookups: list[_Lookup] = []
        missing: str | None = None
        for chapter, source, mentioned in zip(brief.chapters, gathered.sources, mentions, strict=True):
            access = await self._access(integrations, source, chapter.repository) if mentioned else None
            if isinstance(access, str):
                missing = missing or (access if mentioned.numbers else None)
            elif access is not None:
                lookups.append(_Lookup(source=source, full_name=chapter.repository, named=mentioned, access=access))
        if not lookups:
            return gathered, missing

        async def fetch() -> str:
            return msgspec.json.encode(await self._fetch(lookups)).decode()

        result = msgspec.json.decode(await steps.run(_STEP, fetch), type=_Answers)
        chapters = [
            evolve(
                chapter, pull_requests={mentioned.number: mentioned for mentioned in result.found.get(_key(source), ())}
            )
            for chapter, source in zip(brief.chapters, gathered.sources, strict=True)
        ]
        return evolve(gathered, brief=evolve(brief, chapters=chapters)), missing or result.missing

    async def _access(self, integrations: Sequence[Integration], source: Source, full_name: str) -> HostAccess | str:
        integration = next((each for each in integrations if _connects(each, source)), None)
        provider = provider_named(source.provider)
        if integration is None or provider is None or not provider.is_full_name(full_name):
            return f"{full_name} is not connected"
        if not integration.enabled:
            return f"the integration of {full_name} is disabled"
        access = await self._calls.access_to(integration, patient=True)
        if isinstance(access, ByHand):
            return f"the integration of {full_name} has no token"
        return access.reason if isinstance(access, HostRefusal) else access

    async def _fetch(self, lookups: Sequence[_Lookup]) -> _Answers:
        hosts: dict[str, CodeHost] = {}
        by_source: dict[str, tuple[PullRequest, ...]] = {}
        missing: str | None = None
        remaining = MAX_PULL_REQUESTS
        for index, lookup in enumerate(lookups):
            if (paused := self._pause_of(lookup.access)) is not None:
                missing = missing or paused
                continue
            host = hosts.setdefault(
                lookup.source.provider, lookup.access.host.within(_PATIENCE_S, limit_bytes=_MOST_READ)
            )
            # A fair share of the remaining number; repositories that need less leave more to the next ones.
            mentioned = lookup.named.first(-(-remaining // (len(lookups) - index)))
            read = await host.pull_requests(
                lookup.full_name, lookup.source.repository_id, mentioned, token=lookup.access.token
            )
            remaining -= len(mentioned)
            by_source[_key(lookup.source)] = read.found
            if read.refusal is not None:
                missing = missing or read.refusal.reason
                await self._refused(_PULL_REQUESTS, lookup.access, lookup.source, lookup.full_name, read.refusal)
        return _Answers(found=by_source, missing=missing)

    def _pause_of(self, access: HostAccess) -> str | None:
        until, reason = self._paused.get(access.integration.id, (None, ""))
        if until is None:
            return None
        if until <= self._clock.now():
            del self._paused[access.integration.id]
            return None
        return reason

    async def _refused(
        self, call: tuple[str, str], access: HostAccess, source: Source, full_name: str, refusal: HostRefusal
    ) -> None:
        self._paused[access.integration.id] = self._clock.now() + _pause_after(refusal), refusal.reason
        repository = Repository(id=source.repository_id, full_name=full_name, branch=None)
        await self._calls.note_refusal(*call, access.integration, repository, refusal)

    async def _with_all_commits(self, run: WorkflowRun, gathered: BriefSources, steps: Steps) -> BriefSources:
        chapters = gathered.brief.chapters
        if not any(_cut_pushes(chapter) for chapter in chapters):
            return gathered

        async def fetch() -> str:
            integrations = await self._directory.integrations(run.organization_id)
            return msgspec.json.encode(await self._listed(integrations, gathered)).decode()

        listed = msgspec.json.decode(await steps.run(_COMMITS_STEP, fetch), type=dict[str, _Listed])
        completed = [
            evolve(
                chapter,
                events=[_with_listed_commits(event, listed.get(_push_key(source, event))) for event in chapter.events],
            )
            for chapter, source in zip(chapters, gathered.sources, strict=True)
        ]
        return evolve(gathered, brief=evolve(gathered.brief, chapters=completed))

    async def _listed(self, integrations: Sequence[Integration], gathered: BriefSources) -> "dict[str, _Listed]":
        hosts: dict[str, CodeHost] = {}
        listed: dict[str, _Listed] = {}
        remaining = MAX_COMMITS_READ
        for chapter, source in zip(gathered.brief.chapters, gathered.sources, strict=True):
            # The push that creates the default branch has all commits of its head; that of another branch does not.
            pushes = [
                push for push in _cut_pushes(chapter) if push.head_commit and (push.before or not push.off_default)
            ]
            if not pushes or isinstance(access := await self._access(integrations, source, chapter.repository), str):
                continue
            if self._pause_of(access) is not None:
                continue
            host = hosts.setdefault(source.provider, access.host.within(_PATIENCE_S, limit_bytes=_MOST_READ))
            # Lists of commits do not name their repository, and a forged delivery may name another one.
            named = await host.repository(chapter.repository, token=access.token)
            if isinstance(named, HostRefusal):
                await self._refused(_COMMITS, access, source, chapter.repository, named)
            elif named.value.id != source.repository_id:
                continue
            for push in pushes:
                if self._pause_of(access) is not None or not (push.head_commit and remaining):
                    continue
                commit_range = CommitRange(head=push.head_commit.id, before=push.before, limit=remaining)
                read = await host.commits(chapter.repository, commit_range, token=access.token)
                if read.refusal is not None:
                    await self._refused(_COMMITS, access, source, chapter.repository, read.refusal)
                    continue
                remaining -= len(read.found)
                listed[_push_key(source, push)] = _Listed(commits=read.found, is_cut=read.is_cut)
        return listed


def _pause_after(refusal: HostRefusal) -> timedelta:
    if refusal.retry_after_s is not None:
        return min(timedelta(seconds=refusal.retry_after_s), _LONG_PAUSE)
    return _PAUSE if refusal.fault.is_unknown else _LONG_PAUSE


def _connects(integration: Integration, source: Source) -> bool:
    return integration.provider == source.provider and any(
        repository.id == source.repository_id for repository in integration.repositories
    )


def _request_number(source: Source) -> re.Pattern[str] | None:
    provider = provider_named(source.provider)
    return provider.request_number if provider is not None else None


def _cut_pushes(chapter: Chapter) -> list[Push]:
    """Return the pushes of a chapter whose commits were cut, newest first."""
    return [event for event in reversed(chapter.events) if isinstance(event, Push) and event.is_cut]


def _push_key(source: Source, event: Event) -> str:
    head = event.head_commit if isinstance(event, Push) else None
    return f"{_key(source)}:{head.id}" if head is not None else ""


def _with_listed_commits(event: Event, listed: _Listed | None) -> Event:
    if (
        not isinstance(event, Push)
        or listed is None
        or not {each.id for each in event.commits} <= {each.id for each in listed.commits}
    ):
        # The branch was rewritten since, or the list says something else.
        return event
    delivered = {each.id: each for each in event.commits}
    commits = tuple(delivered.get(each.id, each) for each in listed.commits)
    return msgspec.structs.replace(event, commits=commits, is_cut=listed.is_cut)


def _key(source: Source) -> str:
    return f"{source.provider}:{source.repository_id}"
