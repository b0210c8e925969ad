from typing import Any

import click
from msgspec import to_builtins

from contentsvc_cli.searching import HITS, SINCE, show_hits, show_list, warn
from contentsvc_cli.servers import part
from contentsvc_cli.terminal.output import JSON, LIMIT, ORGANIZATION, fail, fetched, list_output, say, show, wants_json
from contentsvc_cli.wiring import Api, accepted, organization_named, with_app
from contentsvc_core.application import Application
from contentsvc_core.workflows.context import RecordBody, is_custom_id

#: Maximum size of all events of the hits, in bytes.
_MAX_BYTES = 256 * 1024 * 1024


@click.group()
def context() -> None:
    """List, search and show context records, which AI agents read."""


@context.command("list")
@ORGANIZATION
@SINCE
@LIMIT
@list_output
def list_context(organization: str, since: str, limit: int | None) -> None:
    """List context records, newest first."""
    at_most = fetched(limit)

    async def rows(app: Application, owner: str) -> list[dict[str, Any]]:
        records = await app.stores.contexts.records(owner, limit=at_most)
        return to_builtins([RecordBody.of(record) for record in records])

    def remote(api: Api) -> list[dict[str, Any]]:
        records = api.list("/v1/context", "context", at_most, content="true", since=since)
        return [{name: record[name] for name in RecordBody.__struct_encode_fields__} for record in records]

    columns = ("createdAt", "customId", "content")
    show_list(organization, rows, columns, limit=limit, since=since, remote=remote)


@context.command()
@click.argument("words", nargs=-1)
@ORGANIZATION
@click.option("--repository", default="", metavar="OWNER/NAME", help="Only records of this repository.")
@click.option("--event-type", default="", metavar="LIST", help="Only events of these types: push, release.")
@SINCE
@HITS
@list_output
def search(words: tuple[str, ...], organization: str, repository: str, event_type: str, since: str, limit: int) -> None:
    """Search context records by WORDS, newest first.

    All words must match: in a commit's message, hash or author, in a release's tag, name or notes, or in the name of a
    repository or branch. Use word* for a prefix and -word to exclude a word. 1.4.2 is one word. Put -- before the first
    word that begins with a hyphen.
    """
    from contentsvc_core.search.excerpts import record_hit_body  # noqa: PLC0415  # only this command needs it
    from contentsvc_core.search.questions import read_context_search  # noqa: PLC0415  # only this command needs it

    context_search = accepted(
        read_context_search(
            {"query": " ".join(words), "repository": repository, "eventType": event_type, "since": since}
        )
    )

    async def rows(app: Application, owner: str) -> list[dict[str, Any]]:
        hits = await app.stores.search.records(owner, context_search, limit=limit, max_bytes=_MAX_BYTES)
        warn(behind=hits.behind, has_more=hits.has_more)
        return [dict(record_hit_body(record, context_search.terms)) for record in hits.found]

    def remote(api: Api) -> list[dict[str, Any]]:
        answer = api.get(
            "/v1/context",
            query=" ".join(words),
            repository=repository,
            eventType=event_type,
            since=since,
            limit=limit,
        )
        warn(behind=answer["behind"], has_more=answer["next"] is not None)
        return answer["context"]

    show_hits(organization, rows, ("createdAt", "customId", "eventType"), remote=remote)


@context.command("show")
@click.argument("custom_id")
@ORGANIZATION
@JSON
def show_context(custom_id: str, organization: str) -> None:
    """Show a context record. Without --json, only its text."""

    async def work(app: Application) -> dict[str, Any]:
        owner = await organization_named(app, organization)
        record = await app.stores.contexts.record(owner.id, custom_id) if is_custom_id(custom_id) else None
        if record is None:
            fail(f"there is no context record '{custom_id}'")
        return to_builtins(RecordBody.of(record))

    body = with_app(work, remote=lambda api: api.get(f"/v1/context/{part(custom_id)}")["context"])
    if wants_json():
        show(body)
    else:
        say(body["content"])
