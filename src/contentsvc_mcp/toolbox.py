"""What the tools drive, and what each tool is."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, final

import msgspec
from attrs import frozen

from contentsvc_core.access.keys import ApiKey, Scope
from contentsvc_core.access.rates import Rate
from contentsvc_core.ports import (
    BrandIdentities,
    ContextLibrary,
    Directory,
    IdSource,
    Insights,
    Jobs,
    PostLibrary,
    Search,
    Shares,
)
from contentsvc_core.usecases.edit import PostEditor
from contentsvc_core.usecases.generate import Generator
from contentsvc_core.usecases.limit import RateLimiter
from contentsvc_core.usecases.trail import Trails


@final
@frozen(kw_only=True)
class Toolbox:
    """Use cases and ports: those that ``/v1`` and the dashboard drive."""

    search: Search
    contexts: ContextLibrary
    posts: PostLibrary
    post_editor: PostEditor
    insights: Insights
    trails: Trails
    directory: Directory
    brands: BrandIdentities
    generator: Generator
    jobs: Jobs
    #: Counts in the buckets of ``/v1``: an operation is the same, whoever asks for it.
    limiter: RateLimiter
    #: Makes the marks around foreign text.
    ids: IdSource
    shares: Shares


@final
@frozen(kw_only=True)
class Answer:
    """What a tool has found or done."""

    #: What this service says itself: ids, numbers, times, states.
    facts: Mapping[str, Any]
    #: What others have written, and whatever stands among it; ``None``: there is nothing of it.
    untrusted: Mapping[str, Any] | None = None


class Refused(Exception):
    """A tool was not able to do what it was asked for; the text says why, and is for the model."""


@final
@frozen(kw_only=True)
class Tool:
    """A tool, as agents are told of it."""

    name: str
    title: str
    #: What it does, and when to use it.
    description: str
    #: Its arguments. Those that are left out, or null, have their defaults.
    takes: type[msgspec.Struct]
    #: Its structured answer: a typed dictionary.
    gives: type
    #: What a key must be allowed to do.
    scope: Scope
    #: The limit that its calls count in; ``None``: there is none.
    rate: Rate | None = None
    #: Whether something that was there is not there any more, or is seen by others, when it is done.
    is_destructive: bool = False
    #: Whether doing it twice is the same as doing it once.
    is_idempotent: bool = True
    #: Whether it reaches beyond this service: readers see what was published.
    is_open: bool = False
    work: Callable[[Toolbox, ApiKey, Any], Awaitable[Answer]]
