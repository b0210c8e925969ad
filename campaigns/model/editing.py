"""Operations on triggers and posts."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from attrs import evolve
from campaigns.model.model import Model
from campaigns.model.sides import Side, Step, Stores

from contentsvc_core.content.posts import Post, PostStatus
from contentsvc_core.refusals import Refusal
from contentsvc_core.workflows.triggers import DUPLICATE_TRIGGER, UNKNOWN_TRIGGER, Trigger
from contentsvc_core.zones import DEFAULT_ZONE


def _work(trigger: Trigger) -> tuple[object, ...]:
    """Return the work that must be unique in an organization (decisions, ``/v1``): 409."""
    kinds = set(trigger.event_types) or {"push", "release"}
    return (
        trigger.organization_id,
        trigger.source_type,
        set(trigger.repository_ids),
        kinds,
        trigger.output_type,
        trigger.brand_identity_id,
    )


def add_trigger(stores: Stores, trigger: Trigger) -> Step:
    """Add a trigger, unless another one does the same work; adding the same trigger again changes nothing."""

    def predict(model: Model) -> Trigger | Refusal:
        if trigger.id in model.triggers:
            return trigger
        if any(_work(trigger) == _work(other) for other in model.triggers.values()):
            return DUPLICATE_TRIGGER
        model.triggers[trigger.id] = trigger
        return trigger

    return Step(what=f"add {trigger}", perform=lambda: stores.triggers.add(trigger), predict=predict)


def change_trigger(
    stores: Stores, organization_id: str, trigger_id: str, repository_ids: Sequence[int], kinds: Sequence[str]
) -> Step:
    """Change a trigger of the named organization, or of another one."""

    def change(trigger: Trigger, _zone: ZoneInfo = DEFAULT_ZONE) -> Trigger:
        return evolve(trigger, repository_ids=repository_ids, event_types=kinds)

    def predict(model: Model) -> Trigger | Refusal:
        trigger = model.triggers.get(trigger_id)
        if trigger is None or trigger.organization_id != organization_id:
            return UNKNOWN_TRIGGER
        changed = change(trigger)
        others = [other for other in model.triggers.values() if other.id != trigger_id]
        if any(_work(changed) == _work(other) for other in others):
            return DUPLICATE_TRIGGER
        model.triggers[trigger_id] = changed
        return changed

    return Step(
        what=f"change {trigger_id} of {organization_id} to {repository_ids} and {kinds}",
        perform=lambda: stores.triggers.change(organization_id, trigger_id, change),
        predict=predict,
    )


def remove_trigger(stores: Stores, organization_id: str, trigger_id: str) -> Step:
    """Remove a trigger of the named organization, or of another one."""

    def predict(model: Model) -> bool:
        trigger = model.triggers.get(trigger_id)
        if trigger is None or trigger.organization_id != organization_id:
            return False
        del model.triggers[trigger_id]
        return True

    return Step(
        what=f"remove {trigger_id} of {organization_id}",
        perform=lambda: stores.triggers.remove(organization_id, trigger_id),
        predict=predict,
    )


def change_post(side: Side, which: int, at: datetime, *, stale: bool) -> Step | None:
    """Change a post by its current version, or by an earlier one."""
    current = _post_at(side, which)
    if current is None:
        return None
    seen = current.updated_at - timedelta(milliseconds=stale)
    changed = evolve(
        current, title=f"{at}", status=PostStatus.PUBLISHED, updated_at=max(at, seen + timedelta(milliseconds=1))
    )

    def predict(model: Model) -> bool:
        if stale:
            return False
        model.posts[current.id] = changed
        return True

    return Step(
        what=f"change {current.id} as seen at {seen}",
        perform=lambda: side.stores.posts.change(changed, unchanged_since=seen),
        predict=predict,
    )


def remove_post(side: Side, organization_id: str, which: int) -> Step | None:
    """Remove a post of the named organization, or of another one."""
    current = _post_at(side, which)
    if current is None:
        return None

    def predict(model: Model) -> bool:
        if current.organization_id != organization_id:
            return False
        # Its key stays reserved.
        del model.posts[current.id]
        return True

    return Step(
        what=f"remove {current.id} of {organization_id}",
        perform=lambda: side.stores.posts.remove(organization_id, current.id, unchanged_since=current.updated_at),
        predict=predict,
    )


def _post_at(side: Side, which: int) -> Post | None:
    posts = sorted(side.model.posts)
    return side.model.posts[posts[which % len(posts)]] if posts else None
