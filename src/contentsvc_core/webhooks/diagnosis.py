"""Causes of refused deliveries, and failures of integrations: one rule for pages, ``/v1`` and commands."""

from collections import Counter
from collections.abc import Sequence
from enum import Enum
from typing import Final, final

from attrs import frozen

from contentsvc_core.journal import Direction, LogLine, LogStatus
from contentsvc_core.received import Match, Received, SignatureHeader
from contentsvc_core.webhooks.outcomes import Fault
from contentsvc_core.webhooks.providers import provider_named
from contentsvc_core.webhooks.settlement import COLLECTED, LEFT_OUT
from contentsvc_core.webhooks.signature import SPECIFIED, Scheme, SharedToken

#: An integration fails if this many deliveries in a row are refused: a single forged delivery is no failure.
FAILING_AFTER: Final = 3
#: The most deliveries that :func:`health_of` considers.
CONSIDERED: Final = 20
#: How the log entry of a processed delivery without runs begins its reason.
NO_RUNS: Final = "0 workflow runs started"
#: The same, if triggers are meant for the delivery: they collect it, or their filters leave it out.
_COLLECTED_OR_FILTERED: Final = (f"{NO_RUNS}; {COLLECTED}", f"{NO_RUNS}; {LEFT_OUT}")


class Remedy(Enum):
    """The kind of action that mends a cause. Each driver maps a remedy to a button, a link or a command."""

    ROTATE_SECRET = "rotateSecret"  # noqa: S105  # the name of a remedy
    HOOK_SETTINGS = "hookSettings"
    ENABLE = "enable"
    REDELIVER = "redeliver"
    ADD_TRIGGER = "addTrigger"
    CHECK_PROXY = "checkProxy"
    PUSH_LESS = "pushLess"
    SERVER_LOG = "serverLog"


class DiagnosisCause(Enum):
    """The cause of a refused delivery: its name on the wire, its word in a count, and its remedy."""

    NO_SIGNATURE = ("noSignature", "no signature", Remedy.ROTATE_SECRET)
    REPEATED_SIGNATURE = ("repeatedSignature", "repeated signature", Remedy.CHECK_PROXY)
    MALFORMED_SIGNATURE = ("malformedSignature", "signature", Remedy.HOOK_SETTINGS)
    PREVIOUS_SECRET = ("previousSecret", "previous secret", Remedy.ROTATE_SECRET)
    FORM = ("form", "form instead of JSON", Remedy.HOOK_SETTINGS)
    CHANGED_BODY = ("changedBody", "changed body", Remedy.CHECK_PROXY)
    WRONG_SECRET = ("wrongSecret", "signature", Remedy.ROTATE_SECRET)
    DISABLED = ("disabled", "integration disabled", Remedy.ENABLE)
    WRONG_REPOSITORY = ("wrongRepository", "repository", Remedy.HOOK_SETTINGS)
    HEADER = ("header", "missing header", Remedy.CHECK_PROXY)
    PAYLOAD = ("payload", "invalid payload", Remedy.HOOK_SETTINGS)
    TOO_LARGE = ("tooLarge", "body too large", Remedy.PUSH_LESS)
    COMPRESSED = ("compressed", "compressed body", Remedy.CHECK_PROXY)
    LATE = ("late", "late body", Remedy.CHECK_PROXY)
    UNAVAILABLE = ("unavailable", "service unavailable", Remedy.REDELIVER)
    SERVER_FAULT = ("serverFault", "server fault", Remedy.SERVER_LOG)
    #: Not a refusal: the delivery was processed, and no trigger matched.
    NO_TRIGGER = ("noTrigger", "no trigger", Remedy.ADD_TRIGGER)

    def __init__(self, wire: str, word: str, remedy: Remedy) -> None:
        self.wire = wire
        self.word = word
        self.remedy = remedy


@final
@frozen(kw_only=True)
class IntegrationFacts:
    """The present state of an integration, which changes the advice."""

    is_enabled: bool = True
    #: Whether the service sets the webhook up at the code host, with a token.
    has_token: bool = False


@final
@frozen(kw_only=True)
class Diagnosis:
    cause: DiagnosisCause
    sentence: str
    advice: str
    remedy: Remedy


@final
@frozen(kw_only=True)
class Health:
    is_failing: bool = False
    last: LogLine | None = None
    refused: int = 0
    considered: int = 0
    #: The diagnosis of the dominant cause; ``None``: nothing to mend.
    diagnosis: Diagnosis | None = None

    @property
    def summary(self) -> str:
        """Return the refusals in a few words, such as "6 of the last 6 deliveries were refused: signature"."""
        text = f"{self.refused} of the last {self.considered} deliveries were refused"
        if self.considered == 1:
            text = "the last delivery was refused"
        if not self.refused:
            text = "earlier deliveries were refused"
        return text if self.diagnosis is None else f"{text}: {self.diagnosis.cause.word}"


