from collections.abc import Collection
from datetime import UTC, datetime
from hashlib import sha1
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

import click
import msgspec
from attrs import frozen

from contentsvc_cli.servers import part
from contentsvc_cli.terminal.output import JSON, fail, hint, misused, show
from contentsvc_cli.wiring import Api, owned, receiver_of, with_app
from contentsvc_core.application import Application
from contentsvc_core.content.posts import ContentType
from contentsvc_core.events.normalized import Author, Commit, Event, HeadCommit, Push, Release
from contentsvc_core.organizations import Repository
from contentsvc_core.webhooks.providers import Provider
from contentsvc_core.webhooks.providers.native import Reading
from contentsvc_core.workflows.causes import source_type
from contentsvc_core.workflows.filters import TriggerOptions
from contentsvc_core.workflows.triggers import EVENT_TYPES, Trigger

if TYPE_CHECKING:
    from contentsvc_cli.develop.recordings import RecordedDelivery

_SUBJECT: Final = "feat: a sample commit of 'contentsvc trigger test'"
_TAG: Final = "v0.0.0-sample"
_BRANCH: Final = "main"
_OF_EVENT: Final = {"branch": "push", "paths": "push", "message": "push", "tag": "release", "pre_release": "release"}


@frozen(kw_only=True)
class _Sample:
    event: str
    #: ``None``: the default branch.
    branch: str | None
    message: str
    paths: tuple[str, ...]
    tag: str
    pre_release: bool

    def read(self, defaults: Collection[str]) -> Event:
        """Return the event of the sample; ``defaults`` are the known default branches."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        if self.event == "release":
            return Release(
                action="published",
                tag_name=self.tag,
                name=self.tag,
                body=f"- {_SUBJECT}\n",
                prerelease=self.pre_release,
                draft=False,
                published_at=now,
                url="",
            )
        defaults = defaults or (_BRANCH,)
        branch = self.branch or next(iter(defaults))
        author = Author(name="contentsvc", email="sample@contentsvc.invalid")
        id_ = sha1(uuid4().bytes, usedforsecurity=False).hexdigest()
        commit = Commit(id=id_, message=self.message, author=author, timestamp=now, url="", modified=self.paths)
        head = HeadCommit(id=id_, message=self.message)
        ref, off_default = f"refs/heads/{branch}", branch not in defaults
        return Push(ref=ref, branch=branch, commits=(commit,), head_commit=head, off_default=off_default)


@click.command("test")
@click.argument("trigger_id")
@click.option("--event", type=click.Choice(EVENT_TYPES), help="Event type of the sample.  [default: one that matches]")
@click.option("--branch", help="Branch of the sample push.  [default: the default branch]")
@click.option("--path", "paths", multiple=True, help="Changed file of the sample push. Repeat for several.")
@click.option("--message", help="Commit message of the sample push, such as 'fix(api): a fault'.")
@click.option("--tag", help=f"Tag of the sample release.  [default: {_TAG}]")
@click.option("--pre-release", is_flag=True, help="Make the sample release a pre-release.")
@click.option("--send", is_flag=True, help="Sign the sample and receive it: a real run writes a draft or a post.")
@JSON
def try_trigger(trigger_id: str, event: str | None, *, send: bool, **options: Any) -> None:  # noqa: ANN401  # the sample's options
    """Check whether an event would start a run of this trigger.

    The answer has the reason. The sample passes through the filters of the trigger: branches, paths, scopes, tags and
    pre-releases. An option of the sample implies its event type.

    With --send, a signed sample is received as if the code host had sent it, without a server. All matching triggers
    start runs, and a running server performs them.
    """
    kinds = {_OF_EVENT[name] for name, value in options.items() if value} | ({event} - {None})
    if len(kinds) > 1:
        misused("--branch, --path and --message are of a push; --tag and --pre-release are of a release")

    def sample_for(trigger: Trigger) -> _Sample:
        return _Sample(
            event=next(iter(kinds), None) or next(iter(trigger.event_types), EVENT_TYPES[0]),
            branch=options["branch"],
            message=options["message"] or _SUBJECT,
            paths=options["paths"],
            tag=options["tag"] or _TAG,
            pre_release=options["pre_release"],
        )

    async def work(app: Application) -> dict[str, Any]:
        trigger = await owned(app, "trigger", trigger_id, app.stores.triggers.find)
        sample = sample_for(trigger)
        integrations = await app.stores.directory.integrations(trigger.organization_id)
        defaults = [
            repository.branch
            for integration in integrations
            for repository in integration.repositories
            if repository.branch and trigger.watches(source_type(integration.provider), repository.id)
        ]
        verdict = _verdict(trigger, sample, defaults)
        return {**verdict, **await _receive(app, trigger, sample)} if send else verdict

    def remote(api: Api) -> dict[str, Any]:
        if send:
            misused("--send needs the secret of the webhook: use it on the machine of the service")
        trigger = _trigger(api.get(f"/v1/event-triggers/{part(trigger_id)}")["eventTrigger"])
        defaults = [
            repository["defaultBranch"]
            for provider, repository in api.integrations()
            if repository["defaultBranch"] and trigger.watches(source_type(provider), int(repository["repositoryId"]))
        ]
        return _verdict(trigger, sample_for(trigger), defaults)

    verdict = with_app(work, remote=remote)
    show(verdict)
    if send:
        hint("contentsvc run list")
    elif verdict["matches"]:
        hint("contentsvc trigger test --send", trigger_id)


def _trigger(body: dict[str, Any]) -> Trigger:
    options = {wire: body[wire] for wire in TriggerOptions.__struct_encode_fields__ if wire in body}
    return Trigger(
        id=body["id"],
        organization_id=body["organizationId"],
        source_type=body["sourceType"],
        enabled=body["enabled"],
        repository_ids=[int(number) for number in body["targets"]["repositoryIds"]],
        event_types=body["sourceConfig"]["eventTypes"],
        output_type=ContentType(body["outputType"]),
        auto_publish=body["autoPublish"],
        options=msgspec.convert(options, TriggerOptions),
        created_at=datetime.now(UTC),
    )


def _verdict(trigger: Trigger, sample: _Sample, defaults: Collection[str]) -> dict[str, Any]:
    chosen, kinds = sample.event, trigger.event_types
    watched = "any repository" if trigger.options.all_repositories else ", ".join(map(str, trigger.repository_ids))
    exclusion = trigger.why_left_out(sample.read(defaults))
    matches = trigger.enabled and (not kinds or chosen in kinds) and exclusion is None
    if not trigger.enabled:
        why = "the trigger is disabled"
    elif kinds and chosen not in kinds:
        why = f"the trigger takes {' and '.join(kinds)}, not {chosen}"
    else:
        why = f"a {chosen} to {watched} starts a run" if exclusion is None else exclusion.reason
    writes = f"a {'published' if trigger.auto_publish else 'draft'} {trigger.output_type.value}"
    return {"triggerId": trigger.id, "event": chosen, "matches": matches, "why": why, "writes": writes}


async def _receive(app: Application, trigger: Trigger, sample: _Sample) -> dict[str, Any]:
    # Imported late: only a sample is signed and received.
    from contentsvc_cli.develop.receive import receive_recorded  # noqa: PLC0415
    from contentsvc_core.webhooks.providers import provider_named  # noqa: PLC0415

    for integration in await app.stores.directory.integrations(trigger.organization_id):
        for repository in integration.repositories:
            if trigger.watches(source_type(integration.provider), repository.id):
                provider = provider_named(integration.provider)
                secrets = await app.stores.directory.secrets(trigger.organization_id, integration.id, app.clock.now())
                if provider is None or not secrets:
                    fail(f"there is no sample for the provider '{integration.provider}': push a commit instead")
                delivery = _delivery(repository, provider, sample)
                row = await receive_recorded(receiver_of(app), integration, provider, secrets[0], delivery)
                return {name: row[name] for name in ("delivery", "status", "message")}
    return fail("no repository of this trigger is connected")


def _delivery(repository: Repository, provider: Provider, sample: _Sample) -> "RecordedDelivery":
    from contentsvc_cli.develop.recordings import RecordedDelivery  # noqa: PLC0415  # only a sample is recorded

    branch = repository.branch or _BRANCH
    reading = Reading(
        event=sample.read([branch]),
        repository_id=repository.id,
        repository=repository.full_name,
        default_branch=branch,
    )
    kind, body = provider.write(reading)
    return RecordedDelivery(event=kind, delivery=str(uuid4()), body=msgspec.json.encode(body))
