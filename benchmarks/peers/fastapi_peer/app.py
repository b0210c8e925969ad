"""The receiver as a FastAPI application."""

import hashlib
import hmac
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Annotated, Any, NamedTuple, NoReturn

from bodies import Answer, AnswerData, AnsweredRepository, NativePush, Processed, PushData, why_filtered
from database import insert, prepare, read_session, write_session
from fastapi import FastAPI, Header, HTTPException, Request, Response
from fastapi.responses import JSONResponse
from models import Claim, ContextRecord, Integration, LogEntry, Repository, Trigger, WorkflowRun
from pydantic import ValidationError
from sqlalchemy import and_, bindparam, select
from sqlalchemy.orm import joinedload

WINDOW_MS = 86_400_000
DUPLICATE = "Webhook already processed (duplicate delivery)"
# Statements are built once, so that SQLAlchemy finds their compiled form in its cache.
CLAIM = insert(Claim)
TAKE = CLAIM.on_conflict_do_update(
    index_elements=[Claim.integration_id, Claim.repository_id, Claim.delivery_id],
    set_={"claimed_at": CLAIM.excluded.claimed_at},
    where=Claim.claimed_at <= CLAIM.excluded.claimed_at - WINDOW_MS,
).returning(Claim.claimed_at)
ENDPOINT = (
    select(Integration, Repository.integration_id)
    .outerjoin(
        Repository,
        and_(
            Repository.organization_id == Integration.organization_id,
            Repository.provider == Integration.provider,
            Repository.repository_id == bindparam("repository_id"),
        ),
    )
    .where(
        Integration.id == bindparam("integration_id"),
        Integration.organization_id == bindparam("organization_id"),
        Integration.provider == bindparam("provider"),
    )
    .options(joinedload(Integration.secrets))
)
TRIGGERS = select(Trigger).where(
    Trigger.organization_id == bindparam("organization_id"), Trigger.provider == bindparam("provider")
)


class Arrival(NamedTuple):
    """The address and the time of a delivery."""

    provider: str
    organization_id: str
    integration_id: str
    repository_id: int
    delivery: str | None
    #: In milliseconds since the Unix epoch.
    at: int

    @property
    def address(self) -> dict[str, Any]:
        """Return the parameters of the lookup."""
        return {
            "provider": self.provider,
            "organization_id": self.organization_id,
            "integration_id": self.integration_id,
            "repository_id": self.repository_id,
        }

    def log(self, title: str, status_code: int = 200, error: str | None = None) -> LogEntry:
        """Return the delivery's log entry."""
        return LogEntry(
            organization_id=self.organization_id,
            integration_id=self.integration_id,
            repository_id=self.repository_id,
            reference_id=self.delivery,
            title=title,
            status="failed" if error else "success",
            status_code=status_code,
            error_message=error,
            created_at=self.at,
        )


@asynccontextmanager
async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
    """Create the database before the first request."""
    await prepare()
    yield


app = FastAPI(lifespan=lifespan)


@app.exception_handler(HTTPException)
async def refused(_request: Request, exc: HTTPException) -> JSONResponse:
    """Answer a refusal."""
    return JSONResponse({"error": exc.detail}, status_code=exc.status_code)


@app.get("/ready")
async def ready() -> dict[str, str]:
    """Answer when the lifespan has begun."""
    return {"status": "ready"}


@app.post("/api/webhooks/{provider}/{organization_id}/{integration_id}/{repository_id}")
async def receive(  # noqa: PLR0917  # FastAPI's way to declare parameters
    request: Request,
    provider: str,
    organization_id: str,
    integration_id: str,
    repository_id: int,
    x_host_event: Annotated[str | None, Header()] = None,
    x_host_delivery: Annotated[str | None, Header()] = None,
    x_hub_signature_256: Annotated[str | None, Header()] = None,
) -> Response:
    """Receive a delivery."""
    body = await request.body()
    arrival = Arrival(provider, organization_id, integration_id, repository_id, x_host_delivery, now_ms())
    integration, owner, triggers = await look_up(arrival)
    if not verified(body, x_hub_signature_256, integration, arrival.at):
        await refuse(401, "Invalid webhook signature", arrival)
    if not integration.enabled:
        await refuse(403, "Integration is disabled", arrival)
    if owner != integration_id:
        await refuse(403, "Repository does not belong to this integration", arrival)
    if not (x_host_event and x_host_delivery):
        return await refuse(400, "Missing webhook header", arrival)
    told = AnswerData(event=x_host_event, delivery=x_host_delivery)
    if x_host_event != "push":
        message = f"Event type '{x_host_event}' is not supported"
        return await checked(f"Ignored {x_host_event} event", message, arrival, told, {"ignored": True})
    try:
        push = NativePush.model_validate_json(body)
    except ValidationError:
        return await refuse(400, "Invalid payload", arrival)
    if push.repository.id != repository_id:
        await refuse(403, "Repository mismatch", arrival)
    if why_filtered(push) is not None:
        message = "Event 'push' with action 'pushed' was filtered out"
        return await checked("Filtered push event", message, arrival, told, {"action": "pushed", "filtered": True})
    data = PushData.of(push)
    if not await settle(arrival, x_host_delivery, data, triggers):
        return respond(DUPLICATE, told, {"duplicate": True})
    processed = Processed.model_construct(type="push", action="pushed", data=data)
    repository = AnsweredRepository(id=repository_id, full_name=push.repository.full_name)
    return respond("Processed push event (pushed)", told, {"processed": processed, "repository": repository})


