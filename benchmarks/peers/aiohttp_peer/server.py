"""The receiver as an aiohttp application, with gidgethub."""

from collections.abc import AsyncIterator, Sequence
from typing import Any, NoReturn

import orjson
import settings
import uvloop
from aiohttp import web
from events import push_data, why_filtered
from gidgethub import BadRequest, ValidationFailure, sansio
from store import Address, Store, connect, now_ms

MAX_BODY = 25 * 1024 * 1024
DUPLICATE = "Webhook already processed (duplicate delivery)"
STORE = web.AppKey("store", Store)


async def ready(_request: web.Request) -> web.Response:
    """Answer when the server is ready."""
    return web.Response()


async def receive(request: web.Request) -> web.Response:
    """Receive a delivery."""
    try:
        return await Arrival(request).answer(await request.read())
    except Refusal as refusal:
        return refused(refusal.status, refusal.error)


class Refusal(Exception):
    """A delivery is refused."""

    def __init__(self, status: int, error: str) -> None:
        super().__init__(error)
        self.status = status
        self.error = error


class Arrival:
    """A received delivery."""

    def __init__(self, request: web.Request) -> None:
        """Read the headers."""
        parts, headers = request.match_info, request.headers
        if not parts["repository_id"].isdecimal():
            raise Refusal(400, "Invalid webhook parameters")
        number = int(parts["repository_id"])
        self.store = request.app[STORE]
        self.address = Address(parts["provider"], parts["organization_id"], parts["integration_id"], number)
        self.kind = headers.get("X-Host-Event", "")
        self.delivery = headers.get("X-Host-Delivery", "")
        # The library knows one code host's headers.
        self.headers = {
            "content-type": headers.get("Content-Type", ""),
            "x-hub-signature-256": headers.get("X-Hub-Signature-256", ""),
            "x-github-event": self.kind,
            "x-github-delivery": self.delivery,
        }

    async def answer(self, body: bytes) -> web.Response:
        """Decide and store the delivery, and return the answer."""
        endpoint = await self.store.endpoint(self.address)
        if endpoint is None:
            raise Refusal(404, "Integration not found")
        event = await self.verified(body, endpoint["secrets"])
        if not endpoint["enabled"]:
            await self.refuse(403, "Integration is disabled")
        if endpoint["owner"] != self.address.integration_id:
            await self.refuse(403, "Repository does not belong to this integration")
        if not (self.kind and self.delivery):
            await self.refuse(400, "Missing webhook header")
        if self.kind != "push":
            message = f"Event type '{self.kind}' is not supported"
            return await self.checked(f"Ignored {self.kind} event", message, ignored=True)
        try:
            data, reason = push_data(event.data), why_filtered(event.data)
            native = event.data["repository"]
            repository = {"id": native["id"], "fullName": native["full_name"]}
        except (KeyError, TypeError, AttributeError):
            await self.refuse(400, "Invalid payload")
        if repository["id"] != self.address.repository_id:
            await self.refuse(403, "Repository mismatch")
        if reason is not None:
            message = "Event 'push' with action 'pushed' was filtered out"
            return await self.checked("Filtered push event", message, action="pushed", filtered=True)
        triggers = matching(orjson.loads(endpoint["triggers"]), self.address.repository_id)
        if not await self.store.settle(self.address, self.delivery, orjson.dumps(data), triggers):
            return self.received(DUPLICATE, duplicate=True)
        processed = {"type": "push", "action": "pushed", "data": data}
        return self.received("Processed push event (pushed)", processed=processed, repository=repository)

    async def verified(self, body: bytes, secrets: Sequence[str]) -> sansio.Event:
        """Verify the signature with each current secret, and read the body."""
        for secret in secrets:
            try:
                return sansio.Event.from_http(self.headers, body, secret=secret)
            except ValidationFailure:
                continue
            except BadRequest:
                await self.refuse(400, "Invalid payload")
        return await self.refuse(401, "Invalid webhook signature")

    async def refuse(self, status: int, error: str) -> NoReturn:
        """Refuse the delivery, with a log entry."""
        await self.store.log(*self.address[1:], self.delivery or None, error, "failed", status, error, now_ms())
        raise Refusal(status, error)

    async def checked(self, title: str, message: str, **told: object) -> web.Response:
        """Return an answer without a claim, unless the delivery is a duplicate."""
        duplicate = f"Duplicate {self.kind} delivery"
        if await self.store.log_unless_claimed(self.address, self.delivery, title, duplicate):
            return self.received(message, **told)
        return self.received(DUPLICATE, duplicate=True)

    def received(self, message: str, **told: object) -> web.Response:
        """Return the answer to a received delivery."""
        data = {"event": self.kind, "delivery": self.delivery, **told}
        body = orjson.dumps({"received": True, "message": message, "data": data})
        return web.Response(body=body, content_type="application/json")


def matching(triggers: list[dict[str, Any]], repository_id: int) -> list[str]:
    """Return the ids of the triggers that a push starts."""
    return [
        trigger["id"]
        for trigger in triggers
        if trigger["enabled"]
        and repository_id in trigger["repository_ids"]
        and (not trigger["event_types"] or "push" in trigger["event_types"])
    ]


def refused(status: int, error: str) -> web.Response:
    """Answer a refusal."""
    return web.Response(status=status, body=orjson.dumps({"error": error}), content_type="application/json")


async def connected(app: web.Application) -> AsyncIterator[None]:
    """Open the connections for the lifetime of the application."""
    pool = await connect()
    app[STORE] = Store(pool)
    yield
    await pool.close()


def build() -> web.Application:
    """Create the application."""
    app = web.Application(client_max_size=MAX_BODY)
    app.cleanup_ctx.append(connected)
    app.router.add_get("/ready", ready)
    app.router.add_post("/api/webhooks/{provider}/{organization_id}/{integration_id}/{repository_id}", receive)
    return app


if __name__ == "__main__":
    web.run_app(
        build(), host=settings.HOST, port=settings.PORT, access_log=None, print=None, loop=uvloop.new_event_loop()
    )
