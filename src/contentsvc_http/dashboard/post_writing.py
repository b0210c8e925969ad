from collections.abc import Sequence
from typing import Any, Final

from litestar import Response, get
from litestar.params import FromPath

from contentsvc_core.access.keys import Scope
from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.windows import DEFAULT_LOOKBACK, Lookback
from contentsvc_core.refusals import Refusal
from contentsvc_core.usecases.generate import GeneratePost
from contentsvc_core.workflows.causes import Generation, Source, sources_of
from contentsvc_http.dashboard import counting, pages
from contentsvc_http.dashboard.jobs import job_page
from contentsvc_http.dashboard.pages import go
from contentsvc_http.dashboard.refusals import Unsaved
from contentsvc_http.dashboard.session import ROOT, SentForm, Visitor, sent
from contentsvc_http.errors import Refused
from contentsvc_http.forms import Form
from contentsvc_http.words import CONTENT, LOOKBACKS

_WRITING: Final = ("POST", "/v1/posts/generate")
_SECTION: Final = "posts"


@get(f"{ROOT}/posts/write", opt={"scope": Scope.WRITE})
async def write(session: Visitor) -> Response[Any]:
    form = session.typed
    sources = sources_of(await session.app.stores.directory.integrations(session.organization_id))
    context = {
        "sources": [(source, _value(source)) for source in sources],
        "ticked": {_value(source) for source in sources} if form is None else set(form.texts("repository")),
        "content_types": CONTENT,
        "content_type": ContentType.CHANGELOG.value if form is None else form.text("contentType"),
        "lookbacks": LOOKBACKS,
        "lookback": DEFAULT_LOOKBACK.value if form is None else form.text("lookbackWindow"),
        "brands": await session.app.stores.brands.identities(session.organization_id),
        "brand_id": "" if form is None else form.text("brandIdentityId"),
        "commits": form is None or form.is_on("commits"),
        "releases": form is None or form.is_on("releases"),
    }
    return pages.page(session, "post_write.html", context, title="Write from commits", section=_SECTION)


@sent(f"{ROOT}/posts/write", page=write)
async def generate(session: Visitor, form: SentForm) -> Response[Any]:
    sources = sources_of(await session.app.stores.directory.integrations(session.organization_id))
    command = _generation_of(form, sources)
    await counting.count(session, *_WRITING)
    job = await session.sent_once(lambda: session.app.generator.request(session.organization_id, command))
    if job is None:
        return go("/posts", notice="sent-already")
    if isinstance(job, Refusal):
        raise Unsaved(error=f"{job.message()}.")
    return go(f"/posts/jobs/{job.id}")


@get(f"{ROOT}/posts/jobs/{{job_id:str}}")
async def follow(session: Visitor, job_id: FromPath[str]) -> Response[Any]:
    job = await session.app.stores.jobs.job(session.organization_id, job_id)
    cause = None if job is None else job.request
    if job is None or not isinstance(cause, Generation):
        raise Refused(404, {"error": "There is no such request for a post."})
    kind = CONTENT[cause.content_type]
    return job_page(
        session,
        job,
        path=f"/posts/jobs/{job.id}",
        title=f"{kind} from commits",
        section=_SECTION,
        facts=[
            ("Type", kind),
            ("About", LOOKBACKS[cause.lookback]),
            ("Repositories", ", ".join(source.full_name for source in cause.sources)),
        ],
        result=None if job.run.post_id is None else (f"/posts/{job.run.post_id}", "Read the post"),
        again=("/posts/write", "Write another post"),
    )


def _generation_of(form: Form, sources: Sequence[Source]) -> GeneratePost:
    faults: dict[str, str] = {}
    if form.text("contentType") not in {kind.value for kind in ContentType}:
        faults["contentType"] = "Choose what is to be written."
    if form.text("lookbackWindow") not in {lookback.value for lookback in Lookback}:
        faults["lookbackWindow"] = "Choose how far back it goes."
    ticked = form.texts("repository")
    if not ticked:
        faults["repository"] = "Tick a repository, or several."
    if not (form.is_on("commits") or form.is_on("releases")):
        faults["material"] = "Tick commits, releases, or both."
    if faults:
        raise Unsaved(faults=faults)
    names = [(provider, name) for provider, _, name in (value.partition("/") for value in ticked)]
    return GeneratePost(
        content_type=ContentType(form.text("contentType")),
        lookback=Lookback(form.text("lookbackWindow")),
        brand_identity_id=form.text("brandIdentityId") or None,
        # All repositories ticked means all repositories, including ones that are connected meanwhile.
        repository_names=None if {_value(source) for source in sources} <= set(ticked) else names,
        include_commits=form.is_on("commits"),
        include_releases=form.is_on("releases"),
    )


def _value(source: Source) -> str:
    return f"{source.provider}/{source.full_name}"
