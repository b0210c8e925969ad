"""Every rule of specification 4.1, in its order: ``locate``, then ``admit``, then ``decide``. Pure and total."""

from collections.abc import Collection
from typing import Final, assert_never

from msgspec.structs import replace

from contentsvc_core import identifiers
from contentsvc_core.events.normalized import RELEASE_ACTIONS, Event, Push, Release
from contentsvc_core.text import one_line
from contentsvc_core.webhooks.delivery import Address, Belonging, Delivery, HookConfiguration, VerifiedDelivery
from contentsvc_core.webhooks.outcomes import Fault, Filtered, Ignored, Outcome, Pong, Processed, Rejected
from contentsvc_core.webhooks.providers import Provider, provider_named
from contentsvc_core.webhooks.providers.decoding import Malformed
from contentsvc_core.webhooks.providers.native import Reading, read_object
from contentsvc_core.workflows.globs import Globs

#: The code host's limit for a body, in bytes.
MAX_BODY: Final = 25 * 1024 * 1024

#: The maximum length of an unknown event kind in answers and logs, in characters.
_KIND_LENGTH: Final = 64
#: How much of a delivery id the ids of its further events begin with, in characters: four remain for their numbers.
_ID_LENGTH: Final = 250
#: A shorter Content-Length is below the limit. A longer one than the second is too large in any case, and int() refuses
#: thousands of digits.
_LARGE_DIGITS: Final = len(str(MAX_BODY))
_LENGTH_DIGITS: Final = 20

BODY_TOO_LARGE: Final = Rejected(fault=Fault.BODY_TOO_LARGE, error="Webhook body exceeds 25 MiB")
_NOT_FOUND: Final = Rejected(fault=Fault.INTEGRATION_NOT_FOUND, error="Integration not found")
_MISMATCH: Final = "Repository does not belong to this integration"
_SHOWN = 100
#: Default branches "usually" (specification 6.1): for code hosts whose deliveries name none.
_USUAL = frozenset({"refs/heads/main", "refs/heads/master"})


def locate(provider: str, organization_id: str, integration_id: str, repository_id: str) -> Address | Rejected:
    """Read the four parts of a webhook's path, which the driver has percent-decoded."""
    if provider_named(provider) is None:
        return _invalid_parameters(f"unknown provider '{one_line(provider, _KIND_LENGTH)}'")
    number = identifiers.repository_id(repository_id)
    if number is None:
        return _invalid_parameters("repositoryId must be a whole number from 1 to 9223372036854775807")
    if not (identifiers.is_own_id(organization_id) and identifiers.is_own_id(integration_id)):
        return _NOT_FOUND
    return Address(
        provider=provider, organization_id=organization_id, integration_id=integration_id, repository_id=number
    )


def preflight(delivery: Delivery, hook: HookConfiguration | None) -> Rejected | None:
    """Check what needs no body, so that a driver can refuse a delivery before it reads the body.

    Of the body, only the length in the headers is checked.
    """
    # One text for every reason: the answer reveals nothing.
    if hook is None:
        return _NOT_FOUND
    # The announced length may be wrong: a driver counts while it reads, too.
    headers = delivery.headers
    announced = headers.sole.get(b"content-length", b"")
    if (
        len(announced) >= _LARGE_DIGITS
        and announced.isdigit()
        and (len(announced) > _LENGTH_DIGITS or int(announced) > MAX_BODY)
    ):
        return rejected(delivery, Fault.BODY_TOO_LARGE, BODY_TOO_LARGE.error)
    if b"content-encoding" in headers.names and is_encoded(headers.values(b"content-encoding")):
        return rejected(delivery, Fault.ENCODED_BODY, "Content-Encoding is not supported")
    return None


def is_encoded(values: Collection[bytes]) -> bool:
    """Return whether the values of ``Content-Encoding`` name any coding but ``identity`` (RFC 9110, section 8.4)."""
    codings = (coding.strip().lower() for value in values for coding in value.split(b","))
    return any(coding not in {b"", b"identity"} for coding in codings)


