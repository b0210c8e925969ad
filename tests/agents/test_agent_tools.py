"""Each tool of agents, by the SDK's own client in this process: results, effects and refusals."""

from datetime import timedelta
from typing import Any, Final

import pytest
from attrs import evolve
from tests.agents.agent import agent_of
from tests.api.world import ApiWorld, Caller

from contentsvc_core import Scope
from contentsvc_core.journal import Direction
from contentsvc_core.timestamps import iso_ms
from contentsvc_mcp.untrusted import SLICE

NO_POST: Final = "Post not found. Use search_posts or list_posts to find the id of a post"
NO_DELIVERY: Final = "no log entry, delivery or context record has this id, or it has been deleted from the log"
REFUSALS: Final[tuple[tuple[str, dict[str, Any], str], ...]] = (
    (
        "search_context",
        {"limit": 26},
        "Invalid arguments of search_context: limit must be at most 25",
    ),
    ("list_posts", {"limit": 10**30}, "Invalid arguments of list_posts: limit must be at most 25"),
    ("list_posts", {"limit": 1.5}, "Invalid arguments of list_posts: limit must be an integer"),
    (
        "search_context",
        {"before": "here"},
        "Invalid before: send the next of a previous answer of this tool",
    ),
    ("read_context", {}, "Invalid arguments of read_context: customId is missing"),
    (
        "read_context",
        {"customId": "codehost:1:nothing"},
        "Context record not found. Use search_context to find the customId of a record",
    ),
    (
        "read_delivery",
        {"id": "nothing\x00"},
        f"Delivery not found: {NO_DELIVERY}",
    ),
    (
        "list_deliveries",
        {"statuses": ["lost"]},
        "Invalid arguments of list_deliveries: statuses[0]: 'lost' is not one of failed, pending, success",
    ),
    ("list_posts", {"page": 2}, "Page 2 does not exist. The list has 1 page."),
    ("read_post", {"postId": "post_x"}, NO_POST),
    ("publish_post", {"postId": "post_x", "version": "x"}, NO_POST),
    ("unpublish_post", {"postId": "post_x"}, NO_POST),
    ("edit_post", {"postId": "post_x", "version": "x"}, "Nothing to change: give title, markdown or both"),
    ("create_post", {"title": "a\nb", "markdown": "x"}, "title must be one line without control characters"),
    (
        "generate_post",
        {"contentType": "changelog", "repositories": ["acme/other"]},
        "Unknown repository: 'acme/other' is not connected. Connected are: acme/lighthouse",
    ),
    ("read_job", {"jobId": "job_x"}, "Job not found. generate_post returns the id of a job"),
)


@pytest.fixture
async def busy(acme: Caller) -> Caller:
    await acme.push("d-1", "feat: turn the lamp on at dusk", "fix: count each key once")
    await acme.push("d-2", "fix: the door")
    await acme.release("d-3", "v1.2.3")
    acme.world.clock.advance(timedelta(seconds=1))
    return acme


async def written(caller: Caller, **more: Any) -> str:
    """Generate a draft; return its id."""
    async with agent_of(caller) as agent:
        job = await agent("generate_post", contentType="changelog", **more)
        await caller.world.perform()
        return (await agent("read_job", jobId=job["jobId"]))["postId"]


async def test_an_integer_may_be_written_as_a_decimal_number(busy: Caller) -> None:
    async with agent_of(busy) as agent:
        answer = await agent("list_posts", limit=2.0)

    assert answer["pagination"]["limit"] == 2


async def test_events_are_found_by_words(busy: Caller) -> None:
    async with agent_of(busy) as agent:
        answer = await agent("search_context", query="LAMP dusk")
        (hit,) = answer["untrusted"]["context"]
        assert hit["customId"] == f"codehost:{busy.repository_id}:d-1"
        assert hit["excerpts"][0]["text"].startswith("feat: turn the lamp on at dusk")

        async def found(**arguments: Any) -> list[str]:
            hits = (await agent("search_context", **arguments))["untrusted"]["context"]
            return [each["deliveryId"] for each in hits]

        assert await found() == ["d-3", "d-2", "d-1"]
        assert await found(query="fix -lamp") == ["d-2"]
        assert await found(query="fix", repository="ACME/Lighthouse") == ["d-2", "d-1"]
        assert await found(eventTypes=["release"]) == ["d-3"]
        assert await found(since="2100-01-01") == []
        assert await found(query=None, since=None, limit=1) == ["d-3"]


async def test_a_list_goes_on_where_it_ended(busy: Caller) -> None:
    for tool, items in (("search_context", "context"), ("list_deliveries", "deliveries")):
        async with agent_of(busy) as agent:
            first = await agent(tool, limit=2)
            rest = await agent(tool, limit=2, before=first["next"])
        assert [each["deliveryId"] for part in (first, rest) for each in part["untrusted"][items]] == [
            "d-3",
            "d-2",
            "d-1",
        ]
        assert rest["next"] is None


