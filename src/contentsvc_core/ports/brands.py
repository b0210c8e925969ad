"""The ports for brand identities, and for reading the sites that they are made from."""

from collections.abc import Sequence
from enum import Enum
from typing import Protocol, final

from attrs import frozen

from contentsvc_core.content.brand import BrandIdentity
from contentsvc_core.content.brand_changes import BrandChange
from contentsvc_core.organizations import Removed
from contentsvc_core.refusals import Refusal
from contentsvc_core.workflows.runs import WorkflowRun


class BrandIdentities(Protocol):
    """The brand identities (decisions, ``/v1``). An organization with identities has exactly one default identity."""

    async def add(self, brand: BrandIdentity) -> BrandIdentity | Refusal:
        """Store an identity and return the stored one. The first identity of an organization becomes its default.

        ``NAME_TAKEN``: the organization has an identity of that name, compared without case; nothing was written. A
        stored identity with this id is returned unchanged, even when it was edited since.
        """
        ...

    async def complete(self, run: WorkflowRun, brand: BrandIdentity) -> BrandIdentity | Refusal | None:
        """Store the identity that a run has made, as :meth:`add` does, and complete the run, in one transaction.

        ``NAME_TAKEN``, or ``None`` (the run was cancelled, or another process has taken it): nothing was written.
        """
        ...

    async def identity(self, organization_id: str, brand_id: str) -> BrandIdentity | None:
        """Return an identity; ``None``: it is unknown."""
        ...

    async def identities(self, organization_id: str) -> Sequence[BrandIdentity]:
        """List an organization's identities, oldest first."""
        ...

    async def default(self, organization_id: str) -> BrandIdentity | None:
        """Return the default identity; ``None``: the organization has no identity."""
        ...

    async def is_taken(self, organization_id: str, name: str) -> bool:
        """Check whether an identity has a name, compared without case. :meth:`add` checks again."""
        ...

    async def change(self, organization_id: str, brand_id: str, change: BrandChange) -> BrandIdentity | Refusal:
        """Apply a change to the current identity, in one transaction, and return the new identity.

        A new default replaces the former one. ``UNKNOWN``, ``NAME_TAKEN``, ``LEAVES_NO_DEFAULT``: nothing was written.
        """
        ...

    async def remove(self, organization_id: str, brand_id: str) -> Removed | Refusal:
        """Delete an identity and, in one transaction, disable the schedules and triggers that name it.

        The result lists the ones that were enabled. They keep the identity's id: else two triggers might become equal.
        The organization's version is raised. ``UNKNOWN``, ``DELETES_DEFAULT``: nothing was written.
        """
        ...


class SiteFault(Enum):
    """Whether a retry may help."""

    #: A retry would fail again: the site refused, the page was not found, or the answer is no page.
    LASTING = "lasting"
    #: A retry may work later: no answer, a timeout, or a server error of the site.
    PASSING = "passing"


@final
@frozen(kw_only=True)
class SitePage:
    """A page as it was read."""

    #: The final URL, after redirects.
    url: str
    #: The decoded beginning of the page, unchecked.
    html: str


@final
@frozen(kw_only=True)
class NotRead:
    """Why nothing was read. The text is shown to the user, and discloses nothing about the service's own network."""

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
