from collections.abc import Mapping
from typing import Any, Final

import click
from msgspec import to_builtins

from contentsvc_cli.content.following import WAIT, check_completed, followed, followed_on_server
from contentsvc_cli.servers import part
from contentsvc_cli.terminal.options import check_changes, given, options
from contentsvc_cli.terminal.output import JSON, ORGANIZATION, list_output, show, show_rows
from contentsvc_cli.wiring import Api, accepted, organization_named, owned, with_app
from contentsvc_core.application import Application
from contentsvc_core.content.brand import BrandBody, BrandIdentity, ToneProfile
from contentsvc_core.content.brand_changes import OPTIONAL_TEXTS, ChangeBrand
from contentsvc_core.workflows.jobs import BrandJobBody
from contentsvc_core.workflows.removals import removed_body

_PATH: Final = "/v1/brand-identities"
_KIND: Final = "brand identity"

_TONES: Final = {tone.value.lower(): tone for tone in ToneProfile}
_NAMES: Final = {"website_url": "--website", "tone_profile": "--tone", "custom_instructions": "--instructions"}
_MORE: Final[Mapping[str, Mapping[str, Any]]] = {
    "website_url": {"metavar": "URL"},
    "company_name": {"help": "Name of the company. '' clears this and every text below."},
    "tone_profile": {"type": click.Choice(list(_TONES))},
    "custom_tone": {"help": "Tone in your own words; overrides --tone."},
}
_COLUMNS: Final = ("id", "name", "isDefault", "companyName", "toneProfile", "audience", "language", "websiteUrl")


@click.group()
def brand() -> None:
    """List, create, change and delete brand identities: the company, tone and audience of posts."""


@brand.command("list")
@ORGANIZATION
@list_output
def list_brands(organization: str) -> None:
    """List an organization's brand identities, oldest first."""

    async def work(app: Application) -> list[dict[str, Any]]:
        owner = await organization_named(app, organization)
        return [_body(brand) for brand in await app.stores.brands.identities(owner.id)]

    optional = ("language", "companyName", "audience")
    rows = with_app(work, remote=lambda api: api.all(_PATH, "brandIdentities"))
    show_rows(rows, columns=_COLUMNS, empty="No brand identities yet.", optional=optional)


@brand.command("show")
@click.argument("brand_id")
@JSON
def show_brand(brand_id: str) -> None:
    """Show a brand identity with all its fields."""

    async def work(app: Application) -> dict[str, Any]:
        return _body(await owned(app, _KIND, brand_id, app.stores.brands.identity))

    show(with_app(work, remote=lambda api: api.get(f"{_PATH}/{part(brand_id)}")["brandIdentity"]))


@brand.command()
@click.argument("website_url", metavar="URL")
@ORGANIZATION
@click.option("--name", help="Name of the brand identity.  [default: from the website]")
@WAIT
@JSON
def generate(website_url: str, organization: str, name: str | None, wait_s: float | None) -> None:
    """Create a brand identity from a website. A server that performs runs reads the site."""

    async def work(app: Application) -> dict[str, Any]:
        owner = await organization_named(app, organization)
        job = accepted(await app.brand_generator.request(owner.id, name=name, website_url=website_url))
        return to_builtins(BrandJobBody.of(await followed(app, job, wait_s)))

    def remote(api: Api) -> dict[str, Any]:
        body = {"websiteUrl": website_url, **({} if name is None else {"name": name})}
        return followed_on_server(api, f"{_PATH}/generate", body, wait_s)

    job = with_app(work, busy=None, remote=remote)
    show(job)
    check_completed(job, wait_s)


@brand.command()
@click.argument("brand_id")
@options(ChangeBrand, _NAMES, _MORE, without=("is_default",))
@click.option("--default", "is_default", is_flag=True, default=None, help="Make it the organization's default.")
@JSON
def edit(brand_id: str, **fields: Any) -> None:  # noqa: ANN401  # one for each field
    """Change a brand identity. Fields that you do not name stay unchanged."""
    changes = given(fields)
    check_changes(changes)
    if "tone_profile" in changes:
        changes["tone_profile"] = _TONES[changes["tone_profile"]]
    command = ChangeBrand(**changes | {name: None for name in OPTIONAL_TEXTS if changes.get(name) == ""})

    async def work(app: Application) -> dict[str, Any]:
        return _body(await owned(app, _KIND, brand_id, lambda owner, id_: app.brand_editor.change(owner, id_, command)))

    def remote(api: Api) -> dict[str, Any]:
        return api.send("PATCH", f"{_PATH}/{part(brand_id)}", to_builtins(command))["brandIdentity"]

    show(with_app(work, remote=remote))


@brand.command()
@click.argument("brand_id")
@JSON
def delete(brand_id: str) -> None:
    """Delete a brand identity. The schedules and triggers that use it are disabled."""

    async def work(app: Application) -> Mapping[str, Any]:
        return removed_body(await owned(app, _KIND, brand_id, app.stores.brands.remove))

    def remote(api: Api) -> dict[str, Any]:
        answer = api.send("DELETE", f"{_PATH}/{part(brand_id)}")
        return {name: answer[name] for name in ("disabledSchedules", "disabledEvents")}

    show({"brandIdentityId": brand_id, **with_app(work, remote=remote)})


def _body(brand: BrandIdentity) -> dict[str, Any]:
    return to_builtins(BrandBody.of(brand))