async def test_a_record_is_read_whole_in_parts(acme: Caller) -> None:
    await acme.push("d-1", *(f"feat: step {number} {'x' * 900}" for number in range(40)))
    async with agent_of(acme) as agent:
        read, offset, total = "", 0, 0
        while offset is not None:
            part = await agent("read_context", customId=f"codehost:{acme.repository_id}:d-1", offset=offset)
            assert len(part["untrusted"]["content"]) <= SLICE
            read += part["untrusted"]["content"]
            offset, total = part["nextOffset"], part["totalChars"]
    record = await acme.world.stores.contexts.record(acme.organization.id, f"codehost:{acme.repository_id}:d-1")
    assert record is not None
    assert read == record.content
    assert total == len(read)


async def test_deliveries_are_listed_and_found_by_how_they_ended(busy: Caller) -> None:
    # The log also has the messages and calls of the service, which are no deliveries.
    (line,) = await busy.world.stores.journal.entries(busy.organization.id, limit=1)
    sent = evolve(line, id="log_sent", reference_id="msg_1", direction=Direction.OUTGOING)
    await busy.world.stores.journal.append(sent)
    async with agent_of(busy) as agent:
        listed = (await agent("list_deliveries"))["untrusted"]["deliveries"]
        assert [each["deliveryId"] for each in listed] == ["d-3", "d-2", "d-1"]
        assert len((await agent("list_deliveries", event="push"))["untrusted"]["deliveries"]) == 2
        assert (await agent("list_deliveries", statuses=["failed"]))["untrusted"]["deliveries"] == []
        for wrong in ({"since": "2100-01-01"}, {"until": "2026-01-01"}):
            assert (await agent("list_deliveries", **wrong))["untrusted"]["deliveries"] == []
        (entry,) = (await agent("list_deliveries", text="D-3"))["untrusted"]["deliveries"]
    assert entry["title"] == "Processed release event"
    assert entry["repositoryId"] == str(busy.repository_id)


async def test_a_delivery_is_followed_to_its_post_by_any_of_its_names(acme: Caller) -> None:
    trigger = {
        "name": "all",
        "sourceType": "codehost_webhook",
        "sourceConfig": {"eventTypes": ["push", "release"]},
        "targets": {"repositoryIds": [acme.repository_id]},
        "outputType": "changelog",
    }
    created = await acme("POST", "/v1/event-triggers", trigger)
    assert created.status_code == 201, created.text
    await acme.push("d-1", "feat: turn the lamp on at dusk")
    async with agent_of(acme) as agent:
        before = await agent("read_delivery", id="d-1")
        await acme.world.perform()
        (entry,) = (await agent("list_deliveries"))["untrusted"]["deliveries"]
        trails = [
            await agent("read_delivery", id=name) for name in ("d-1", entry["id"], f"codehost:{acme.repository_id}:d-1")
        ]
    assert (before["isUnderWay"], before["untrusted"]["runs"][0]["post"]) == (True, None)
    assert trails[0] == trails[1] == trails[2]
    assert {name: trails[0][name] for name in ("isProcessed", "isUnderWay", "runCount")} == {
        "isProcessed": True,
        "isUnderWay": False,
        "runCount": 1,
    }
    (run,) = trails[0]["untrusted"]["runs"]
    assert (run["status"], run["trigger"]) == ("completed", "all")
    assert run["post"]["status"] == "draft"
    assert trails[0]["untrusted"]["context"]["customId"] == f"codehost:{acme.repository_id}:d-1"
    await acme.push("d-1", "feat: turn the lamp on at dusk")
    async with agent_of(acme) as agent:
        again = await agent("read_delivery", id="d-1")
        duplicate = await agent("read_delivery", id=again["untrusted"]["entries"][0]["id"])
    assert (again["isProcessed"], len(again["untrusted"]["entries"]), duplicate["isProcessed"]) == (True, 2, False)


