from datetime import datetime
from typing import Any, Final

import msgspec
from sqlalchemy import Connection, bindparam, delete, select, update

from contentsvc_adapters.sql.dialects import Dialect
from contentsvc_adapters.sql.row import AnyRow, json_of, read_row, row_of
from contentsvc_adapters.sql.schema.directory import organizations
from contentsvc_adapters.sql.schema.publishing import changelog_images, changelog_slugs, public_changelogs
from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.public.changelogs import (
    LinkBody,
    PublicChangelog,
    public_slugs,
    refuse_changelog,
)
from contentsvc_core.content.public.images import Image, ImageKind, ImageMark
from contentsvc_core.errors import Unstorable
from contentsvc_core.refusals import Refusal
from contentsvc_core.timestamps import to_ms

_STANDING: Final = select(public_changelogs).where(public_changelogs.c.id == bindparam("changelog"))
_HELD: Final = select(changelog_slugs.c.slug, changelog_slugs.c.changelog_id).where(
    changelog_slugs.c.organization_id == bindparam("owner")
)
_OWN: Final = select(public_changelogs.c.id, public_changelogs.c.slug).where(
    public_changelogs.c.owner_id == bindparam("owner")
)


def save_changelog(
    connection: Connection, dialect: Dialect, changelog: PublicChangelog, *, at_most: int
) -> Refusal | None:
    owner = changelog.organization_id
    # Changes of one organization are serialized, and so are requests for one slug.
    locking = select(organizations.c.id).where(organizations.c.id == owner)
    if connection.execute(locking.with_for_update(key_share=True)).first() is None:
        raise Unstorable.of_no_organization(owner)
    dialect.lock(connection, f"changelog/{changelog.slug}")
    found = connection.execute(_STANDING, {"changelog": changelog.id}).first()
    stored = None if found is None else changelog_of(found)
    own = {row.id: row.slug for row in connection.execute(_OWN, {"owner": owner})}
    holders = {row.slug: row.changelog_id for row in connection.execute(_HELD, {"owner": owner})}
    taken = _is_anothers(connection, changelog, is_new=changelog.slug not in {*holders, *own.values()})
    refused = refuse_changelog(stored, changelog, own=own, holders=holders, is_anothers=taken, at_most=at_most)
    if refused is not None:
        return refused
    # The slugs of a deleted changelog redirect to this one from now on.
    new = {slug for slug in public_slugs(stored, changelog) if holders.get(slug) != changelog.id}
    row = _row(changelog)
    counted = row | {"revision": public_changelogs.c.revision + 1}
    saving = dialect.insert(public_changelogs).values(row)
    connection.execute(saving.on_conflict_do_update(index_elements=["id"], set_=counted))
    for slug in sorted(new):
        # A node of an older version may have published under a slug that another organization holds.
        holding = dialect.insert(changelog_slugs).values(slug=slug, organization_id=owner, changelog_id=changelog.id)
        connection.execute(
            holding.on_conflict_do_update(
                index_elements=["slug"],
                set_={"changelog_id": changelog.id},
                where=changelog_slugs.c.organization_id == owner,
            )
        )
    return None


def put_image(
    connection: Connection, dialect: Dialect, changelog_id: str, kind: ImageKind, image: Image | None, at: datetime
) -> None:
    locking = select(public_changelogs).where(public_changelogs.c.id == changelog_id).with_for_update()
    found = connection.execute(locking).first()
    if found is None:
        return
    marks = [mark for mark in changelog_of(found).images if mark.kind is not kind]
    if image is None:
        connection.execute(
            delete(changelog_images).where(
                changelog_images.c.changelog_id == changelog_id, changelog_images.c.kind == kind.value
            )
        )
    else:
        marks.append(image.mark)
        row = {"changelog_id": changelog_id, "kind": kind.value, "content": image.content}
        saving = dialect.insert(changelog_images).values(row)
        connection.execute(
            saving.on_conflict_do_update(index_elements=["changelog_id", "kind"], set_={"content": image.content})
        )
    values = {
        "images": _marks(marks),
        "updated_at": max(found.updated_at, to_ms(at)),
        "revision": public_changelogs.c.revision + 1,
    }
    connection.execute(update(public_changelogs).where(public_changelogs.c.id == changelog_id).values(values))


def note_change(connection: Connection, organization_id: str, at: datetime) -> None:
    own = (public_changelogs.c.owner_id == organization_id, public_changelogs.c.updated_at < to_ms(at))
    connection.execute(update(public_changelogs).where(*own).values(updated_at=to_ms(at)))


def changelog_of(row: AnyRow) -> PublicChangelog:
    return read_row(
        PublicChangelog,
        row,
        organization_id=row.owner_id,
        content_types=tuple(ContentType(kind) for kind in msgspec.json.decode(row.content_types)),
        repositories=tuple(_list(row.repositories)),
        scopes=tuple(_list(row.scopes)),
        header_links=tuple(LinkBody(label=label, url=url) for label, url in _list(row.header_links)),
        images=tuple(
            ImageMark(kind=ImageKind(kind), media_type=media_type, width=width, height=height, digest=digest)
            for kind, media_type, width, height, digest in _list(row.images)
        ),
    )


def _is_anothers(connection: Connection, changelog: PublicChangelog, *, is_new: bool) -> bool:
    owner, slug = changelog.organization_id, changelog.slug
    having = [
        select(public_changelogs.c.id).where(public_changelogs.c.slug == slug, public_changelogs.c.owner_id != owner),
        select(changelog_slugs.c.slug).where(
            changelog_slugs.c.slug == slug, changelog_slugs.c.organization_id != owner
        ),
    ]
    if is_new:
        having.append(select(organizations.c.id).where(organizations.c.slug == slug, organizations.c.id != owner))
    return any(connection.execute(each).first() is not None for each in having)


def _row(changelog: PublicChangelog) -> dict[str, Any]:
    row = row_of(
        changelog,
        owner_id=changelog.organization_id,
        organization_id=changelog.organization_id if changelog.is_first else None,
        content_types=json_of([kind.value for kind in changelog.content_types]),
        repositories=json_of(list(changelog.repositories)),
        scopes=json_of(list(changelog.scopes)),
        header_links=json_of([[link.label, link.url] for link in changelog.header_links]),
    )
    # The store counts revisions, and images are put one by one.
    return {name: value for name, value in row.items() if name not in {"images", "revision"}}


def _marks(images: list[ImageMark]) -> str:
    return json_of([[each.kind.value, each.media_type, each.width, each.height, each.digest] for each in images])


def _list(text: str | None) -> list[Any]:
    return [] if text is None else msgspec.json.decode(text)
