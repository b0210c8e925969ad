"""The answer of an OpenAI-compatible server to a chat completion, piece by piece: streamed as events, or whole.

Every server is taken to be able to send anything: what comes is counted, checked, and believed only once it is
complete.
"""

import re
from typing import Annotated, Any, Final, cast, final

import msgspec
from attrs import frozen

#: How much a server may send at all, in bytes: a streamed token takes some 300.
ANSWER_LIMIT: Final = 16 * 1024 * 1024
#: How long the text may be, in characters, and an event, in bytes: more than any post needs, JSON's escapes included.
TEXT_LIMIT: Final = 200_000
_EVENT_LIMIT: Final = 1024 * 1024
_FIELDS_SKIPPED: Final = (b":", b"event:", b"id:", b"retry:")
#: What a fault calls itself, when it is a word that is fit to be shown.
_WORD: Final = re.compile(r"[A-Za-z_]{1,64}")


#: More tokens than any model reads or writes at once.
_TOKENS: Final = 10**9


class _Said(msgspec.Struct):
    content: str | None = None
    refusal: str | None = None


class _Choice(msgspec.Struct):
    index: int = 0
    #: Streamed answers have this one,
    delta: _Said | None = None
    #: whole ones this.
    message: _Said | None = None
    finish_reason: str | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: Annotated[int, msgspec.Meta(ge=0, le=_TOKENS)] = 0
    completion_tokens: Annotated[int, msgspec.Meta(ge=0, le=_TOKENS)] = 0


class _Chunk(msgspec.Struct):
    choices: list[_Choice] | None = None
    error: Any = None
    usage: _Usage | None = None


_CHUNKS: Final = msgspec.json.Decoder(_Chunk)


@final
@frozen(kw_only=True)
class Answer:
    """A complete answer."""

    text: str
    #: The tokens that the model read and wrote; ``None``: the server does not say.
    usage: tuple[int, int] | None = None


@final
@frozen(kw_only=True)
class Broken:
    """An answer that gives no text."""

    #: Holds nothing of what was sent or written.
    reason: str


@final
class Completion:
    """Collects one answer."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._rest = bytearray()
        self._bytes = 0
        #: Whether events are streamed; ``None`` until the first byte that tells.
        self._streamed: bool | None = None
        self._texts: list[str] = []
        self._length = 0
        self._finish: str | None = None
        self._done = False
        self._fault: str | None = None
        #: The tokens that the model read and wrote, once the server says so.
        self.usage: tuple[int, int] | None = None

    def feed(self, piece: bytes) -> bool:
        """Take the next bytes; tell whether nothing more need be read: the answer is complete, or broken."""
        self._bytes += len(piece)
        if self._bytes > ANSWER_LIMIT:
            return self._broken(f"is longer than {ANSWER_LIMIT // 1024**2} MiB")
        self._rest += piece
        if self._streamed is None and (begun := self._rest.lstrip()):
            # Told by what it is, not by what it is called: some servers leave the content type as it comes.
            self._streamed = not begun.startswith(b"{")
        if not self._streamed:
            return False
        *lines, rest = self._rest.split(b"\n")
        self._rest = rest
        if len(rest) > _EVENT_LIMIT:
            return self._broken("is no stream of events")
        return any(self._take_line(bytes(line).strip()) for line in lines)

    def text(self) -> str | Broken:
        """Give the text, once all that there is was fed: ``Broken`` when it is not complete, cut, refused or empty."""
        if self._fault is None and self._streamed is None:
            self._broken("is empty")
        if self._fault is None and not self._streamed:
            self._take(bytes(self._rest))
        fault = self._fault or ("broke off" if self._streamed and not self._done else self._bad_end())
        text = "".join(self._texts)
        if fault is None and not text.strip():
            fault = "is empty"
        return text if fault is None else Broken(reason=f"the model's answer {fault}")

    def _bad_end(self) -> str | None:
        match self._finish:
            case None:
                return "has no end"
            case "length":
                return "was cut off at the token cap"
            case "content_filter":
                return "was withheld by the server's content filter"
            case "tool_calls" | "function_call":
                return "asks for a tool, and there is none"
            case _:
                return None

    def _take_line(self, line: bytes) -> bool:
        # HTML's "Server-sent events", section 9.2.6; each event of this protocol is one line of data.
        if line.startswith(b"data:"):
            data = line[5:].strip()
            self._done = data == b"[DONE]"
            return self._done or (bool(data) and self._take(data))
        if line.startswith(b"error:"):
            # Some servers break off so.
            return self._broken("reports a fault")
        return bool(line) and not line.startswith(_FIELDS_SKIPPED) and self._broken("is no stream of events")

    def _take(self, data: bytes) -> bool:
        try:
            chunk = _CHUNKS.decode(data)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return self._broken("is no chat completion")
        if chunk.error is not None:
            return self._broken(f"reports a fault{named_fault(chunk.error)}")
        if chunk.usage is not None and chunk.usage.prompt_tokens:
            self.usage = (chunk.usage.prompt_tokens, chunk.usage.completion_tokens)
        for choice in chunk.choices or ():
            if choice.index:
                continue
            said = choice.delta or choice.message or _Said()
            if said.refusal:
                return self._broken("is a refusal by the model")
            if said.content:
                self._texts.append(said.content)
                self._length += len(said.content)
            self._finish = choice.finish_reason or self._finish
        return self._length > TEXT_LIMIT and self._broken(f"is longer than {TEXT_LIMIT:,} characters")

    def _broken(self, fault: str) -> bool:
        self._fault = fault
        return True


class _Fault(msgspec.Struct):
    error: Any = None
    #: Where other servers put it.
    message: Any = None
    detail: Any = None


def read_fault(body: bytes) -> Any:  # noqa: ANN401  # whatever the server says
    """Give what the body of a refusal says is wrong, ``None`` when it says nothing that can be read."""
    try:
        fault = msgspec.json.decode(body, type=_Fault)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return next((said for said in (fault.error, fault.message, fault.detail) if said is not None), None)


def named_fault(error: Any) -> str:  # noqa: ANN401  # as above
    """Give a fault's own name as ``" (name)"``, if it has one that is a word; with a space before it.

    Its message is never repeated: servers put keys and prompts into it.
    """
    fields = cast("dict[str, Any]", error) if isinstance(error, dict) else {}
    words = (fields.get(name) for name in ("code", "type"))
    return next((f" ({word})" for word in words if isinstance(word, str) and _WORD.fullmatch(word)), "")
