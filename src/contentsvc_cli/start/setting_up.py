from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, Final, Literal, final
from unicodedata import normalize
from urllib.parse import urlsplit

import msgspec
from attrs import evolve, field, frozen

from contentsvc_cli.develop.git import Checkout
from contentsvc_cli.develop.history import NO_HOST, deliveries, hosted_repository
from contentsvc_cli.develop.receive import receive_recorded
from contentsvc_cli.develop.recordings import RecordedDelivery
from contentsvc_cli.start.previewing import release_tags
from contentsvc_cli.terminal.output import fail
from contentsvc_cli.wiring import accepted, receiver_of, sign_in_link
from contentsvc_core.access.keys import ApiKey, Scope, is_active, key_prefix
from contentsvc_core.application import Application
from contentsvc_core.content.public.changes import ChangeChangelog
from contentsvc_core.content.public.links import ChangelogLinks
from contentsvc_core.identifiers import slugify
from contentsvc_core.organizations import Integration, Organization, webhook_url
from contentsvc_core.refusals import AT_HOST, Refusal
from contentsvc_core.webhooks.providers import DEFAULT_PROVIDER, Provider, provider_named
from contentsvc_core.workflows.triggers import DUPLICATE_TRIGGER, CreateTrigger
from contentsvc_http.settings import Settings

#: Number of newest releases that get a post: enough for a page.
_RELEASES: Final = 5
#: Number of newest pushes that are received: some seconds of work.
_PUSHES: Final = 500
#: Number of pushes that get a post if every push does.
_PUSHES_WITHOUT_RELEASES: Final = 10
#: The maximum length of a repository's name in a title, in characters; the whole title stays within its limit.
_TITLE: Final = 80
_OK: Final = 200


class Start(Enum):
    RELEASES = "releases"
    PUSHES = "pushes"
    BOTH = "both"
    NOTHING = "none"


_EVENTS: Final[Mapping[Start, Sequence[Literal["push", "release"]]]] = {
    Start.RELEASES: ("release",),
    Start.PUSHES: ("push",),
    Start.BOTH: (),
}


@final
@frozen(kw_only=True)
class SetupAnswers:
    organization: str
    time_zone: str
    repository: str
    provider: str
    #: ``None``: looked up at the code host.
    repository_id: int | None
    token: str | None = field(repr=False)
    start: Start
    publishes: bool
    is_public: bool
    #: Whether a changelog may become public if there are published posts.
    may_expose: bool
    #: Checkout whose history is received; ``None`` for none.
    history: Checkout | None


@final
@frozen(kw_only=True)
class SetupResult:
    organization: Organization
    key: ApiKey
    #: The new API key; ``None`` if one existed.
    new_key: str | None = field(repr=False)
    integration: Integration
    webhook_url: str
    #: ``None``: shown before, or stored by the code host.
    webhook_secret: str | None = field(repr=False)
    created_at_host: bool
    changelog_url: str
    is_public: bool
    #: The number of published posts that would become public, which the command has not asked about.
    unexposed: int
    received: int
    sign_in_url: str
    existing: tuple[str, ...] = field(converter=tuple)


async def set_up(
    app: Application, settings: Settings, answers: SetupAnswers, *, stored_key: str | None, port: int
) -> SetupResult:
    """Create missing objects; existing ones stay unchanged. After a refused step, the next run continues."""
    existing: list[str] = []
    organization = await _organization(app, answers, existing)
    connected = await _connected(app, organization, answers)
    new = None
    if connected is None:
        answered = await app.connector.connect(
            organization.id,
            full_name=answers.repository,
            provider=answers.provider,
            repository_id=answers.repository_id,
            token=answers.token,
        )
        if isinstance(answered, Refusal) and answered.kind in AT_HOST and answers.token is None:
            host = urlsplit(settings.api_urls[answers.provider]).netloc or answers.provider
            fail(f"{answered.message()} ({host}). Add --repository-id, or --token for a repository that is not public")
        new = accepted(answered)
        connected = new.integration
    else:
        existing.append(f"repository {answers.repository}")
    await _trigger(app, organization, connected, answers, existing)
    received = 0
    if new is not None and answers.history is not None:
        received = await _receive(app, settings, connected, new.secret, answers.history, answers.start)
    is_public, unexposed, url = await _publish(app, organization, answers, existing)
    key, new_key = await _key(app, organization, stored_key, existing)
    return SetupResult(
        organization=organization,
        key=key,
        new_key=new_key,
        integration=connected,
        webhook_url=webhook_url(app.base_url, connected, connected.repositories[0].id),
        webhook_secret=None if new is None or new.created_at_host else new.secret,
        created_at_host=new is not None and new.created_at_host,
        changelog_url=url,
        is_public=is_public,
        unexposed=unexposed,
        received=received,
        sign_in_url=await sign_in_link(app, key, port),
        existing=existing,
    )


async def _organization(app: Application, answers: SetupAnswers, existing: list[str]) -> Organization:
    organization = await app.stores.directory.organization(slugify(answers.organization))
    if organization is None:
        # One with another slug, chosen by hand or by an earlier version.
        named = normalize("NFC", answers.organization).casefold()
        stored = await app.stores.directory.organizations()
        organization = next((each for each in stored if normalize("NFC", each.name).casefold() == named), None)
    if organization is not None:
        existing.append(f"organization {organization.slug}")
        return organization
    return accepted(await app.operator.create_organization(answers.organization, time_zone=answers.time_zone))


