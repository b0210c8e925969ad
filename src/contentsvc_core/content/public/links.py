"""The addresses of a public changelog. They are permanent as long as its slug stays."""

from typing import Final, final
from urllib.parse import quote
from uuid import UUID, uuid5

from attrs import frozen

from contentsvc_core.content.posts import Post
from contentsvc_core.content.public.facets import Label
from contentsvc_core.content.public.images import ImageMark
from contentsvc_core.content.public.months import Month
from contentsvc_core.content.public.releases import PostLine

ROOT: Final = "/changelog"
#: The pages of recipients of alerts. A proxy that serves public changelogs serves them, too.
ALERTS_ROOT: Final = f"{ROOT}/-/alerts"
#: The namespace of our version 5 UUIDs (RFC 9562, section 5.5). Never change it: feed readers identify entries by them.
_NAMESPACE: Final = UUID("194dbe08-77d8-5d96-9eed-58634a91648f")


def _under_home(path: str) -> property:
    def address(self: "ChangelogLinks") -> str:
        return f"{self.home}/{path}"

    return property(address)


@final
@frozen(kw_only=True)
class ChangelogLinks:
    """The addresses of a public changelog, of its feeds and of its posts."""

    #: Scheme and host, without a slash at the end; empty: paths alone.
    base_url: str = ""
    slug: str
    #: The address of the folder of pictures, without a trailing slash; empty: the folder of the pages. Previews set it.
    pictures: str = ""

    @property
    def home(self) -> str:
        return f"{self.base_url}{ROOT}/{self.slug}"

    releases = _under_home("releases")
    atom = _under_home("feed.atom")
    json_feed = _under_home("feed.json")
    embed = _under_home("embed")
    fragment = _under_home("embed/fragment")
    subscribe = _under_home("subscribe")
    widget = _under_home("widget.js")
    badge = _under_home("badge.svg")

    def month(self, month: Month) -> str:
        return f"{self.home}/{month.written}"

    def post(self, post: Post | PostLine) -> str:
        """Return the address of a post's page: the readable one, once the post has it."""
        path = f"posts/{quote(post.id, safe='')}" if post.path is None else quote(post.path)
        return f"{self.home}/{path}"

    def image(self, image: ImageMark) -> str:
        """Return the address of a picture: another picture has another address."""
        return f"{self.pictures or f'{self.home}/images'}/{image.kind.value}?v={image.digest}"

    def having(self, words: str) -> str:
        return f"{self.home}?q={quote(words, safe='')}"

    @staticmethod
    def labelled(address: str, label: Label | None) -> str:
        """Return the address of a page or feed for the posts with a label; ``None``: for all posts."""
        return address if label is None else f"{address}?label={label.value}"


def permanent_id(name: str) -> str:
    """Return the permanent id of an entry or feed from its internal id: a URN of a UUID (RFC 9562, section 4)."""
    return f"urn:uuid:{uuid5(_NAMESPACE, name)}"
