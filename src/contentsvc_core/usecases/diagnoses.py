from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final, final

from attrs import frozen

from contentsvc_core.errors import SecretUnreadable
from contentsvc_core.journal import LogLine, LogOutcome
from contentsvc_core.organizations import Integration
from contentsvc_core.ports import Directory, Hooks, ReadModel
from contentsvc_core.read_model import LogSearch
from contentsvc_core.webhooks.diagnosis import CONSIDERED, Diagnosis, Health, IntegrationFacts, diagnose, health_of

#: The time before and after a refusal in which similar refusals are counted, and the largest count.
SIMILAR_WITHIN: Final = timedelta(days=1)
MOST_SIMILAR: Final = 100
#: Entries that are read for the health of an integration: calls to the code host are among them.
_READ: Final = 2 * CONSIDERED


@final
@frozen(kw_only=True)
class Similar:
    """The number of refusals like one entry, and the time of the first one."""

    number: int
    since: datetime


@final
@frozen(kw_only=True)
class Explained:
    """Why a delivery was refused, or why no run of it wrote a post."""

    diagnosis: Diagnosis | None
    similar: Similar | None = None
    no_post: str | None = None


@final
class Diagnoses:
    """Explains log entries, and judges the health of integrations."""

    def __init__(self, read_model: ReadModel, directory: Directory, hooks: Hooks) -> None:
        self._read_model = read_model
        self._directory = directory
        self._hooks = hooks

    async def explain(self, entry: LogLine) -> Explained:
        """Return the diagnosis of an entry, and the number of similar refusals of the day before and after.

        The explanation of a processed delivery names the reason if no run wrote a post.
        """
        owner, id_ = entry.organization_id, entry.integration_id
        diagnosis = diagnose(entry, await self.known(await self._directory.integration(owner, id_)))
        if entry.outcome is not LogOutcome.REFUSED:
            processed = entry.outcome is LogOutcome.PROCESSED
            listed = await self._read_model.entry(owner, entry.id) if processed else None
            return Explained(diagnosis=diagnosis, no_post=None if listed is None else listed.no_post)
        search = LogSearch(
            integration_ids=(id_,),
            outcomes=(LogOutcome.REFUSED,),
            text=entry.title,
            since=entry.created_at - SIMILAR_WITHIN,
        )
        others = [
            candidate
            for candidate in await self._read_model.log(owner, search, limit=MOST_SIMILAR + 1)
            if candidate.id != entry.id and candidate.title == entry.title
        ]
        since = min(candidate.created_at for candidate in (entry, *others))
        return Explained(diagnosis=diagnosis, similar=Similar(number=len(others), since=since))

    async def health(self, integration: Integration) -> Health:
        search = LogSearch(integration_ids=(integration.id,))
        newest = await self._read_model.log(integration.organization_id, search, limit=_READ)
        return health_of(newest, await self.known(integration))

    async def known(self, integration: Integration | None) -> IntegrationFacts | None:
        if integration is None:
            return None
        access = None
        with suppress(SecretUnreadable):
            access = await self._hooks.access(integration.organization_id, integration.id)
        return IntegrationFacts(
            is_enabled=integration.enabled, has_token=access is not None and access.token is not None
        )
