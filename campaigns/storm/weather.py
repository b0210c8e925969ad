"""The storms: large unsigned bodies, and clients that hold connections."""

import asyncio
import random
from collections import Counter
from typing import Final, final

from attrs import frozen
from campaigns.storm.probes import Probed, a_client, delivering, probing, reading
from campaigns.storm.slow import Held, Manner, hold
from tests.server_process import LOOPBACK, Prepared, ServerProcess

LARGE: Final = 25 * 1024 * 1024
_PIECE: Final = 256 * 1024
#: How long the sender of a large body waits, in seconds.
_WAIT_S: Final = 120.0


@final
@frozen(kw_only=True)
class Flood:
    """The results of large bodies."""

    #: By answer.
    answers: Counter[str]
    probed: Probed


async def flood(
    prepared: Prepared,
    server: ServerProcess,
    *,
    bodies: int,
    size: int,
    keys: list[str],
    at_least_s: float,
    seed: int = 1,
) -> Flood:
    """Send large bodies without a valid signature, all at once, repeatedly, while a client reads posts."""
    chance = random.Random(seed)  # noqa: S311  # no secret
    async with a_client() as client:
        read = reading(client, server.url, keys)
        async with probing(read, pid=server.process.pid, every_s=0.1) as probed:
            until = asyncio.get_running_loop().time() + at_least_s
            answers = Counter[str]()
            while True:
                answers += Counter(
                    await asyncio.gather(
                        *(_send_unsigned(server.port, prepared.hook.path, size, chance) for _ in range(bodies))
                    )
                )
                if asyncio.get_running_loop().time() >= until:
                    break
    return Flood(answers=answers, probed=probed)


async def _send_unsigned(port: int, path: str, size: int, chance: random.Random) -> str:
    """Send a body in pieces until the server answers or the body ends; return the status."""
    reader, writer = await asyncio.open_connection(LOOPBACK, port)
    answer = asyncio.create_task(reader.readline())
    try:
        async with asyncio.timeout(_WAIT_S):
            head = (
                f"POST {path} HTTP/1.1\r\nHost: {LOOPBACK}\r\nContent-Type: application/json\r\nX-Host-Event: push\r\n"
                f"X-Host-Delivery: storm\r\nX-Hub-Signature-256: sha256={chance.randbytes(32).hex()}\r\n"
                f"Content-Length: {size}\r\n\r\n"
            )
            writer.write(head.encode())
            piece = chance.randbytes(_PIECE)
            for begin in range(0, size, _PIECE):
                if answer.done():
                    break
                writer.write(piece[: size - begin])
                await writer.drain()
            return (await answer).decode("latin-1").strip().removeprefix("HTTP/1.1 ")[:3] or "closed"
    except (OSError, TimeoutError) as exc:
        # The body was refused during the upload, and the answer was lost with the connection.
        return type(exc).__name__
    finally:
        answer.cancel()
        # Its exception is the one that the sender has handled.
        await asyncio.wait([answer])
        if not answer.cancelled():
            answer.exception()
        writer.transport.abort()


async def sit(
    prepared: Prepared, server: ServerProcess, *, sockets: int, for_s: float, seed: int = 1
) -> tuple[list[Held], Probed]:
    """Hold connections in each manner, while good deliveries arrive; disconnected clients reconnect."""
    async with a_client() as client:
        deliver = delivering(client, server.url, prepared.hook)
        async with probing(deliver, pid=server.process.pid, every_s=0.05) as probed:
            every = [*Manner]
            # The same number of clients for each manner, in a random order.
            manners = [every[number % len(every)] for number in range(sockets)]
            random.Random(seed).shuffle(manners)  # noqa: S311  # no secret
            held = await asyncio.gather(*(_sit(prepared, server, manner, for_s=for_s) for manner in manners))
    return [each for some in held for each in some], probed


async def _sit(prepared: Prepared, server: ServerProcess, manner: Manner, *, for_s: float) -> list[Held]:
    held: list[Held] = []
    loop = asyncio.get_running_loop()
    until = loop.time() + for_s
    while (left := until - loop.time()) > 0:
        one = await hold(server.port, prepared.hook, manner, for_s=left)
        # A connection that the end of the storm closes shows nothing about the server.
        if one.closed_after_s is not None or left >= for_s - 1:
            held.append(one)
        await asyncio.sleep(0.1)
    return held