def admit(delivery: Delivery, hook: HookConfiguration | None) -> VerifiedDelivery | Rejected:
    """Verify a delivery before its body is parsed (specification 4.1, step 1, and 7).

    ``hook`` is the configuration of the delivery's address; ``None``: no integration has the address.
    """
    if (refused := preflight(delivery, hook)) is not None:
        return refused
    assert hook is not None
    if len(delivery.body) > MAX_BODY:
        return rejected(delivery, Fault.BODY_TOO_LARGE, BODY_TOO_LARGE.error)
    # Specification 4.1, step 1: over the raw bytes, before anything is parsed.
    if not hook.verifies(delivery.body, delivery.headers.value(hook.provider.scheme.name)):
        return rejected(delivery, Fault.INVALID_SIGNATURE, "Invalid webhook signature")
    # Step 5. After the signature, so that an unsigned probe learns nothing.
    return VerifiedDelivery(delivery=delivery, hook=hook) if hook.is_open else _closed(delivery, hook)


def _closed(delivery: Delivery, hook: HookConfiguration) -> Rejected:
    if not hook.enabled:
        return rejected(delivery, Fault.INTEGRATION_DISABLED, "Integration is disabled")
    if hook.repository is Belonging.UNKNOWN:
        return rejected(delivery, Fault.REPOSITORY_NOT_FOUND, "Repository not found")
    return rejected(delivery, Fault.REPOSITORY_MISMATCH, _MISMATCH)


def decide(verified: VerifiedDelivery) -> Outcome:
    """Return the outcome of a verified delivery (specification 4.1, steps 3 to 6); the store performs step 2."""
    delivery, hook = verified.delivery, verified.hook
    headers, provider = delivery.headers, hook.provider
    kind, delivery_id = _text(headers.value(provider.kind_name)), _text(headers.value(provider.id_name))
    reader = provider.readers.get(kind)
    # Checked together: nearly all deliveries have a known kind and a valid id.
    if (reader is None or not identifiers.is_delivery_id(delivery_id)) and (
        refused := _header_fault(delivery, provider)
    ):
        return refused
    if headers.sole.get(b"content-type") != b"application/json" and (fault := _content_type_fault(delivery)):
        return _invalid_payload(delivery, fault)
    try:
        if reader is None:
            read_object(delivery.body)
            # Steps 4 and 6.3: kinds without effects.
            return (
                Pong(delivery_id=delivery_id)
                if kind == "ping"
                else Ignored(kind=one_line(kind, _KIND_LENGTH), delivery_id=delivery_id)
            )
        reading = reader(delivery.body)
    except Malformed as fault:
        return _invalid_payload(delivery, f"Invalid payload: {fault}")
    if reading.repository_id != delivery.address.repository_id:
        return rejected(delivery, Fault.REPOSITORY_MISMATCH, _MISMATCH, unless_duplicate=True)
    return _first_of_several(reading, delivery_id, hook) if reading.also else _decided(reading, delivery_id, hook)


def _decided(reading: Reading, delivery_id: str, hook: HookConfiguration) -> Processed | Filtered:
    event, default_branch = reading.event, reading.default_branch
    if (reason := why_filtered(event, hook.branch if default_branch is None else default_branch)) is not None:
        if not (isinstance(event, Push) and is_opened(event, hook.opened)):
            return Filtered(event=event, delivery_id=delivery_id, reason=reason)
        event = replace(event, off_default=True)
    return Processed(
        event=event,
        delivery_id=delivery_id,
        repository_id=reading.repository_id,
        repository=reading.repository,
    )


def _first_of_several(reading: Reading, delivery_id: str, hook: HookConfiguration) -> Processed | Filtered:
    outcomes = [_decided(each, delivery_id, hook) for each in (reading, *reading.also)]
    processed = [each for each in outcomes if isinstance(each, Processed)]
    if not processed:
        return outcomes[0]
    first, *others = processed
    # Each has a claim of its own, with an id that is the same for all attempts.
    also = [replace(each, delivery_id=f"{delivery_id[:_ID_LENGTH]}.{number}") for number, each in enumerate(others, 1)]
    return replace(first, also=tuple(also))


