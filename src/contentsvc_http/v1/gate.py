from collections.abc import Mapping
from typing import Any, Final, TypeAlias, TypeVar, cast, final

from litestar import Request, Response
from litestar.di import NamedDependency
from litestar.params import SkipValidation
from msgspec import Struct, to_builtins

from contentsvc_core.access.keys import ApiKey, Scope
from contentsvc_core.application import Application
from contentsvc_http.auth import caller
from contentsvc_http.v1.answers import Answers
from contentsvc_http.v1.hosted import HostedAnswers, Organizations

#: The API key of a request, which the gate has checked.
Caller: TypeAlias = NamedDependency[SkipValidation[ApiKey]]
_Command = TypeVar("_Command", bound=Struct)
#: The JSON body of a request, which the operation has read after the gate's check.
Sent: TypeAlias = NamedDependency[SkipValidation[_Command]]
_Body = TypeVar("_Body", bound=Mapping[str, Any] | Struct)


@final
class Gate:
    def __init__(self, app: Application, *, hosted: bool) -> None:
        """With ``hosted``, response bodies have the form that clients of the hosted product expect."""
        self.app: Final = app
        self.hosted: Final = hosted
        self.answers: Final = HostedAnswers() if hosted else Answers()
        self._organizations = Organizations(app.stores.directory) if hosted else None

    async def reader(self, request: Request[Any, Any, Any]) -> ApiKey:
        return await self._caller(request, Scope.READ)

    async def writer(self, request: Request[Any, Any, Any]) -> ApiKey:
        return await self._caller(request, Scope.WRITE)

    async def _caller(self, request: Request[Any, Any, Any], scope: Scope) -> ApiKey:
        key = await caller(request, self.app.authenticator, scope)
        if self._organizations is not None:
            await self._organizations.prepare(key.organization_id)
        return key

    async def answer(
        self,
        key: ApiKey,
        body: _Body,
        *,
        headers: Mapping[str, str] | None = None,
        location: str | None = None,
    ) -> Response[_Body]:
        """Return a response whose body has the type that the operation declares.

        ``location`` is the path of a new resource or job.
        """
        fields: Mapping[str, Any] = to_builtins(body) if isinstance(body, Struct) else body
        if self._organizations is not None:
            fields = self._organizations.beside(fields, key.organization_id)
        located = {} if location is None else {"Location": location}
        return Response(cast("_Body", fields), headers={**(headers or {}), **located})
