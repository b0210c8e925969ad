from collections.abc import Awaitable, Callable, Mapping
from inspect import get_annotations
from typing import Any, TypeVar, final

import msgspec
from attrs import frozen

from contentsvc_core.access.keys import ApiKey, Scope
from contentsvc_core.access.rates import Rate
from contentsvc_core.application import Application
from contentsvc_core.refusals import Refusal, RefusalKind

_Value = TypeVar("_Value")


@final
@frozen(kw_only=True)
class ToolAnswer:
    #: Trusted values of this service: ids, numbers, times, states.
    facts: Mapping[str, Any]
    #: Values that contain text written by others; ``None`` without such values.
    untrusted: Mapping[str, Any] | None = None


class ToolRefused(Exception):
    """A tool call failed; the message names the reason for the model."""


def accepted(value: _Value | Refusal, words: Mapping[RefusalKind, str] | None = None) -> _Value:
    """Return the result of a use case; ``words`` has the tool's own messages, by the kind of refusal."""
    if isinstance(value, Refusal):
        # The details say more to a model than the reason.
        message = (words or {}).get(value.kind) or value.details.get("message") or value.message()
        raise ToolRefused(message)
    return value


def chosen(body: Mapping[str, Any], shape: type) -> dict[str, Any]:
    """Return the fields of a body of ``/v1`` that the shape of an answer has, in its order."""
    return {name: body[name] for name in get_annotations(shape) if name in body}


@final
@frozen(kw_only=True)
class Tool:
    name: str
    title: str
    description: str
    takes: type[msgspec.Struct]
    returns: type
    scope: Scope
    #: Rate limit that calls count in; ``None``: unlimited.
    rate: Rate | None = None
    #: Destructive or publicly visible (MCP ``destructiveHint``).
    is_destructive: bool = False
    #: A repeated call has no further effect (MCP ``idempotentHint``).
    is_idempotent: bool = True
    #: The effect is visible outside this service, e.g. to readers (MCP ``openWorldHint``).
    is_open: bool = False
    work: Callable[[Application, ApiKey, Any], Awaitable[ToolAnswer]]


def tool(
    title: str,
    description: str,
    *,
    returns: type,
    scope: Scope = Scope.READ,
    **options: Any,  # noqa: ANN401  # the other fields of a tool
) -> Callable[[Callable[[Application, ApiKey, Any], Awaitable[ToolAnswer]]], Tool]:
    """Declare a tool. Its name is that of the function, and its arguments have the type of the last parameter."""

    def declare(work: Callable[[Application, ApiKey, Any], Awaitable[ToolAnswer]]) -> Tool:
        return Tool(
            name=work.__name__,
            title=title,
            description=description,
            takes=get_annotations(work)["arguments"],
            returns=returns,
            scope=scope,
            work=work,
            **options,
        )

    return declare
