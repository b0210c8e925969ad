"""Changes of brand identities, and the check of a named identity (decisions, ``/v1`` 'Brand identities')."""

from collections.abc import Collection, Mapping
from typing import Any, final

from contentsvc_core.content.brand import BrandIdentity, no_such_brand
from contentsvc_core.content.brand_changes import UNKNOWN_BRAND, read_brand_change
from contentsvc_core.content.site_addresses import SiteHost
from contentsvc_core.identifiers import is_own_id
from contentsvc_core.ports import BrandIdentities, Clock
from contentsvc_core.refusals import Refusal


async def unknown_brand(brands: BrandIdentities, organization_id: str, brand_id: str | None) -> Refusal | None:
    """Return the refusal of an unknown identity; ``None``: the identity exists, or none is named."""
    if brand_id is None or (is_own_id(brand_id) and await brands.identity(organization_id, brand_id) is not None):
        return None
    return no_such_brand(brand_id)


@final
class BrandEditor:
    """Changes identities."""

    def __init__(self, brands: BrandIdentities, clock: Clock, *, opened: Collection[SiteHost] = ()) -> None:
        self._brands = brands
        self._clock = clock
        self._opened = opened

    async def change(self, organization_id: str, brand_id: str, given: Mapping[str, Any]) -> BrandIdentity | Refusal:
        """Change fields of an identity, named as in :class:`~contentsvc_core.content.brand.BrandIdentity`."""
        change = read_brand_change(given, at=self._clock.now(), opened=self._opened)
        if isinstance(change, Refusal):
            return change
        return await self._brands.change(organization_id, brand_id, change) if is_own_id(brand_id) else UNKNOWN_BRAND
