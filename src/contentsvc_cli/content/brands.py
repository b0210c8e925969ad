"""``brand``: brand identities."""

from typing import Any, Final

import click

from contentsvc_cli.content.following import WAIT, check_completed, followed
from contentsvc_cli.terminal.output import JSON, ORGANIZATION, show, show_rows
from contentsvc_cli.wiring import accepted, organization_named, with_app
from contentsvc_core.application import Application
from contentsvc_core.content.brand import BrandIdentity, ToneProfile, brand_body
from contentsvc_core.content.brand_changes import UNKNOWN_BRAND
from contentsvc_core.organizations import Removed, removed_body
from contentsvc_core.refusals import Refusal
from contentsvc_core.workflows.jobs import Job, brand_job_body

_TONES: Final = {tone.value.lower(): tone for tone in ToneProfile}
_COLUMNS: Final = ("id", "name", "isDefault", "companyName", "toneProfile", "audience", "language", "websiteUrl")


@click.group()
def brand() -> None:
    """List, create, change and delete brand identities: the company, tone and audience of posts."""


@brand.command("list")
@ORGANIZATION
@JSON
def list_brands(organization: str, *, as_json: bool) -> None:
    """List an organization's brand identities, oldest first."""

    async def work(app: Application) -> list[dict[str, Any]]:
        owner = await organization_named(app, organization)
        return [brand_body(each) for each in await app.stores.brands.identities(owner.id)]

    optional = ("language", "companyName", "audience")
    rows = with_app(work)
    show_rows(rows, columns=_COLUMNS, as_json=as_json, empty="No brand identities yet.", optional=optional)


@brand.command("show")
@click.argument("brand_id")
@JSON
def show_brand(brand_id: str, *, as_json: bool) -> None:
    """Show a brand identity with all its fields."""

    async def work(app: Application) -> BrandIdentity | Refusal:
        owner = await app.stores.directory.owner_of(brand_id)
        found = None if owner is None else await app.stores.brands.identity(owner, brand_id)
        return found or UNKNOWN_BRAND

    show(brand_body(accepted(with_app(work), missing=_missing(brand_id))), as_json=as_json)


@brand.command()
@click.argument("website_url", metavar="URL")
@ORGANIZATION
@click.option("--name", help="Name of the brand identity.  [default: from the website]")
@WAIT
@JSON
def generate(website_url: str, organization: str, name: str | None, wait_s: float | None, *, as_json: bool) -> None:
    """Create a brand identity from a website. A server that performs runs reads the site."""

    async def work(app: Application) -> Job:
        owner = await organization_named(app, organization)
        job = accepted(await app.brand_generator.request(owner.id, name=name, website_url=website_url))
        return await followed(app, job, wait_s)

    job = with_app(work, busy=None)
    show(brand_job_body(job), as_json=as_json)
    check_completed(job, wait_s)


@brand.command()
@click.argument("brand_id")
@click.option("--name", help="Name, unique in the organization.")
@click.option("--website", "website_url", metavar="URL", help="The company's website.")
@click.option("--company-name", help="Name of the company. '' clears this and every text below.")
@click.option("--company-description", help="Description of the company.")
@click.option("--tone", "tone_profile", type=click.Choice(list(_TONES)), help="Tone of posts.")
@click.option("--custom-tone", help="Tone in your own words; overrides --tone.")
@click.option("--instructions", "custom_instructions", help="Instructions for writers.")
@click.option("--audience", help="Audience of posts, e.g. 'developers'.")
@click.option("--language", help="Language of posts, by its English name.")
@click.option("--default", "is_default", is_flag=True, default=None, help="Make it the organization's default.")
@JSON
def edit(brand_id: str, *, as_json: bool, **options: Any) -> None:  # noqa: ANN401  # one for each field
    """Change a brand identity. Fields that you do not name stay unchanged."""
    given = {field: value for field, value in options.items() if value is not None}
    if not given:
        message = "there is nothing to change: name at least one option"
        raise click.UsageError(message)
    if "tone_profile" in given:
        given["tone_profile"] = _TONES[given["tone_profile"]]
    # Name and website cannot be cleared: '' is refused as invalid.
    given = {
        field: None if value == "" and field not in {"name", "website_url"} else value for field, value in given.items()
    }

    async def work(app: Application) -> BrandIdentity | Refusal:
        owner = await app.stores.directory.owner_of(brand_id)
        return UNKNOWN_BRAND if owner is None else await app.brand_editor.change(owner, brand_id, given)

    show(brand_body(accepted(with_app(work), missing=_missing(brand_id))), as_json=as_json)


@brand.command()
@click.argument("brand_id")
@JSON
def delete(brand_id: str, *, as_json: bool) -> None:
    """Delete a brand identity, and disable the schedules and triggers that use it."""

    async def work(app: Application) -> Removed | Refusal:
        owner = await app.stores.directory.owner_of(brand_id)
        return UNKNOWN_BRAND if owner is None else await app.stores.brands.remove(owner, brand_id)

    removed = accepted(with_app(work), missing=_missing(brand_id))
    show({"brandIdentityId": brand_id, **removed_body(removed)}, as_json=as_json)


def _missing(brand_id: str) -> str:
    return f"there is no brand identity '{brand_id}'"
