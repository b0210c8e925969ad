"""What a writer is given and what it gives back (port :class:`~contentsvc_core.ports.ContentWriter`)."""

from typing import final

from attrs import field, frozen

from contentsvc_core.webhooks.events import Event, Release


@final
@frozen(kw_only=True)
class Brief:
    """Everything that one piece of content is written from."""

    #: ``owner/name``, as the code host spells it.
    repository: str
    #: The events to report, oldest first: one push, or all of a window.
    events: tuple[Event, ...] = field(converter=tuple)
    #: The release that the content announces; it is not repeated in ``events``.
    release: Release | None = None
    #: The tag of the release before ``release``, when one is known.
    previous_tag: str | None = None


@final
@frozen(kw_only=True)
class Draft:
    """What a writer wrote: not stored yet, not rendered yet."""

    #: One line of plain text, 1 to 120 characters.
    title: str
    #: Markdown in which all foreign text is escaped.
    markdown: str
