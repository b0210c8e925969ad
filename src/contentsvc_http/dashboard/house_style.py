"""The house style: how changelogs look, with a preview of the newest one."""

from collections.abc import Iterable, Mapping
from typing import Any, Final, final

from attrs import frozen
from litestar import Request, Response, get, post
from litestar.handlers import HTTPRouteHandler

from contentsvc_core.access.rates import PREVIEWING
from contentsvc_core.content.house_style import (
    STYLE_FIELDS,
    BadStyle,
    HouseStyle,
    StyleField,
    options_of,
    read_style,
    style_body,
    value_in_words,
)
from contentsvc_core.content.style_kinds import FOLDABLE, SECTIONS, Choice, Headings, Length, Sections, Switch, Texts
from contentsvc_core.usecases.preview_style import StylePreview
from contentsvc_http.dashboard.context import Dashboard
from contentsvc_http.dashboard.counting import Counting
from contentsvc_http.dashboard.forms import Form, by_field
from contentsvc_http.dashboard.pages import Pages, go
from contentsvc_http.dashboard.visits import ROOT, Visit, change, visit

_PATH: Final = f"{ROOT}/house-style"
_SECTION: Final = "house-style"
_TITLE: Final = "House style"
_INVALID: Final = 422
#: By a field's name on the wire: what the page calls it.
_LABELS: Final = {
    "audience": "Who reads it",
    "headings": "Headings",
    "hide": "Kinds and scopes to leave out",
    "hidePaths": "Paths to leave out",
    "hideAuthors": "Authors to leave out",
    "hideReleaseChores": "Leave out release chores",
    "foldUpkeep": "Fold upkeep into one line",
    "foldSections": "More sections to fold",
    "commitHashes": "Commit hashes",
    "links": "Links",
    "details": "Details",
    "contributors": "Contributors",
    "bots": "More bots",
    "longestPost": "Longest post",
}
#: The groups of the form and their fields.
_GROUPS: Final = (
    ("What is shown", ("audience", "commitHashes", "links", "details", "contributors")),
    ("What is folded", ("foldUpkeep", "hideReleaseChores", "foldSections")),
    ("What is left out", ("hide", "hidePaths", "hideAuthors", "bots")),
    ("Headings and length", ("longestPost", "headings")),
)
_CHOICES: Final = {"public": "everybody", "team": "the team"}
#: Digits of a number in the form: more are no length of a post.
_DIGITS: Final = 9
_SWITCH: Final = {True: "yes", False: "no"}


@final
@frozen(kw_only=True)
class _Control:
    """A field of the form."""

    name: str
    label: str
    hint: str
    #: ``select``, ``lines``, ``checks``, ``number`` or ``headings``.
    kind: str
    #: What can be chosen, or the sections that have a heading: values and words.
    choices: tuple[tuple[str, str], ...] = ()
    #: The text, or the chosen values.
    value: Any = ""


@final
@frozen(kw_only=True)
class _Preview:
    """What the preview shows; what is empty is not shown."""

    #: What the changelog is written from.
    about: str = ""
    #: Why there is no changelog.
    says: str = ""
    title: str = ""
    #: Rendered and sanitized as posts are.
    html: str = ""


def house_style_routes(dashboard: Dashboard, pages: Pages) -> list[HTTPRouteHandler]:
    """Return the routes."""
    made = _StylePages(dashboard, pages)

    @get(_PATH, name="dashboard_house_style")
    async def show(request: Request[Any, Any, Any]) -> Response[Any]:
        found = await visit(dashboard, request)
        return await made.page(found, style_body(found.organization.house_style) or {})

    @post(_PATH, name="dashboard_house_style_save")
    async def save(request: Request[Any, Any, Any]) -> Response[Any]:
        return await made.save(*await change(dashboard, request))

    @post(f"{_PATH}/preview", name="dashboard_house_style_preview")
    async def preview(request: Request[Any, Any, Any]) -> Response[Any]:
        return await made.preview(*await change(dashboard, request))

    @get(f"{_PATH}/preview", name="dashboard_house_style_preview_left")
    async def leave_preview(request: Request[Any, Any, Any]) -> Response[Any]:
        # The address of a preview without scripts, opened anew: what was typed is gone.
        await visit(dashboard, request)
        return go("/house-style")

    return [show, save, preview, leave_preview]


