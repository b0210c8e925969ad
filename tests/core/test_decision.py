"""The order of specification 4.1, and the limits of each step."""

import hmac
import json
from collections.abc import Callable, Iterable
from typing import Any, Never

import pytest
from attrs import evolve, frozen
from hypothesis import given
from hypothesis import strategies as st
from tests.builders import TOO_DEEP

from contentsvc_core import (
    MAX_BODY,
    PROVIDERS,
    Address,
    Belonging,
    Delivery,
    Duplicate,
    Fault,
    Filtered,
    Headers,
    HookConfiguration,
    Ignored,
    Outcome,
    Processed,
    Provider,
    Push,
    Rejected,
    Release,
    VerifiedDelivery,
    admit,
    answer,
    decide,
    locate,
    preflight,
    sign,
)
from contentsvc_core import strategies as ours
from contentsvc_core.events.normalized import Author, Commit, HeadCommit
from contentsvc_core.events.wire import event_data, event_from_json, event_to_json
from contentsvc_core.received import Match, SignatureHeader
from contentsvc_core.testing import address, push_body, release_body, signed
from contentsvc_core.webhooks import decision
from contentsvc_core.webhooks import delivery as addresses
from contentsvc_core.webhooks.examination import examine
from contentsvc_core.webhooks.providers.codehost import CODEHOST
from contentsvc_core.webhooks.providers.native import Reading

AT = address()
HOOK = HookConfiguration(
    address=AT, enabled=True, secrets=("secret",), repository=Belonging.THIS_INTEGRATION, version=1
)
PUSH = signed(push_body("feat: x"), at=AT, secret="secret")


def decided(delivery: Delivery, hook: HookConfiguration | None = HOOK) -> Outcome:
    admission = admit(delivery, hook)
    return decide(admission) if isinstance(admission, VerifiedDelivery) else admission


def with_headers(delivery: Delivery, *headers: tuple[bytes, bytes], without: str = "") -> Delivery:
    kept = tuple((name, value) for name, value in delivery.headers if name != without.lower().encode())
    return evolve(delivery, headers=Headers.of(kept + headers))


def fault_of(outcome: Outcome) -> Fault:
    assert isinstance(outcome, Rejected)
    return outcome.fault


class TestStep1Path:
    @pytest.mark.parametrize("provider", ["", "sourceforge", "CODEHOST", "codehost\n", "x" * 10_000])
    def test_an_unknown_provider_is_400(self, provider: str) -> None:
        found = locate(provider, "org_1", "int_1", "1")

        assert isinstance(found, Rejected)
        assert found.status == 400
        shown = "x" * 63 + "…" if len(provider) > 64 else provider.strip()
        assert found.error == f"Invalid webhook parameters: unknown provider '{shown}'"
        assert found.fault is Fault.INVALID_PARAMETERS

    @pytest.mark.parametrize(
        "number",
        ["", "0", "01", "-1", "+1", "1_0", " 1", "1 ", "1.0", "1e3", "0x1", "١٢", "²", "9223372036854775808", "9" * 30],
    )
    def test_an_invalid_repository_id_is_400(self, number: str) -> None:
        found = locate("codehost", "org_1", "int_1", number)

        assert isinstance(found, Rejected)
        assert found.status == 400
        assert found.error == (
            "Invalid webhook parameters: repositoryId must be a whole number from 1 to 9223372036854775807"
        )

    @pytest.mark.parametrize("number", ["1", "9223372036854775807"])
    def test_the_smallest_and_the_largest_repository_id_are_taken(self, number: str) -> None:
        found = locate("github", "org_1", "int_1", number)

        assert isinstance(found, Address)
        assert found.repository_id == int(number)

    @pytest.mark.parametrize("text", ["", "a b", "a\0b", "\ud800", "é", "x" * 65, "../x"])
    def test_an_invalid_id_is_an_unknown_integration(self, text: str) -> None:
        for found in (locate("codehost", text, "int_1", "1"), locate("codehost", "org_1", text, "1")):
            assert isinstance(found, Rejected)
            assert (found.fault, found.error) == (Fault.INTEGRATION_NOT_FOUND, "Integration not found")

    @given(st.text(), st.text(), st.text(), st.text())
    def test_locate_is_total(self, provider: str, organization: str, integration: str, repository: str) -> None:
        locate(provider, organization, integration, repository)


