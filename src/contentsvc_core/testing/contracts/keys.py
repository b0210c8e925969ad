"""The contract of :class:`.ApiKeys`: found by prefix, limited in number, revoked together with the keys they issued."""

from datetime import timedelta
from typing import Any, Final, TypeAlias

from attrs import evolve

from contentsvc_core.access.keys import ISSUER_ENDED, ApiKey, Scope, digest
from contentsvc_core.errors import Unstorable
from contentsvc_core.ports import ApiKeys
from contentsvc_core.refusals import too_many
from contentsvc_core.testing.contracts.trials import Contract, Trial
from contentsvc_core.testing.parts import START

_Trial: TypeAlias = Trial[ApiKeys]

#: The contract of the API keys. Each guarantee needs an empty store that knows two organizations.
KEYS: Final = Contract[ApiKeys]()

_HOUR: Final = timedelta(hours=1)


def _a_key(trial: _Trial, hours: int = 0, **fields: Any) -> ApiKey:  # noqa: ANN401  # fields of a key
    prefix = f"csk_{trial.token(10)}"
    values: dict[str, Any] = {
        "prefix": prefix,
        "organization_id": trial.own,
        "name": "CI ⚙",
        "digest": digest(prefix),
        "scopes": (Scope.WRITE, Scope.READ),
        "created_at": START + hours * _HOUR,
    }
    return ApiKey(**values | fields)


async def _added(trial: _Trial, hours: int = 0, **fields: Any) -> ApiKey:  # noqa: ANN401  # as above
    key = _a_key(trial, hours, **fields)
    trial.same(await trial.store.add(key), None)
    return key


@KEYS.guarantee("a key reads back as it was by its prefix alone, which differs by case")
async def _reads_back(trial: _Trial) -> None:
    store = trial.store
    plain = await _added(trial, prefix="csk_abcdefghij", digest="1" * 64)
    case = await _added(trial, prefix="csk_abcdefghiJ", digest="2" * 64)
    full = await _added(
        trial,
        scopes=(Scope.READ, Scope.ADMIN),
        issued_by=plain.prefix,
        expires_at=START + timedelta(days=1),
        revoked_at=START + timedelta(days=2),
        last_used_at=START + timedelta(days=3, milliseconds=1),
    )
    for key in (plain, case, full):
        trial.same(await store.key(key.prefix), key)
    trial.same(await store.key("csk_unknown"), None)


@KEYS.guarantee("keys are listed oldest first, of one organization or of all")
async def _are_listed(trial: _Trial) -> None:
    store = trial.store
    one, two, three = await _added(trial, 2), await _added(trial, 1, organization_id=trial.foreign), await _added(trial)
    trial.same(await store.keys(trial.own), [three, one])
    trial.same(await store.keys(trial.foreign), [two])
    trial.same(await store.keys(), [three, two, one])
    trial.same(await store.keys("org_unknown"), [])


@KEYS.guarantee("a prefix names one key; another key with it, or one of an unknown organization, is Unstorable")
async def _has_one_prefix(trial: _Trial) -> None:
    store, key = trial.store, await _added(trial)
    await trial.raises(Unstorable, store.add(evolve(key, digest=digest("another"))))
    await trial.raises(Unstorable, store.add(_a_key(trial, organization_id="org_unknown")))
    trial.same(await store.keys(), [key])


@KEYS.guarantee("a revoked key keeps its first time, and a repeated addition makes no key valid again")
async def _is_revoked(trial: _Trial) -> None:
    store, key, other = trial.store, await _added(trial), await _added(trial)
    trial.same(await store.revoke(key.prefix, START + _HOUR), expected=True)
    trial.same(await store.revoke(key.prefix, START + 2 * _HOUR), expected=True)
    trial.same(await store.revoke("csk_unknown", START), expected=False)
    trial.same(await store.add(key), None)
    trial.same(await store.key(key.prefix), evolve(key, revoked_at=START + _HOUR))
    trial.same(await store.key(other.prefix), other)


@KEYS.guarantee("the last use of a key is noted, also after the clock was set back")
async def _is_touched(trial: _Trial) -> None:
    store, key, other = trial.store, await _added(trial), await _added(trial)
    await store.touch("csk_unknown", START)
    for hours in (2, 1):
        await store.touch(key.prefix, START + hours * _HOUR)
        trial.same(await store.key(key.prefix), evolve(key, last_used_at=START + hours * _HOUR))
    trial.same(await store.key(other.prefix), other)


@KEYS.guarantee("concurrent additions keep the most active keys of an organization; others and ended ones do not count")
async def _are_limited(trial: _Trial) -> None:
    store = trial.store
    ended = [await _added(trial, revoked_at=START), await _added(trial, expires_at=START + _HOUR)]
    await _added(trial, organization_id=trial.foreign)
    new = [_a_key(trial, 1) for _ in range(5)]
    answers = await trial.at_once(*(store.add(key, at_most=2) for key in new))
    trial.same(sorted(answers, key=str), [None, None, *[too_many("active API keys", 2)] * 3])
    added = [key for key, answer in zip(new, answers, strict=True) if answer is None]
    trial.same({key.prefix for key in await store.keys(trial.own)}, {key.prefix for key in (*ended, *added)})
    # A repeated key does not count twice, and a key that ends makes room.
    trial.same(await store.add(added[0], at_most=2), None)
    trial.same(await store.revoke(added[0].prefix, START + _HOUR), expected=True)
    trial.same(await store.add(_a_key(trial, 1), at_most=2), None)


@KEYS.guarantee("a key is revoked with the keys that it issued, directly or not, and with no other ones")
async def _ends_with_its_issuer(trial: _Trial) -> None:
    store, root, other = trial.store, await _added(trial), await _added(trial)
    child = await _added(trial, issued_by=root.prefix)
    # The clock was set back between them.
    grandchild = await _added(trial, -1, issued_by=child.prefix)
    ended = await _added(trial, issued_by=root.prefix, revoked_at=START + _HOUR)
    end = START + 2 * _HOUR
    trial.same(await store.revoke(root.prefix, end), expected=True)
    found = {key.prefix: key.revoked_at for key in await store.keys(trial.own)}
    expected = {**dict.fromkeys((root.prefix, child.prefix, grandchild.prefix), end), other.prefix: None}
    trial.same(found, {**expected, ended.prefix: START + _HOUR})


@KEYS.guarantee("an unknown, foreign, revoked or expired key issues none")
async def _issues_none(trial: _Trial) -> None:
    store = trial.store
    foreign, revoked = await _added(trial, organization_id=trial.foreign), await _added(trial, revoked_at=START)
    expired = await _added(trial, expires_at=START + _HOUR)
    for issuer in ("csk_unknown", foreign.prefix, revoked.prefix, expired.prefix):
        child = _a_key(trial, 1, issued_by=issuer)
        trial.same(await store.add(child), ISSUER_ENDED)
        trial.same(await store.key(child.prefix), None)


@KEYS.guarantee("a key that is issued while its issuer is revoked is revoked, or is not stored")
async def _is_not_issued_while_revoked(trial: _Trial) -> None:
    store = trial.store
    for revoked_first in range(4):
        issuer = await _added(trial)
        children = [_a_key(trial, issued_by=issuer.prefix) for _ in range(4)]
        calls: list[Any] = [store.add(child) for child in children]
        calls.insert(revoked_first, store.revoke(issuer.prefix, START))
        await trial.at_once(*calls)
        trial.same([key.prefix for key in await store.keys(trial.own) if key.revoked_at is None], [])
