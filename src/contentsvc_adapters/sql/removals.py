from sqlalchemy import Connection, update

from contentsvc_adapters.sql.schedules import all_schedules, put_schedule
from contentsvc_adapters.sql.schema.automation import triggers
from contentsvc_adapters.sql.trigger_statements import all_triggers
from contentsvc_core.workflows.removals import Removal, Removed


def disable(connection: Connection, organization_id: str, rule: Removal) -> Removed:
    """Disable what the rule says, in a transaction that has locked the organization's row."""
    disabled = rule(all_triggers(connection, organization_id), all_schedules(connection, organization_id))
    ids = [trigger.id for trigger in disabled.triggers]
    connection.execute(update(triggers).where(triggers.c.id.in_(ids)).values(enabled=False))
    for schedule in disabled.schedules:
        put_schedule(connection, schedule)
    return disabled.removed
