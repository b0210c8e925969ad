"""Limits of operations: one bucket for pages and ``/v1``."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, final

import pytest
from attrs import evolve, field, frozen
from tests.api.world import ApiWorld, Caller
from tests.dashboard.browsing import Browsing, Seen
from tests.dashboard.contents import posted

from contentsvc_core.access.rates import (
    CREATING_ENDPOINTS,
    ISSUING_KEYS,
    PREVIEWING,
    REPLAYING,
    ROTATING,
    SEARCHING,
    TESTING_ENDPOINTS,
    Bucket,
    Rate,
    rate_of,
)
from contentsvc_core.usecases.limit import RateLimiter


def specified(method: str, template: str) -> Rate:
    found = rate_of(method, template)
    assert found is not None
    return found


async def used_up(acme: Caller, rate: Rate) -> None:
    """Use a limit except one request."""
    limiter = RateLimiter(acme.world.stores.rate_limits, acme.world.clock)
    bucket = Bucket.of_organization(rate, acme.organization.id) if rate.is_shared else None
    for _ in range(rate.limit - 1):
        assert (await limiter.hit(bucket or Bucket.of_key(rate, acme.record.prefix))).admitted


async def sent(browsing: Browsing, page: str, path: str = "", **typed: str) -> Seen:
    """Send the form of a page."""
    action = f"/dashboard/{path or page}"
    forms = (await browsing.open(f"/dashboard/{page}")).forms
    # A published post has no form to publish it.
    form = next((each for each in forms if each.action == action), evolve(forms[-1], action=action))
    return await browsing.send(form, **typed)


async def previewed(browsing: Browsing, page: str) -> Seen:
    # A post is edited on its page: another form of the session is sufficient.
    form = "/dashboard/triggers/new" if page == "posts" else f"/dashboard/{page}/new"
    fields = (await browsing.open(form)).form(form).fields
    return await browsing.post(f"/dashboard/{page}/preview", fields, headers={"HX-Request": "true"})


@final
@frozen(kw_only=True)
class Asked:
    """An operation of a page, with the operation of ``/v1`` that counts in the same bucket."""

    rate: Rate
    #: The page with the form and, if it differs, the form's action; ``{name}`` is the id of an object.
    page: str
    path: str = ""
    typed: Mapping[str, str] = field(factory=dict[str, str])
    script: bool = False
    same: tuple[str, str, Mapping[str, Any]] | None = None

    async def ask(self, browsing: Browsing, ids: Mapping[str, str]) -> Seen:
        page = self.page.format_map(ids)
        if self.script:
            return await previewed(browsing, page)
        if not self.typed and not self.path:
            return await browsing.open(f"/dashboard/{page}")
        return await sent(browsing, page, self.path.format_map(ids), **self.typed)


URL = {"url": "https://hooks.example.com/"}
SITE = {"websiteUrl": "https://acme.example/"}
ASKED: dict[str, Asked] = {
    "search": Asked(rate=SEARCHING, page="search?query=lamp", same=("GET", "context", {})),
    "post preview": Asked(rate=PREVIEWING, page="posts", script=True),
    "trigger preview": Asked(rate=PREVIEWING, page="triggers", script=True),
    "schedule preview": Asked(rate=PREVIEWING, page="schedules", script=True),
    "issue": Asked(rate=ISSUING_KEYS, page="keys", typed={"name": "x"}),
    "endpoint": Asked(rate=CREATING_ENDPOINTS, page="endpoints", typed=URL, same=("POST", "webhook-endpoints", URL)),
    "test": Asked(
        rate=TESTING_ENDPOINTS,
        page="endpoints/{endpoint}",
        path="endpoints/{endpoint}/test",
        same=("POST", "webhook-endpoints/{endpoint}/test", {}),
    ),
    "replay": Asked(
        rate=REPLAYING,
        page="integrations/logs/replay?outcome=processed",
        path="integrations/logs/replay",
        same=("POST", "webhook-logs/replay", {"requestId": "r-1"}),
    ),
    "rotate": Asked(
        rate=ROTATING,
        page="integrations/{integration}",
        path="integrations/{integration}/rotate",
        same=("POST", "integrations/{integration}/rotate-secret", {}),
    ),
    "connect": Asked(
        rate=specified("POST", "/v1/integrations/codehost"),
        page="integrations",
        typed={"repository": "acme/foghorn", "provider": "codehost", "repository_id": "77"},
        same=("POST", "integrations/codehost", {}),
    ),
    "read a site": Asked(
        rate=specified("POST", "/v1/brand-identities/generate"),
        page="brands",
        typed=SITE,
        same=("POST", "brand-identities/generate", SITE),
    ),
    "write": Asked(
        rate=specified("POST", "/v1/posts/generate"),
        page="posts/write",
        typed={"contentType": "blog_post"},
        same=("POST", "posts/generate", {"contentType": "changelog"}),
    ),
    "edit": Asked(
        rate=specified("PATCH", "/v1/posts/{postId}"),
        page="posts/{post}/edit",
        typed={"markdown": "my words"},
        same=("PATCH", "posts/{post}", {"title": "x"}),
    ),
    "publish": Asked(rate=specified("PATCH", "/v1/posts/{postId}"), page="posts/{post}", path="posts/{post}/publish"),
}


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
async def test_a_page_is_admitted_up_to_its_limit_shares_it_with_v1_and_keeps_what_was_typed(
    world: ApiWorld, acme: Caller, browsing: Browsing, asked: Asked
) -> None:
    endpoint = (await acme("POST", "/v1/webhook-endpoints", URL)).json()["webhookEndpoint"]
    ids = {"endpoint": endpoint["id"], "post": (await posted(acme)).id, "integration": acme.connection.integration.id}
    world.clock.advance(timedelta(seconds=60))
    await used_up(acme, asked.rate)

    assert (await asked.ask(browsing, ids)).status in {200, 201}
    refused = await asked.ask(browsing, ids)

    assert refused.status == 429
    assert f"{asked.rate.limit} times in 60 seconds" in refused.text
    forms = [form.fields for form in refused.forms if form.action != "/dashboard/sign-out"]
    # An error page, or the page of the form.
    assert forms or refused.response.headers["Retry-After"] == "60"
    assert not forms or all([value] in [each.get(name) for each in forms] for name, value in asked.typed.items())
    if asked.same is not None:
        method, path, body = asked.same
        assert (await acme(method, f"/v1/{path.format_map(ids)}", body)).status_code == 429
    world.clock.advance(timedelta(seconds=60))
    assert (await asked.ask(browsing, ids)).status not in {403, 429}