async def look_up(arrival: Arrival) -> tuple[Integration, str | None, Sequence[Trigger]]:
    """Return the integration at a delivery's address, the repository's owner, and the triggers.

    Raises:
        HTTPException: The integration is unknown.
    """
    async with read_session() as session:
        found = (await session.execute(ENDPOINT, arrival.address)).unique().one_or_none()
        if found is None:
            raise HTTPException(404, "Integration not found")
        integration, owner = found
        triggers = (await session.scalars(TRIGGERS, arrival.address)).all()
    return integration, owner, triggers


def verified(body: bytes, signature: str | None, integration: Integration, now: int) -> bool:
    """Check whether a signature was made with a current secret."""
    genuine = False
    for secret in integration.secrets:
        if secret.expires_at is None or secret.expires_at > now:
            # All secrets are tried, so that the time does not reveal the matching one.
            expected = f"sha256={hmac.digest(secret.secret.encode(), body, hashlib.sha256).hex()}"
            genuine = hmac.compare_digest(expected.encode(), (signature or "").encode()) or genuine
    return genuine


async def settle(arrival: Arrival, delivery: str, data: PushData, triggers: Sequence[Trigger]) -> bool:
    """Write all rows of a push, or the log entry of a duplicate."""
    organization_id, repository_id, now = arrival.organization_id, arrival.repository_id, arrival.at
    claim = {
        "integration_id": arrival.integration_id,
        "repository_id": repository_id,
        "delivery_id": delivery,
        "claimed_at": now,
    }
    async with write_session.begin() as session:
        if await session.scalar(TAKE, claim) is None:
            session.add(arrival.log("Duplicate push delivery"))
            return False
        context = ContextRecord(
            organization_id=organization_id,
            repository_id=repository_id,
            delivery_id=delivery,
            type="push",
            data=data.model_dump_json(by_alias=True, exclude_none=True),
            created_at=now,
        )
        session.add(context)
        session.add_all(
            WorkflowRun(
                organization_id=organization_id,
                trigger_id=trigger.id,
                context=context,
                status="pending",
                created_at=now,
            )
            for trigger in triggers
            if trigger.enabled
            and repository_id in trigger.repository_ids
            and (not trigger.event_types or "push" in trigger.event_types)
        )
        log = arrival.log("Processed push event")
        log.context = context
        session.add(log)
    return True


async def refuse(status_code: int, error: str, arrival: Arrival) -> NoReturn:
    """Refuse the delivery, with a log entry.

    Raises:
        HTTPException: Always.
    """
    async with write_session.begin() as session:
        session.add(arrival.log(error, status_code, error))
    raise HTTPException(status_code, error)


async def checked(title: str, message: str, arrival: Arrival, told: AnswerData, more: dict[str, Any]) -> Response:
    """Return an answer without a claim, unless the delivery is a duplicate."""
    async with write_session.begin() as session:
        held = await session.scalar(
            select(Claim.claimed_at).where(
                Claim.integration_id == arrival.integration_id,
                Claim.repository_id == arrival.repository_id,
                Claim.delivery_id == arrival.delivery,
                Claim.claimed_at > arrival.at - WINDOW_MS,
            )
        )
        session.add(arrival.log(title if held is None else f"Duplicate {told.event} delivery"))
    if held is not None:
        return respond(DUPLICATE, told, {"duplicate": True})
    return respond(message, told, more)


def respond(message: str, told: AnswerData, more: dict[str, Any]) -> Response:
    """Return an answer, serialized by Pydantic."""
    answer = Answer(message=message, data=told.model_copy(update=more))
    return Response(answer.model_dump_json(by_alias=True, exclude_none=True), media_type="application/json")


def now_ms() -> int:
    """Return the time."""
    return time.time_ns() // 1_000_000
