"""The refusal of a change of a public changelog."""

from typing import final

from attrs import frozen


@final
@frozen(kw_only=True)
class InvalidChangelog:
    """A change that is refused; the reason begins with the field's name on the wire."""

    reason: str
