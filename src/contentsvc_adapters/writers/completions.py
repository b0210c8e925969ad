"""Reads the answer of an untrusted OpenAI-compatible server to a chat completion, streamed as events or whole."""

import re
from typing import Annotated, Any, Final, cast, final

import msgspec
from attrs import frozen

#: The longest answer, in bytes: a streamed token takes some 300.
ANSWER_LIMIT: Final = 16 * 1024 * 1024
#: The longest text, in characters, and the longest event, in bytes: more than any post needs, with JSON's escapes.
TEXT_LIMIT: Final = 200_000
_EVENT_LIMIT: Final = 1024 * 1024
_FIELDS_SKIPPED: Final = (b":", b"event:", b"id:", b"retry:")
_WORD: Final = re.compile(r"[A-Za-z_]{1,64}")


#: More tokens than any model reads or writes at once.
_TOKENS: Final = 10**9


class _Message(msgspec.Struct):
    content: str | None = None
    refusal: str | None = None


class _Choice(msgspec.Struct):
    index: int = 0
    delta: _Message | None = None
    message: _Message | None = None
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
class ModelAnswer:
    text: str
    #: The input and output tokens; ``None``: the server does not report them.
    usage: tuple[int, int] | None = None


@final
@frozen(kw_only=True)
class InvalidCompletion:
    #: Contains nothing of prompt or answer.
    reason: str


@final
class AnswerReader:
    def __init__(self) -> None:
        self._rest = bytearray()
        self._bytes = 0
        #: Whether events are streamed; ``None``: not known before the first byte that is no space.
        self._streamed: bool | None = None
        self._texts: list[str] = []
        self._length = 0
        self._finish: str | None = None
        self._done = False
        self._fault: str | None = None
        self.usage: tuple[int, int] | None = None

    def feed(self, piece: bytes) -> bool:
        """Read the next bytes; return whether the answer is complete or broken, so that reading can stop."""
        self._bytes += len(piece)
        if self._bytes > ANSWER_LIMIT:
            return self._broken(f"is longer than {ANSWER_LIMIT // 1024**2} MiB")
        self._rest += piece
        if self._streamed is None and (begun := self._rest.lstrip()):
            # By content, not by content type: some servers leave the wrong one.
            if begun.startswith(b"<"):
                return self._broken("is a web page: check CONTENTSVC_WRITER_URL")
            self._streamed = not begun.startswith(b"{")
        if not self._streamed:
            return False
        *lines, rest = self._rest.split(b"\n")
        self._rest = rest
        if len(rest) > _EVENT_LIMIT:
            return self._broken("is no stream of events")
        return any(self._take_line(bytes(line).strip()) for line in lines)

    def text(self) -> str | InvalidCompletion:
        """Return the text after the last bytes; ``InvalidCompletion``: it is incomplete, cut, refused or empty."""
        if self._fault is None and self._streamed is None:
            self._broken("is empty")
        if self._fault is None and not self._streamed:
            self._take(bytes(self._rest))
        elif self._fault is None and not self._done and bytes(self._rest).removeprefix(b"data:").strip() == b"[DONE]":
            # Some servers send no line feed after the last event.
            self._done = True
        fault = self._fault or ("broke off" if self._streamed and not self._done else self._bad_end())
        text = "".join(self._texts)
        if fault is None and not text.strip():
            fault = "is empty"
        return text if fault is None else InvalidCompletion(reason=f"the model's answer {fault}")

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
            # Some servers end a stream with such a line.
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
            part = choice.delta or choice.message or _Message()
            if part.refusal:
                return self._broken("is a refusal by the model")
            if part.content:
                self._texts.append(part.content)
                self._length += len(part.content)
            self._finish = choice.finish_reason or self._finish
        return self._length > TEXT_LIMIT and self._broken(f"is longer than {TEXT_LIMIT:,} characters")

    def _broken(self, fault: str) -> bool:
        self._fault = fault
        return True


class _Fault(msgspec.Struct):
    error: Any = None
    #: Other servers' names of the field.
    message: Any = None
    detail: Any = None


def read_fault(body: bytes) -> Any:  # noqa: ANN401  # any JSON
    try:
        fault = msgspec.json.decode(body, type=_Fault)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return next((text for text in (fault.error, fault.message, fault.detail) if text is not None), None)


def named_fault(error: Any) -> str:  # noqa: ANN401  # as above
    """Return a fault's name if it is a plain word, else "". Servers put keys and prompts into its message."""
    fields = cast("dict[str, Any]", error) if isinstance(error, dict) else {}
    words = (fields.get(name) for name in ("code", "type"))
    return next((f" ({word})" for word in words if isinstance(word, str) and _WORD.fullmatch(word)), "")