class TestSteps2To5:
    def test_an_unknown_integration_is_404_before_any_other_fault(self) -> None:
        broken = with_headers(PUSH, (b"content-encoding", b"gzip"), without="X-Hub-Signature-256")

        assert decided(broken, None) == Rejected(fault=Fault.INTEGRATION_NOT_FOUND, error="Integration not found")

    def test_a_body_of_25_mib_is_taken_and_one_byte_more_is_413(self) -> None:
        body = json.dumps(push_body("feat: x")).encode()
        largest = signed(body + b" " * (MAX_BODY - len(body)), at=AT, secret="secret")

        assert isinstance(decided(largest), Processed)
        refused = decided(evolve(largest, body=largest.body + b" "))
        assert (fault_of(refused), answer(refused)) == (Fault.BODY_TOO_LARGE, {"error": "Webhook body exceeds 25 MiB"})

    @pytest.mark.parametrize(
        ("announced", "refused"),
        # A number of 20 digits is read, and one of 21 is not.
        [
            *((b"0" * 19 + b"1", False), (b"0" * 20 + b"1", True)),
            *(
                (b"26214400", False),
                (b"26214401", True),
                (b"9" * 5000, True),
                (b"-1", False),
                (b"x", False),
                (b"2621440x", False),
                (b"x" * 21, False),
                (b"", False),
            ),
        ],
    )
    def test_an_announced_length_over_25_mib_is_refused_before_the_body_is_read(
        self, announced: bytes, refused: bool
    ) -> None:
        early = preflight(with_headers(PUSH, (b"content-length", announced)), HOOK)

        assert (early is not None and early.error == decision.BODY_TOO_LARGE.error) == refused

    @pytest.mark.parametrize("encoding", [b"gzip", b"br", b"identity, gzip", b"x-identity"])
    def test_any_content_encoding_is_415_before_the_signature(self, encoding: bytes) -> None:
        unsigned = with_headers(PUSH, (b"content-encoding", encoding), without="X-Hub-Signature-256")

        assert decided(unsigned).status == 415
        assert answer(decided(unsigned)) == {"error": "Content-Encoding is not supported"}

    @pytest.mark.parametrize("encoding", [b"identity", b" Identity", b"identity, IDENTITY", b""])
    def test_identity_is_no_encoding(self, encoding: bytes) -> None:
        assert decided(with_headers(PUSH, (b"content-encoding", encoding))).status == 200

    def test_a_second_content_encoding_counts(self) -> None:
        both = with_headers(PUSH, (b"content-encoding", b"identity"), (b"content-encoding", b"gzip"))

        assert decided(both).status == 415

    @pytest.mark.parametrize("integration_enabled", [True, False])
    @pytest.mark.parametrize("belonging", Belonging)
    def test_an_unsigned_probe_learns_nothing(self, integration_enabled: bool, belonging: Belonging) -> None:
        hook = evolve(HOOK, enabled=integration_enabled, repository=belonging)
        unsigned = with_headers(PUSH, without="X-Hub-Signature-256")

        assert answer(decided(unsigned, hook)) == {"error": "Invalid webhook signature"}

    def test_a_signature_that_is_sent_twice_is_401(self) -> None:
        signature = sign(PUSH.body, "secret").encode()

        assert decided(with_headers(PUSH, (b"x-hub-signature-256", signature))).status == 401

    def test_a_disabled_integration_is_403_before_the_repository_is_checked(self) -> None:
        hook = evolve(HOOK, enabled=False, repository=Belonging.UNKNOWN)

        assert answer(decided(PUSH, hook)) == {"error": "Integration is disabled"}
        assert decided(PUSH, hook).status == 403

    def test_an_unknown_repository_is_404_and_anothers_is_403(self) -> None:
        unknown = decided(PUSH, evolve(HOOK, repository=Belonging.UNKNOWN))
        of_another = decided(PUSH, evolve(HOOK, repository=Belonging.ANOTHER_INTEGRATION))

        assert (unknown.status, answer(unknown)) == (404, {"error": "Repository not found"})
        assert (of_another.status, answer(of_another)) == (
            403,
            {"error": "Repository does not belong to this integration"},
        )


