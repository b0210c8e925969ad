"""Repository ids in request bodies: JSON integers, or strings of digits (decisions, ``/v1``)."""

from collections.abc import Sequence
from typing import Annotated, TypeAlias

from msgspec import Meta

from contentsvc_core.identifiers import MAX_REPOSITORY_ID, repository_id
from contentsvc_core.text import one_line
from contentsvc_http.errors import Refused

#: As a request body spells one.
RepositoryId: TypeAlias = (
    Annotated[int, Meta(ge=1, le=MAX_REPOSITORY_ID)] | Annotated[str, Meta(pattern="^[1-9][0-9]{0,18}$")]
)


def read_repository_ids(name: str, given: Sequence[int | str]) -> tuple[int, ...]:
    """Read the repository ids of the field ``name``.

    Raises:
        Refused: 400: one is none.
    """
    numbers: list[int] = []
    for place, each in enumerate(given):
        number = repository_id(str(each))
        if number is None:
            fault = f"{name}[{place}]: '{one_line(str(each), 64)}' is no repository id"
            raise Refused(400, {"error": f"Invalid request: {fault}"})
        numbers.append(number)
    return tuple(numbers)
