from collections.abc import Iterator
from typing import Final, final
from urllib.parse import urlencode

from attrs import field, frozen

from contentsvc_core.journal import LogLine, LogOutcome
from contentsvc_core.organizations import Integration
from contentsvc_core.received import Match, Received, SignatureHeader
from contentsvc_core.timestamps import iso_ms
from contentsvc_core.usecases.diagnoses import MOST_SIMILAR, Explained
from contentsvc_core.webhooks.diagnosis import Diagnosis, Remedy, command_of
from contentsvc_core.webhooks.providers import provider_named
from contentsvc_core.webhooks.signature import SPECIFIED, HmacSha256

_DIGEST_LENGTH: Final = 64
_MATCHES: Final = {
    Match.PREVIOUS_SECRET: "verifies with the previous secret",
    Match.DECODED_FORM: "verifies for the JSON inside the form",
    Match.CHANGED_BODY: "verifies for the body with other line ends or white space",
}


@final
@frozen(kw_only=True)
class CauseCard:
    diagnosis: Diagnosis | None
    facts: tuple[tuple[str, str], ...] = field(converter=tuple)
    headers: tuple[tuple[str, str], ...] = field(converter=tuple)
    others: str
    similar: str
    since: object
    #: The command that requests missed deliveries; empty: another remedy.
    command: str


def cause_card(entry: LogLine, explained: Explained, integration: Integration | None) -> CauseCard:
    similar = explained.similar
    others = query = ""
    if similar is not None and similar.number:
        number = f"{MOST_SIMILAR} or more" if similar.number >= MOST_SIMILAR else f"{similar.number}"
        others = f"{number} {'other' if similar.number == 1 else 'others'} like this"
        fields = {
            "outcome": LogOutcome.REFUSED.value,
            "integration": entry.integration_id,
            "text": entry.title,
            "since": iso_ms(similar.since),
        }
        query = f"?{urlencode(fields)}"
    command = command_of(explained.diagnosis, entry.integration_id) or "" if explained.diagnosis else ""
    redelivers = explained.diagnosis is not None and explained.diagnosis.remedy is Remedy.REDELIVER
    return CauseCard(
        diagnosis=explained.diagnosis,
        facts=() if entry.received is None else tuple(_facts(entry, entry.received)),
        headers=() if entry.received is None else entry.received.headers,
        others=others,
        similar=query,
        since=None if similar is None else similar.since,
        command=command if integration and redelivers else "",
    )


def _facts(entry: LogLine, received: Received) -> Iterator[tuple[str, str]]:
    yield "Source address", received.source or "unknown"
    yield "Body", "not received whole" if received.size is None else f"{received.size:,} bytes"
    if received.is_form:
        yield "Encoding", "form (payload=…)"
    yield "Content type", received.header("Content-Type") or "none"
    yield "User agent", received.header("User-Agent") or "none"
    provider = provider_named(entry.integration_type)
    scheme = SPECIFIED if provider is None else provider.scheme
    yield scheme.header, _signature(received, scheme.prefix if isinstance(scheme, HmacSha256) else None)
    if received.signature is SignatureHeader.PRESENT and received.size is not None:
        if received.match is not None:
            yield "Verification", _MATCHES[received.match]
        elif received.had_previous_secret:
            yield "Verification", "the previous secret does not match either"
        else:
            yield "Verification", "no secret matches; there is no previous secret to compare"


def _signature(received: Received, prefix: str | None) -> str:
    if received.signature is not SignatureHeader.PRESENT:
        length = f", {received.signature_length} characters" if received.signature_length else ""
        return f"{received.signature.value}{length}"
    if prefix is None:
        return f"present, {received.signature_length} characters"
    return f"present, {_DIGEST_LENGTH} hex characters"
