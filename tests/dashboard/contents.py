"""Posts and brand identities for the pages."""

from datetime import timedelta
from typing import Any

from tests.api.world import Caller
from tests.builders import a_brand
from tests.dashboard.browsing import Browsing

from contentsvc_core import IssuedKey, Scope
from contentsvc_core.content.brand import BrandIdentity
from contentsvc_core.content.posts import Post


async def posted(acme: Caller, *messages: str, content_type: str = "changelog", **asked: Any) -> Post:
    """Generate and return a post."""
    world, library = acme.world, acme.world.stores.posts
    known = {post.id for post in await library.posts(acme.organization.id)}
    await acme.push(world.ids.new_id("d-"), *(messages or ("feat: a lamp",)))
    world.clock.advance(timedelta(seconds=1))
    answer = await acme("POST", "/v1/posts/generate", {"contentType": content_type, **asked})
    assert answer.status_code == 202, answer.text
    await world.perform()
    world.clock.advance(timedelta(minutes=2))
    (post,) = [post for post in await library.posts(acme.organization.id) if post.id not in known]
    return post


async def stored(acme: Caller, post: Post) -> Post:
    found = await acme.world.stores.posts.post(acme.organization.id, post.id)
    assert found is not None
    return found


async def branded(acme: Caller, name: str = "Lighthouse", **fields: Any) -> BrandIdentity:
    """Add a brand identity; the first one is the default."""
    now = acme.world.clock.now()
    created = await acme.world.stores.brands.add(
        a_brand(now, id=acme.world.ids.new_id("brand_"), organization_id=acme.organization.id, name=name, **fields)
    )
    assert isinstance(created, BrandIdentity)
    return created


async def beside(acme: Caller, *scopes: Scope) -> tuple[Browsing, IssuedKey]:
    """Sign in a second user, with another key of the same organization."""
    issued = await acme.world.operator.issue_key(acme.organization, scopes=scopes or tuple(Scope))
    assert isinstance(issued, IssuedKey)
    created = Browsing(acme.world)
    await created.sign_in(issued.key)
    return created, issued


async def stranger(acme: Caller) -> Browsing:
    """Sign in a user of another organization."""
    created = Browsing(acme.world)
    await created.sign_in((await acme.world.caller("Other")).key)
    return created
