import asyncio
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import urlencode

from litestar import Response, get
from litestar.params import FromPath

from contentsvc_core.events.normalized import Push, Release
from contentsvc_core.journal import ListedEntry, LogEntry, LogLine, LogOutcome, LogStatus
from contentsvc_core.organizations import Integration
from contentsvc_core.outgoing.messages import is_message_log
from contentsvc_core.read_model import LogSearch
from contentsvc_core.received import Match, Received, SignatureHeader
from contentsvc_core.refusals import Refusal, RefusalKind
from contentsvc_core.timestamps import iso_ms
from contentsvc_core.usecases.diagnoses import MOST_SIMILAR, Explained
from contentsvc_core.webhooks.diagnosis import Remedy, command_of
from contentsvc_core.webhooks.providers import provider_named
from contentsvc_core.webhooks.signature import SPECIFIED, HmacSha256
from contentsvc_http.dashboard import pages
from contentsvc_http.dashboard.integration_names import all_names, names_of
from contentsvc_http.dashboard.integrations import provider_of, urls_of
from contentsvc_http.dashboard.pages import HEADERS, go, nothing_new
from contentsvc_http.dashboard.payloads import SHOWN, ShownPayload, payload_text, shown
from contentsvc_http.dashboard.refusals import FormRefusals, Unsaved, found
from contentsvc_http.dashboard.session import ROOT, DashboardSession, Visitor, sent
from contentsvc_http.errors import Refused

_PATH: Final = f"{ROOT}/integrations/logs/{{log_id:str}}"
_UNKNOWN: Final = "The log has no such entry: it was never there, or its time is over."
_REFUSALS: Final = FormRefusals(words={RefusalKind.NOT_FOUND: _UNKNOWN})
_MOST_COMMITS: Final = 10
#: The largest stored payload that the page shows as a tree, in bytes; larger ones are offered as text.
_MOST_BYTES: Final = 1024 * 1024
_DIGEST_LENGTH: Final = 64
_MATCHES: Final = {
    Match.PREVIOUS_SECRET: "verifies with the previous secret",
    Match.DECODED_FORM: "verifies for the JSON inside the form",
    Match.CHANGED_BODY: "verifies for the body with other line ends or white space",
}


@get(_PATH)
async def show(session: Visitor, log_id: FromPath[str]) -> Response[Any]:
    entry = await _listed(session, log_id)
    if not session.is_partial:
        return await _page(session, entry)
    if session.query.get("part") != "row":
        return pages.part(
            session,
            "log_led.html",
            {"entry": entry, "led": await session.app.delivery_trails.record_trail(entry)},
        )
    if entry.status is LogStatus.PENDING:
        return nothing_new()
    names = await all_names(session)
    return pages.part(session, "log_row.html", {"entry": entry, "names": names})


@get(f"{_PATH}/raw")
async def raw(session: Visitor, log_id: FromPath[str]) -> Response[Any]:
    entry = await _listed(session, log_id)
    text = await session.heavy(lambda: _raw(session, entry))
    return Response(text, media_type="text/plain", headers=HEADERS)


@sent(f"{_PATH}/replay", page=show)
async def replay(session: Visitor, log_id: FromPath[str]) -> Response[Any]:
    entry = await _listed(session, log_id)
    replayed = await session.sent_once(lambda: session.app.replayer.replay(session.organization_id, log_id))
    if replayed is None:
        return go(f"/integrations/logs/{entry.id}", notice="sent-already")
    if isinstance(replayed, Refusal):
        raise Unsaved(error=f"Not replayed. {_REFUSALS.sentence(replayed)}", status=409)
    if is_message_log(entry):
        # The message has a log entry only after the first answer.
        return go(f"/endpoints/{entry.integration_id}", notice="resent")
    # A replay is a separate delivery: its own entry has its results.
    search = LogSearch(integration_ids=(entry.integration_id,), text=replayed.delivery_id)
    own = await session.app.stores.read_model.log(entry.organization_id, search, limit=1)
    return go(f"/integrations/logs/{own[0].id if own else entry.id}", notice="replayed")


async def _raw(session: DashboardSession, entry: ListedEntry) -> str:
    full = await session.app.stores.journal.entry(entry.organization_id, entry.id)
    if full is None or full.detail is None:
        raise Refused(404, {"error": "This entry has no payload."})
    return await asyncio.to_thread(lambda: payload_text(full.payload))


async def _shown(session: DashboardSession, entry: ListedEntry) -> tuple[LogEntry | None, ShownPayload | None]:
    full = await session.app.stores.journal.entry(entry.organization_id, entry.id, max_bytes=_MOST_BYTES)
    if full is None or full.detail is None:
        return full, None
    return full, await asyncio.to_thread(lambda: shown(full.payload))