@final
class _StylePages:
    def __init__(self, dashboard: Dashboard, pages: Pages) -> None:
        self._dashboard = dashboard
        self._pages = pages
        self._counting = Counting(dashboard)

    async def page(
        self,
        found: Visit,
        typed: Mapping[str, Any],
        *,
        refused: BadStyle | None = None,
        preview: _Preview | None = None,
    ) -> Response[Any]:
        context = {
            "groups": [(name, [_control(each, typed) for each in fields]) for name, fields in _fields()],
            "set": [(_LABELS[name], value_in_words(value)) for name, value in typed.items()],
            "faults": by_field(_faults(refused)),
            "preview": preview,
        }
        status = 200 if refused is None else _INVALID
        return self._pages.page(found, "house_style.html", context, title=_TITLE, section=_SECTION, status=status)

    async def save(self, found: Visit, form: Form) -> Response[Any]:
        typed = _typed(form)
        style = read_style(typed)
        if isinstance(style, BadStyle):
            return await self.page(found, typed, refused=style)
        await self._dashboard.api.directory.set_house_style(found.organization_id, style)
        return go("/house-style", told="saved")

    async def preview(self, found: Visit, form: Form) -> Response[Any]:
        await self._counting.admit(found, PREVIEWING)
        typed = _typed(form)
        style = read_style(typed)
        refused = style if isinstance(style, BadStyle) else None
        if isinstance(style, BadStyle):
            shown = _Preview(says=_faults(style)[style.field])
        else:
            shown = await self._written(found, style)
        if found.is_partial:
            return self._pages.part(found, "house_style_preview.html", {"preview": shown, "partial": True})
        return await self.page(found, typed, refused=refused, preview=shown)

    async def _written(self, found: Visit, style: HouseStyle | None) -> _Preview:
        async def write() -> _Preview:
            made = await self._dashboard.style_previews.write(found.organization_id, options_of(style))
            if made is None:
                return _Preview(says="Nothing to preview yet: the preview appears with your first release or push.")
            if made.draft is None:
                return _Preview(about=_about(made), says="With these settings there is nothing to report.")
            html = await self._dashboard.renderer.render(made.draft.markdown)
            return _Preview(about=_about(made), title=made.draft.title, html=html or "")

        return await self._dashboard.api.shares.heavy(found.organization_id, write)


def _about(made: StylePreview) -> str:
    if made.release_tag is not None:
        return f"Written from the newest release, {made.release_tag} of {made.repository}."
    pushes = "newest push" if made.pushes == 1 else f"newest {made.pushes} pushes"
    return f"Written from the {pushes} to {made.repository}: there is no release yet."


def _fields() -> list[tuple[str, list[StyleField]]]:
    by_name = {each.name: each for each in STYLE_FIELDS}
    return [(group, [by_name[name] for name in names]) for group, names in _GROUPS]


def _control(each: StyleField, typed: Mapping[str, Any]) -> _Control:
    value: Any = typed.get(each.name)
    kind: str
    choices: tuple[tuple[str, str], ...] = ()
    shown: Any
    match each.kind:
        case Switch():
            kind, choices = "select", (("", "default"), ("yes", "yes"), ("no", "no"))
            shown = _SWITCH.get(value, "") if isinstance(value, bool) else ""
        case Choice():
            words = [(name, _CHOICES.get(name, name)) for name in each.kind.names]
            kind, choices, shown = "select", (("", "not set"), *words), value or ""
        case Texts():
            kind, shown = "lines", "\n".join(value or ())
        case Sections():
            kind, choices, shown = "checks", _words(FOLDABLE), value or ()
        case Headings():
            kind, choices, shown = "headings", _words(SECTIONS), value or {}
        case Length():
            kind, shown = "number", "" if value is None else str(value)
        case _:
            raise AssertionError(each.kind)
    return _Control(name=each.name, label=_LABELS[each.name], hint=each.about, kind=kind, choices=choices, value=shown)


def _words(names: Iterable[str]) -> tuple[tuple[str, str], ...]:
    return tuple((name, SECTIONS[name].value) for name in names)


def _typed(form: Form) -> dict[str, Any]:
    """Return what was typed, as JSON for the core's reader; a field that was left empty is not set."""
    typed: dict[str, Any] = {}
    for each in STYLE_FIELDS:
        text = form.text(each.name)
        match each.kind:
            case Switch():
                value: Any = {"yes": True, "no": False}.get(text, text)
            case Texts():
                value = [line.strip() for line in text.splitlines() if line.strip()]
            case Sections():
                value = list(form.texts(each.name))
            case Headings():
                value = {name: given for name in SECTIONS if (given := form.text(f"{each.name}.{name}"))}
            case Length():
                value = int(text) if text.isascii() and text.isdecimal() and len(text) <= _DIGITS else text
            case _:
                value = text
        if value not in ("", [], {}):
            typed[each.name] = value
    return typed


def _faults(refused: BadStyle | None) -> dict[str, str]:
    return {} if refused is None else {refused.field: f"{_LABELS.get(refused.field, 'The form')} {refused.reason}."}