async def test_from_asking_for_a_post_to_publishing_it(busy: Caller) -> None:
    async with agent_of(busy) as agent:
        sources = (await agent("list_sources"))["untrusted"]
        assert sources["repositories"] == [{"provider": "codehost", "repository": "acme/lighthouse"}]
        job = await agent("generate_post", contentType="changelog", repositories=["Acme/Lighthouse"])
        assert job["status"] == "queued"
        await busy.world.perform()
        job = await agent("read_job", jobId=job["jobId"])
        assert job["status"] == "completed"
        assert job["untrusted"]["events"][-1]["type"] == "completed"

        draft = await agent("read_post", postId=job["postId"])
        assert draft["status"] == "draft"
        assert "lamp" in draft["untrusted"]["markdown"]
        edited = await agent(
            "edit_post", postId=draft["id"], version=draft["version"], title="The lamp", markdown="It is **on**."
        )
        assert edited["version"] != draft["version"]
        published = await agent("publish_post", postId=draft["id"], version=edited["version"])
        assert published["status"] == "published"

        (line,) = (await agent("list_posts", statuses=["published"]))["untrusted"]["posts"]
        assert (line["id"], line["title"]) == (draft["id"], "The lamp")
        (hit,) = (await agent("search_posts", query="lamp", contentTypes=["changelog"]))["untrusted"]["posts"]
        assert hit["id"] == draft["id"]
        assert (await agent("unpublish_post", postId=draft["id"]))["status"] == "draft"
        assert (await agent("search_posts", query="lamp", statuses=["published"]))["untrusted"]["posts"] == []
    post = (await busy("GET", f"/v1/posts/{draft['id']}")).json()["post"]
    assert post["content"] == "<p>It is <strong>on</strong>.</p>\n"


async def test_a_draft_is_created(busy: Caller) -> None:
    async with agent_of(busy) as agent:
        created = await agent("create_post", title="A lamp", markdown="Brighter.", summary="Light")
        assert (created["status"], created["untrusted"]) == ("draft", {"title": "A lamp"})
        edited = await agent("edit_post", postId=created["id"], version=created["version"], markdown="Darker.")
    post = await busy.world.stores.posts.post(busy.organization.id, edited["id"])
    assert post is not None
    assert (post.markdown, post.summary, post.is_by_hand) == ("Darker.", "Light", True)
    versions = await busy.world.stores.posts.versions(busy.organization.id, post.id)
    assert {each.author for each in versions} == {busy.record.prefix}


async def test_a_job_is_waited_for(busy: Caller) -> None:
    async with agent_of(busy) as agent:
        job = await agent("generate_post", contentType="changelog")
        assert (await agent("read_job", jobId=job["jobId"], waitSeconds=1))["status"] == "queued"
        await busy.world.perform()
        assert (await agent("read_job", jobId=job["jobId"], waitSeconds=20))["status"] == "completed"


async def test_a_long_post_is_read_in_parts(busy: Caller) -> None:
    post_id = await written(busy)
    markdown = "".join(f"- line {number}\n" for number in range(4000))
    async with agent_of(busy) as agent:
        version = (await agent("read_post", postId=post_id))["version"]
        await agent("edit_post", postId=post_id, version=version, markdown=markdown)
        read, offset = "", 0
        while offset is not None:
            part = await agent("read_post", postId=post_id, offset=offset)
            read += part["untrusted"]["markdown"]
            offset = part["nextOffset"]
        beyond = await agent("read_post", postId=post_id, offset=10**9)
    assert read == markdown
    assert (beyond["untrusted"]["markdown"], beyond["nextOffset"]) == ("", None)


async def test_only_the_version_that_was_read_is_changed(busy: Caller) -> None:
    post_id = await written(busy)
    changed = "The post has changed since you read it. Call read_post for its current text and version"
    async with agent_of(busy) as agent:
        version = (await agent("read_post", postId=post_id))["version"]
        await agent("edit_post", postId=post_id, version=version, title="Somebody else's")
        assert await agent.refusal("edit_post", postId=post_id, version=version, title="Mine") == changed
        assert await agent.refusal("publish_post", postId=post_id, version=version) == changed
        post = await agent("read_post", postId=post_id)
    assert (post["untrusted"]["title"], post["status"]) == ("Somebody else's", "draft")


async def test_source_metadata_is_bounded(busy: Caller, world: ApiWorld) -> None:
    for number in range(30):
        await busy.push(f"more-{number}", f"feat: part {number}")
    world.clock.advance(timedelta(seconds=1))
    async with agent_of(busy) as agent:
        post = await agent("read_post", postId=await written(busy))
    assert post["sourceMetadataCut"]
    assert len(post["untrusted"]["sourceMetadata"]["deliveryIds"]) == 20
    assert post["createdAt"] == iso_ms(world.clock.now())


async def test_refusals_are_one_sentence(acme: Caller) -> None:
    async with agent_of(acme) as agent:
        for tool, arguments, message in REFUSALS:
            assert await agent.refusal(tool, **arguments) == message


async def test_an_unknown_tool_is_refused_with_the_available_ones(world: ApiWorld, acme: Caller) -> None:
    reader = await world.caller("Reader", Scope.READ)
    for caller, last in ((acme, "unpublish_post"), (reader, "read_job")):
        async with agent_of(caller) as agent:
            message = await agent.refusal("delete_everything")
        assert message.startswith("Unknown tool 'delete_everything'. Available tools: search_context, read_context,")
        assert message.endswith(f", {last}")
