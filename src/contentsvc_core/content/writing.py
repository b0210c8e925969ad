"""What a writer is given and what it gives back (port :class:`~contentsvc_core.ports.ContentWriter`)."""

from collections.abc import Mapping
from typing import final

from attrs import field, frozen

from contentsvc_core.content.brand import BrandIdentity
from contentsvc_core.content.changelog.options import DEFAULT_OPTIONS, ChangelogOptions
from contentsvc_core.content.packages import PackageTag
from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.pull_requests import PullRequest
from contentsvc_core.content.windows import LookbackWindow
from contentsvc_core.webhooks.events import Event, Release


@final
@frozen(kw_only=True)
class Chapter:
    """What happened in one repository."""

    #: ``owner/name``, as the code host spells it.
    repository: str
    #: The events to report, oldest first: one push, or all of a window.
    events: tuple[Event, ...] = field(converter=tuple)
    #: What the code host says about pull requests that the events name, by number; empty: it was not asked, or did not
    #: answer. One without a number in any subject is found by its ``merged_sha``.
    pull_requests: Mapping[int, PullRequest] = field(factory=dict[int, PullRequest])
    #: The packages that its tags name, in order; empty: its tags name none.
    packages: tuple[str, ...] = field(converter=tuple, default=())


@final
@frozen(kw_only=True)
class PackageRelease:
    """The release of one package, announced together with those of others."""

    release: Release
    tag: PackageTag
    #: The tag of the package's release before, when one is known.
    previous_tag: str | None = None


@final
@frozen(kw_only=True)
class Brief:
    """Everything that one piece of content is written from."""

    content_type: ContentType = ContentType.CHANGELOG
    #: One for each repository that something happened in; one at least.
    chapters: tuple[Chapter, ...] = field(converter=tuple)
    #: The release that the content announces; it is not repeated in the events, and there is one chapter.
    release: Release | None = None
    #: The tag of the release before ``release``, when one is known.
    previous_tag: str | None = None
    #: Several packages of one repository that were released on one commit, the greatest step first; ``release`` is
    #: ``None`` then.
    packages: tuple[PackageRelease, ...] = field(converter=tuple, default=())
    #: How many earlier events of the window were too much to be read; what is written says so.
    left_out: int = 0
    #: The stretch of time that is reported, when it was asked for so.
    window: LookbackWindow | None = None
    #: Who speaks; ``None``: nobody in particular.
    brand: BrandIdentity | None = None
    #: The house style that holds for this piece of content.
    options: ChangelogOptions = DEFAULT_OPTIONS

    @property
    def repository(self) -> str:
        """Give the names of the repositories, e.g. for a title."""
        return ", ".join(chapter.repository for chapter in self.chapters)

    @property
    def announced(self) -> tuple[Release, ...]:
        """Return the releases that the content announces, the leading one first; none in a window or for a push."""
        if self.release is not None:
            return (self.release,)
        return tuple(package.release for package in self.packages)

    @property
    def events(self) -> tuple[Event, ...]:
        """Give the events of all chapters."""
        return tuple(event for chapter in self.chapters for event in chapter.events)


@final
@frozen(kw_only=True)
class Draft:
    """What a writer wrote: not stored yet, not rendered yet."""

    #: One line of plain text, 1 to 120 characters.
    title: str
    #: Markdown in which all foreign text is escaped.
    markdown: str
    #: What a model took to write it, in its tokens: those it read, and those it wrote; ``None``: not known.
    usage: tuple[int, int] | None = None


@final
@frozen(kw_only=True)
class Silence:
    """A writer has nothing to write."""

    #: The run ends with this sentence; readers are the people who asked for the post.
    reason: str
