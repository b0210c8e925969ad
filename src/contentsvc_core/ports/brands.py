from collections.abc import Sequence
from enum import Enum
from typing import Protocol, final

from attrs import frozen

from contentsvc_core.content.brand import BrandIdentity
from contentsvc_core.content.brand_changes import BrandChange
from contentsvc_core.refusals import Refusal
from contentsvc_core.workflows.removals import Removed
from contentsvc_core.workflows.runs import WorkflowRun


class BrandIdentities(Protocol):
    """The brand identities (decisions, ``/v1``). An organization with identities has exactly one default identity."""

    async def add(self, brand: BrandIdentity) -> BrandIdentity | Refusal:
        """Store an identity and return the stored one. The first identity of an organization becomes its default.

        ``BRAND_NAME_TAKEN``: the organization has an identity of that name, compared without case; nothing was
        written. A stored identity with this id is returned unchanged, even when it was edited since.
        """
        ...

    async def complete(self, run: WorkflowRun, brand: BrandIdentity) -> BrandIdentity | Refusal | None:
        """Store like :meth:`add`, and complete the run, in one transaction; ``None``: lost run, nothing was written."""
        ...

    async def identity(self, organization_id: str, brand_id: str) -> BrandIdentity | None: ...

    async def identities(self, organization_id: str) -> Sequence[BrandIdentity]:
        """List an organization's identities, oldest first."""
        ...

    async def default(self, organization_id: str) -> BrandIdentity | None: ...

    async def change(self, organization_id: str, brand_id: str, change: BrandChange) -> BrandIdentity | Refusal:
        """Apply a change in one transaction; a new default replaces the former one. A refusal writes nothing."""
        ...

    async def remove(self, organization_id: str, brand_id: str) -> Removed | Refusal:
        """Delete an identity and, in one transaction, disable the schedules and triggers that name it.

        The result lists the enabled ones; they keep the identity's id. The organization's version is raised.
        """
        ...


class SiteFault(Enum):
    """The kind of a failed reading: lasting or passing."""

    #: A retry would fail again: the site refused, the page was not found, or the answer is no page.
    LASTING = "lasting"
    #: A retry may work later: no answer, a timeout, or a server error of the site.
    PASSING = "passing"


@final
@frozen(kw_only=True)
class SitePage:
    #: The final URL, after redirects.
    url: str
    #: The decoded beginning of the page, unchecked.
    html: str


@final
@frozen(kw_only=True)
class NotRead:
    """A failed reading. Its text is shown to the user, and discloses nothing about the service's own network."""

    fault: SiteFault
    error: str


class SiteReader(Protocol):
    """Reads pages of sites that users name. The URLs are untrusted."""

    async def read(self, url: str) -> SitePage | NotRead:
        """Read a page.

        Only ``http`` and ``https`` URLs at addresses that :mod:`~contentsvc_core.content.site_addresses` allows are
        read. Each IP address of a host name must be public, else the name is refused; the connection uses a checked
        address. Redirects are checked alike. Time and size are limited; a larger page is cut at the limit.
        """
        ...
