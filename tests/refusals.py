"""Refusals in assertions."""

from contentsvc_core.refusals import Refusal


def message_of(refused: object) -> str:
    """Check that a result is a refusal, and return its message with the wire's names of fields."""
    assert isinstance(refused, Refusal), refused
    return refused.message()
