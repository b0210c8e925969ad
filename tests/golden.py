"""The golden deliveries: files in ``deliveries/``, named ``<event header>__<variant>.json``, with expected results.

Deliveries of the specification's provider are in the folder itself, and those of each other provider in a subfolder.
"""

import json
from pathlib import Path
from typing import Any, Final, final

from attrs import frozen

from contentsvc_core.testing import address, signed
from contentsvc_core.webhooks.delivery import Address, Delivery, Headers
from contentsvc_core.webhooks.providers import DEFAULT_PROVIDER
from contentsvc_core.workflows.causes import Delivered
from contentsvc_core.workflows.runs import WorkflowRun

FOLDER: Final = Path(__file__).parent / "deliveries"
#: The repository of the golden deliveries.
REPOSITORY_ID: Final = 4242
REPOSITORY: Final = "acme/lighthouse"
#: The delivery id in their answers.
DELIVERY_ID: Final = "11111111-2222-4333-8444-555555555555"


def delivered(run: WorkflowRun) -> Delivered:
    """Return the delivery that has started a run."""
    assert isinstance(run.cause, Delivered)
    return run.cause


@final
@frozen(kw_only=True)
class Golden:
    """One golden delivery."""

    name: str
    #: The slug of the provider.
    provider: str
    event: str
    body: bytes
    content_type: str
    #: ``status``, ``answer`` (missing if only the status is fixed), ``log``, ``context``, ``runs``; ``also``: the
    #: further events of the delivery.
    expected: dict[str, Any]

    def delivery(self, at: Address, secret: str, delivery_id: str = DELIVERY_ID) -> Delivery:
        """Sign the delivery for an address."""
        created = signed(self.body, at=at, secret=secret, event=self.event, delivery_id=delivery_id)
        headers = Headers.of(
            (name, self.content_type.encode() if name == b"content-type" else value) for name, value in created.headers
        )
        return Delivery(address=created.address, headers=headers, body=created.body)


def _read(path: Path, provider: str = DEFAULT_PROVIDER.slug) -> Golden:
    stored = json.loads(path.read_text("utf-8"))
    if "bodyHex" in stored:
        body = bytes.fromhex(stored["bodyHex"])
    elif "bodyText" in stored:
        body = stored["bodyText"].encode()
    else:
        body = json.dumps(stored["body"], ensure_ascii=False).encode()
    return Golden(
        name=path.stem,
        provider=provider,
        event=stored["event"],
        body=body,
        content_type=stored.get("contentType", "application/json"),
        expected=stored["expected"],
    )


#: The golden deliveries of the specification's provider.
GOLDEN: Final = tuple(_read(path) for path in sorted(FOLDER.glob("*.json")))
#: The golden deliveries of the other providers.
OTHERS: Final = tuple(_read(path, path.parent.name) for path in sorted(FOLDER.glob("*/*.json")))
#: The repositories whose id the provider computes.
_NUMBERS: Final = {"bitbucket": 5835474751540815}


def golden_address(provider: str) -> Address:
    return address(
        provider=provider,
        organization_id="org_1",
        integration_id="int_1",
        repository_id=_NUMBERS.get(provider, REPOSITORY_ID),
    )
