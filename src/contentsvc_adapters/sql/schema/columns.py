"""What all tables share."""

from typing import Final

from sqlalchemy import Column, ForeignKey, MetaData, Text

metadata: Final = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    }
)

#: What is looked up or ordered by: compared by bytes in every database, as Python does, whatever its locale.
KEY: Final = Text().with_variant(Text(collation="C"), "postgresql")


def organization(*, index: bool = False) -> Column[str]:
    """Give the column that says whose a row is."""
    return Column("organization_id", KEY, ForeignKey("organizations.id"), nullable=False, index=index)