async def _connected(app: Application, organization: Organization, answers: SetupAnswers) -> Integration | None:
    full_name = answers.repository.casefold()
    for integration in await app.stores.directory.integrations(organization.id):
        if integration.provider == answers.provider and any(
            it.full_name.casefold() == full_name for it in integration.repositories
        ):
            return integration
    return None


async def _trigger(
    app: Application, organization: Organization, connected: Integration, answers: SetupAnswers, existing: list[str]
) -> None:
    if answers.start is Start.NOTHING:
        return
    created = await app.trigger_editor.create(
        organization.id,
        CreateTrigger(
            repository_ids=[connected.repositories[0].id],
            event_types=_EVENTS[answers.start],
            auto_publish=answers.publishes,
            name="Changelog",
            provider=connected.provider,
        ),
    )
    if created is DUPLICATE_TRIGGER:
        existing.append("trigger Changelog")
    else:
        accepted(created)


async def _receive(
    app: Application, settings: Settings, connected: Integration, secret: str, checkout: Checkout, start: Start
) -> int:
    provider = provider_named(connected.provider)
    assert provider is not None  # an integration's is known
    repository = connected.repositories[0]
    line = checkout.line()
    hosted = hosted_repository(
        origin=checkout.origin(),
        folder=checkout.folder_name,
        branch=line.branch,
        full_name=repository.full_name,
        repository_id=repository.id,
    )
    if hosted.html_url.startswith(f"{NO_HOST}/"):
        # The checkout's remote is another repository, such as a fork: links lead to the one that is connected.
        hosted = evolve(hosted, html_url=_pages(settings, connected, repository.full_name))
    tags = release_tags(checkout.tags(merged=line.tip))
    # The release before the first reported one marks the beginning of that one's changes.
    before, newest = tags[:-_RELEASES][-1:], tags[-_RELEASES:]
    pushes = checkout.pushes(line.tip, without=[tag.commit_id for tag in before])[-_PUSHES:]
    if start is Start.PUSHES:
        pushes = pushes[-_PUSHES_WITHOUT_RELEASES:]
    # An annotation is no release note: posts report the commits.
    plain = [evolve(tag, message=None) for tag in newest]
    count = 0
    receiver = receiver_of(app)
    for recorded in deliveries(hosted, pushes, plain, checkout.commits):
        answered = await receive_recorded(receiver, connected, provider, secret, _in_dialect(recorded, provider))
        count += answered["status"] == _OK
    return count


def _in_dialect(recorded: RecordedDelivery, provider: Provider) -> RecordedDelivery:
    reader = provider.readers.get(recorded.event)
    if reader is not None and reader is DEFAULT_PROVIDER.readers[recorded.event]:
        return recorded
    kind, body = provider.write(DEFAULT_PROVIDER.readers[recorded.event](recorded.body))
    return evolve(recorded, event=kind, body=msgspec.json.encode(body))


def _pages(settings: Settings, connected: Integration, full_name: str) -> str:
    host = urlsplit(settings.api_urls[connected.provider]).hostname
    return f"https://{host.removeprefix('api.')}/{full_name}" if host else ""


async def _publish(
    app: Application, organization: Organization, answers: SetupAnswers, existing: list[str]
) -> tuple[bool, int, str]:
    changelog = await app.changelog_editor.first(organization)
    url = ChangelogLinks(base_url=app.base_url, slug=changelog.slug).home
    if changelog.is_public:
        existing.append("public changelog")
        return True, 0, url
    if not answers.is_public:
        return False, 0, url
    exposure, _ = await app.changelog_editor.preview(organization)
    if exposure.posts and not answers.may_expose:
        return False, exposure.posts, url
    fields: dict[str, Any] = {"is_public": True}
    if changelog.title == organization.name:
        # Readers know the product, not the account at its code host.
        fields["title"] = f"{answers.repository.rpartition('/')[2][:_TITLE]} changelog"
    changed = await app.changelog_editor.change(organization, ChangeChangelog(**fields))
    if isinstance(changed, Refusal):
        # Another organization has the slug: the changelog needs a different one first.
        return False, 0, url
    return True, 0, url


async def _key(
    app: Application, organization: Organization, stored_key: str | None, existing: list[str]
) -> tuple[ApiKey, str | None]:
    prefix = None if stored_key is None else key_prefix(stored_key)
    key = None if prefix is None else await app.stores.keys.key(prefix)
    if key is not None and key.organization_id == organization.id and is_active(key, app.clock.now()):
        existing.append(f"key {key.prefix}…")
        return key, None
    issued = accepted(await app.operator.issue_key(organization, name="init", scopes=tuple(Scope)))
    return issued.record, issued.key


def suggested_start(tags: Sequence[object], *, is_checkout: bool) -> Start:
    """Return the default event of the trigger: releases, or pushes for a checkout without releases."""
    return Start.PUSHES if is_checkout and not tags else Start.RELEASES
