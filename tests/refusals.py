"""Refusals in assertions."""

from contentsvc_core.refusals import Refusal


def message_of(refused: object) -> str:
    """Return the message of what must be a refusal, with the wire's names of fields."""
    assert isinstance(refused, Refusal), refused
    return refused.message()
