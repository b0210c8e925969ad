"""Changes of brand identities, and the check of a named identity (decisions, ``/v1`` 'Brand identities')."""

from collections.abc import Collection, Mapping
from typing import Any, final

from contentsvc_core.content.brand import BrandIdentity, UnknownBrand
from contentsvc_core.content.brand_changes import BadChange, BrandFault, read_brand_change
from contentsvc_core.content.site_addresses import SiteHost
from contentsvc_core.identifiers import is_own_id
from contentsvc_core.ports import BrandIdentities, Clock


async def unknown_brand(brands: BrandIdentities, organization_id: str, brand_id: str | None) -> UnknownBrand | None:
    """Return the refusal of an unknown identity; ``None``: the identity exists, or none is named."""
    if brand_id is None or (is_own_id(brand_id) and await brands.identity(organization_id, brand_id) is not None):
        return None
    return UnknownBrand(brand_id)


@final
class BrandEditor:
    """Changes identities."""

    def __init__(self, brands: BrandIdentities, clock: Clock, *, opened: Collection[SiteHost] = ()) -> None:
        self._brands = brands
        self._clock = clock
        self._opened = opened

    async def change(
        self, organization_id: str, brand_id: str, given: Mapping[str, Any]
    ) -> BrandIdentity | BrandFault | BadChange:
        """Change fields of an identity, named as in :class:`~contentsvc_core.content.brand.BrandIdentity`."""
        change = read_brand_change(given, at=self._clock.now(), opened=self._opened)
        if isinstance(change, BadChange):
            return change
        return (
            await self._brands.change(organization_id, brand_id, change) if is_own_id(brand_id) else BrandFault.UNKNOWN
        )
