import asyncio
import hashlib
import re
from typing import Final, final

import msgspec
from attrs import evolve

from contentsvc_adapters.markup import has_markup, links_elsewhere
from contentsvc_adapters.writers.chat import Chat, ModelEndpoint, RetryPolicy
from contentsvc_adapters.writers.completions import InvalidCompletion, ModelAnswer
from contentsvc_core.content.forms import silence
from contentsvc_core.content.posts import MARKDOWN_LIMIT
from contentsvc_core.content.prompting import Prompt, UnusableDraft, prompt_for, read_draft
from contentsvc_core.content.writing import Brief, Draft, Silence
from contentsvc_core.errors import WriterUnavailable
from contentsvc_core.ports import Steps
from contentsvc_core.text import one_line

_NAME_LIMIT: Final = 80
#: Shorter keys are placeholders such as ``none``, and may be parts of words.
_KEY_LENGTH: Final = 8
#: The hexadecimal digits of a prompt's digest in its step's name: 64 bits distinguish the few prompts of a run.
_DIGEST: Final = 16
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_TICKS: Final = re.compile(r"(`+)")
# An escaped character; an address in angle brackets; the start of HTML; the start of an image.
_MARKUP: Final = re.compile(r"\\.|<https?://[^<>\s]*>|<|!(?=\[)")
_EVERY: Final = re.compile(r"\\.|<|!(?=\[)")


@final
class OpenAICompatibleWriter:
    costly: bool = True

    def __init__(self, endpoint: ModelEndpoint, patience: RetryPolicy | None = None) -> None:
        self.name = f"openai-compatible:{one_line(endpoint.model, _NAME_LIMIT)}"
        self._endpoint = endpoint
        self._chat = Chat(endpoint, patience or RetryPolicy())

    async def aclose(self) -> None:
        await self._chat.aclose()

    async def write(self, brief: Brief, steps: Steps) -> Draft | Silence:
        """Write a draft. Each answer is a step, paid once unless the prompt changes. Without news, none is sent."""
        # In a thread, as below: thousands of commits take long.
        if (reason := await asyncio.to_thread(silence, brief, translates=True)) is not None:
            return Silence(reason=reason)
        prompt = await asyncio.to_thread(prompt_for, brief, limit=self._endpoint.context_chars)
        draft, usage = await self._request(prompt, brief, steps)
        if isinstance(draft, UnusableDraft):
            # One correction only: a model that repeats a fault after it would repeat it again.
            fault = f"{draft.reason} ({draft.detail})" if draft.detail else draft.reason
            draft, more = await self._request(prompt.repaired(fault), brief, steps, last=True)
            usage = _together(usage, more)
        assert isinstance(draft, Draft)  # else the last answer has raised
        return evolve(draft, usage=usage)

    async def _request(
        self, prompt: Prompt, brief: Brief, steps: Steps, *, last: bool = False
    ) -> tuple[Draft | UnusableDraft, tuple[int, int] | None]:
        async def request() -> str:
            answer = await self._chat.request(prompt)
            if isinstance(answer, InvalidCompletion):
                raise self._unavailable(answer.reason)
            if last:
                # Raised inside the step, so that it is not stored: the next attempt of the run asks for a better one.
                draft = await read(answer)
                if isinstance(draft, UnusableDraft):
                    raise self._unavailable(f"the model's text cannot be used: {draft.reason}")  # noqa: EM102, TRY003  # masked
            return msgspec.json.encode(answer).decode()

        async def read(answer: ModelAnswer) -> Draft | UnusableDraft:
            return await asyncio.to_thread(_draft, answer.text, brief, prompt.facts)

        answer = msgspec.json.decode(await steps.run(f"answer {_digest(prompt)}", request), type=ModelAnswer)
        return await read(answer), answer.usage

    def _unavailable(self, reason: str) -> WriterUnavailable:
        # A server may name its faults freely, but the name must not contain the key.
        key = self._endpoint.key
        return WriterUnavailable(reason.replace(key, "***") if len(key) >= _KEY_LENGTH else reason)


def _together(one: tuple[int, int] | None, other: tuple[int, int] | None) -> tuple[int, int] | None:
    return (one[0] + other[0], one[1] + other[1]) if one and other else one or other


def _digest(prompt: Prompt) -> str:
    # After a change between two attempts, such as of the brand's voice, an older answer must not be used.
    return hashlib.sha256(f"{prompt.system}\0{prompt.user}".encode(errors="surrogatepass")).hexdigest()[:_DIGEST]


def _draft(text: str, brief: Brief, facts: str) -> Draft | UnusableDraft:
    draft = read_draft(text, brief.content_type, facts)
    if isinstance(draft, UnusableDraft):
        return draft
    markdown = inert(draft.markdown)
    return markdown if isinstance(markdown, UnusableDraft) else Draft(title=draft.title, markdown=markdown)


def inert(markdown: str) -> str | UnusableDraft:
    """Return Markdown with raw HTML as text and images as links; unusable: a link to another scheme than http(s)."""
    safe = _escaped(markdown)
    if len(safe) <= MARKDOWN_LIMIT and has_markup(safe):
        # That part looked like code, but is not. Escape everything: code with HTML then shows backslashes, no more.
        safe = _EVERY.sub(_escape, markdown)
        if has_markup(safe):
            return UnusableDraft(reason="it holds HTML or an image")
    if len(safe) > MARKDOWN_LIMIT:
        return UnusableDraft(reason=f"it is longer than {MARKDOWN_LIMIT:,} characters")
    if links_elsewhere(safe):
        return UnusableDraft(reason="it links to something that is no http or https address")
    return safe


def _escaped(markdown: str) -> str:
    lines: list[str] = []
    fence = ""
    for line in markdown.split("\n"):
        match = _FENCE.fullmatch(line)
        if fence:
            lines.append(line)
            if match and match[1].startswith(fence) and not match[2].strip():
                fence = ""
        elif match and not (match[1][0] == "`" and "`" in match[2]):
            fence = match[1]
            lines.append(line)
        else:
            lines.append(_escaped_line(line))
    return "\n".join(lines)


def _escaped_line(line: str) -> str:
    if "<" not in line and "![" not in line:
        return line
    pieces = _TICKS.split(line)
    # The next run of the same number of backticks: the text between two such runs is code.
    closing: dict[int, int] = {}
    ahead: dict[int, int] = {}
    for index in range(len(pieces) - 2, 0, -2):
        closing[index] = ahead.get(len(pieces[index]), 0)
        ahead[len(pieces[index])] = index
    parts: list[str] = []
    index = 0
    while index < len(pieces):
        if index % 2 and (end := closing[index]):
            parts += pieces[index : end + 1]
            index = end + 1
            continue
        parts.append(pieces[index] if index % 2 else _MARKUP.sub(_escape, pieces[index]))
        index += 1
    return "".join(parts)


def _escape(found: re.Match[str]) -> str:
    match found[0]:
        case "<":
            return "\\<"
        case "!":
            return ""
        case kept:
            return kept
