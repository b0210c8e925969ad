from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, final

from attrs import frozen

from contentsvc_core.content.house_style import HouseStyle
from contentsvc_core.content.style_fields import (
    AUDIENCE,
    STYLE_FIELDS,
    StyleField,
    options_body,
    options_of,
    value_in_words,
)
from contentsvc_core.content.style_kinds import FOLDABLE, SECTIONS, Choice, Headings, Length, Sections, Switch, Texts
from contentsvc_core.refusals import Refusal
from contentsvc_http.forms import Form

_LABELS: Final = {
    "audience": "Who reads it",
    "headings": "Headings",
    "hide": "Sections, kinds and scopes to leave out",
    "hidePaths": "Paths to leave out",
    "hideAuthors": "Authors to leave out",
    "hideReleaseChores": "Leave out release chores",
    "foldUpkeep": "Fold upkeep into one line",
    "upkeepPosts": "Posts about upkeep alone",
    "notes": "Release notes",
    "foldSections": "More sections to fold",
    "emoji": "Emoji in headings",
    "commitHashes": "Commit hashes",
    "links": "Links",
    "details": "Details",
    "contributors": "Contributors",
    "bots": "More bots",
    "longestPost": "Longest post",
}
_GROUPS: Final = (
    ("What is shown", ("audience", "notes", "commitHashes", "links", "details", "contributors", "emoji")),
    ("What is folded", ("foldUpkeep", "hideReleaseChores", "upkeepPosts", "foldSections")),
    ("What is left out", ("hide", "hidePaths", "hideAuthors", "bots")),
    ("Headings and length", ("longestPost", "headings")),
)
_CHOICES: Final = {
    "public": "everybody",
    "team": "the team",
    "skip": "are not written",
    "write": "are written",
    "only": "stand alone",
    "fill": "are followed by what they leave out",
}
_DIGITS: Final = 9
_SWITCH: Final = {True: "yes", False: "no"}


@final
@frozen(kw_only=True)
class StyleForm:
    prefix: str = ""
    unset: str = "default"

    def typed(self, form: Form) -> dict[str, Any]:
        typed: dict[str, Any] = {}
        for style_field in STYLE_FIELDS:
            value = self._typed(style_field, form)
            if value not in ("", [], {}) or (value != "" and self._none(style_field) in form.values):
                typed[style_field.name] = value
        return typed

    def groups(
        self, typed: Mapping[str, Any], refused: Refusal | None = None, inherited: HouseStyle | None = None
    ) -> list[tuple[str, list[dict[str, Any]]]]:
        """Return the controls of the form by group.

        ``typed`` has the values by the fields' wire names, ``inherited`` the organization's house style for an
        override.
        """
        by_name = {style_field.name: style_field for style_field in STYLE_FIELDS}
        inherited_fields: Mapping[str, Any] = {} if inherited is None else inherited.fields
        # Of the fields of the form, only the audience changes the defaults of the others.
        audience = {AUDIENCE: typed[AUDIENCE]} if isinstance(typed.get(AUDIENCE), str) else {}
        unset = options_body(options_of(HouseStyle({**inherited_fields, **audience})))
        return [
            (group, [self._control(by_name[name], typed, refused, inherited_fields, unset) for name in names])
            for group, names in _GROUPS
        ]

    def _name(self, style_field: StyleField) -> str:
        return f"{self.prefix}{style_field.name}"

    def _none(self, style_field: StyleField) -> str:
        return f"{self._name(style_field)}.none"

    def _typed(self, style_field: StyleField, form: Form) -> Any:  # noqa: ANN401  # JSON
        name = self._name(style_field)
        text = form.text(name)
        match style_field.kind:
            case Switch():
                return {"yes": True, "no": False}.get(text, text)
            case Texts():
                return [line.strip() for line in text.splitlines() if line.strip()]
            case Sections():
                return list(form.texts(name))
            case Headings():
                return {section: heading for section in SECTIONS if (heading := form.text(f"{name}.{section}"))}
            case Length():
                return int(text) if text.isascii() and text.isdecimal() and len(text) <= _DIGITS else text
            case _:
                return text

    def _control(
        self,
        style_field: StyleField,
        typed: Mapping[str, Any],
        refused: Refusal | None,
        inherited: Mapping[str, Any],
        unset: Mapping[str, Any],
    ) -> dict[str, Any]:
        value: Any = typed.get(style_field.name)
        kind: str
        choices: tuple[tuple[str, str], ...] = ()
        none: bool | None = None
        shown: Any
        match style_field.kind:
            case Switch():
                default = f"{self.unset} ({_SWITCH[unset[style_field.name]]})"
                kind, choices = "select", (("", default), ("yes", "yes"), ("no", "no"))
                shown = _SWITCH.get(value, "") if isinstance(value, bool) else ""
            case Choice():
                words = {name: _CHOICES.get(name, name) for name in style_field.kind.names}
                # The audience has no default: without one, the fields have defaults of their own.
                effective = words.get(unset.get(style_field.name, ""), "")
                default = f"{self.unset} ({effective})" if effective else self.unset
                kind, choices, shown = "select", (("", default), *words.items()), value or ""
            case Texts():
                kind, shown = "lines", "\n".join(value or ())
            case Sections():
                kind, choices, shown = "checks", _words(FOLDABLE), value or ()
            case Headings():
                kind, choices, shown = "headings", _words(SECTIONS), value or {}
            case Length():
                kind, shown = "number", "" if value is None else str(value)
            case _:
                raise AssertionError(style_field.kind)
        if (
            self.prefix
            and kind in {"lines", "checks", "headings"}
            and (inherited.get(style_field.name) or value in ([], {}))
        ):
            none = value in ([], {})
        return {
            "name": self._name(style_field),
            "label": _LABELS[style_field.name],
            "hint": style_field.about,
            # ``select``, ``lines``, ``checks``, ``number`` or ``headings``.
            "kind": kind,
            "choices": choices,
            "value": shown,
            "fault": fault_of(refused) if refused is not None and refused.field == style_field.name else "",
            # In an override: the organization's value, in words; may be empty.
            "inherited": value_in_words(inherited[style_field.name])
            if inherited.get(style_field.name) not in (None, [], {})
            else "",
            # Whether the override sets an empty list; ``None``: the field has no such choice.
            "none": none,
        }


HOUSE_STYLE: Final = StyleForm()
OVERRIDE: Final = StyleForm(prefix="style.", unset="as in the house style")


def fault_of(refused: Refusal) -> str:
    return f"{refused.message(_LABELS.get(refused.field or '', 'The form'))}."


def in_words(fields: Mapping[str, Any]) -> Sequence[tuple[str, str]]:
    """Return the fields with values, for users without write access."""
    return [(_LABELS[name], value_in_words(value) or "nothing") for name, value in fields.items()]


def _words(names: Iterable[str]) -> tuple[tuple[str, str], ...]:
    return tuple((name, SECTIONS[name].value) for name in names)
