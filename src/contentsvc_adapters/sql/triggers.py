"""The triggers of an organization. Each change is checked against the other triggers under a lock."""

from collections.abc import Sequence
from functools import partial

from sqlalchemy import Connection, delete, insert, select, update

from contentsvc_adapters.sql.configuration import change_configuration
from contentsvc_adapters.sql.database import Database
from contentsvc_adapters.sql.directory_rows import trigger_of, trigger_row
from contentsvc_adapters.sql.schema import triggers
from contentsvc_adapters.sql.speakers import unknown_brand
from contentsvc_core.errors import Unstorable
from contentsvc_core.refusals import Refusal, too_many
from contentsvc_core.workflows.triggers import DUPLICATE_TRIGGER, UNKNOWN_TRIGGER, Trigger, TriggerChange


class _Refused(Exception):
    """Rolls back an addition."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.reason)
        self.refusal = refusal


async def add_trigger(database: Database, trigger: Trigger, *, checks_brand: bool, at_most: int) -> Trigger | Refusal:
    """Add a trigger, unless another one does the same or there are too many."""
    adding = partial(_add, trigger, checks_brand=checks_brand, at_most=at_most)
    try:
        await change_configuration(database, trigger.organization_id, adding)
    except _Refused as exc:
        return exc.refusal
    return trigger


def _add(trigger: Trigger, connection: Connection, *, checks_brand: bool, at_most: int) -> bool:
    standing = connection.execute(select(triggers).where(triggers.c.id == trigger.id)).first()
    if standing is not None:
        if trigger_of(standing) != trigger:
            message = f"'{trigger.id}' is the id of another one"
            raise Unstorable(message)
        # The same trigger again, after an unknown outcome.
        return False
    others = all_triggers(connection, trigger.organization_id)
    if any(other.does_the_same_as(trigger) for other in others):
        raise _Refused(DUPLICATE_TRIGGER)
    if len(others) >= at_most:
        raise _Refused(too_many("event triggers", at_most))
    unknown = unknown_brand(connection, trigger.organization_id, trigger.brand_identity_id)
    if checks_brand and unknown is not None:
        raise _Refused(unknown)
    connection.execute(insert(triggers), trigger_row(trigger))
    return True


async def change_trigger(
    database: Database,
    organization_id: str,
    trigger_id: str,
    change: TriggerChange,
    *,
    checks_brand: bool,
) -> Trigger | Refusal:
    """Change a trigger under the organization's lock."""
    answer: list[Trigger | Refusal] = []

    def run(connection: Connection) -> bool:
        # If the transaction runs twice, the last result counts: that transaction was committed.
        changed = _changed(all_triggers(connection, organization_id), trigger_id, change)
        answer[:] = [changed]
        if isinstance(changed, Refusal):
            return False
        unknown = unknown_brand(connection, organization_id, changed.brand_identity_id)
        if checks_brand and unknown is not None:
            answer[:] = [unknown]
            return False
        changing = update(triggers).where(triggers.c.id == trigger_id, triggers.c.organization_id == organization_id)
        return connection.execute(changing.values(trigger_row(changed))).rowcount > 0

    await change_configuration(database, organization_id, run)
    return answer[0]


def _changed(standing: Sequence[Trigger], trigger_id: str, change: TriggerChange) -> Trigger | Refusal:
    found = next((trigger for trigger in standing if trigger.id == trigger_id), None)
    if found is None:
        return UNKNOWN_TRIGGER
    changed = change(found)
    if isinstance(changed, Refusal):
        return changed
    # A trigger may keep its function: duplicates may be older than this rule.
    if not changed.does_the_same_as(found) and any(changed.does_the_same_as(other) for other in standing):
        return DUPLICATE_TRIGGER
    return changed


async def remove_trigger(database: Database, organization_id: str, trigger_id: str) -> bool:
    """Delete a trigger."""
    removing = delete(triggers).where(triggers.c.organization_id == organization_id, triggers.c.id == trigger_id)
    removed = False

    def run(connection: Connection) -> bool:
        nonlocal removed
        gone = connection.execute(removing).rowcount > 0
        # If the transaction runs again after an unknown outcome, the trigger may be deleted already.
        removed = removed or gone
        return gone

    await change_configuration(database, organization_id, run)
    return removed


def all_triggers(connection: Connection, organization_id: str) -> list[Trigger]:
    """Read an organization's triggers."""
    mine = select(triggers).where(triggers.c.organization_id == organization_id)
    return [trigger_of(row) for row in connection.execute(mine)]
