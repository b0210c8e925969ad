"""The types of a house style's fields: read a value, describe it, and convert it to a writer's option and back."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NoReturn, Protocol, TypeVar, cast, final

from attrs import frozen

from contentsvc_core.content.sections import CRITICAL, Section
from contentsvc_core.text import has_controls, one_line, storable

_Value = TypeVar("_Value")

#: The most entries of a list.
LIST_LIMIT: Final = 100
#: The longest text in a list, in characters: a name that people read.
TEXT_LIMIT: Final = 200
#: The most path patterns, and the longest one, in characters: at worst, such patterns are compiled in 80 ms, and
#: compared with a thousand paths of 1,000 characters in a second.
PATTERNS_LIMIT: Final = 50
PATTERN_LIMIT: Final = 100
#: The longest heading, in characters: a line of an 80-column terminal.
HEADING_LIMIT: Final = 80
SECTIONS: Final[Mapping[str, Section]] = {section.name.lower(): section for section in Section}
#: Sections that may be folded: breaking and security changes are always listed.
FOLDABLE: Final = tuple(name for name, section in SECTIONS.items() if section not in CRITICAL)


class InvalidStyleValue(Exception):
    """A value does not fit its field."""


class StyleKind(Protocol):
    @property
    def schema(self) -> Mapping[str, Any]: ...

    def read(self, value: object) -> Any:  # noqa: ANN401  # JSON
        """Check a value and return its stored form, or raise :class:`InvalidStyleValue`."""
        ...

    def option(self, value: Any) -> Any:  # noqa: ANN401  # JSON, and any option
        ...

    def written(self, option: Any) -> Any:  # noqa: ANN401  # as above
        ...


class _Unchanged:
    """A kind whose values are the writer's options."""

    def option(self, value: _Value) -> _Value:
        return value

    def written(self, option: _Value) -> _Value:
        return option


@final
@frozen
class Switch(_Unchanged):
    @property
    def schema(self) -> Mapping[str, Any]:
        return {"type": "boolean"}

    def read(self, value: object) -> bool:
        if not isinstance(value, bool):
            _refuse("must be true or false")
        return value


@final
@frozen
class Length(_Unchanged):
    least: int
    most: int

    @property
    def schema(self) -> Mapping[str, Any]:
        return {"type": "integer", "minimum": self.least, "maximum": self.most}

    def read(self, value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not self.least <= value <= self.most:
            _refuse(f"must be a whole number from {self.least:,} to {self.most:,}")
        return value


@final
@frozen
class Choice(_Unchanged):
    names: tuple[str, ...]

    @property
    def schema(self) -> Mapping[str, Any]:
        return {"type": "string", "enum": list(self.names)}

    def read(self, value: object) -> str:
        if not isinstance(value, str) or value not in self.names:
            _refuse(f"must be one of {', '.join(self.names)}")
        return value


@final
@frozen
class Texts:
    factory: Callable[[Iterable[str]], Any]
    at_most: int = LIST_LIMIT
    longest: int = TEXT_LIMIT

    @property
    def schema(self) -> Mapping[str, Any]:
        text = {"type": "string", "minLength": 1, "maxLength": self.longest}
        return {"type": "array", "items": text, "maxItems": self.at_most}

    def read(self, value: object) -> list[str]:
        if not isinstance(value, list):
            _refuse("must be a list of texts")
        texts = cast("list[object]", value)
        if len(texts) > self.at_most:
            _refuse(f"has more than {self.at_most} entries")
        return list(dict.fromkeys(_line(each, self.longest, "has an entry that") for each in texts))

    def option(self, value: Sequence[str]) -> Any:  # noqa: ANN401  # a tuple or a set
        return self.factory(value)

    def written(self, option: Iterable[str]) -> list[str]:
        """Return the texts; those of a set in alphabetical order."""
        return sorted(option) if isinstance(option, frozenset) else list(option)


@final
@frozen
class Sections:
    @property
    def schema(self) -> Mapping[str, Any]:
        return {"type": "array", "items": {"type": "string", "enum": list(FOLDABLE)}, "maxItems": len(FOLDABLE)}

    def read(self, value: object) -> list[str]:
        """Return the sections in the order of a changelog, each once."""
        if not isinstance(value, list):
            _refuse("must be a list of sections")
        sections = cast("list[object]", value)
        if len(sections) > len(FOLDABLE):
            _refuse(f"has more than {len(FOLDABLE)} entries")
        unknown = [each for each in sections if each not in FOLDABLE]
        if unknown:
            _refuse(f"names {_shown(unknown[0])}, which is not one of {', '.join(FOLDABLE)}")
        return [name for name in FOLDABLE if name in sections]

    def option(self, value: Sequence[str]) -> frozenset[Section]:
        return frozenset(SECTIONS[name] for name in value)

    def written(self, option: frozenset[Section]) -> list[str]:
        return [name for name in FOLDABLE if SECTIONS[name] in option]


@final
@frozen
class Headings:
    @property
    def schema(self) -> Mapping[str, Any]:
        heading = {"type": "string", "minLength": 1, "maxLength": HEADING_LIMIT}
        return {"type": "object", "properties": dict.fromkeys(SECTIONS, heading), "additionalProperties": False}

    def read(self, value: object) -> dict[str, str]:
        if not isinstance(value, dict):
            _refuse("must be an object of headings by section")
        headings = cast("dict[object, object]", value)
        unknown = next((name for name in headings if name not in SECTIONS), None)
        if unknown is not None:
            _refuse(f"names {_shown(unknown)}, which is not one of {', '.join(SECTIONS)}")
        return {
            name: _line(headings[name], HEADING_LIMIT, f"has a heading of '{name}' that")
            for name in SECTIONS
            if name in headings
        }

    def option(self, value: Mapping[str, str]) -> Mapping[Section, str]:
        return {SECTIONS[name]: heading for name, heading in value.items()}

    def written(self, option: Mapping[Section, str]) -> dict[str, str]:
        return {name: option[section] for name, section in SECTIONS.items() if section in option}


def _refuse(reason: str) -> NoReturn:
    raise InvalidStyleValue(reason)


def _line(value: object, limit: int, what: str) -> str:
    if not isinstance(value, str):
        _refuse(f"{what} is not a text")
    text = storable(value).strip()
    if not text:
        _refuse(f"{what} is empty")
    if len(text) > limit:
        _refuse(f"{what} is longer than {limit} characters")
    if has_controls(text):
        _refuse(f"{what} is not a single line of text")
    return text


def _shown(value: object) -> str:
    return f"'{one_line(storable(str(value)), 64)}'"