def test_headers_are_found_by_their_names_in_lower_case() -> None:
    fields = ((b"Host", b"one"), (b"X-Kind", b"push"), (b"x-kind", b"ping"), (b"accept", b""))
    headers = Headers.of(iter(fields))

    assert tuple(headers) == fields
    assert set(headers.names) == {b"host", b"x-kind", b"accept"}
    assert headers.sole == {b"host": b"one", b"accept": b""}
    assert [headers.values(name) for name in (b"host", b"x-kind", b"expect")] == [(b"one",), (b"push", b"ping"), ()]
    assert Headers.of(fields[:2]).sole == {b"host": b"one", b"x-kind": b"push"}
    assert [headers.value(name) for name in (b"host", b"x-kind", b"accept", b"expect")] == [b"one", None, b"", None]


def test_white_space_around_the_value_of_a_header_does_not_belong_to_it() -> None:
    # RFC 9110, section 5.5: parsers remove whitespace, but not all of them on both sides.
    spaced = evolve(PUSH, headers=Headers.of((name, b"\t %b \t" % value) for name, value in PUSH.headers))
    forged = evolve(spaced, body=PUSH.body + b" ")

    assert decided(spaced) == decided(PUSH)
    assert decided(forged).status == 401
    facts = examine(forged, HOOK, source=None, is_complete=True)
    assert (facts.signature, facts.signature_length, facts.match) == (SignatureHeader.PRESENT, 71, Match.CHANGED_BODY)


class TestStep6Headers:
    @pytest.mark.parametrize("provider", PROVIDERS, ids=lambda provider: provider.slug)
    @pytest.mark.parametrize("value", [None, b"", b"  ", b"\x80\x81"])
    def test_a_missing_or_blank_header_is_named(self, provider: Any, value: bytes | None) -> None:
        at = address(provider.slug)
        delivery = signed(push_body("feat: x"), at=at, secret="secret")
        for header in (provider.event_header, provider.delivery_header):
            added = [] if value is None else [(header.lower().encode(), value)]
            outcome = decided(with_headers(delivery, *added, without=header), evolve(HOOK, address=at))

            assert (outcome.status, answer(outcome)) == (400, {"error": f"Missing {header} header"})

    def test_a_header_that_is_sent_twice_is_named(self) -> None:
        for header in (b"x-host-event", b"x-host-delivery"):
            outcome = decided(with_headers(PUSH, (header, b"again")))

            named = "X-Host-Event" if header == b"x-host-event" else "X-Host-Delivery"
            assert answer(outcome) == {"error": f"Repeated {named} header"}
            assert outcome.status == 400

    @pytest.mark.parametrize("delivery_id", ["x" * 256, "a b", "é", "a\x7f"])
    def test_a_delivery_id_that_is_no_token_is_400(self, delivery_id: str) -> None:
        outcome = decided(signed(push_body("feat: x"), at=AT, secret="secret", delivery_id=delivery_id))

        assert outcome.status == 400
        assert answer(outcome) == {
            "error": "Invalid X-Host-Delivery header: 1 to 255 visible ASCII characters are expected"
        }

    def test_a_delivery_id_of_255_characters_need_be_no_uuid(self) -> None:
        outcome = decided(signed(push_body("feat: x"), at=AT, secret="secret", delivery_id="~" * 255))

        assert isinstance(outcome, Processed)

    def test_the_other_providers_headers_do_not_count(self) -> None:
        at = address("github")
        as_codehost = evolve(PUSH, address=at)

        assert answer(decided(as_codehost, evolve(HOOK, address=at))) == {"error": "Missing X-GitHub-Event header"}

    def test_a_refusal_names_the_event_and_the_delivery_as_far_as_they_can_be_read(self) -> None:
        unsigned = signed(push_body("x"), at=AT, secret="other", event="x" * 65, delivery_id="d-1")
        named, unnamed = decided(unsigned), decided(with_headers(unsigned, without="X-Host-Event"))
        repeated = decided(with_headers(unsigned, (b"x-host-delivery", b"d-2")))

        assert isinstance(named, Rejected)
        assert (named.kind, named.delivery_id, named.unless_duplicate) == ("x" * 63 + "…", "d-1", False)
        assert isinstance(unnamed, Rejected)
        assert unnamed.kind is None
        assert isinstance(repeated, Rejected)
        assert repeated.delivery_id is None

    def test_an_address_of_an_unknown_provider_is_a_fault_that_is_named(self) -> None:
        lost = evolve(AT, provider="sourceforge")

        with pytest.raises(ValueError, match="unknown provider 'sourceforge'"):
            admit(evolve(PUSH, address=lost), evolve(HOOK, address=lost))
        with pytest.raises(ValueError, match="unknown provider 'sourceforge'"):
            signed(b"", at=lost, secret="secret")

    def test_event_kinds_are_case_sensitive(self) -> None:
        assert isinstance(decided(signed(push_body("x"), at=AT, secret="secret", event="Push")), Ignored)


