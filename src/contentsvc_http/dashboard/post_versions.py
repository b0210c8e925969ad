import asyncio
from collections.abc import Sequence
from typing import Any, Final

from litestar import Response, get
from litestar.params import FromPath

from contentsvc_core.content.editing import entity_tag
from contentsvc_core.content.versions import DiffLineBody, PostVersion, differences
from contentsvc_core.refusals import Refusal
from contentsvc_http.dashboard import counting, pages
from contentsvc_http.dashboard.pages import go
from contentsvc_http.dashboard.post_editing import post_of
from contentsvc_http.dashboard.refusals import Unsaved
from contentsvc_http.dashboard.session import ROOT, SentForm, Visitor, sent
from contentsvc_http.errors import accepted
from contentsvc_http.v1.post_versions import read_number
from contentsvc_http.words import sentence

_RESTORING: Final = ("POST", "/v1/posts/{postId}/versions/{number}/restore")
#: The unchanged lines that a difference shows before and after a change.
_AROUND: Final = 3
#: The most lines of a difference on a page. 100,000 lines take a quarter of a second to render.
MAX_LINES: Final = 2000


@get(f"{ROOT}/posts/{{post_id:str}}/versions")
async def versions(session: Visitor, post_id: FromPath[str]) -> Response[Any]:
    organization_id = session.organization_id
    shown = await post_of(session, post_id)
    stored = accepted(await session.app.post_editor.versions(organization_id, post_id))
    number = read_number(session.query.get("number", ""))
    chosen = next((version for version in stored if version.number == number), stored[0])
    context = {
        "post": shown,
        "seen": entity_tag(shown),
        "versions": stored,
        "chosen": chosen,
        **await session.heavy(lambda: asyncio.to_thread(_differences, stored, chosen)),
    }
    title = f"Versions of {shown.title}"
    return pages.page(session, "post_versions.html", context, title=title, section="posts")


@sent(f"{ROOT}/posts/{{post_id:str}}/versions", page=versions)
async def restore(session: Visitor, form: SentForm, post_id: FromPath[str]) -> Response[Any]:
    await counting.count(session, *_RESTORING)
    seen = form.text("seen")
    done = await session.app.post_editor.restore(
        session.organization_id,
        post_id,
        read_number(form.text("number")),
        if_=lambda post: entity_tag(post) == seen,
        author=session.signed_in.key.prefix,
    )
    if isinstance(done, Refusal):
        raise Unsaved(error=sentence(done.message()), status=409)
    return go(f"/posts/{done.id}", notice="restored")


def _differences(stored: Sequence[PostVersion], chosen: PostVersion) -> dict[str, Any]:
    before = next((version for version in stored if version.number < chosen.number), None)
    if before is None:
        return {"before": None, "lines": (), "hidden": 0}
    lines = _near(differences(before.text.markdown, chosen.text.markdown))
    return {"before": before, "lines": lines[:MAX_LINES], "hidden": max(0, len(lines) - MAX_LINES)}


def _near(lines: Sequence[DiffLineBody]) -> list[DiffLineBody | None]:
    changed = [index for index, line in enumerate(lines) if line.mark != "same"]
    shown = {near for index in changed for near in range(index - _AROUND, index + _AROUND + 1)}
    near_lines: list[DiffLineBody | None] = []
    for index, line in enumerate(lines):
        if index in shown:
            near_lines.append(line)
        elif near_lines and near_lines[-1] is not None:
            near_lines.append(None)
    return near_lines
