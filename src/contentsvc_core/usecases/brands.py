from collections.abc import Collection
from typing import final

from attrs import field, frozen

from contentsvc_core.commands import values_of
from contentsvc_core.content.brand import BrandIdentity
from contentsvc_core.content.brand_changes import BrandChange, ChangeBrand, CreateBrand, read_brand_change
from contentsvc_core.content.site_addresses import SiteHost
from contentsvc_core.ports import BrandIdentities, Clock, IdSource
from contentsvc_core.refusals import Refusal


@final
@frozen(eq=False, repr=False)
class BrandEditor:
    """Creates and changes brand identities; refuses a name that the organization has given to another one."""

    _brands: BrandIdentities
    _clock: Clock
    _ids: IdSource
    _opened: Collection[SiteHost] = field(default=(), kw_only=True, alias="opened")

    async def create(self, organization_id: str, command: CreateBrand) -> BrandIdentity | Refusal:
        now = self._clock.now()
        read = read_brand_change(values_of(command), at=now, opened=self._opened)
        if isinstance(read, Refusal):
            return read
        values = {**read.values}
        becomes_default = values.pop("is_default")
        brand = BrandIdentity(
            id=self._ids.new_id("brand_"), organization_id=organization_id, created_at=now, updated_at=now, **values
        )
        added = await self._brands.add(brand)
        if isinstance(added, Refusal) or added.is_default or not becomes_default:
            return added
        return await self._brands.change(organization_id, added.id, BrandChange(values={"is_default": True}, at=now))

    async def change(self, organization_id: str, brand_id: str, command: ChangeBrand) -> BrandIdentity | Refusal:
        change = read_brand_change(values_of(command), at=self._clock.now(), opened=self._opened)
        if isinstance(change, Refusal):
            return change
        return await self._brands.change(organization_id, brand_id, change)
