"""The tables."""

from typing import Any, ClassVar

from sqlalchemy import BigInteger, ForeignKey, Index, Integer
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship
from sqlalchemy.types import JSON

Number = BigInteger().with_variant(Integer, "sqlite")


class Base(DeclarativeBase):
    """The base of all tables."""

    type_annotation_map: ClassVar[dict[type, Any]] = {int: BigInteger}


class Integration(Base):
    """A connection to a code host."""

    __tablename__ = "integrations"

    id: Mapped[str] = mapped_column(primary_key=True)
    organization_id: Mapped[str]
    provider: Mapped[str]
    enabled: Mapped[bool]
    secrets: Mapped[list["WebhookSecret"]] = relationship(lazy="raise")


class Repository(Base):
    """A repository and its integration."""

    __tablename__ = "repositories"

    organization_id: Mapped[str] = mapped_column(primary_key=True)
    provider: Mapped[str] = mapped_column(primary_key=True)
    repository_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    integration_id: Mapped[str] = mapped_column(ForeignKey("integrations.id"))
    full_name: Mapped[str]


class WebhookSecret(Base):
    """A signing secret of deliveries."""

    __tablename__ = "webhook_secrets"

    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    integration_id: Mapped[str] = mapped_column(ForeignKey("integrations.id"), index=True)
    secret: Mapped[str]
    expires_at: Mapped[int | None]


class Trigger(Base):
    """A trigger of runs."""

    __tablename__ = "triggers"
    __table_args__ = (Index("ix_triggers", "organization_id", "provider"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    organization_id: Mapped[str]
    provider: Mapped[str]
    enabled: Mapped[bool]
    repository_ids: Mapped[list[int]] = mapped_column(JSON)
    event_types: Mapped[list[str]] = mapped_column(JSON)


class Claim(Base):
    """The id of a processed delivery."""

    __tablename__ = "claims"
    __table_args__ = ({"sqlite_with_rowid": False},)

    integration_id: Mapped[str] = mapped_column(primary_key=True)
    repository_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    delivery_id: Mapped[str] = mapped_column(primary_key=True)
    claimed_at: Mapped[int] = mapped_column(index=True)


class ContextRecord(Base):
    """The event of a delivery; runs and log entries refer to it."""

    __tablename__ = "context_records"
    __table_args__ = (Index("ix_context_records", "organization_id", "created_at"),)

    id: Mapped[int] = mapped_column(Number, primary_key=True)
    organization_id: Mapped[str]
    repository_id: Mapped[int]
    delivery_id: Mapped[str]
    type: Mapped[str]
    data: Mapped[str]
    created_at: Mapped[int]


class WorkflowRun(Base):
    """A run that a trigger has started."""

    __tablename__ = "workflow_runs"

    id: Mapped[int] = mapped_column(Number, primary_key=True)
    organization_id: Mapped[str]
    trigger_id: Mapped[str]
    context_id: Mapped[int] = mapped_column(ForeignKey("context_records.id"))
    status: Mapped[str]
    created_at: Mapped[int]
    context: Mapped[ContextRecord] = relationship()


class LogEntry(Base):
    """The log entry of a delivery."""

    __tablename__ = "log_entries"
    __table_args__ = (Index("ix_log_entries", "organization_id", "created_at"),)

    id: Mapped[int] = mapped_column(Number, primary_key=True)
    organization_id: Mapped[str]
    integration_id: Mapped[str]
    repository_id: Mapped[int]
    reference_id: Mapped[str | None]
    title: Mapped[str]
    status: Mapped[str]
    status_code: Mapped[int] = mapped_column(Integer)
    error_message: Mapped[str | None]
    context_id: Mapped[int | None] = mapped_column(ForeignKey("context_records.id"))
    created_at: Mapped[int]
    context: Mapped[ContextRecord | None] = relationship()


Index(
    "ix_workflow_runs",
    WorkflowRun.organization_id,
    WorkflowRun.created_at,
    sqlite_where=WorkflowRun.status == "pending",
    postgresql_where=WorkflowRun.status == "pending",
)
