"""Which operations are limited, and whose requests are counted together (specification 8.1)."""

import re
from typing import Final, Self, final

from attrs import frozen

_PARAMETER: Final = re.compile(r"\{[^{}]*\}")


@final
@frozen(kw_only=True)
class Rate:
    """How often an operation may be asked for in a window of 60 seconds (:data:`~.window.WINDOW_MS`)."""

    method: str
    #: The route's template: whatever stands for a parameter, it is one operation.
    template: str
    limit: int

    def __attrs_post_init__(self) -> None:
        if self.limit < 1:
            message = f"a limit must be at least 1, not {self.limit}"
            raise ValueError(message)


#: Every limited operation; what is not in here has no limit. The last row is the same operation for another provider,
#: with a bucket of its own.
RATES: Final = (
    Rate(method="POST", template="/v1/posts/generate", limit=10),
    Rate(method="PATCH", template="/v1/posts/{postId}", limit=60),
    Rate(method="POST", template="/v1/brand-identities/generate", limit=5),
    Rate(method="POST", template="/v1/integrations/codehost", limit=20),
    Rate(method="POST", template="/v1/integrations/github", limit=20),
)


def _place(method: str, template: str) -> tuple[str, str]:
    # What a driver calls its parameters is its own affair.
    return method, _PARAMETER.sub("{}", template)


_BY_PLACE: Final = {_place(rate.method, rate.template): rate for rate in RATES}


def rate_of(method: str, template: str) -> Rate | None:
    """Give the rate of an operation; ``None``: it is not limited.

    Args:
        method: In capitals.
        template: The route's, such as ``/v1/posts/{post_id}``; the names of its parameters do not matter.
    """
    return _BY_PLACE.get(_place(method, template))


@final
@frozen(kw_only=True)
class Bucket:
    """Whose requests for which operation are counted together."""

    rate: Rate
    #: The caller: a key by its prefix, or an address.
    client: str

    @classmethod
    def of_key(cls, rate: Rate, prefix: str) -> Self:
        """Give the bucket of a key that opens (specification 5.1)."""
        return cls(rate=rate, client=f"key {prefix}")

    @classmethod
    def of_address(cls, rate: Rate, address: str) -> Self:
        """Give the bucket of whoever has no such key: a wrong one never touches the bucket of a real one."""
        return cls(rate=rate, client=f"address {address}")

    @property
    def name(self) -> str:
        """Give what the bucket is stored under: one text for each bucket, the same in every version."""
        return f"{self.rate.method} {self.rate.template} {self.client}"