class TestStep8Body:
    @pytest.mark.parametrize(
        "content_type",
        ["application/json", "APPLICATION/JSON; charset=latin-1", "application/vnd.x+json", "application/json ;x=y"],
    )
    def test_json_under_any_name_passes(self, content_type: str) -> None:
        delivery = with_headers(PUSH, (b"content-type", content_type.encode()), without="content-type")

        assert isinstance(decided(delivery), Processed)

    def test_without_a_content_type_the_body_is_taken_for_json(self) -> None:
        assert isinstance(decided(with_headers(PUSH, without="content-type")), Processed)

    @pytest.mark.parametrize("content_type", ["text/plain", "", "json", "application/jsonp", "\xff"])
    def test_any_other_content_type_is_400(self, content_type: str) -> None:
        delivery = with_headers(PUSH, (b"content-type", content_type.encode("latin-1")), without="content-type")

        outcome = decided(delivery)
        assert fault_of(outcome) is Fault.INVALID_PAYLOAD
        shown = content_type if content_type.isprintable() else ""
        assert answer(outcome) == {"error": f"Content type '{shown}' is not supported: send 'application/json'"}

    def test_a_content_type_that_is_sent_twice_is_400(self) -> None:
        outcome = decided(with_headers(PUSH, (b"content-type", b"application/json")))

        assert fault_of(outcome) is Fault.INVALID_PAYLOAD
        assert answer(outcome) == {"error": "Repeated Content-Type header"}

    def test_2048_commits_are_taken_and_one_more_is_400(self) -> None:
        most = decided(signed(push_body(*["x"] * 2048), at=AT, secret="secret"))
        more = decided(signed(push_body(*["x"] * 2049), at=AT, secret="secret"))

        assert isinstance(most, Processed)
        assert answer(more) == {"error": "Invalid payload: commits must have at most 2048 items"}

    @pytest.mark.parametrize("fragment", ["9" * 5000, "1e999", "[" * 50 + "]" * 50, '"\\u0000"'])
    def test_absurd_values_in_fields_that_are_not_used_do_not_matter(self, fragment: str) -> None:
        body = json.dumps(push_body("feat: x"))[:-1] + f', "unused": {fragment}}}'

        assert isinstance(decided(signed(body.encode(), at=AT, secret="secret")), Processed)

    def test_a_number_of_5000_digits_in_a_used_field_is_400(self) -> None:
        body = json.dumps(push_body("feat: x")).replace('"id": 1,', f'"id": {"9" * 5000},')

        outcome = decided(signed(body.encode(), at=AT, secret="secret"))

        assert answer(outcome) == {"error": "Invalid payload: repository.id is out of range"}

    def test_too_many_levels_of_nesting_in_an_unused_field_are_400(self) -> None:
        body = json.dumps(push_body("feat: x"))[:-1] + ', "unused": ' + "[" * TOO_DEEP + "]" * TOO_DEEP + "}"

        outcome = decided(signed(body.encode(), at=AT, secret="secret"))

        assert answer(outcome) == {"error": "Invalid payload: the body is nested too deep"}

    def test_a_mismatch_comes_before_the_filters(self) -> None:
        elsewhere = push_body("x", branch="dev", repository_id=2)

        assert decided(signed(elsewhere, at=AT, secret="secret")).status == 403

    def test_the_last_value_of_a_repeated_key_counts(self) -> None:
        body = json.dumps(push_body("feat: x"))[:-1] + ', "ref": "refs/heads/other"}'

        assert isinstance(decided(signed(body.encode(), at=AT, secret="secret")), Filtered)


@given(ours.deliveries(at=AT))
def test_decide_is_total(delivery: Delivery) -> None:
    outcome = decided(delivery)

    assert outcome.status in {200, 400, 401, 403, 415}
    assert json.dumps(answer(outcome))


@given(st.binary(), st.lists(st.tuples(st.binary(), st.binary())))
def test_admit_is_total_and_admits_nothing_unsigned(body: bytes, headers: list[tuple[bytes, bytes]]) -> None:
    outcome = admit(Delivery(address=AT, headers=Headers.of(headers), body=body), HOOK)

    assert isinstance(outcome, Rejected)


