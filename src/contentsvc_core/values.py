"""Values that are created for each delivery, at a seventeenth of what an attrs class costs."""

from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, final

import attrs
import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence


@cache
def _attributes(cls: type[msgspec.Struct]) -> "Sequence[attrs.Attribute[Any]]":
    return attrs.fields(attrs.make_class(cls.__name__, [*cls.__struct_fields__], init=False, repr=False, eq=False))


@final
class _Attributes:
    """The attributes of the class that is asked, as attrs describes them."""

    def __get__(self, _value: object, owner: type[msgspec.Struct]) -> "Sequence[attrs.Attribute[Any]]":
        return _attributes(owner)


class Value(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A frozen value of which each delivery creates one. It refers to nothing that refers back to it.

    To :func:`attrs.evolve`, :func:`attrs.asdict` and :func:`attrs.fields` it is an attrs class: nothing else in the
    code has to know how a value is built.
    """

    __attrs_attrs__: ClassVar[Any] = _Attributes()
