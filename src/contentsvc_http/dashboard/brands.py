from typing import Any, Final

from litestar import Response, get
from litestar.params import FromPath

from contentsvc_core.access.keys import Scope
from contentsvc_core.content.brand import LONG_TEXT_LIMIT, TEXT_LIMIT, BrandIdentity, ToneProfile
from contentsvc_core.content.brand_changes import OPTIONAL_TEXTS, ChangeBrand, CreateBrand, read_brand_change
from contentsvc_core.refusals import Refusal, RefusalKind
from contentsvc_core.workflows.causes import SiteReading
from contentsvc_core.workflows.jobs import brand_id_of
from contentsvc_core.workflows.runs import RunStatus
from contentsvc_http.dashboard import counting, pages
from contentsvc_http.dashboard.jobs import job_page
from contentsvc_http.dashboard.pages import check_seen, digest, go
from contentsvc_http.dashboard.refusals import FormRefusals, Unsaved, found
from contentsvc_http.dashboard.session import ROOT, DashboardSession, SentForm, Visitor, sent
from contentsvc_http.errors import Refused
from contentsvc_http.forms import Form

_MAKING: Final = ("POST", "/v1/brand-identities/generate")
_SECTION: Final = "brands"
#: The maximum size of a form with all texts, in bytes: twelve for each character.
_MAX_FORM: Final = 12 * (2 * LONG_TEXT_LIMIT + 6 * TEXT_LIMIT)
_FIELDS: Final = {
    wire: name
    for wire, name in zip(CreateBrand.__struct_encode_fields__, CreateBrand.__struct_fields__, strict=True)
    if name != "is_default"
}
_OPTIONAL: Final = {wire: name for wire, name in _FIELDS.items() if name in OPTIONAL_TEXTS}
_NEW: Final = dict.fromkeys(_FIELDS, "") | {"toneProfile": ToneProfile.PROFESSIONAL.value}
_REFUSALS: Final = FormRefusals(
    fields={attribute: name for name, attribute in _FIELDS.items()},
    labels={
        "name": "The name",
        "website_url": "The address",
        "company_name": "The company's name",
        "company_description": "What the company does",
        "audience": "The audience",
        "language": "The language",
        "tone_profile": "The tone",
        "custom_tone": "The tone in your words",
        "custom_instructions": "The instructions",
    },
    words={RefusalKind.DUPLICATE: "Another brand identity has this name."},
)


@get(f"{ROOT}/brands")
async def listed(session: Visitor) -> Response[Any]:
    context = {
        "brands": await session.app.stores.brands.identities(session.organization_id),
        "typed": {name: session.typed.text(name) if session.typed else "" for name in ("websiteUrl", "name")},
    }
    return pages.page(session, "brands.html", context, title="Brand identities", section=_SECTION)


@sent(f"{ROOT}/brands", page=listed)
async def generate(session: Visitor, form: SentForm) -> Response[Any]:
    await counting.count(session, *_MAKING)
    job = _REFUSALS.accepted(
        await session.sent_once(
            lambda: session.app.brand_generator.request(
                session.organization_id, name=form.text("name") or None, website_url=form.text("websiteUrl")
            )
        )
    )
    if job is None:
        return go("/brands", notice="sent-already")
    return go(f"/brands/jobs/{job.id}")


@get(f"{ROOT}/brands/jobs/{{job_id:str}}")
async def follow(session: Visitor, job_id: FromPath[str]) -> Response[Any]:
    job = await session.app.stores.jobs.job(session.organization_id, job_id)
    cause = None if job is None else job.request
    if job is None or not isinstance(cause, SiteReading):
        raise Refused(404, {"error": "There is no such request for a brand identity."})
    brand_id = brand_id_of(job.run) if job.run.status is RunStatus.COMPLETED else None
    return job_page(
        session,
        job,
        path=f"/brands/jobs/{job.id}",
        title="Reading a website",
        section=_SECTION,
        facts=[("Website", cause.website_url), *([] if cause.name is None else [("Name", cause.name)])],
        result=None if brand_id is None else (f"/brands/{brand_id}", "See the brand identity"),
        again=("/brands", "To the brand identities"),
    )


