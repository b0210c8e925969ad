"""The brand identities, and the sites that they are made from."""

from collections.abc import Sequence
from enum import Enum
from typing import Protocol, final

from attrs import frozen

from contentsvc_core.content.brand import BrandIdentity
from contentsvc_core.content.brand_changes import BrandChange, BrandFault
from contentsvc_core.organizations import Removed
from contentsvc_core.workflows.runs import WorkflowRun


class BrandIdentities(Protocol):
    """The brand identities (decisions, ``/v1``). An organization that has any has exactly one default."""

    async def add(self, brand: BrandIdentity) -> BrandIdentity | BrandFault:
        """Add an identity; give it as it stands. The first one of an organization becomes its default.

        ``NAME_TAKEN``: the organization has one of that name, whatever its case; nothing was written. One of the same
        id stands as it is: adding it again is harmless, also when it was changed since.
        """
        ...

    async def complete(self, run: WorkflowRun, brand: BrandIdentity) -> BrandIdentity | BrandFault | None:
        """Add the identity that a run has made, as :meth:`add` does, and end the run as completed: both or nothing.

        ``NAME_TAKEN``: nothing was written. ``None``: neither; the run was cancelled, or somebody else has taken it
        since (:class:`~contentsvc_core.ports.RunLedger`).
        """
        ...

    async def identity(self, organization_id: str, brand_id: str) -> BrandIdentity | None:
        """Find an identity."""
        ...

    async def identities(self, organization_id: str) -> Sequence[BrandIdentity]:
        """List an organization's identities, oldest first."""
        ...

    async def default(self, organization_id: str) -> BrandIdentity | None:
        """Give the default; ``None``: the organization has no identity at all."""
        ...

    async def is_taken(self, organization_id: str, name: str) -> bool:
        """Tell whether an identity has that name, whatever its case: a courtesy, since adding decides."""
        ...

    async def change(self, organization_id: str, brand_id: str, change: BrandChange) -> BrandIdentity | BrandFault:
        """Change an identity as it stands, in one transaction; give what it became.

        One that becomes the default takes that from the other in the same transaction. ``UNKNOWN``, ``NAME_TAKEN``,
        ``LEAVES_NO_DEFAULT``: nothing was written.
        """
        ...

    async def remove(self, organization_id: str, brand_id: str) -> Removed | BrandFault:
        """Remove an identity and, in one transaction, switch off the schedules and triggers that name it.

        Those are listed that were on. They go on naming it: with no name, or another one, a trigger might become the
        same as a second one. The organization's version is raised. ``UNKNOWN``, ``DELETES_DEFAULT``: nothing was
        written.
        """
        ...


class SiteFault(Enum):
    """Whether to try again."""

    #: It would fail again: refused, not found, no page.
    LASTING = "lasting"
    #: It may work in a while: no answer, too slow, a fault of the site.
    PASSING = "passing"


@final
@frozen(kw_only=True)
class Page:
    """What was read."""

    #: Where it was in the end, after redirects.
    url: str
    #: Its beginning, decoded; whatever the site has sent.
    html: str


@final
@frozen(kw_only=True)
class NotRead:
    """Why nothing was read, for whoever named the site; the text tells nothing of our own network."""

    fault: SiteFault
    error: str


class SiteReader(Protocol):
    """Reads a page of a site that somebody has named: anybody, hence with care."""

    async def read(self, url: str) -> Page | NotRead:
        """Read a page.

        Only ``http`` and ``https``, and only at addresses that
        :mod:`~contentsvc_core.content.site_addresses` lets pass: each number of a name is public, else the name is
        refused, and the connection goes to a number that was checked. Redirects are checked alike. Time and size are
        limited; what goes beyond the size is left unread.
        """
        ...