@given(ours.deliveries(at=AT), st.binary(min_size=1))
def test_nothing_unverified_is_ever_parsed(delivery: Delivery, tampering: bytes) -> None:
    def parse(body: bytes) -> Never:
        raise AssertionError(body)

    def named(_slug: str) -> Provider:
        return untouchable

    untouchable = evolve(CODEHOST, readers=dict.fromkeys(CODEHOST.readers, parse))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decision, "read_object", parse)
        patch.setattr(addresses, "provider_named", named)
        at = evolve(AT)
        tampered = evolve(delivery, address=at, body=delivery.body + tampering)
        outcome = decided(tampered, evolve(HOOK, address=at))

    assert fault_of(outcome) in {Fault.INVALID_SIGNATURE, Fault.ENCODED_BODY}


@frozen
class _Sha512:
    """The scheme of another package."""

    header: str = "X-Lamp-Proof"
    name: bytes = b"x-lamp-proof"
    description: str = ""
    proof: str = ""
    pattern: str | None = None

    def value(self, body: bytes, secret: str) -> str:
        return hmac.digest(secret.encode(), body, "sha512").hex()

    def verifier(self, secrets: Iterable[str]) -> Callable[[bytes, bytes | None], bool]:
        (secret,) = secrets
        return lambda body, sent: sent is not None and hmac.compare_digest(self.value(body, secret).encode(), sent)


def test_a_provider_may_have_a_signature_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def named(_slug: str) -> Provider:
        return evolve(CODEHOST, scheme=_Sha512())

    monkeypatch.setattr(addresses, "provider_named", named)
    hook = evolve(HOOK)
    delivery = signed(push_body("x"), at=AT, secret="secret")
    changed = evolve(delivery, body=delivery.body + b"\n")

    assert isinstance(decided(delivery, hook), Processed)
    assert fault_of(decided(changed, hook)) is Fault.INVALID_SIGNATURE
    # Only a shared token does not cover the body.
    assert examine(changed, hook, source=None, is_complete=True).match is Match.CHANGED_BODY


@given(ours.addresses(), st.sampled_from(["main", "trunk", "release/1.x"]), st.booleans())
def test_only_the_whole_default_ref_is_processed(at: Address, branch: str, tag: bool) -> None:
    ref = f"refs/{'tags' if tag else 'heads'}/{branch}"
    commit = Commit(id="a" * 40, message="x", author=Author(name="Ada", email=""), timestamp="", url="")
    push = Push(ref=ref, branch=branch, commits=(commit,), head_commit=HeadCommit(id=commit.id, message="x"))
    reading = Reading(event=push, repository_id=at.repository_id, repository="acme/x", default_branch=branch)
    kind, body = at.dialect.write(reading)

    delivery = signed(json.dumps(body).encode(), at=at, secret="secret", event=kind)
    outcome = decided(delivery, evolve(HOOK, address=at, branch=branch))

    assert isinstance(outcome, Filtered if tag else Processed)


def test_a_prerelease_that_is_published_from_a_draft_is_processed() -> None:
    body = release_body("v1-rc1", action="published", prerelease=True)

    assert isinstance(decided(signed(body, at=AT, secret="secret", event="release")), Processed)


RELEASED = Release(
    action="published",
    tag_name="v1.0.0",
    name=None,
    body=None,
    prerelease=False,
    draft=False,
    published_at=None,
    url="",
)


@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda provider: provider.slug)
@pytest.mark.parametrize("name", ["", "lamp", "/lamp", "acme/", " / "])
def test_a_name_without_owner_and_name_is_400(provider: Provider, name: str) -> None:
    # The metadata of the context record has the form owner/name (specification 2.5).
    at = address(provider.slug)
    commit = Commit(id="a" * 40, message="x", author=Author(name="Ada", email=""), timestamp="", url="")
    push = Push(ref="refs/heads/main", branch="main", commits=(commit,), head_commit=None)
    for event in (push, RELEASED):
        kind, body = provider.write(
            Reading(event=event, repository_id=at.repository_id, repository=name, default_branch="main")
        )
        delivery = signed(json.dumps(body).encode(), at=at, secret="secret", event=kind)
        outcome = decided(delivery, evolve(HOOK, address=at))

        assert fault_of(outcome) is Fault.INVALID_PAYLOAD
        assert answer(outcome)["error"].endswith(" must have the form owner/name")


