"""From a push to its post, written by a model, or by the rules after repeated failures of the model's server."""

import json
from datetime import timedelta
from typing import Final

from tests.model_server import Answer, model_server, refused, streamed
from tests.performing import performer_over
from tests.usecases.conftest import World
from tests.usecases.test_perform import pushed, taken

from contentsvc_adapters.writers.chat import ModelEndpoint, RetryPolicy
from contentsvc_adapters.writers.deterministic import DeterministicWriter
from contentsvc_adapters.writers.openai_compatible import OpenAICompatibleWriter
from contentsvc_core.content.posts import Post
from contentsvc_core.errors import WriterUnavailable
from contentsvc_core.testing import PlainSteps
from contentsvc_core.usecases.perform import COSTLY_ATTEMPTS, Performer
from contentsvc_core.workflows.runs import retry_delay

ANSWER: Final = json.dumps(
    {"title": "Light", "markdown": "It **turns** <b>now</b>. [More](https://codehost.example/acme)"}
)
TRIES: Final = 2


async def attempt(world: World, performer: Performer) -> None:
    """Perform the due run once."""
    (run,) = await taken(world)
    try:
        await performer.perform(run, PlainSteps())
    except WriterUnavailable as exc:
        await performer.failed(run, exc)


async def post_after(world: World, *answers: Answer, attempts: int) -> tuple[Post, int]:
    """Perform a push's run several times, with these answers of the model; return its post and the request count."""
    await pushed(world, "d-1", "feat: a lamp")
    async with model_server(*answers) as server:
        endpoint = ModelEndpoint(base_url=server.url, model="lamp-1", key="sk-hunter2-hunter2")
        writer = OpenAICompatibleWriter(endpoint, RetryPolicy(tries=TRIES, first_pause_s=0.001))
        performer = performer_over(world.stores, world.clock, world.ids, writer, fallback=DeterministicWriter())
        for number in range(1, attempts + 1):
            assert await world.stores.posts.posts(world.organization.id) == []
            await attempt(world, performer)
            world.clock.advance(retry_delay(number) or timedelta())
        await writer.aclose()
    (post,) = await world.stores.posts.posts(world.organization.id)
    return post, len(server.requests)


async def test_the_post_is_the_answer_of_the_model_and_names_it(world: World) -> None:
    post, requests = await post_after(world, streamed(ANSWER), attempts=1)

    assert requests == 1
    assert post.title == "Light"
    assert post.markdown == "It **turns** \\<b>now\\</b>. [More](https://codehost.example/acme)\n"
    assert "<strong>turns</strong> &lt;b&gt;now&lt;/b&gt;" in post.content
    assert 'href="https://codehost.example/acme"' in post.content
    assert (post.source_metadata or {})["writer"] == "openai-compatible:lamp-1"


async def test_after_some_failures_the_rules_write_and_the_post_names_them(world: World) -> None:
    post, requests = await post_after(world, refused(503), attempts=COSTLY_ATTEMPTS + 1)

    assert requests == TRIES * COSTLY_ATTEMPTS
    assert "lamp" in post.markdown
    metadata = post.source_metadata or {}
    assert metadata["writer"] == "deterministic, since openai-compatible:lamp-1 failed"
    (warning,) = metadata["warnings"]
    assert warning.startswith("openai-compatible:lamp-1 failed, so rules wrote this post: WriterUnavailable: ")
    assert "answers 503" in warning


async def test_the_failure_of_a_model_is_in_the_run_without_key_and_prompt(world: World) -> None:
    await pushed(world, "d-1", "feat: a lamp")
    async with model_server(refused(401, {"message": "sk-hunter2-hunter2: a lamp"})) as server:
        writer = OpenAICompatibleWriter(ModelEndpoint(base_url=server.url, model="lamp-1", key="sk-hunter2-hunter2"))
        await attempt(world, performer_over(world.stores, world.clock, world.ids, writer))
        await writer.aclose()
    (run,) = await world.stores.ledger.runs(world.organization.id)

    assert run.error == "WriterUnavailable: the model server answers 401: check CONTENTSVC_WRITER_KEY"
