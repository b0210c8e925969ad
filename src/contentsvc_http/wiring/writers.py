import contextlib
from collections.abc import AsyncGenerator

from contentsvc_adapters.writers.deterministic import DeterministicWriter
from contentsvc_core.ports import ContentWriter
from contentsvc_http.settings import Settings


@contextlib.asynccontextmanager
async def open_writer(settings: Settings) -> AsyncGenerator[ContentWriter]:
    if not settings.writer_url:
        yield DeterministicWriter()
        return
    # Imported late: the rule-based writer does not need the HTTP client.
    from contentsvc_adapters.writers.chat import ModelEndpoint  # noqa: PLC0415
    from contentsvc_adapters.writers.openai_compatible import OpenAICompatibleWriter  # noqa: PLC0415

    endpoint = ModelEndpoint(
        base_url=settings.writer_url,
        model=settings.writer_model,
        key=settings.writer_key,
        timeout_s=settings.writer_timeout_s,
        max_tokens=settings.writer_max_tokens,
        context_chars=settings.writer_context_chars,
        connections=settings.run_concurrency,
    )
    async with contextlib.aclosing(OpenAICompatibleWriter(endpoint)) as writer:
        yield writer