@pytest.mark.parametrize("sent", [" {}", "{}\n", "\x1b{}", "\u202e{}\u2028"])
@pytest.mark.parametrize("action", ["published", "prereleased"])
@pytest.mark.parametrize("slug", ["codehost", "github", "gitlab"])
def test_an_action_that_only_looks_like_a_processed_one_is_400(slug: str, action: str, sent: str) -> None:
    # As one line for the log, it reads as an action that is processed (specification 6.2).
    at = address(slug)
    kind, body = at.dialect.write(Reading(event=RELEASED, repository_id=at.repository_id, repository="acme/lamp"))
    content = json.dumps({**body, "action": sent.format(action)}).encode()
    outcome = decided(signed(content, at=at, secret="secret", event=kind), evolve(HOOK, address=at))

    assert fault_of(outcome) is Fault.INVALID_PAYLOAD
    assert answer(outcome) == {"error": f"Invalid payload: action must be exactly '{action}'"}


def test_an_event_kind_we_do_not_know_is_shown_as_one_short_line() -> None:
    outcome = decided(signed(b"{}", at=AT, secret="secret", event="x\x9b" + "y" * 500))

    assert isinstance(outcome, Ignored)
    assert len(outcome.kind) == 64
    assert outcome.kind.isprintable()


@pytest.mark.parametrize("distinct", ["false", "true", "null", '"no"', "[1]"])
def test_an_unspecified_field_may_have_any_value(distinct: str) -> None:
    body = json.dumps(push_body("feat: x")).replace('"url":', f'"distinct": {distinct}, "url":')

    outcome = decided(signed(body.encode(), at=AT, secret="secret"))

    assert isinstance(outcome, Processed)
    assert isinstance(outcome.event, Push)
    assert outcome.event.commits[0].distinct == (distinct != "false")


@pytest.mark.parametrize(
    ("target", "commit"),
    [
        (f'"{"a1" * 20}"', "a1" * 20),
        (f'"{"0f" * 32}"', "0f" * 32),
        *(('"main"', ""), ("null", ""), ("[7]", ""), (f'"{"A1" * 20}"', ""), (f'"{"a" * 41}"', "")),
    ],
)
def test_a_release_keeps_the_hash_of_its_commit_and_nothing_else_that_it_may_be_made_for(
    target: str, commit: str
) -> None:
    body = json.dumps(release_body()).replace('"tag_name":', f'"target_commitish": {target}, "tag_name":')
    outcome = decided(signed(body.encode(), at=AT, secret="secret", event="release"))

    assert isinstance(outcome, Processed)
    assert isinstance(outcome.event, Release)
    assert outcome.event.commit == commit
    assert "commit" not in event_data(outcome.event)
    assert event_from_json("release", event_to_json(outcome.event)) == outcome.event


def test_foreign_names_of_any_size_are_shown_as_one_short_line() -> None:
    body = release_body(action="x\x1b\n" * 100_000)
    filtered = decided(signed(body, at=AT, secret="secret", event="release"))
    elsewhere = push_body("x", branch="dev", default_branch="b\x1b\n" * 100_000)
    reason = decided(signed(elsewhere, at=AT, secret="secret"))

    assert isinstance(filtered, Filtered)
    assert len(json.dumps(answer(filtered))) < 500
    assert filtered.event.action.isprintable()
    assert isinstance(reason, Filtered)
    assert reason.reason.isprintable()
    for length, shown in ((100, "b" * 100), (101, "b" * 99 + "…")):
        body = push_body("x", branch="r" * (length - len("refs/heads/")), default_branch="b" * length)
        filtered = decided(signed(body, at=AT, secret="secret"))
        assert isinstance(filtered, Filtered)
        ref = f"refs/heads/{shown.replace('b', 'r')[11:]}"
        assert filtered.reason == f"{ref} is not the default branch ({shown})"


def test_a_push_to_no_usual_branch_names_the_usual_ones_if_the_default_is_unknown() -> None:
    push = Push(ref="refs/heads/dev", branch="dev", commits=(), head_commit=None)

    assert decision.why_filtered(push, None) == "refs/heads/dev is not the default branch (main or master)"


def test_a_duplicate_has_its_answer() -> None:
    # The golden deliveries have the answers of the other outcomes.
    assert answer(Duplicate(kind="push", delivery_id="d-4")) == {
        "received": True,
        "message": "Webhook already processed (duplicate delivery)",
        "data": {"event": "push", "delivery": "d-4", "duplicate": True},
    }
