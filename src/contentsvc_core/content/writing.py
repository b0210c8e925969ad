"""The input and output of a writer (port :class:`~contentsvc_core.ports.ContentWriter`)."""

from collections.abc import Mapping
from typing import Final, final

from attrs import field, frozen

from contentsvc_core.content.brand import BrandIdentity
from contentsvc_core.content.options import DEFAULT_OPTIONS, ChangelogOptions
from contentsvc_core.content.packages import PackageTag
from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.pull_requests import PullRequest
from contentsvc_core.content.windows import LookbackWindow
from contentsvc_core.events.normalized import Event, Release
from contentsvc_core.values import Value

NOTHING_TO_REPORT: Final = "nothing to report"


@final
@frozen(kw_only=True)
class Chapter:
    """The events of one repository."""

    #: ``owner/name``, as the code host spells it.
    repository: str
    #: The events to report, oldest first: one push, or all of a window.
    events: tuple[Event, ...] = field(converter=tuple[Event, ...])
    #: The described pull requests by number; empty: the code host was not asked, or did not answer. A pull request that
    #: no subject names is found by its ``merged_sha``.
    pull_requests: Mapping[int, PullRequest] = field(factory=dict[int, PullRequest])
    #: The tags of the earlier releases that had what reverts among the events undo, by the reverts' hashes.
    undone: Mapping[str, str] = field(factory=dict[str, str])
    #: The packages that its tags name, in order; may be empty.
    packages: tuple[str, ...] = field(converter=tuple[str, ...], default=())


@final
class PackageRelease(Value, frozen=True, kw_only=True):
    """The release of one package, announced together with other packages."""

    release: Release
    tag: PackageTag
    previous_tag: str | None = None


@final
@frozen(kw_only=True)
class Brief:
    """The input for one piece of content."""

    content_type: ContentType = ContentType.CHANGELOG
    #: One chapter for each repository with events; at least one.
    chapters: tuple[Chapter, ...] = field(converter=tuple[Chapter, ...])
    #: The announced release. It is not repeated in the events, and the brief has one chapter.
    release: Release | None = None
    previous_tag: str | None = None
    #: Several packages of one repository that were released on one commit, the greatest step first; ``release`` is
    #: ``None`` then.
    packages: tuple[PackageRelease, ...] = field(converter=tuple[PackageRelease, ...], default=())
    #: The number of earlier events of the window that were too much to read; the content mentions it.
    left_out: int = 0
    window: LookbackWindow | None = None
    #: The voice; ``None``: a neutral voice.
    brand: BrandIdentity | None = None
    options: ChangelogOptions = DEFAULT_OPTIONS

    @property
    def repository(self) -> str:
        return ", ".join(chapter.repository for chapter in self.chapters)

    @property
    def announced(self) -> tuple[Release, ...]:
        """Return the releases that the content announces, the leading one first; none in a window or for a push."""
        if self.release is not None:
            return (self.release,)
        return tuple(package.release for package in self.packages)

    @property
    def events(self) -> tuple[Event, ...]:
        return tuple(event for chapter in self.chapters for event in chapter.events)


@final
class Draft(Value, frozen=True, kw_only=True):
    """The output of a writer: not stored and not rendered yet."""

    #: One line of plain text, 1 to 120 characters.
    title: str
    #: Markdown in which all untrusted text is escaped.
    markdown: str
    #: The model's input and output tokens; ``None``: unknown.
    usage: tuple[int, int] | None = None


@final
class Silence(Value, frozen=True, kw_only=True):
    """The writer's explanation why there is nothing to write."""

    #: The run ends with this sentence, which users read.
    reason: str
