from typing import Final

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, Table, Text, UniqueConstraint

from contentsvc_adapters.sql.schema.columns import KEY, metadata, organization, partial_index

subscribers: Final = Table(
    "subscribers",
    metadata,
    Column("id", KEY, primary_key=True),
    organization(),
    Column("changelog_id", KEY, ForeignKey("public_changelogs.id", ondelete="CASCADE"), nullable=False),
    Column("address", KEY, nullable=False),
    Column("status", KEY, nullable=False),
    # The digest of the token in links; mails contain the token itself.
    Column("digest", KEY, nullable=False, unique=True),
    Column("sealed_token", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("confirmed_at", BigInteger),
    UniqueConstraint("changelog_id", "address"),
    Index(None, "organization_id", "changelog_id", "status"),
)
partial_index(
    "ix_subscribers_pending",
    *(subscribers.c.created_at, subscribers.c.id),
    where=subscribers.c.status == "pending",
)

# No foreign key to the post: a deleted post stays announced, and no mail shows it.
announced_posts: Final = Table(
    "announced_posts",
    metadata,
    Column("post_id", KEY, primary_key=True),
    organization(),
    Column("created_at", BigInteger, nullable=False),
    # The batch of mails with the post; NULL: none yet.
    Column("batch_id", KEY, index=True),
    Index(None, "organization_id", "created_at", "post_id"),
)
partial_index(
    "ix_announced_posts_waiting",
    *(announced_posts.c.organization_id, announced_posts.c.created_at, announced_posts.c.post_id),
    where=announced_posts.c.batch_id.is_(None),
)

mails: Final = Table(
    "mails",
    metadata,
    Column("id", KEY, primary_key=True),
    organization(),
    Column("subscriber_id", KEY, ForeignKey("subscribers.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("kind", KEY, nullable=False),
    # NULL for a confirmation.
    Column("batch_id", KEY),
    Column("status", KEY, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("takes", Integer, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    # For a mail that was taken: the end of the lease, as the previous version reads it.
    Column("due_at", BigInteger, nullable=False),
    # The end of the lease by the database's clock; NULL: no process has the mail.
    Column("leased_until", BigInteger),
    Column("error", Text),
    Index(None, "organization_id", "created_at", "id"),
)
partial_index(
    "ix_mails_pending",
    *(mails.c.kind, mails.c.organization_id, mails.c.due_at, mails.c.id),
    where=mails.c.status == "pending",
)
