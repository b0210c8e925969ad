"""Values whose class or instances must be cheap: each delivery creates some, and each command imports others."""

from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

import attrs
import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence


def nothing(*_values: object) -> None:
    pass


@cache
def _attributes(cls: type[msgspec.Struct]) -> "Sequence[attrs.Attribute[Any]]":
    return attrs.fields(attrs.make_class(cls.__name__, [*cls.__struct_fields__], init=False, repr=False, eq=False))


class _Attributes:
    def __get__(self, _value: object, owner: type[msgspec.Struct]) -> "Sequence[attrs.Attribute[Any]]":
        return _attributes(owner)


class Value(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A frozen value, compared by its fields; ``msgspec.structs.replace`` returns a changed copy."""

    # A seventeenth of an attrs class's cost, and not in a reference cycle. attrs.evolve copies it as well.

    __attrs_attrs__: ClassVar[Any] = _Attributes()
