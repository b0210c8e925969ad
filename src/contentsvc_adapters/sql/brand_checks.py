"""The check that a brand identity named by a trigger or a schedule exists."""

from sqlalchemy import Connection, exists, select

from contentsvc_adapters.sql.schema.automation import brand_identities
from contentsvc_adapters.sql.store import is_own
from contentsvc_core.content.brand import no_such_brand
from contentsvc_core.refusals import Refusal


def unknown_brand(connection: Connection, organization_id: str, brand_id: str | None) -> Refusal | None:
    """Return a fault if the named identity does not exist.

    The transaction must hold the organization's row, as deletions of identities do: the answer holds until it ends.
    """
    if brand_id is None:
        return None
    condition = is_own(brand_identities, organization_id, brand_id)
    return None if connection.scalar(select(exists().where(condition))) else no_such_brand(brand_id)
