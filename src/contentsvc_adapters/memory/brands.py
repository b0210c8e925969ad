from collections.abc import Sequence
from typing import final

from attrs import evolve

from contentsvc_adapters.memory.state import MemoryStore, of_organization, own, refuse_unstorable
from contentsvc_core.content.brand import BrandIdentity
from contentsvc_core.content.brand_changes import BrandChange, add_brand, change_brand, remove_brand
from contentsvc_core.errors import Unstorable
from contentsvc_core.refusals import Refusal
from contentsvc_core.workflows.removals import Removed, removal_of_brand
from contentsvc_core.workflows.runs import RunStatus, WorkflowRun


@final
class MemoryBrandIdentities(MemoryStore):
    async def add(self, brand: BrandIdentity) -> BrandIdentity | Refusal:
        refuse_unstorable(brand)
        self._state.refuse_stranger(brand.organization_id)
        stored = self._state.brands.get(brand.id)
        if stored is not None:
            if stored.organization_id != brand.organization_id:
                raise Unstorable.of_another(brand.id)
            return stored
        added = add_brand(await self.identities(brand.organization_id), brand)
        if isinstance(added, BrandIdentity):
            self._state.brands[brand.id] = added
        return added

    async def complete(self, run: WorkflowRun, brand: BrandIdentity) -> BrandIdentity | Refusal | None:
        running = self._state.owned_by_taker(run)
        if running is None:
            return None
        added = await self.add(brand)
        if isinstance(added, BrandIdentity):
            self._state.put_run(evolve(running, status=RunStatus.COMPLETED, error=None))
        return added

    async def identity(self, organization_id: str, brand_id: str) -> BrandIdentity | None:
        return own(self._state.brands, organization_id, brand_id)

    async def identities(self, organization_id: str) -> Sequence[BrandIdentity]:
        return of_organization(self._state.brands.values(), organization_id, newest_first=False)

    async def default(self, organization_id: str) -> BrandIdentity | None:
        return next((each for each in await self.identities(organization_id) if each.is_default), None)

    async def change(self, organization_id: str, brand_id: str, change: BrandChange) -> BrandIdentity | Refusal:
        changed = change_brand(await self.identities(organization_id), brand_id, change)
        if isinstance(changed, Refusal):
            return changed
        refuse_unstorable(changed[-1])
        self._state.brands |= {each.id: each for each in changed}
        return changed[-1]

    async def remove(self, organization_id: str, brand_id: str) -> Removed | Refusal:
        refused = remove_brand(await self.identities(organization_id), brand_id)
        if refused is not None:
            return refused
        del self._state.brands[brand_id]
        self._state.versions[organization_id] += 1
        return self._state.disable(organization_id, removal_of_brand(brand_id))
