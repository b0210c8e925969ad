from enum import Enum
from typing import Final


class EndpointFormat(Enum):
    """The form of an endpoint's messages."""

    #: JSON, signed according to Standard Webhooks.
    STANDARD = "standard"
    SLACK = "slack"
    DISCORD = "discord"
    #: An Adaptive Card for a Microsoft Teams channel.
    TEAMS = "teams"
    #: A mail to the addresses of a ``mailto:`` target.
    EMAIL = "email"

    @property
    def is_chat(self) -> bool:
        return self in _CHATS


_CHATS: Final = frozenset({EndpointFormat.SLACK, EndpointFormat.DISCORD, EndpointFormat.TEAMS})
