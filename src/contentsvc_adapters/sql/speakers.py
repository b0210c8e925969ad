"""Whether the brand identity that a trigger or a schedule names is there."""

from sqlalchemy import Connection, exists, select

from contentsvc_adapters.sql.schema import brand_identities
from contentsvc_core.content.brand import UnknownBrand


def unknown_brand(connection: Connection, organization_id: str, brand_id: str | None) -> UnknownBrand | None:
    """Tell that an identity which is named is not there.

    For a transaction that has locked the organization's row: who removes an identity locks it as well, so that the
    answer holds until the transaction ends.
    """
    if brand_id is None:
        return None
    named = (brand_identities.c.organization_id == organization_id) & (brand_identities.c.id == brand_id)
    return None if connection.scalar(select(exists().where(named))) else UnknownBrand(brand_id)
