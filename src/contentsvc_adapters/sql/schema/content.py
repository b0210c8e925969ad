from typing import Final

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
)

from contentsvc_adapters.sql.schema.columns import KEY, metadata, organization, partial_index

# The once-keys of deleted posts, and further keys of posts about several releases: these are not reported again.
told_once: Final = Table(
    "told_once",
    metadata,
    organization(),
    Column("once_key", LargeBinary, nullable=False),
    PrimaryKeyConstraint("organization_id", "once_key"),
    sqlite_with_rowid=False,
)

posts: Final = Table(
    "posts",
    metadata,
    Column("id", KEY, primary_key=True),
    organization(),
    Column("run_id", KEY, ForeignKey("workflow_runs.id"), unique=True),
    # A digest: the key holds untrusted text of any length, and indexes have limits.
    Column("once_key", LargeBinary),
    Column("title", Text, nullable=False),
    Column("content", Text, nullable=False),
    Column("markdown", Text, nullable=False),
    Column("content_type", KEY, nullable=False),
    Column("source_metadata", Text),
    Column("brand_identity_id", KEY),
    Column("status", KEY, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    # The time of the first publication, if any, and the tag of the release that the post announces.
    Column("published_at", BigInteger),
    Column("release_tag", Text),
    # The time of its events.
    Column("occurred_at", BigInteger),
    # The context record of the only push that the post reports, by custom id; NULL: it reports something else.
    Column("push_id", KEY),
    # The published post of the release that contains that push. `containment` keeps it current.
    Column("contained_in", KEY),
    # The readable address of the post in public changelogs, and the terms of filters: lines of `kind:name`, with a line
    # feed at both ends. NULL: never published. `addressing` keeps them current.
    Column("path", KEY),
    Column("facets", KEY),
    # The fields of editors. The labels are separated by spaces; NULL: none are chosen.
    Column("summary", Text),
    Column("labels", Text),
    # The time at which the draft is published; NULL: the draft is not scheduled.
    Column("publish_at", BigInteger),
    UniqueConstraint("organization_id", "once_key"),
    Index(None, "organization_id", "created_at", "id"),
    # With the filters of the list, so that posts which do not match are not read.
    Index(
        "ix_posts_occurred",
        *("organization_id", "occurred_at", "id", "status", "content_type", "brand_identity_id"),
    ),
)
# Public changelogs read the newest posts of a type, the posts of releases, and the time of the last change.
_LISTED: Final = (posts.c.status == "published") & posts.c.contained_in.is_(None)
partial_index(
    "ix_posts_listed",
    *(posts.c.organization_id, posts.c.content_type, posts.c.occurred_at, posts.c.id, posts.c.facets),
    where=_LISTED,
)
partial_index(
    "ix_posts_released",
    *(posts.c.organization_id, posts.c.content_type, posts.c.occurred_at, posts.c.id),
    where=_LISTED & posts.c.release_tag.is_not(None),
)
partial_index("ix_posts_push_id", posts.c.organization_id, posts.c.push_id, where=posts.c.push_id.is_not(None))
partial_index(
    "ix_posts_contained",
    *(posts.c.organization_id, posts.c.contained_in, posts.c.occurred_at, posts.c.id),
    where=posts.c.contained_in.is_not(None),
)
partial_index(
    "ix_posts_changed",
    *(posts.c.organization_id, posts.c.updated_at),
    where=posts.c.published_at.is_not(None),
)

partial_index(
    "ix_posts_scheduled",
    *(posts.c.organization_id, posts.c.publish_at, posts.c.id),
    where=posts.c.publish_at.is_not(None),
)

post_versions: Final = Table(
    "post_versions",
    metadata,
    Column("post_id", KEY, ForeignKey("posts.id", ondelete="CASCADE"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("title", Text, nullable=False),
    Column("markdown", Text, nullable=False),
    Column("summary", Text),
    Column("labels", Text),
    Column("saved_at", BigInteger, nullable=False),
    Column("author", Text),
    PrimaryKeyConstraint("post_id", "number"),
)

released_pushes: Final = Table(
    "released_pushes",
    metadata,
    organization(),
    Column("push_id", KEY, nullable=False),
    Column("post_id", KEY, nullable=False, index=True),
    PrimaryKeyConstraint("organization_id", "push_id", "post_id"),
    sqlite_with_rowid=False,
)

post_paths: Final = Table(
    "post_paths",
    metadata,
    organization(),
    Column("path", KEY, nullable=False),
    Column("post_id", KEY, nullable=False, index=True),
    PrimaryKeyConstraint("organization_id", "path"),
    sqlite_with_rowid=False,
)