async def _listed(session: DashboardSession, log_id: str) -> ListedEntry:
    return found(await session.app.stores.read_model.entry(session.organization_id, log_id), _UNKNOWN)


async def _page(session: DashboardSession, entry: ListedEntry) -> Response[Any]:
    integration = await session.app.stores.directory.integration(session.organization_id, entry.integration_id)
    is_message = is_message_log(entry)
    endpoint = None
    if is_message:
        endpoint = await session.app.stores.endpoints.endpoint(session.organization_id, entry.integration_id)
    # Not on the loop: a delivery may hold two thousand commits.
    full, payload = await session.heavy(lambda: _shown(session, entry))
    explained = await session.app.diagnoses.explain(entry)
    context: dict[str, Any] = {
        "entry": entry,
        "card": cause_card(entry, explained, integration),
        "integration": integration,
        "provider": None if integration is None else provider_of(integration),
        "urls": {} if integration is None else urls_of(session, integration),
        "endpoint": endpoint,
        "is_message": is_message,
        "names": names_of([] if integration is None else [integration], [] if endpoint is None else [endpoint]),
        "repository": _repository(integration, entry.repository_id),
        "payload": payload,
        "most": SHOWN,
        "event": None if full is None else _event(full),
        "left_out": 0 if full is None else full.left_out,
        "led": await session.app.delivery_trails.record_trail(entry),
        "can_be_replayed": session.may_write and (is_message or entry.event is not None),
    }
    title = entry.event.about if entry.event and entry.event.about else entry.title
    return pages.page(session, "log.html", context, title=title, section="logs")


def _repository(integration: Integration | None, repository_id: int) -> str | None:
    repositories = () if integration is None else integration.repositories
    return next((repository.full_name for repository in repositories if repository.id == repository_id), None)


def _event(entry: LogEntry) -> Mapping[str, Any] | None:
    match entry.detail:
        case Push() as push:
            commits = push.commits[:_MOST_COMMITS]
            return {"kind": "push", "branch": push.branch, "commits": commits, "number": len(push.commits)}
        case Release() as release:
            return {
                "kind": "release",
                "action": release.action,
                "tag": release.tag_name,
                "name": release.name,
                "notes": release.body,
            }
        case _:
            return None


def cause_card(entry: LogLine, explained: Explained, integration: Integration | None) -> dict[str, Any]:
    similar = explained.similar
    others = query = ""
    if similar is not None and similar.number:
        number = f"{MOST_SIMILAR} or more" if similar.number >= MOST_SIMILAR else f"{similar.number}"
        others = f"{number} {'other' if similar.number == 1 else 'others'} like this"
        fields = {
            "outcome": LogOutcome.REFUSED.value,
            "integration": entry.integration_id,
            "text": entry.title,
            "since": iso_ms(similar.since),
        }
        query = f"?{urlencode(fields)}"
    command = command_of(explained.diagnosis, entry.integration_id) or "" if explained.diagnosis else ""
    redelivers = explained.diagnosis is not None and explained.diagnosis.remedy is Remedy.REDELIVER
    return {
        "diagnosis": explained.diagnosis,
        "facts": () if entry.received is None else tuple(_facts(entry, entry.received)),
        "headers": () if entry.received is None else entry.received.headers,
        "others": others,
        "similar": query,
        "since": None if similar is None else similar.since,
        # The command that requests missed deliveries; empty: another remedy.
        "command": command if integration and redelivers else "",
    }


def _facts(entry: LogLine, received: Received) -> Iterator[tuple[str, str]]:
    yield "Source address", received.source or "unknown"
    yield "Body", "not received whole" if received.size is None else f"{received.size:,} bytes"
    if received.is_form:
        yield "Encoding", "form (payload=…)"
    yield "Content type", received.header("Content-Type") or "none"
    yield "User agent", received.header("User-Agent") or "none"
    provider = provider_named(entry.integration_type)
    scheme = SPECIFIED if provider is None else provider.scheme
    yield scheme.header, _signature(received, scheme.prefix if isinstance(scheme, HmacSha256) else None)
    if received.signature is SignatureHeader.PRESENT and received.size is not None:
        if received.match is not None:
            yield "Verification", _MATCHES[received.match]
        elif received.had_previous_secret:
            yield "Verification", "the previous secret does not match either"
        else:
            yield "Verification", "no secret matches; there is no previous secret to compare"


def _signature(received: Received, prefix: str | None) -> str:
    if received.signature is not SignatureHeader.PRESENT:
        length = f", {received.signature_length} characters" if received.signature_length else ""
        return f"{received.signature.value}{length}"
    if prefix is None:
        return f"present, {received.signature_length} characters"
    return f"present, {_DIGEST_LENGTH} hex characters"
