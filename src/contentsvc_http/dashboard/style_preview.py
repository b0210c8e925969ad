from collections.abc import Mapping
from typing import Any, Final, final

from attrs import frozen

from contentsvc_core.content.house_style import HouseStyle, merged_styles
from contentsvc_core.content.style_fields import options_of, read_style
from contentsvc_core.content.writing import Silence
from contentsvc_core.refusals import Refusal
from contentsvc_core.usecases.preview_style import StylePreview
from contentsvc_http.dashboard.choices import connected
from contentsvc_http.dashboard.session import DashboardSession
from contentsvc_http.dashboard.style_form import OVERRIDE, fault_of, in_words
from contentsvc_http.forms import Form

_NOTHING_YET: Final = "Nothing to preview yet: the preview appears with your first release or push."


@final
@frozen(kw_only=True)
class ShownStyle:
    about: str = ""
    message: str = ""
    title: str = ""
    #: Rendered and sanitized like posts.
    html: str = ""


async def preview_of_style(
    session: DashboardSession,
    style: HouseStyle | Refusal | None,
    *,
    repository: str = "",
    brand_identity_id: str | None = None,
) -> ShownStyle:
    """Write the changelog of the newest release, or of the newest pushes, in a house style.

    If ``style`` is a refusal, the preview shows the fault. Without ``repository``, all repositories count.
    """
    if isinstance(style, Refusal):
        return ShownStyle(message=fault_of(style))

    async def write() -> ShownStyle:
        preview = await session.app.style_previews.write(
            session.organization_id, options_of(style), repository=repository, brand_identity_id=brand_identity_id
        )
        if preview is None:
            return ShownStyle(message=_NOTHING_YET)
        if isinstance(preview.written, Silence):
            return ShownStyle(
                about=_about(preview), message=f"With these settings there is no post: {preview.written.reason}."
            )
        html = await session.app.renderer.render(preview.written.markdown)
        return ShownStyle(about=_about(preview), title=preview.written.title, html=html or "")

    return await session.heavy(write)


def shown_override(
    session: DashboardSession,
    typed: Mapping[str, Any],
    *,
    refused: Refusal | None,
    preview: ShownStyle | None,
) -> dict[str, Any]:
    return {
        "groups": OVERRIDE.groups(typed, refused, session.organization.house_style),
        # The fields that differ from the organization's, in words.
        "set": in_words(typed),
        # The fault of the override as a whole; faults of fields are shown beside them.
        "fault": fault_of(refused) if refused is not None and not refused.field else "",
        "open": refused is not None or preview is not None,
        "preview": preview,
    }


async def preview_of_override(session: DashboardSession, form: Form) -> ShownStyle:
    """Preview the form of a trigger or a schedule: its override, its brand identity, and its only repository."""
    style = read_style(OVERRIDE.typed(form))
    full = style if isinstance(style, Refusal) else merged_styles(session.organization.house_style, style)
    chosen = form.texts("repositories")
    repository = ""
    if len(chosen) == 1:
        has = await connected(session)
        repository = has.full_name(chosen[0].rpartition(":")[2])
    return await preview_of_style(session, full, repository=repository, brand_identity_id=form.text("brand") or None)


def _about(preview: StylePreview) -> str:
    if preview.release_tag is not None:
        return f"Written from the newest release, {preview.release_tag} of {preview.repository}."
    pushes = "newest push" if preview.pushes == 1 else f"newest {preview.pushes} pushes"
    return f"Written from the {pushes} to {preview.repository}: there is no release yet."