def diagnose(line: LogLine, known: IntegrationFacts | None = None) -> Diagnosis | None:
    """Return the diagnosis of a log entry; ``None``: the outcome needs no remedy, or the entry is no delivery.

    ``known`` is the present state of the integration; ``None``: it was removed.
    """
    if line.direction is not Direction.INCOMING:
        return None
    known = known or IntegrationFacts()
    provider = provider_named(line.integration_type)
    scheme = SPECIFIED if provider is None else provider.scheme
    if line.status is not LogStatus.FAILED:
        reason = line.reason or ""
        if reason.startswith(NO_RUNS) and not reason.startswith(_COLLECTED_OR_FILTERED):
            sentence = "The delivery was processed, but no trigger matches its repository and event."
            return _of(DiagnosisCause.NO_TRIGGER, sentence, "Create a trigger, then replay the delivery.")
        return None
    fault = _FAULTS.get(line.title)
    if fault is Fault.INVALID_SIGNATURE:
        return _signature(line.received, scheme, known)
    if fault is Fault.INTEGRATION_DISABLED and known.is_enabled:
        sentence = "The integration was disabled when the delivery arrived. It is enabled now."
        return _of(DiagnosisCause.DISABLED, sentence, _AGAIN, Remedy.REDELIVER)
    if fault is Fault.INVALID_PAYLOAD and line.received is not None and line.received.is_form:
        return _of(DiagnosisCause.FORM, "The code host sent a form instead of JSON.", _CONTENT_TYPE)
    if fault is None or (explanation := _EXPLANATIONS.get(fault)) is None:
        return None
    cause, sentence, advice = explanation
    values = {"error": (line.error_message or "").rstrip("."), "provider": line.integration_type}
    return _of(cause, sentence.format_map(values), advice.format_map(values))


def command_of(diagnosis: Diagnosis, integration_id: str) -> str | None:
    """Return the command that mends a cause; ``None``: no command does."""
    form = _COMMANDS.get(diagnosis.remedy)
    return None if form is None else form.format(integration=integration_id)


def health_of(newest: Sequence[LogLine], known: IntegrationFacts | None = None) -> Health:
    """Judge the newest deliveries of one integration; ``newest`` are its log entries, newest first.

    It is failing if the newest :data:`FAILING_AFTER` deliveries, or all of fewer, were refused.
    """
    lines = [line for line in newest if line.direction is Direction.INCOMING][:CONSIDERED]
    if not lines:
        return Health()
    refused = [line for line in lines if line.status is LogStatus.FAILED]
    diagnoses = [found for line in refused if (found := diagnose(line, known)) is not None]
    # Of equally frequent causes, the newest.
    causes = Counter(each.cause for each in diagnoses).most_common(1)
    dominant = next((each for each in diagnoses if each.cause is causes[0][0]), None) if causes else None
    failing = all(line.status is LogStatus.FAILED for line in lines[:FAILING_AFTER])
    return Health(is_failing=failing, last=lines[0], refused=len(refused), considered=len(lines), diagnosis=dominant)