def delivery_id(delivery: Delivery) -> str | None:
    """Return the delivery id in the headers, unverified; ``None``: the headers have no delivery id."""
    text = _text(delivery.headers.value(delivery.address.dialect.id_name))
    return text if identifiers.is_delivery_id(text) else None


def _header_fault(delivery: Delivery, provider: Provider) -> Rejected | None:
    for header, name in ((provider.event_header, provider.kind_name), (provider.delivery_header, provider.id_name)):
        values = delivery.headers.values(name)
        if len(values) > 1:
            return rejected(delivery, Fault.INVALID_HEADER, f"Repeated {header} header")
        # A value of control characters alone cannot be shown or logged either.
        if not values or not one_line(values[0].decode("latin-1"), _KIND_LENGTH):
            return rejected(delivery, Fault.INVALID_HEADER, f"Missing {header} header")
    if not identifiers.is_delivery_id(_text(delivery.headers.value(provider.id_name))):
        error = f"Invalid {provider.delivery_header} header: 1 to 255 visible ASCII characters are expected"
        return rejected(delivery, Fault.INVALID_HEADER, error)
    return None


def _content_type_fault(delivery: Delivery) -> str | None:
    values = delivery.headers.values(b"content-type")
    if len(values) > 1:
        return "Repeated Content-Type header"
    if not values:
        return None
    media_type = values[0].decode("latin-1").split(";")[0].strip().lower()
    if media_type == "application/json" or media_type.endswith("+json"):
        return None
    if media_type == "application/x-www-form-urlencoded":
        return (
            "Content type 'application/x-www-form-urlencoded' is not supported: "
            "choose 'application/json' in the webhook's settings at the code host"
        )
    return f"Content type '{one_line(media_type, _KIND_LENGTH)}' is not supported: send 'application/json'"


def _text(value: bytes | None) -> str:
    return value.decode("latin-1") if value else ""


def rejected(delivery: Delivery, fault: Fault, error: str, *, unless_duplicate: bool = False) -> Rejected:
    """Return a refusal with the kind and the id of the delivery, as far as its headers have them.

    ``error`` is the text for the sender. ``unless_duplicate``: the duplicate check comes first.
    """
    kind = _text(delivery.headers.value(delivery.address.dialect.kind_name))
    return Rejected(
        fault=fault,
        error=error,
        kind=one_line(kind, _KIND_LENGTH) or None,
        delivery_id=delivery_id(delivery),
        unless_duplicate=unless_duplicate,
    )


def _invalid_payload(delivery: Delivery, error: str) -> Rejected:
    return rejected(delivery, Fault.INVALID_PAYLOAD, error, unless_duplicate=True)


def _invalid_parameters(detail: str) -> Rejected:
    return Rejected(fault=Fault.INVALID_PARAMETERS, error=f"Invalid webhook parameters: {detail}")


def is_opened(push: Push, opened: Collection[Globs]) -> bool:
    """Check whether triggers ask for a push to another branch than the default one (docs/silent-points.md)."""
    if not push.commits or not push.ref.startswith("refs/heads/"):
        return False
    return any(branches.matches(push.branch) for branches in opened)


def why_filtered(event: Event, default_branch: str | None) -> str | None:
    """Return why an event is filtered out (specification 6.1, 6.2); ``None``: the event is processed.

    ``default_branch`` ``None``: unknown, so that the usual names count.
    """
    match event:
        case Push():
            # The whole ref: the tag refs/tags/main is not the branch main, and branch names contain slashes.
            is_default = event.ref in _USUAL if default_branch is None else event.ref == f"refs/heads/{default_branch}"
            if not is_default:
                default = one_line("main or master" if default_branch is None else default_branch, _SHOWN)
                return f"{one_line(event.ref, _SHOWN)} is not the default branch ({default})"
            return None if event.commits else "the push contains no commits"
        case Release():
            if event.action not in RELEASE_ACTIONS:
                return f"the action '{event.action}' is not processed"
            return "the release is a draft" if event.draft else None
        case _:
            assert_never(event)
