"""A public changelog as a feed: the content that both formats share (:mod:`.atom`, :mod:`.json_feed`)."""

from collections.abc import Container, Iterable
from datetime import datetime
from html import escape
from typing import Final, final

from attrs import evolve, field, frozen

from contentsvc_core.content.posts import Post
from contentsvc_core.content.public.changelogs import PublicChangelog
from contentsvc_core.content.public.facets import Label, labels_of
from contentsvc_core.content.public.html import EXCERPT, directed, excerpt, shown_in_full, summary_of
from contentsvc_core.content.public.links import ChangelogLinks, permanent_id
from contentsvc_core.content.public.releases import tags_of
from contentsvc_core.content.public.trimming import shown_content

#: The number of posts in a feed.
FEED_LENGTH: Final = 20


@final
@frozen(kw_only=True)
class FeedEntry:
    """A post in a feed."""

    #: Permanent, even when addresses change (RFC 4287, section 4.2.6).
    id: str
    url: str
    title: str
    summary: str
    #: Safe HTML: the whole post, or an excerpt with a link to the rest if the feed would become too large.
    content: str
    occurred_at: datetime
    #: The time of the last change or of the publication, whichever is later.
    updated_at: datetime
    #: Plain words: the type of content, the labels, and the tag of the release.
    tags: tuple[str, ...] = field(converter=tuple[str, ...])


@final
@frozen(kw_only=True)
class Feed:
    """The content of a feed, for each format."""

    id: str
    title: str
    description: str
    links: ChangelogLinks
    #: ``None``: the feed of all posts.
    label: Label | None = None
    updated_at: datetime
    entries: tuple[FeedEntry, ...] = field(converter=tuple[FeedEntry, ...])


def feed_of(
    changelog: PublicChangelog,
    posts: Iterable[Post],
    *,
    links: ChangelogLinks,
    updated_at: datetime,
    label: Label | None = None,
) -> Feed:
    """Return the feed of a changelog with those of ``posts`` that it lists, in their order.

    Pass at most :data:`FEED_LENGTH` posts, newest first. ``updated_at`` is the time of the last change of the
    changelog; a later change of a post replaces it. With a ``label``, the feed has only posts with this label.
    """
    own = [
        evolve(post, content=shown_content(post, changelog))
        for post in posts
        if changelog.lists(post) and (label is None or label in labels_of(post))
    ]
    in_full = shown_in_full(own)
    entries = [_entry(post, links, in_full) for post in own]
    # The feed id of the first changelog was public before changelogs had ids.
    name = changelog.organization_id if changelog.is_first else changelog.id
    return Feed(
        id=permanent_id(name if label is None else f"{name}:{label.value}"),
        title=changelog.title if label is None else f"{changelog.title}: {label.shown}",
        label=label,
        description=changelog.description,
        links=links,
        updated_at=max([updated_at, *(entry.updated_at for entry in entries)]),
        entries=entries,
    )


def _entry(post: Post, links: ChangelogLinks, in_full: Container[str]) -> FeedEntry:
    kind = post.content_type.value.replace("_", " ")
    return FeedEntry(
        id=permanent_id(post.id),
        url=links.post(post),
        title=post.title,
        summary=summary_of(post, post.content),
        content=directed(post.content if post.id in in_full else _beginning(post, links), is_alone=True),
        occurred_at=post.occurred_at,
        updated_at=max(post.updated_at, post.published_at or post.updated_at),
        tags=[kind, *(label.value for label in labels_of(post)), *tags_of(post)],
    )


def _beginning(post: Post, links: ChangelogLinks) -> str:
    beginning, url = escape(excerpt(post.content, EXCERPT)), escape(links.post(post))
    return f'<p>{beginning}</p><p><a href="{url}">Read the whole post</a></p>'