async def _brand(session: DashboardSession, brand_id: str) -> BrandIdentity:
    brand = await session.app.stores.brands.identity(session.organization_id, brand_id)
    return found(brand, "There is no such brand identity.")


async def _page(session: DashboardSession, brand: BrandIdentity | None) -> Response[Any]:
    stores, organization_id, form = session.app.stores, session.organization_id, session.typed
    id_ = None if brand is None else brand.id
    context = {
        "brand": brand,
        "seen": "" if brand is None else digest(_stored_fields(brand)),
        "typed": (_NEW if brand is None else _stored_fields(brand))
        if form is None
        else {name: form.raw(name) for name in _FIELDS},
        "makes_default": form is not None and form.is_on("isDefault"),
        "tones": [tone.value for tone in ToneProfile],
        "triggers": [
            trigger for trigger in await stores.triggers.all_of(organization_id) if trigger.brand_identity_id == id_
        ],
        "schedules": [
            schedule for schedule in await stores.schedules.all_of(organization_id) if schedule.brand_identity_id == id_
        ],
    }
    title = "New brand identity" if brand is None else brand.name
    return pages.page(session, "brand.html", context, title=title, section=_SECTION)


async def _save(session: DashboardSession, brand: BrandIdentity | None, form: Form) -> Response[Any]:
    if brand is not None:
        check_seen(form, _stored_fields(brand))
    fields, editor, now = _fields_of(form), session.app.brand_editor, session.app.clock.now()
    _REFUSALS.check(fields, lambda field: read_brand_change(field, at=now, opened=session.app.site_hosts))
    if brand is None:
        done = await editor.create(session.organization_id, CreateBrand(**fields))
    else:
        done = await editor.change(session.organization_id, brand.id, ChangeBrand(**fields))
    if isinstance(done, Refusal):
        faults = _REFUSALS.faults(done)
        raise Unsaved(error=faults.get(""), faults=faults)
    return go(f"/brands/{done.id}", notice="created" if brand is None else "saved")


@get(f"{ROOT}/brands/new", opt={"scope": Scope.WRITE})
async def begin(session: Visitor) -> Response[Any]:
    return await _page(session, None)


@sent(f"{ROOT}/brands/new", page=begin, request_max_body_size=_MAX_FORM)
async def create(session: Visitor, form: SentForm) -> Response[Any]:
    return await _save(session, None, form)


@get(f"{ROOT}/brands/{{brand_id:str}}")
async def shown(session: Visitor, brand_id: FromPath[str]) -> Response[Any]:
    return await _page(session, await _brand(session, brand_id))


@sent(f"{ROOT}/brands/{{brand_id:str}}", page=shown, request_max_body_size=_MAX_FORM)
async def save(session: Visitor, form: SentForm, brand_id: FromPath[str]) -> Response[Any]:
    return await _save(session, await _brand(session, brand_id), form)


@sent(f"{ROOT}/brands/{{brand_id:str}}/delete", page=shown)
async def delete(session: Visitor, brand_id: FromPath[str]) -> Response[Any]:
    brand = await _brand(session, brand_id)
    removed = await session.app.stores.brands.remove(session.organization_id, brand.id)
    removed = _REFUSALS.performed(removed, status=422)
    is_named = removed.disabled_events or removed.disabled_schedules
    return go("/brands", notice="brand-deleted" if is_named else "deleted")


def _stored_fields(brand: BrandIdentity) -> dict[str, str]:
    return {
        "name": brand.name,
        "websiteUrl": brand.website_url,
        "toneProfile": brand.tone_profile.value,
        **{name: getattr(brand, attribute) or "" for name, attribute in _OPTIONAL.items()},
    }


def _fields_of(form: Form) -> dict[str, Any]:
    tones = {tone.value: tone for tone in ToneProfile}
    tone = tones.get(form.text("toneProfile"))
    if tone is None:
        raise Unsaved(faults={"toneProfile": "Choose a tone."})
    return {
        "name": form.text("name"),
        "website_url": form.text("websiteUrl"),
        "tone_profile": tone,
        **{attribute: form.text(name) or None for name, attribute in _OPTIONAL.items()},
        # An unticked box changes nothing: the default identity stays until another one is chosen.
        **({"is_default": True} if form.is_on("isDefault") else {}),
    }
