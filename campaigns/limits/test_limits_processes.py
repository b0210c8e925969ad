"""The limit holds over several processes of one database."""

import asyncio
from pathlib import Path

import pytest
from campaigns.limits.installed import LIMIT, clients, install
from tests.postgres import database
from tests.server_process import ServerProcess

pytestmark = pytest.mark.slow("starts two nodes")


async def test_of_100_parallel_requests_to_two_nodes_exactly_the_limit_is_admitted_and_executed(tmp_path: Path) -> None:
    with database() as url:
        limited = await install(tmp_path, url)
        with (
            ServerProcess(limited.installation, "--role", "receiver", name="one") as one,
            ServerProcess(limited.installation, "--role", "receiver", name="two") as two,
        ):
            one.start()
            two.start()
            urls = [(await asyncio.to_thread(node.until_ready)).url for node in (one, two)]
            async with clients() as client:
                answers = await asyncio.gather(*(limited.ask(client, urls[number % 2]) for number in range(100)))
        admitted = [answer for answer in answers if answer.status_code == 202]

        assert len(admitted) == LIMIT
        assert sorted(int(answer.headers["RateLimit-Remaining"]) for answer in admitted) == list(range(LIMIT))
        assert await asyncio.to_thread(lambda: limited.runs) == LIMIT
