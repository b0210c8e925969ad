"""Two organizations with posts, the public changelog of Acme, and a reader without a key."""

from datetime import datetime
from typing import Any, Final, Self, final

import httpx
from attrs import frozen
from tests.api.world import SEALER, ApiWorld, Caller
from tests.builders import a_post

from contentsvc_adapters.markup import SafeMarkdown
from contentsvc_adapters.memory import memory_stores
from contentsvc_adapters.memory.state import State
from contentsvc_core.content.posts import ContentType, Post, PostStatus
from contentsvc_core.content.public.changelogs import PublicChangelog
from contentsvc_core.content.public.changes import ChangeChangelog
from contentsvc_core.usecases.publicize import ChangelogEditor
from contentsvc_http.settings import Settings

HOME: Final = "/changelog/acme"
#: Foreign text that would be harmful without escaping.
HOSTILE: Final = '<script>alert("1")</script> & </content>]]>'


@final
@frozen(kw_only=True)
class Reader:
    world: ApiWorld
    state: State
    acme: Caller
    other: Caller
    #: Acme's posts, newest first.
    posts: tuple[Post, ...]
    draft: Post
    tweet: Post
    #: Another organization's published post; its changelog is not public.
    foreign: Post

    @classmethod
    async def made(cls, settings: Settings | None = None, *, more: int = 0) -> Self:
        """Create the objects of the tests, and ``more`` older posts of Acme."""
        state = State()
        world = ApiWorld(settings, stores=memory_stores(SEALER, state))
        acme, other = await world.caller(), await world.caller("Zenith")
        await publish(acme, title="Acme's lamps", description="What shines & why", product_url="https://acme.example/")
        for number in range(more):
            write(state, acme, f"2025-{number % 12 + 1:02}-01T00:00:00")
        return cls(
            world=world,
            state=state,
            acme=acme,
            other=other,
            posts=(
                write(state, acme, "2026-02-03T10:00:00", title=HOSTILE, markdown=f"## Added\n\n{HOSTILE}\n"),
                write(state, acme, "2026-02-02T10:00:00", kind=ContentType.BLOG_POST, release_tag="v2.0.0"),
                write(state, acme, "2026-01-31T23:59:59", release_tag="v1.0.0", markdown="It **shines**.\x0b"),
            ),
            draft=write(state, acme, "2026-02-04T10:00:00", status=PostStatus.DRAFT, title="Not yet"),
            tweet=write(state, acme, "2026-02-05T10:00:00", kind=ContentType.TWITTER_POST, title="A tweet"),
            foreign=write(state, other, "2026-02-06T10:00:00", title="Somebody else's"),
        )

    async def get(self, path: str = "", *, method: str = "GET", **headers: str) -> httpx.Response:
        fields = {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.world.send(method, f"{HOME}{path}", headers=fields)


async def publish(caller: Caller, **changes: Any) -> PublicChangelog:
    editor = ChangelogEditor(caller.world.stores.changelogs, caller.world.clock, caller.world.ids)
    made = await editor.change(caller.organization, ChangeChangelog(**{"is_public": True, **changes}))
    assert isinstance(made, PublicChangelog), made
    return made


def write(
    state: State,
    caller: Caller,
    at: str,
    *,
    title: str = "A lamp",
    markdown: str = "A lamp.",
    kind: ContentType = ContentType.CHANGELOG,
    status: PostStatus = PostStatus.PUBLISHED,
    release_tag: str | None = None,
) -> Post:
    """Store a post of an organization, written at a given time."""
    moment = datetime.fromisoformat(f"{at}+00:00")
    post = a_post(
        moment,
        id=caller.world.ids.new_id("post_"),
        organization_id=caller.organization.id,
        title=title,
        content=SafeMarkdown().html(markdown),
        markdown=markdown,
        content_type=kind,
        status=status,
        release_tag=release_tag,
    )
    # As a run stores it.
    state.posts[post.id] = post
    state.address(post.id)
    return state.posts[post.id]
