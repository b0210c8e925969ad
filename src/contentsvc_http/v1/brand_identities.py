from typing import Annotated, Final, TypedDict, final

from litestar import Response
from litestar.handlers import HTTPRouteHandler
from litestar.params import Parameter
from msgspec import Meta, Struct

from contentsvc_core.commands import changes_of, values_of
from contentsvc_core.content.brand import LONG_TEXT_LIMIT, TEXT_LIMIT, BrandBody, ToneProfile
from contentsvc_core.content.brand_changes import OPTIONAL_TEXTS, UNKNOWN_BRAND, ChangeBrand, Name, Text
from contentsvc_core.workflows.causes import SiteReading
from contentsvc_core.workflows.jobs import BrandJobBody
from contentsvc_core.workflows.removals import RemovedBody
from contentsvc_http.errors import Refused, accepted
from contentsvc_http.v1.gate import Caller, Gate, Sent
from contentsvc_http.v1.operations import LOCATED, Operations

_Id = Annotated[str, Parameter(description="Id of the brand identity.")]
#: An empty string clears the field.
_Cleared = Annotated[str, Meta(max_length=TEXT_LIMIT)] | None
_LongCleared = Annotated[str, Meta(max_length=LONG_TEXT_LIMIT)] | None
#: Tone profile of a brand identity whose tone is cleared.
_NO_TONE: Final = ToneProfile.PROFESSIONAL


class _HostedBrand(Struct, rename="camel", frozen=True, kw_only=True):
    """A brand identity, whose texts and tone may be cleared."""

    name: Name
    is_default: bool
    website_url: Text
    company_name: _Cleared
    company_description: _LongCleared
    #: Null: the default profile.
    tone_profile: ToneProfile | None
    custom_tone: _Cleared
    custom_instructions: _LongCleared
    audience: _Cleared
    language: _Cleared


class BrandGeneration(Struct, forbid_unknown_fields=True, rename="camel"):
    """The website to create a brand identity from."""

    website_url: Text
    name: Name | None = None


class BrandListBody(TypedDict):
    """All brand identities, oldest first."""

    brandIdentities: list[BrandBody]


class OneBrandBody(TypedDict):
    """One brand identity."""

    brandIdentity: BrandBody


@final
class BrandRemovedBody(RemovedBody):
    """The deleted brand identity, and the ids of the schedules and triggers that were disabled with it."""

    id: str


class OneBrandJobBody(TypedDict):
    """The current state of a job."""

    job: BrandJobBody


def brand_routes(gate: Gate) -> list[HTTPRouteHandler]:
    operation = Operations(gate, "brand identities")
    app, brands = gate.app, gate.app.stores.brands
    shape = ChangeBrand
    if gate.hosted:
        shape = changes_of(_HostedBrand, "BrandFields", clears=(*OPTIONAL_TEXTS, "tone_profile"))

    @operation("GET /v1/brand-identities", "listBrandIdentities", "List brand identities")
    async def list_brand_identities(key: Caller) -> Response[BrandListBody]:
        identities = await brands.identities(key.organization_id)
        return await gate.answer(key, {"brandIdentities": [BrandBody.of(identity) for identity in identities]})

    @operation("GET /v1/brand-identities/{brand_identity_id:str}", "getBrandIdentity", "Get a brand identity")
    async def get_brand_identity(key: Caller, brand_identity_id: _Id) -> Response[OneBrandBody]:
        identity = await brands.identity(key.organization_id, brand_identity_id)
        return await gate.answer(key, {"brandIdentity": BrandBody.of(accepted(identity or UNKNOWN_BRAND))})

    @operation(
        "PATCH /v1/brand-identities/{brand_identity_id:str}",
        "updateBrandIdentity",
        "Update a brand identity",
        body=shape,
        fails=[409],
    )
    async def change_brand_identity(
        key: Caller, command: Sent[Struct], brand_identity_id: _Id
    ) -> Response[OneBrandBody]:
        changed = await app.brand_editor.change(key.organization_id, brand_identity_id, _change_of(command))
        return await gate.answer(key, {"brandIdentity": BrandBody.of(accepted(changed))})

    @operation(
        "DELETE /v1/brand-identities/{brand_identity_id:str}",
        "deleteBrandIdentity",
        "Delete a brand identity",
        description="Also disables the schedules and triggers that use the brand identity.",
        fails=[400],
    )
    async def delete_brand_identity(key: Caller, brand_identity_id: _Id) -> Response[BrandRemovedBody]:
        removed = accepted(await brands.remove(key.organization_id, brand_identity_id))
        return await gate.answer(key, {"id": brand_identity_id, **gate.answers.disabled(removed)})

    @operation(
        "POST /v1/brand-identities/generate",
        "createBrandIdentity",
        "Start creating a brand identity from a website",
        description="Returns a job. Poll it with `getBrandIdentityGeneration` until it is completed or failed.",
        body=BrandGeneration,
        status=202,
        headers=[LOCATED],
        fails=[409],
    )
    async def generate_brand_identity(key: Caller, command: Sent[BrandGeneration]) -> Response[OneBrandJobBody]:
        job = accepted(
            await app.brand_generator.request(key.organization_id, name=command.name, website_url=command.website_url)
        )
        location = f"/v1/brand-identities/generate/{job.id}"
        return await gate.answer(key, {"job": gate.answers.brand_job(job)}, location=location)

    @operation(
        "GET /v1/brand-identities/generate/{job_id:str}",
        "getBrandIdentityGeneration",
        "Get a job that creates a brand identity",
    )
    async def brand_identity_job(
        key: Caller, job_id: Annotated[str, Parameter(description="Id of the job.")]
    ) -> Response[OneBrandJobBody]:
        job = await app.stores.jobs.job(key.organization_id, job_id)
        if job is None or not isinstance(job.request, SiteReading):
            raise Refused(404, {"error": "Job not found"})
        return await gate.answer(key, {"job": gate.answers.brand_job(job)})

    return operation.routes


def _change_of(body: Struct) -> ChangeBrand:
    if isinstance(body, ChangeBrand):
        return body
    fields = values_of(body)
    fields |= {name: None for name in OPTIONAL_TEXTS if name in fields and not (fields[name] or "").strip()}
    if "tone_profile" in fields:
        fields["tone_profile"] = fields["tone_profile"] or _NO_TONE
        # A custom tone overrides the profile, so a new profile clears it.
        fields.setdefault("custom_tone", None)
    return ChangeBrand(**fields)
