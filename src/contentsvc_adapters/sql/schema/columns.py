from typing import Any, Final

from sqlalchemy import Column, ColumnElement, ForeignKey, Index, MetaData, Table, Text, event

metadata: Final = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    }
)

#: For columns that are looked up or sorted: every database compares them by bytes, as Python does, whatever its locale.
KEY: Final = Text().with_variant(Text(collation="C"), "postgresql")


def organization(*, index: bool = False) -> Column[str]:
    return Column("organization_id", KEY, ForeignKey("organizations.id"), nullable=False, index=index)


def unchecked_organization() -> Column[str]:
    """Create the column of a table that is written too often for a foreign key: its writers keep it right."""
    return Column("organization_id", KEY, nullable=False)


def partial_index(name: str, *columns: Column[Any], where: ColumnElement[bool], unique: bool = False) -> None:
    for_postgresql(Index(name, *columns, unique=unique, sqlite_where=where), "where", where)


def for_postgresql(item: Table | Index, option: str, value: object) -> None:
    """Set an option of PostgreSQL when tables are created: set earlier, it would load that dialect and its drivers."""

    @event.listens_for(metadata, "before_create")
    def _set(*_: object, **__: object) -> None:  # pyright: ignore[reportUnusedFunction]  # the listener
        item.dialect_kwargs[f"postgresql_{option}"] = value
