"""Results of use cases and stores in tests."""

from typing import TypeVar

from contentsvc_core.refusals import Refusal

_Value = TypeVar("_Value")


def accepted(result: _Value | Refusal) -> _Value:
    """Check that a result is no refusal, and return it."""
    assert not isinstance(result, Refusal), result.message()
    return result


def existing(result: _Value | None) -> _Value:
    """Check that a result is not ``None``, and return it."""
    assert result is not None
    return result


def the_refusal(result: object) -> Refusal:
    """Check that a result is a refusal, and return it."""
    assert isinstance(result, Refusal), result
    return result


def message_of(refused: object) -> str:
    """Check that a result is a refusal, and return its message with the wire's names of fields."""
    return the_refusal(refused).message()