_COMMANDS: Final = {
    Remedy.ROTATE_SECRET: "contentsvc integration rotate-secret {integration}",
    Remedy.HOOK_SETTINGS: "contentsvc integration list",
    Remedy.ENABLE: "contentsvc integration enable {integration}",
    Remedy.REDELIVER: "contentsvc integration reconcile {integration} --dry-run",
    Remedy.ADD_TRIGGER: "contentsvc trigger create --help",
}
_FAULTS: Final = {fault.log_title: fault for fault in Fault if fault.log_title is not None}
_AGAIN: Final = "Have the code host deliver again: press Redeliver there, or reconcile the integration."
_CONTENT_TYPE: Final = "Choose the content type `application/json` in the webhook's settings at the code host."
_PROVIDER: Final = (
    "This integration has the provider `{provider}`. If your code host is another one, connect the repository again "
    "with its provider. Otherwise look for a proxy that drops headers."
)
_OLD_URL: Final = (
    "Compare the payload URL at the code host with the one of this integration: each repository has a URL of its own."
)
_EXPLANATIONS: Final = {
    Fault.INTEGRATION_DISABLED: (
        DiagnosisCause.DISABLED,
        "The integration is disabled, so its deliveries are refused.",
        "Enable the integration, then have the code host deliver again.",
    ),
    Fault.REPOSITORY_NOT_FOUND: (
        DiagnosisCause.WRONG_REPOSITORY,
        "The payload URL names a repository that is not connected.",
        _OLD_URL,
    ),
    Fault.REPOSITORY_MISMATCH: (
        DiagnosisCause.WRONG_REPOSITORY,
        "The delivery is about another repository than its payload URL.",
        _OLD_URL,
    ),
    Fault.INVALID_HEADER: (
        DiagnosisCause.HEADER,
        "A header of the code host is missing or invalid: {error}.",
        _PROVIDER,
    ),
    Fault.INVALID_PAYLOAD: (
        DiagnosisCause.PAYLOAD,
        "The body is no valid event: {error}.",
        f"{_CONTENT_TYPE} Send pushes and releases only.",
    ),
    Fault.BODY_TOO_LARGE: (
        DiagnosisCause.TOO_LARGE,
        "The body is larger than 25 MiB.",
        "Push fewer commits at a time.",
    ),
    Fault.ENCODED_BODY: (
        DiagnosisCause.COMPRESSED,
        "The body is compressed, so its signature cannot be verified.",
        "Disable the compression of requests in the proxy in front of the service.",
    ),
    Fault.BODY_LATE: (
        DiagnosisCause.LATE,
        "The body did not arrive in time.",
        "Look for a proxy or a network that delays bodies. Then have the code host deliver again.",
    ),
    Fault.UNAVAILABLE: (
        DiagnosisCause.UNAVAILABLE,
        "The database was unavailable, or the server was overloaded.",
        f"See the server's log. {_AGAIN}",
    ),
    Fault.FAILED: (
        DiagnosisCause.SERVER_FAULT,
        "The server failed while it processed the delivery.",
        f"See the server's log, and mend the fault. {_AGAIN}",
    ),
}

#: Without an advice: rotate the secret.
_MATCHES: Final = {
    Match.PREVIOUS_SECRET: (
        DiagnosisCause.PREVIOUS_SECRET,
        "The delivery is signed with the previous secret: the code host does not have the new one yet.",
        None,
    ),
    Match.DECODED_FORM: (
        DiagnosisCause.FORM,
        "The body is a form (`payload=…`) instead of the JSON that the code host signs.",
        f"{_CONTENT_TYPE} If it is set, look for a proxy that rewrites bodies.",
    ),
    Match.CHANGED_BODY: (
        DiagnosisCause.CHANGED_BODY,
        "The secret is right, but the body was changed on its way: its line ends or its white space differ.",
        "Look for a proxy that rewrites bodies, and pass them unchanged.",
    ),
}


def _signature(received: Received | None, scheme: Scheme, known: IntegrationFacts) -> Diagnosis:
    what = "secret" if isinstance(scheme, SharedToken) else "signature"
    rotate = (
        "Rotate the secret: the new one is set at the code host as well."
        if known.has_token
        else "Rotate the secret, and paste the new one into the webhook's settings at the code host."
    )
    if received is None:
        sentence = f"The {what} does not match: the secrets differ, or a proxy changed the body."
        return _of(DiagnosisCause.WRONG_SECRET, sentence, rotate)
    if received.signature is SignatureHeader.ABSENT:
        sentence = f"The request had no {scheme.header} header: the webhook at the code host has no secret."
        return _of(DiagnosisCause.NO_SIGNATURE, sentence, f"{rotate} If a secret is set there, look for a proxy.")
    if received.signature is SignatureHeader.REPEATED:
        sentence = f"The request had more than one {scheme.header} header."
        return _of(DiagnosisCause.REPEATED_SIGNATURE, sentence, "Look for a proxy that adds headers.")
    if received.match is not None:
        cause, sentence, advice = _MATCHES[received.match]
        return _of(cause, sentence, advice or rotate)
    if received.signature is SignatureHeader.MALFORMED:
        sentence = f"The {scheme.header} header does not have the form of this provider."
        advice = "Check that the integration has the code host's provider, and that the code host uses SHA-256."
        return _of(DiagnosisCause.MALFORMED_SIGNATURE, sentence, advice)
    if not isinstance(scheme, SharedToken):
        sentence = "The signature is well-formed, but made with another secret, or the body was changed on its way."
        form = f" The body is also a form: {_CONTENT_TYPE[0].lower()}{_CONTENT_TYPE[1:]}" if received.is_form else ""
        advice = f"{rotate} If deliveries still fail, look for a proxy that rewrites bodies.{form}"
        return _of(DiagnosisCause.WRONG_SECRET, sentence, advice)
    return _of(DiagnosisCause.WRONG_SECRET, "The secret that the code host sent is another one.", rotate)


def _of(cause: DiagnosisCause, sentence: str, advice: str, remedy: Remedy | None = None) -> Diagnosis:
    return Diagnosis(cause=cause, sentence=sentence, advice=advice, remedy=remedy or cause.remedy)
