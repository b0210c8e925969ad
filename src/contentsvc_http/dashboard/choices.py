from collections.abc import Iterable, Sequence
from datetime import timedelta
from enum import Enum
from typing import Any, Final, TypeVar, cast, final

from attrs import frozen
from msgspec import Struct, structs

from contentsvc_core.commands import describe
from contentsvc_core.content.brand import BrandIdentity
from contentsvc_core.content.posts import ContentType
from contentsvc_core.identifiers import repository_id
from contentsvc_core.organizations import Integration
from contentsvc_core.workflows.causes import sources_of
from contentsvc_http.dashboard.refusals import Unsaved
from contentsvc_http.dashboard.session import DashboardSession
from contentsvc_http.errors import Refused
from contentsvc_http.forms import Form
from contentsvc_http.words import CONTENT

_Named = TypeVar("_Named", bound=Enum)
#: The choices of a rotated secret's overlap, by its hours in the form.
OVERLAPS: Final = {"0": "Not at all: it ends at once", "1": "1 hour", "24": "24 hours", "168": "7 days"}
USUAL_OVERLAP: Final = "24"


@final
@frozen(kw_only=True)
class Option:
    value: str
    label: str
    hint: str = ""


@final
@frozen(kw_only=True)
class FormSources:
    integrations: Sequence[Integration]
    brands: Sequence[BrandIdentity]

    def repository(self, provider: str | None, number: int) -> str:
        """Return the name of a repository; a disconnected one has its number only."""
        names = [
            source.full_name
            for source in sources_of(self.integrations)
            if source.repository_id == number and provider in {None, source.provider}
        ]
        return ", ".join(dict.fromkeys(names)) or f"repository {number} (not connected)"

    def full_name(self, number: str) -> str:
        names = [source.full_name for source in sources_of(self.integrations) if str(source.repository_id) == number]
        return names[0] if names else ""

    def brand(self, brand_id: str | None) -> str:
        if brand_id is None:
            return "the default"
        return next((brand.name for brand in self.brands if brand.id == brand_id), "a deleted one")

    def brand_choices(self, chosen: str) -> list[Option]:
        default = next((brand.name for brand in self.brands if brand.is_default), None)
        usual = "The default" if default is None else f"The default, now {default}"
        choices = [Option(value="", label=usual), *(Option(value=brand.id, label=brand.name) for brand in self.brands)]
        return _with(choices, chosen, "A deleted one")

    def repository_choices(self, chosen: Iterable[str]) -> list[Option]:
        """Return the connected repositories by their ids; one may be connected at several providers."""
        labels: dict[str, None] = {str(source.repository_id): None for source in sources_of(self.integrations)}
        choices = [Option(value=value, label=self.repository(None, int(value))) for value in labels]
        for value in chosen:
            choices = _with(choices, value, f"repository {value}", "not connected any more")
        return choices

    def hosted_choices(self, chosen: Iterable[str]) -> list[Option]:
        sources = sources_of(self.integrations)
        several = len({source.provider for source in sources}) > 1
        choices = [
            Option(
                value=hosted(source.provider, source.repository_id),
                label=source.full_name,
                hint=source.provider if several else "",
            )
            for source in sources
        ]
        for value in chosen:
            choices = _with(choices, value, f"repository {value.partition(':')[2]}", "not connected any more")
        return choices


async def connected(session: DashboardSession) -> FormSources:
    return FormSources(
        integrations=await session.app.stores.directory.integrations(session.organization_id),
        brands=await session.app.stores.brands.identities(session.organization_id),
    )


def hosted(provider: str, number: int) -> str:
    return f"{provider}:{number}"


def numbers_of(values: Iterable[str]) -> tuple[int, ...]:
    """Read repository ids; forms of the dashboard send no others."""
    numbers = [repository_id(value) for value in values]
    if None in numbers:
        raise Refused(400, {"error": "Invalid form: there is no such repository"})
    return tuple(number for number in numbers if number is not None)


def named(kind: type[_Named], value: str) -> _Named:
    """Read a value of an enumeration; forms of the dashboard send no others."""
    try:
        return kind(value)
    except ValueError as exc:
        raise Refused(400, {"error": "Invalid form: there is no such choice"}) from exc


def content_choices() -> list[Option]:
    return [Option(value=kind.value, label=CONTENT[kind]) for kind in ContentType]


def overlap_of(form: Form, use: str) -> timedelta:
    if (overlap := form.text("overlap")) not in OVERLAPS:
        raise Unsaved(error=f"Choose how long the old secret goes on to {use}.", keeps=False)
    return timedelta(hours=int(overlap))


def settings_from(form: Form, command: type[Struct]) -> dict[str, Any]:
    """Read the plain fields of a command, by their attributes in the core: texts, and whether a box is ticked."""
    return {
        info.name: bool(form.text(info.name)) if isinstance(info.default, bool) else form.text(info.name)
        for info in structs.fields(command)
    }


def settings_of(source: Struct) -> dict[str, Any]:
    """Return the plain fields of a command, in the form of :func:`settings_from`: lists have one item a line."""
    return {name: _text_of(value) for name, value in structs.asdict(source).items()}


def boxes_of(command: type[Struct]) -> dict[str, str]:
    return {name: meta.title for name, meta in describe(command).items() if meta.title is not None}


def _text_of(value: object) -> object:
    if isinstance(value, tuple):
        return "\n".join(map(str, cast("tuple[object, ...]", value)))
    return value.value if isinstance(value, Enum) else value


def _with(choices: list[Option], value: str, label: str, hint: str = "") -> list[Option]:
    if any(choice.value == value for choice in choices):
        return choices
    return [*choices, Option(value=value, label=label, hint=hint)]
