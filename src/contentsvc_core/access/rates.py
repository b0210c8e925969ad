import re
from hashlib import sha256
from typing import Final, Self, final

from attrs import evolve, frozen

from contentsvc_core.webhooks.providers import PROVIDERS

_PARAMETER: Final = re.compile(r"\{[^{}]*\}")
#: The usual window, in milliseconds (specification 8.1).
WINDOW_MS: Final = 60_000
_HOUR_MS: Final = 60 * WINDOW_MS
_DAY_MS: Final = 24 * _HOUR_MS


@final
@frozen(kw_only=True)
class Rate:
    """The limit of an operation in a window of time."""

    method: str
    #: The route's template: all values of its parameters count as one operation.
    template: str
    limit: int
    #: All keys and sessions of an organization share one bucket. Otherwise each key has its own.
    is_shared: bool = False
    #: The time for which an admitted request counts. A request exactly this much later does not count it.
    window_ms: int = WINDOW_MS

    def __attrs_post_init__(self) -> None:
        if self.limit < 1 or self.window_ms < 1:
            message = f"a limit and its window must be at least 1, not {self.limit} in {self.window_ms} ms"
            raise ValueError(message)


def connecting_path(slug: str) -> str:
    return f"/v1/integrations/{slug}"


#: The specified limits, by API key. Connecting a repository has the same limit for each provider, and a bucket of each.
RATES: Final = (
    Rate(method="POST", template="/v1/posts/generate", limit=10),
    Rate(method="PATCH", template="/v1/posts/{postId}", limit=60),
    Rate(method="POST", template="/v1/brand-identities/generate", limit=5),
    *(Rate(method="POST", template=connecting_path(provider.slug), limit=20) for provider in PROVIDERS),
)
#: The keys of one organization together are admitted this many times the limit of one key.
ORGANIZATION_TIMES: Final = 10
#: One search a second: an agent that reads its hits searches less often.
SEARCHING: Final = Rate(method="GET", template="/v1/context", limit=60, is_shared=True)
#: A preview is requested at most every 0.4 s of typing (150 times a minute), by two people at once.
PREVIEWING: Final = Rate(method="POST", template="/dashboard/preview", limit=300, is_shared=True)
#: Keys are issued by hand; a leaked session must not leave a hundred of them behind within minutes.
ISSUING_KEYS: Final = Rate(method="POST", template="/dashboard/keys", limit=5, is_shared=True)
CREATING_ENDPOINTS: Final = Rate(method="POST", template="/v1/webhook-endpoints", limit=30, is_shared=True)
TESTING_ENDPOINTS: Final = Rate(
    method="POST", template="/v1/webhook-endpoints/{endpointId}/test", limit=20, is_shared=True
)
#: One post a second, as for changes: a script that imports the changelog of another product.
CREATING_POSTS: Final = Rate(method="POST", template="/v1/posts", limit=60, is_shared=True)
#: Each of these requests may change 500 posts, which takes some seconds.
CHANGING_SEVERAL: Final = Rate(method="POST", template="/v1/posts/bulk", limit=12, is_shared=True)
RESTORING: Final = Rate(
    method="POST", template="/v1/posts/{postId}/versions/{number}/restore", limit=60, is_shared=True
)
#: Each of these requests replays 25 deliveries, and each delivery may start as many runs as there are triggers.
REPLAYING: Final = Rate(method="POST", template="/v1/webhook-logs/replay", limit=60, is_shared=True)
#: Each rotation calls the code host. Secrets are rotated a few times a year.
ROTATING: Final = Rate(
    method="POST", template="/v1/integrations/{integrationId}/rotate-secret", limit=20, is_shared=True
)
#: Each of these requests calls the code host for up to 20 s. An outage is reconciled a few times.
RECONCILING: Final = Rate(
    method="POST", template="/v1/integrations/{integrationId}/reconcile", limit=20, is_shared=True
)
#: Limits that the specification does not name, by organization.
SHARED_RATES: Final = (
    *(SEARCHING, PREVIEWING, ISSUING_KEYS, CREATING_ENDPOINTS, TESTING_ENDPOINTS),
    *(CREATING_POSTS, CHANGING_SEVERAL, RESTORING, REPLAYING, ROTATING, RECONCILING),
)
#: Requests for confirmation mails, by address: a reader subscribes to a few changelogs, and mistypes an address.
SUBSCRIBING: Final = Rate(method="POST", template="/changelog/{slug}/subscribe", limit=6)
#: The same of an organization: strangers choose the addresses. A changelog that is in the news has that many readers.
SUBSCRIBING_TOGETHER: Final = Rate(method="POST", template="/changelog/{slug}/subscribe", limit=60, is_shared=True)
#: The same of an e-mail address, in all changelogs of the service: strangers enter it, and each mail of them is
#: unwanted. A reader subscribes to a few changelogs on one day.
SUBSCRIBING_ADDRESS: Final = Rate(
    method="POST", template="/changelog/{slug}/subscribe", limit=10, is_shared=True, window_ms=_DAY_MS
)
#: Confirmation mails to recipients of alerts, by the recipient's address: an owner who waits for the mail looks for it
#: within minutes, and one mail an hour is no nuisance.
CONFIRMING: Final = Rate(
    method="POST", template="/v1/webhook-endpoints/{endpointId}/confirmations", limit=1, window_ms=_HOUR_MS
)
#: The same of an organization: a team enters its two endpoints with ten addresses each on one day.
CONFIRMING_TOGETHER: Final = Rate(
    method="POST",
    template="/v1/webhook-endpoints/{endpointId}/confirmations",
    limit=20,
    is_shared=True,
    window_ms=_DAY_MS,
)
#: Failed sign-ins, by address. A person mistypes a key a few times; an office may share one address.
FAILED_SIGN_INS: Final = Rate(method="POST", template="/dashboard/sign-in", limit=20)

