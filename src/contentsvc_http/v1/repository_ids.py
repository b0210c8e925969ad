"""Repository ids in requests: JSON integers, strings of digits, or ids of integrations."""

from collections.abc import Sequence
from typing import Annotated, Any, Final, TypeAlias, final

from attrs import frozen
from litestar import Request
from msgspec import Meta

from contentsvc_core.identifiers import MAX_REPOSITORY_ID, repository_id
from contentsvc_core.lists.parameters import listed
from contentsvc_core.organizations import Integration
from contentsvc_core.ports import Directory
from contentsvc_core.refusals import REPOSITORY_ID_FORM
from contentsvc_core.text import one_line
from contentsvc_http.errors import refuse_request
from contentsvc_http.v1.pages import read_parameters

#: A title is the name of the type in generated clients.
RepositoryId: TypeAlias = Annotated[
    Annotated[int, Meta(ge=1, le=MAX_REPOSITORY_ID)] | Annotated[str, Meta(pattern=REPOSITORY_ID_FORM)],
    Meta(title="RepositoryId", description="Id of a repository at the code host."),
]
ConnectedRepository: TypeAlias = Annotated[
    Annotated[int, Meta(ge=1, le=MAX_REPOSITORY_ID)] | Annotated[str, Meta(min_length=1, max_length=64)],
    Meta(title="ConnectedRepository", description="Id of a repository or of its integration."),
]

#: The description of the parameter that :func:`read_repository_filter` reads.
REPOSITORY_FILTER: Final = (
    "Only these repositories: a comma-separated list of repository ids or ids of their integrations."
)


@final
@frozen
class ChosenRepositories:
    numbers: tuple[int, ...] = ()
    #: Integrations whose repositories are all included.
    integrations: tuple[Integration, ...] = ()

    @property
    def ids(self) -> tuple[int, ...]:
        return (
            *self.numbers,
            *(repository.id for integration in self.integrations for repository in integration.repositories),
        )

    @property
    def names(self) -> list[tuple[str, str]]:
        return [
            (integration.provider, repository.full_name)
            for integration in self.integrations
            for repository in integration.repositories
        ]

    @property
    def providers(self) -> set[str]:
        return {integration.provider for integration in self.integrations}


def read_repository_id(value: int | str) -> int:
    number = repository_id(str(value))
    if number is None:
        refuse_request(f"repositoryId: '{one_line(str(value), 64)}' is not a repository id")
    return number


async def read_repositories(
    directory: Directory, organization_id: str, name: str, values: Sequence[int | str]
) -> ChosenRepositories:
    numbers: list[int] = []
    named: dict[str, str] = {}
    for index, value in enumerate(values):
        number = repository_id(str(value))
        if number is None:
            named.setdefault(str(value), f"{name}[{index}]")
        else:
            numbers.append(number)
    ids = (
        {integration.id: integration for integration in await directory.integrations(organization_id)} if named else {}
    )
    for id_, path in named.items():
        if id_ not in ids:
            refuse_request(f"{path}: '{one_line(id_, 64)}' is neither a repository id nor the id of an integration")
    return ChosenRepositories(tuple(numbers), tuple(ids[id_] for id_ in named))


async def read_repository_filter(
    directory: Directory, organization_id: str, request: Request[Any, Any, Any]
) -> frozenset[int] | None:
    """Return the repository ids of the query parameter ``repositoryIds``; ``None``: the list is not filtered."""
    field = "repositoryIds"
    texts = listed(read_parameters(request, field).get(field, ""))
    return frozenset((await read_repositories(directory, organization_id, field, texts)).ids) if texts else None
