"""Pages of the resources that write posts by themselves: triggers and schedules."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final, Generic, TypeVar
from urllib.parse import urlencode

from attrs import evolve, field, frozen
from litestar import Response, get, post
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath
from msgspec import Struct

from contentsvc_core.access.keys import Scope
from contentsvc_core.access.rates import PREVIEWING
from contentsvc_core.application import Application
from contentsvc_core.commands import read_command
from contentsvc_core.content.house_style import style_body
from contentsvc_core.content.style_fields import read_style
from contentsvc_core.ports import Automations
from contentsvc_core.refusals import Refusal, RefusalKind
from contentsvc_core.workflows.schedules import Schedule
from contentsvc_core.workflows.triggers import Trigger
from contentsvc_http.dashboard import counting, pages
from contentsvc_http.dashboard.choices import (
    FormSources,
    boxes_of,
    connected,
    content_choices,
    settings_from,
    settings_of,
)
from contentsvc_http.dashboard.pages import CONFLICT, OUTDATED, UNSAVED, digest, go
from contentsvc_http.dashboard.refusals import FormRefusals
from contentsvc_http.dashboard.session import ROOT, DashboardSession, SentForm, Visitor
from contentsvc_http.dashboard.style_form import OVERRIDE
from contentsvc_http.dashboard.style_preview import ShownStyle, preview_of_override, shown_override
from contentsvc_http.errors import Refused
from contentsvc_http.forms import Form
from contentsvc_http.words import CONTENT, PUBLISHES

_INVALID: Final = 422


@frozen(kw_only=True)
class TypedForm:
    #: The plain fields, by their attributes in the core: texts, and whether a box is ticked.
    settings: Mapping[str, Any]
    repositories: tuple[str, ...] = field(converter=tuple, default=())
    brand: str = ""
    #: The override of the house style, as JSON for the core's reader.
    style: Mapping[str, Any] = field(factory=dict[str, Any])


_Stored = TypeVar("_Stored", bound=Trigger | Schedule)
_Typed = TypeVar("_Typed", bound=TypedForm)


class FormSection(ABC, Generic[_Stored, _Typed]):
    name: ClassVar[str]
    refusals: ClassVar[FormRefusals]
    create: ClassVar[type[Struct]]
    change: ClassVar[type[Struct]]
    settings: ClassVar[type[Struct]]
    typed: ClassVar[type[Any]]
    name_limit: ClassVar[int]
    #: The core's refusal of a resource without a repository, so that a form shows it together with other faults.
    no_repository: ClassVar[Refusal]

    @abstractmethod
    def automations(self, app: Application) -> Automations[_Stored]: ...

    @abstractmethod
    def editor(self, app: Application) -> Any:  # noqa: ANN401  # it takes the commands of this section
        """Return the use case that creates and changes the resource."""

    @abstractmethod
    def typed_in(self, form: Form) -> dict[str, Any]:
        """Return the fields of a typed form that this section alone has."""

    @abstractmethod
    def typed_of(self, stored: _Stored) -> dict[str, Any]:
        """Return the same fields of a stored resource, and its repositories."""

    @abstractmethod
    def values(self, typed: _Typed, stored: _Stored | None) -> tuple[dict[str, Any], list[Refusal]]:
        """Return the fields of the command, and their faults; of a stored resource, only the fields that differ."""

    @abstractmethod
    def title(self, stored: _Stored, has: FormSources) -> str: ...

    @abstractmethod
    def cells(self, session: DashboardSession, stored: _Stored, has: FormSources) -> dict[str, Any]:
        """Return what the list shows of a resource in this section alone, and its repositories."""

    @abstractmethod
    def choices(self, typed: _Typed, has: FormSources) -> dict[str, Any]: ...

    @abstractmethod
    async def previewed(self, session: DashboardSession, stored: _Stored | None, typed: _Typed) -> dict[str, Any]: ...

    def value(self, stored: _Stored, name: str) -> Any:  # noqa: ANN401  # any field
        return getattr(stored, name)

    def differing(self, fields: Mapping[str, Any], stored: _Stored) -> dict[str, Any]:
        """Return the fields whose values differ from the stored ones: only these need new checks."""
        return {name: value for name, value in fields.items() if self.value(stored, name) != value}

    def read(self, form: Form | None, stored: _Stored | None) -> _Typed:
        """Read a form; ``None``: the values of a form that is opened."""
        if form is not None:
            return self.typed(
                settings=settings_from(form, self.settings),
                repositories=form.texts("repositories"),
                brand=form.text("brand"),
                style=OVERRIDE.typed(form),
                **self.typed_in(form),
            )
        if stored is None:
            return self.typed()
        settings = {name: self.value(stored, name) for name in self.settings.__struct_fields__}
        return self.typed(
            settings=settings_of(self.settings(**settings)),
            brand=stored.brand_identity_id or "",
            style=style_body(stored.house_style) or {},
            **self.typed_of(stored),
        )

    async def apply(self, session: DashboardSession, id_: str | None, command: Struct) -> _Stored | Refusal:
        """Change the resource; without an id, create one."""
        editor = self.editor(session.app)
        if id_ is None:
            return await editor.create(session.organization_id, command)
        return await editor.change(session.organization_id, id_, command)

    def row(self, session: DashboardSession, stored: _Stored, has: FormSources) -> dict[str, Any]:
        return {
            "stored": stored,
            "title": self.title(stored, has),
            "output": CONTENT[stored.output_type],
            "publishes": PUBLISHES[stored.post_status],
            "brand": has.brand(stored.brand_identity_id),
            **self.cells(session, stored, has),
        }

    @property
    def path(self) -> str:
        return f"/{self.name}s"

    async def list(self, session: DashboardSession, asked: str, *, error: str | None = None) -> Response[Any]:
        """Return the page of the list: the rows whose title and repositories have all words that are asked for."""
        has = await connected(session)
        stored = await self.automations(session.app).all_of(session.organization_id)
        rows = [row for each in stored if _has_words(row := self.row(session, each, has), asked)]
        context = {
            "rows": rows,
            "total": len(stored),
            "asked": asked,
            "connected": bool(has.repository_choices(())),
            "error": error,
        }
        return self._page(session, f"{self.name}s.html", context, f"{self.name.capitalize()}s", error)

    async def show(self, session: DashboardSession, id_: str | None) -> Response[Any]:
        stored = await self._stored(session, id_)
        typed = self.read(None, stored)
        if stored is None:
            offered = self.choices(typed, await connected(session))["repositories"]
            if len(offered) == 1:
                typed = evolve(typed, repositories=[offered[0].value])
        return await self._form(session, stored, typed)

    async def save(self, session: DashboardSession, form: Form, id_: str | None) -> Response[Any]:
        stored = await self._stored(session, id_)
        typed = self.read(form, stored)
        if stored is not None and form.text("seen") != digest(self.read(None, stored)):
            return await self._form(session, stored, typed, is_outdated=True)
        values, refused = self.values(typed, stored)
        if values.get("repository_ids") == () and not values.get("all_repositories"):
            refused = [self.no_repository, *refused]
        style = read_style(typed.style)
        if isinstance(style, Refusal):
            return await self._form(session, stored, typed, refused=refused, bad_style=style)
        if refused:
            return await self._form(session, stored, typed, refused=refused)
        styled = {} if stored is not None and style == stored.house_style else {"house_style": style}
        command = read_command(self.create if stored is None else self.change, values, **styled)
        if isinstance(command, Refusal):
            return await self._form(session, stored, typed, refused=[command])
        saved = await self.apply(session, id_, command)
        if isinstance(saved, Refusal):
            return await self._form(session, stored, typed, refused=[saved])
        return go(f"{self.path}/{saved.id}", notice="created" if stored is None else "saved")

    async def switch(self, session: DashboardSession, form: Form, id_: str) -> Response[Any]:
        enabled, asked = form.text("to") == "on", form.text("query")
        changed = await self.apply(session, id_, self.change(enabled=enabled))
        if isinstance(changed, Refusal):
            return await self.list(session, asked, error=self.refusals.sentence(changed))
        shown = f"{self.path}?{urlencode({'query': asked})}" if asked else self.path
        return go(shown, notice="enabled" if enabled else "disabled", at=id_)

    async def delete(self, session: DashboardSession, id_: str) -> Response[Any]:
        await self._stored(session, id_)
        await self.automations(session.app).remove(session.organization_id, id_)
        return go(self.path, notice="deleted")

    async def preview(self, session: DashboardSession, form: Form) -> Response[Any]:
        await counting.admit(session, PREVIEWING)
        stored = await self._stored(session, form.text("id") or None)
        typed = self.read(form, stored)
        if session.is_partial:
            context = {**await self.previewed(session, stored, typed), "typed": typed, "partial": True}
            return pages.part(session, f"{self.name}_preview.html", context)
        style = await preview_of_override(session, form) if typed.style else None
        return await self._form(session, stored, typed, style_preview=style, seen=form.text("seen"))

    async def _stored(self, session: DashboardSession, id_: str | None) -> _Stored | None:
        if id_ is None:
            return None
        stored = await self.automations(session.app).find(session.organization_id, id_)
        if stored is None:
            raise Refused(404, {"error": self.refusals.words[RefusalKind.NOT_FOUND]})
        return stored

    async def _form(
        self,
        session: DashboardSession,
        stored: _Stored | None,
        typed: _Typed,
        *,
        refused: Sequence[Refusal] = (),
        bad_style: Refusal | None = None,
        style_preview: ShownStyle | None = None,
        seen: str = "",
        is_outdated: bool = False,
    ) -> Response[Any]:
        faults = {name: text for each in refused for name, text in self.refusals.faults(each).items()}
        error = OUTDATED if is_outdated else faults.pop("", UNSAVED if faults or bad_style else None)
        has = await connected(session)
        context: dict[str, Any] = {
            "stored": stored,
            "seen": "" if stored is None else seen or digest(self.read(None, stored)),
            "row": None if stored is None else self.row(session, stored, has),
            "typed": typed,
            **await self.previewed(session, stored, typed),
            **self.choices(typed, has),
            "brands": has.brand_choices(typed.brand),
            "outputs": content_choices(),
            "boxes": boxes_of(self.settings),
            "name_limit": self.name_limit,
            "error": error,
            "faults": faults,
            "style": shown_override(session, typed.style, refused=bad_style, preview=style_preview),
        }
        title = f"New {self.name}" if stored is None else self.title(stored, has)
        return self._page(session, f"{self.name}.html", context, title, error)

    def _page(
        self, session: DashboardSession, template: str, context: Mapping[str, Any], title: str, error: str | None
    ) -> Response[Any]:
        status = 200 if error is None else CONFLICT if error is OUTDATED else _INVALID
        section = f"{self.name}s"
        context = {**context, "kind": self.name, "plural": section.capitalize(), "path": self.path}
        return pages.page(session, template, context, title=title, section=section, status=status)


def _has_words(row: Mapping[str, Any], asked: str) -> bool:
    text = " ".join([row["title"], *row["repositories"]]).casefold()
    return all(word.casefold() in text for word in asked.split())


def section_routes(section: FormSection[Any, Any]) -> list[HTTPRouteHandler]:
    path = f"{ROOT}{section.path}"

    @get(path)
    async def listed(session: Visitor) -> Response[Any]:
        return await section.list(session, session.query.get("query", ""))

    @get(f"{path}/new", opt={"scope": Scope.WRITE})
    async def begin(session: Visitor) -> Response[Any]:
        return await section.show(session, None)

    @get(f"{path}/{{id_:str}}")
    async def show(session: Visitor, id_: FromPath[str]) -> Response[Any]:
        return await section.show(session, id_)

    @get(f"{path}/preview")
    async def leave_preview(session: Visitor) -> Response[Any]:
        # A reload of a preview's address has no form data.
        del session
        return go(section.path)

    @post(f"{path}/new")
    async def create(session: Visitor, form: SentForm) -> Response[Any]:
        return await section.save(session, form, None)

    @post(f"{path}/preview")
    async def preview(session: Visitor, form: SentForm) -> Response[Any]:
        return await section.preview(session, form)

    @post(f"{path}/{{id_:str}}")
    async def save(session: Visitor, form: SentForm, id_: FromPath[str]) -> Response[Any]:
        return await section.save(session, form, id_)

    @post(f"{path}/{{id_:str}}/switch")
    async def switch(session: Visitor, form: SentForm, id_: FromPath[str]) -> Response[Any]:
        return await section.switch(session, form, id_)

    @post(f"{path}/{{id_:str}}/delete")
    async def delete(session: Visitor, id_: FromPath[str]) -> Response[Any]:
        return await section.delete(session, id_)

    return [listed, begin, show, leave_preview, create, preview, save, switch, delete]
