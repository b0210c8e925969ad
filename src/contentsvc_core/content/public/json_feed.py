"""JSON Feed, version 1.1 (jsonfeed.org)."""

from typing import Any, Final

import msgspec

from contentsvc_core.content.public.feeds import Feed, FeedEntry
from contentsvc_core.timestamps import iso_ms

JSON_FEED_TYPE: Final = "application/feed+json"
_VERSION: Final = "https://jsonfeed.org/version/1.1"


def json_feed_document(feed: Feed) -> bytes:
    """Return a feed as a document of JSON Feed 1.1 in UTF-8; equal feeds have equal bytes."""
    return msgspec.json.encode(
        {
            "version": _VERSION,
            "title": feed.title,
            "home_page_url": feed.links.labelled(feed.links.home, feed.label),
            "feed_url": feed.links.labelled(feed.links.json_feed, feed.label),
            **({"description": feed.description} if feed.description else {}),
            "authors": [{"name": feed.title, "url": feed.links.home}],
            "items": [_item(entry) for entry in feed.entries],
        }
    )


def _item(entry: FeedEntry) -> dict[str, Any]:
    return {
        "id": entry.id,
        "url": entry.url,
        "title": entry.title,
        "content_html": entry.content,
        **({"summary": entry.summary} if entry.summary else {}),
        "date_published": iso_ms(entry.occurred_at),
        "date_modified": iso_ms(entry.updated_at),
        "tags": list(entry.tags),
    }
