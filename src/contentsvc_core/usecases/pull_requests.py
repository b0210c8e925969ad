"""Reads the pull requests that a run's commits name, as a step of the run that never fails it."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, final

import msgspec
from attrs import evolve, field, frozen

from contentsvc_core.content.pull_requests import NamedPullRequests, PullRequest, named_pull_requests
from contentsvc_core.hosts import HostRefusal
from contentsvc_core.identifiers import is_full_name
from contentsvc_core.organizations import Integration, Repository
from contentsvc_core.ports import Clock, CodeHost, Directory, Steps
from contentsvc_core.usecases.briefs import Gathered
from contentsvc_core.usecases.host_calls import ByHand, HostCalls, Reach
from contentsvc_core.workflows.causes import Source
from contentsvc_core.workflows.runs import WorkflowRun

_STEP: Final = "pull_requests"
#: The most pull requests of a run, newest first: more than nearly all releases have. The step's result is kept until
#: the run ends, and has some 100 KB, at most 400 KB.
MAX_PULL_REQUESTS: Final = 120
#: The time limit for one provider's code host, in seconds. The run occupies a place of the engine meanwhile.
_PATIENCE_S: Final = 20.0
#: The pause after a refusal of an integration's code host. A slow host must not delay every run, and a token without
#: the right must not cost more than one log entry an hour.
_PAUSE: Final = timedelta(minutes=1)
_LONG_PAUSE: Final = timedelta(hours=1)


@final
@frozen(kw_only=True)
class _Asked:
    """One repository of a brief, and the data for the calls to its code host."""

    source: Source
    #: The current ``owner/name``.
    full_name: str
    named: NamedPullRequests
    integration: Integration
    reach: Reach


@final
@frozen(kw_only=True)
class _Kept:
    #: By provider and repository id.
    found: dict[str, tuple[PullRequest, ...]] = field(factory=dict[str, tuple[PullRequest, ...]])
    missing: str | None = None


@final
class PullRequestReader:
    """Reads pull requests where an integration has a token; else returns the reason why they are missing."""

    def __init__(self, directory: Directory, calls: HostCalls, clock: Clock) -> None:
        self._directory = directory
        self._calls = calls
        self._clock = clock
        #: The end and the reason of a pause in calls to an integration's code host, by the integration's id.
        self._paused: dict[str, tuple[datetime, str]] = {}

    async def read(self, run: WorkflowRun, gathered: Gathered, steps: Steps) -> tuple[Gathered, str | None]:
        """Return the gathered input with its pull requests, and the reason if some of them are missing.

        The answers are the result of a step: a retried run does not call the code host again.

        Raises:
            RunGone: The run was cancelled, or another process owns it now.
            StoreUnavailable: No call was made, or the answers were not stored.
        """
        brief = gathered.brief
        named = [named_pull_requests(chapter.events) for chapter in brief.chapters]
        if not any(named):
            return gathered, None
        integrations = await self._directory.integrations(run.organization_id)
        asked: list[_Asked] = []
        missing: str | None = None
        for chapter, source, each in zip(brief.chapters, gathered.sources, named, strict=True):
            reached = await self._reach(integrations, source, chapter.repository) if each else None
            if isinstance(reached, str):
                # A push without a number is seldom a pull request: nothing is missing then.
                missing = missing or (reached if each.numbers else None)
            elif reached is not None:
                integration, reach = reached
                asked.append(
                    _Asked(
                        source=source, full_name=chapter.repository, named=each, integration=integration, reach=reach
                    )
                )
        if not asked:
            return gathered, missing

        async def ask() -> str:
            return msgspec.json.encode(await self._ask(asked)).decode()

        kept = msgspec.json.decode(await steps.run(_STEP, ask), type=_Kept)
        chapters = [
            evolve(chapter, pull_requests={each.number: each for each in kept.found.get(_key(source), ())})
            for chapter, source in zip(brief.chapters, gathered.sources, strict=True)
        ]
        return evolve(gathered, brief=evolve(brief, chapters=chapters)), missing or kept.missing

    async def _reach(
        self, integrations: Sequence[Integration], source: Source, full_name: str
    ) -> tuple[Integration, Reach] | str:
        integration = next((each for each in integrations if _connects(each, source)), None)
        if integration is None or not is_full_name(full_name):
            return f"{full_name} is not connected"
        if not integration.enabled:
            return f"the integration of {full_name} is disabled"
        reach = await self._calls.reach(integration, patient=True)
        if isinstance(reach, ByHand):
            return f"the integration of {full_name} has no token"
        return reach.reason if isinstance(reach, HostRefusal) else (integration, reach)

    async def _ask(self, asked: Sequence[_Asked]) -> _Kept:
        #: One client, and so one time limit, for all repositories of a provider.
        hosts: dict[str, CodeHost] = {}
        found: dict[str, tuple[PullRequest, ...]] = {}
        missing: str | None = None
        room = MAX_PULL_REQUESTS
        for place, each in enumerate(asked):
            if (paused := self._pause_of(each.integration)) is not None:
                missing = missing or paused
                continue
            host = hosts.setdefault(each.source.provider, each.reach.host.within(_PATIENCE_S))
            # A fair share of the remaining number; repositories that need less leave more to the next ones.
            named = each.named.first(-(-room // (len(asked) - place)))
            read = await host.pull_requests(each.full_name, each.source.repository_id, named, token=each.reach.token)
            room -= len(named)
            found[_key(each.source)] = read.found
            if read.refusal is not None:
                missing = missing or read.refusal.reason
                await self._refused(each, read.refusal)
        return _Kept(found=found, missing=missing)

    def _pause_of(self, integration: Integration) -> str | None:
        until, reason = self._paused.get(integration.id, (None, ""))
        if until is None:
            return None
        if until <= self._clock.now():
            del self._paused[integration.id]
            return None
        return reason

    async def _refused(self, asked: _Asked, refusal: HostRefusal) -> None:
        self._paused[asked.integration.id] = self._clock.now() + _pause_after(refusal), refusal.reason
        repository = Repository(id=asked.source.repository_id, full_name=asked.full_name, branch=None)
        await self._calls.note_refusal(
            "Pull request lookup", "read_pull_requests", asked.integration, repository, refusal
        )


def _pause_after(refusal: HostRefusal) -> timedelta:
    if refusal.retry_after_s is not None:
        return min(timedelta(seconds=refusal.retry_after_s), _LONG_PAUSE)
    return _PAUSE if refusal.fault.is_unknown else _LONG_PAUSE


def _connects(integration: Integration, source: Source) -> bool:
    return integration.provider == source.provider and any(
        repository.id == source.repository_id for repository in integration.repositories
    )


def _key(source: Source) -> str:
    return f"{source.provider}:{source.repository_id}"