#: Sign-ins, by key: each stores a session for a day, also with a key that may only read.
SIGN_INS: Final = Rate(method="POST", template="/dashboard/sign-in", limit=60)


def _operation(method: str, template: str) -> tuple[str, str]:
    return method, _PARAMETER.sub("{}", template)


_BY_OPERATION: Final = {_operation(rate.method, rate.template): rate for rate in (*RATES, *SHARED_RATES)}


def rate_of(method: str, template: str) -> Rate | None:
    """Return the rate of an operation, whatever its parameters' names; ``None``: the operation is not limited."""
    return _BY_OPERATION.get(_operation(method, template))


@final
@frozen(kw_only=True)
class Bucket:
    """The counter of one rate for one client."""

    rate: Rate
    #: Any text that names the client, such as ``address 192.0.2.1``.
    client: str

    @classmethod
    def of_key(cls, rate: Rate, prefix: str) -> Self:
        return cls(rate=rate, client=f"key {prefix}")

    @classmethod
    def of_organization(cls, rate: Rate, organization_id: str) -> Self:
        if not rate.is_shared:
            rate = evolve(rate, limit=rate.limit * ORGANIZATION_TIMES)
        return cls(rate=rate, client=f"organization {organization_id}")

    @classmethod
    def of_address(cls, rate: Rate, address: str) -> Self:
        """Return the bucket of requests without a valid key: a wrong key never touches the bucket of a valid one."""
        return cls(rate=rate, client=f"address {address}")

    @classmethod
    def of_recipient(cls, organization_id: str, address: str) -> Self:
        """Return the bucket of mails of an organization to an e-mail address."""
        return cls(rate=CONFIRMING, client=f"recipient {organization_id} {address}")

    @classmethod
    def of_reader(cls, address: str) -> Self:
        """Return the bucket of mails of all organizations to an e-mail address.

        It has a digest of the address, because it is kept longer than the address of a reader who has left.
        """
        return cls(rate=SUBSCRIBING_ADDRESS, client=f"reader {sha256(address.encode()).hexdigest()}")

    @property
    def name(self) -> str:
        """Return the key of the bucket in a store. A changed limit or window keeps it."""
        return f"{self.rate.method} {self.rate.template} {self.client}"
