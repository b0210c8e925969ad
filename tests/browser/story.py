"""The data of the pages: two weeks of a fictional repository, received by a real server with a manual clock."""

import asyncio
import contextlib
import itertools
import random
import uuid
from collections.abc import Generator, Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Final, final

import httpx
from attrs import frozen
from tests.server_process import PATIENCE_S, Hook, Installation, ServerProcess, serving
from tests.stepped_clock import SteppedClock

from contentsvc_cli.develop.recordings import RecordedDelivery
from contentsvc_cli.start.sample import REPOSITORY, REPOSITORY_ID, other_kinds, sample_history
from contentsvc_cli.wiring import accepted, open_app
from contentsvc_core import CreateEndpoint, Scope
from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.public.changelogs import LinkBody, PublicChangelog
from contentsvc_core.content.public.changes import ChangeChangelog, CreateChangelog
from contentsvc_core.content.public.images import ImageKind
from contentsvc_core.outgoing.events import EventType
from contentsvc_core.workflows.schedules import CreateSchedule
from contentsvc_core.workflows.slots import Cron, Frequency
from contentsvc_core.workflows.triggers import CreateTrigger
from contentsvc_http.settings import Settings

_DAYS: Final = 13
_DAY_S: Final = 86_400
_HOUR_S: Final = 3_600
#: The deliveries of each day.
_A_DAY: Final = (3, 9)
_FORGED: Final = 0.09
_OTHER: Final = 0.25
#: Changelogs beside the first one: one for a part of the posts, and one that shows none of them.
_FURTHER: Final = (
    CreateChangelog(
        slug="lamps",
        title="Lamps for developers",
        description="What changed in the beam.",
        scopes=("beam",),
        accent="#b03a2e",
        header_links=(LinkBody("Docs", "https://docs.acme.example/"),),
    ),
    CreateChangelog(slug="horns", title="Horns", repositories=("acme/horns",)),
)
_UNSIGNED: Final = f"sha256={'0' * 64}"


@final
@frozen(kw_only=True)
class Story:
    """A server with stored history."""

    server: ServerProcess
    installation: Installation
    hook: Hook
    #: A key with the scopes read and write.
    key: str
    #: A key of another organization.
    stranger: str

    @property
    def url(self) -> str:
        return self.server.url

    def deliver(self, event: str, body: bytes, *, forged: bool = False) -> httpx.Response:
        """Send a delivery under an id of its own."""
        headers = self.hook.headers(body, str(uuid.uuid4()), event)
        if forged:
            headers["X-Hub-Signature-256"] = _UNSIGNED
        return httpx.post(
            f"{self.url}{self.hook.path}", content=body, headers=headers, trust_env=False, timeout=PATIENCE_S
        )


@contextlib.contextmanager
def running_story(folder: Path, *, days: int = _DAYS, **settings: str) -> Generator[Story]:
    """Set up an organization with one object of each kind, and simulate two weeks or another number of days."""
    installation = Installation(folder, **settings)
    clock = SteppedClock(folder)
    hook, keys = asyncio.run(_seed(Settings(database_url=f"sqlite+aiosqlite:///{installation.database}")))
    with serving(installation, program=clock.program, environment=clock.environment) as server:
        key, stranger = keys
        story = Story(server=server, installation=installation, hook=hook, key=key, stranger=stranger)
        _live(story, clock, days)
        yield story


async def _seed(settings: Settings) -> tuple[Hook, list[str]]:
    """Set up the organizations; return the hook and the keys."""
    async with open_app(settings) as app:
        operator, triggers = app.operator, app.trigger_editor
        acme = accepted(await operator.create_organization("Acme Lighthouses", slug="acme"))
        other = accepted(await operator.create_organization("Somebody Else", slug="else"))
        created = accepted(
            await operator.connect(
                acme, full_name=REPOSITORY, repository_id=REPOSITORY_ID, provider="codehost", branch="main"
            )
        )
        own: tuple[int, ...] = (REPOSITORY_ID,)
        accepted(await triggers.create(acme.id, CreateTrigger(repository_ids=own, auto_publish=True, name="Changelog")))
        blog = ContentType.BLOG_POST
        accepted(
            await triggers.create(
                acme.id,
                CreateTrigger(repository_ids=own, event_types=("release",), output_type=blog, name="Release posts"),
            )
        )
        accepted(
            await app.planner.create(
                acme.id,
                CreateSchedule(
                    name="What was new this week",
                    cron=Cron(frequency=Frequency.WEEKLY, hour=9, minute=0, day_of_week=1),
                    repository_ids=own,
                    output_type=ContentType.CHANGELOG,
                ),
            )
        )
        create = app.endpoint_editor.create
        chat = CreateEndpoint(
            url="https://chat.acme.example/hooks", description="Chat", event_types=[EventType.RUN_FAILED]
        )
        accepted(await create(acme.id, chat))
        site = CreateEndpoint(url="https://www.acme.example/changelog/rebuild", enabled=False)
        accepted(await create(acme.id, site))
        shown = ChangeChangelog(
            title="Acme Lighthouses",
            description="What is new in lamps, towers and everything that keeps ships off the rocks.",
            product_url="https://acme.example/",
            is_public=True,
        )
        first = await app.changelog_editor.change(acme, shown)
        assert isinstance(first, PublicChangelog)
        logo = files("contentsvc_cli").joinpath("lighthouse.png").read_bytes()
        assert isinstance(await app.changelog_editor.set_image(first, ImageKind.LOGO, logo), PublicChangelog)
        for more in _FURTHER:
            made_one = await app.changelog_editor.create(acme, more)
            assert isinstance(made_one, PublicChangelog)
            assert isinstance(
                await app.changelog_editor.change(acme, ChangeChangelog(is_public=True), made_one), PublicChangelog
            )
        keys = [
            accepted(await operator.issue_key(acme, name="Mara", scopes=tuple(Scope))).key,
            accepted(await operator.issue_key(other, scopes=tuple(Scope))).key,
        ]
        hook = Hook(
            organization=acme.slug,
            organization_id=acme.id,
            integration_id=created.integration.id,
            repository_id=REPOSITORY_ID,
            secret=created.secret,
        )
        return hook, keys


def _live(story: Story, clock: SteppedClock, days: int) -> None:
    chance = random.Random(7)  # noqa: S311  # reproducible from the seed
    # Repeated at the end with other delivery ids, as manual redeliveries have.
    history = itertools.cycle(sample_history())
    others = other_kinds(REPOSITORY, REPOSITORY_ID)
    for day in range(days, -1, -1):
        hours = sorted(chance.uniform(6, 20) for _ in range(chance.randint(*_A_DAY))) if day else [22.5, 23.2, 23.9]
        for hour in hours:
            clock.step_to(-day * _DAY_S - (24 - hour) * _HOUR_S)
            _happen(story, chance, history, others)
        # They are due before those of the next day.
        story.installation.until_runs_ended()
    clock.step_to(0)


def _happen(
    story: Story, chance: random.Random, history: Iterator[RecordedDelivery], others: Sequence[RecordedDelivery]
) -> None:
    delivery = chance.choice(others) if chance.random() < _OTHER else next(history)
    answer = story.deliver(delivery.event, delivery.body, forged=chance.random() < _FORGED)
    assert answer.status_code in {200, 401}, answer.text
