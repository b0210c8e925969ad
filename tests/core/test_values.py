"""Small values: times, texts, identifiers, events on the wire, context records and keys."""

import copy
import json
import pickle
import re
import sys
from datetime import UTC, datetime, timedelta, timezone

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from msgspec import to_builtins
from tests.builders import a_record

from contentsvc_core import (
    Belonging,
    Connection,
    Delivery,
    HookConfiguration,
    Integration,
    IssuedKey,
    Push,
    Release,
    StoredAnswer,
    VerifiedDelivery,
    admit,
    decide,
    settlement,
)
from contentsvc_core import strategies as ours
from contentsvc_core.access.keys import ApiKey, Scope, digest, key_prefix, opens
from contentsvc_core.events.normalized import Event
from contentsvc_core.events.wire import event_body, event_from_json, event_to_json
from contentsvc_core.identifiers import (
    is_full_name,
    is_own_id,
    is_slug,
    is_token,
    minted_between,
    minted_ms,
    repository_id,
    slugify,
)
from contentsvc_core.testing import START, CountingIds, address, signed
from contentsvc_core.text import has_controls, one_line, storable
from contentsvc_core.timestamps import from_ms, iso_ms, to_ms, whole_ms
from contentsvc_core.workflows.context import RecordBody


class TestTimestamps:
    def test_the_wire_form_has_exactly_three_decimals(self) -> None:
        assert iso_ms(datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)) == "2026-01-02T03:04:05.000Z"
        assert iso_ms(datetime(2026, 1, 2, 3, 4, 5, 678_999, tzinfo=UTC)) == "2026-01-02T03:04:05.678Z"
        east = timezone(timedelta(hours=2))
        assert iso_ms(datetime(2026, 1, 2, 3, 4, 5, tzinfo=east)) == "2026-01-02T01:04:05.000Z"

    @given(st.integers(-62_135_596_800_000, 253_402_300_799_999))
    def test_milliseconds_come_back_exactly(self, ms: int) -> None:
        assert to_ms(from_ms(ms)) == ms
        assert whole_ms(from_ms(ms)) == from_ms(ms)

    def test_a_time_without_a_zone_is_refused(self) -> None:
        with pytest.raises(ValueError, match="needs a time zone"):
            whole_ms(datetime(2026, 1, 1))  # noqa: DTZ001  # that is the point


class TestText:
    @given(st.text(st.characters()))
    def test_storable_text_can_be_encoded_and_differs_only_in_replacements(self, text: str) -> None:
        clean = storable(text)

        clean.encode()
        assert "\0" not in clean
        assert len(clean) == len(text)
        assert all(new in (old, "\ufffd") for old, new in zip(text, clean, strict=True))

    def test_text_returned_by_the_fast_path_matches_no_pattern(self) -> None:
        # All printable characters, without spaces and characters that break or reorder a line.
        printable = "".join(chr(code) for code in range(sys.maxunicode) if chr(code).isprintable()).replace(" ", "")
        assert not has_controls(printable)
        assert one_line(printable, len(printable)) is printable
        assert one_line(f"{printable}\u202e", len(printable) + 1) == printable
        assert re.search(r"\s", printable) is None

    @given(st.text(st.characters()), st.integers(1, 80))
    def test_one_line_is_one_printable_line_in_its_limit(self, text: str, limit: int) -> None:
        line = one_line(text, limit)

        assert len(line) <= limit
        assert len(line.splitlines()) <= 1
        assert line == line.strip()
        assert one_line(line, limit) == line

    def test_bidirectional_controls_cannot_reorder_a_line(self) -> None:
        assert one_line("a\u202eb\u2066c\x1b[31m\r\nd", 80) == "a b c [31m d"


class TestIdentifiers:
    @given(st.text())
    def test_a_slug_that_was_made_is_one(self, name: str) -> None:
        assert slugify(name) == "" or is_slug(slugify(name))

    @pytest.mark.parametrize(
        ("name", "slug"),
        [
            ("Acme, Inc. (Europe)", "acme-inc-europe"),
            ("Müller & Söhne", "muller-sohne"),
            ("Straße É", "strasse-e"),
            ("Łódź Ærø Þing İzmir œuvre", "lodz-aero-thing-izmir-oeuvre"),
            ("日本", ""),
        ],
    )
    def test_a_slug_reads_like_its_name(self, name: str, slug: str) -> None:
        assert slugify(name) == slug

    @pytest.mark.parametrize(
        ("text", "number"),
        [("1", 1), ("0", None), ("01", None), (str(2**63 - 1), 2**63 - 1), (str(2**63), None), ("1_0", None)],
    )
    def test_a_repositorys_id_fits_into_every_store(self, text: str, number: int | None) -> None:
        assert repository_id(text) == number

    def test_ids_slugs_names_and_tokens_have_a_form(self) -> None:
        assert [is_own_id(text) for text in ("a_-9", "x" * 64, "x" * 65, "", "a b")] == [
            True,
            True,
            False,
            False,
            False,
        ]
        assert [is_slug(text) for text in ("a-b", "x" * 64, "x" * 65, "-a", "a-")] == [True, True, False, False, False]
        assert [is_full_name(text) for text in ("a/b", "a/..", "../a", "a")] == [True, False, False, False]
        assert [is_token(text) for text in ("x" * 1000, "x" * 1001, "a b", "")] == [True, False, False, False]

    def test_a_slug_is_cut_and_has_no_hyphen_at_its_ends(self) -> None:
        assert slugify(f"--{'a' * 63}-b") == "a" * 63
        # Characters that are trimmed at both ends do not count for the limit.
        assert slugify(f"--{'a' * 70}") == "a" * 64
        assert slugify("A!?B") == "a-b"

    def test_an_id_has_the_time_of_its_creation(self) -> None:
        assert minted_ms("log_0000018c-5b1f-7000-8000-000000000001") == 0x018C5B1F
        assert minted_ms("log_00000001-0000-7000-8000-000000000001") == 65_536
        assert minted_ms("log_00000000-0000-4000-8000-000000000001") is None

    @pytest.mark.parametrize(
        ("beginning", "first", "last"),
        [
            ("log_0000018c-5b1f-7000-8000-000000000001", 0x018C5B1F, 0x018C5B1F),
            ("0000018c-5b", 0x018C5B00, 0x018C5BFF),
            ("log_0000018c-", 0x018C0000, 0x018CFFFF),
            ("log_0", 0, 0x0FFF_FFFF_FFFF),
        ],
    )
    def test_the_beginning_of_an_id_has_the_times_of_all_ids_that_begin_so(
        self, beginning: str, first: int, last: int
    ) -> None:
        assert minted_between(beginning) == (first, last)

    @pytest.mark.parametrize("beginning", ["", "log_", "log_g", "log_000000000", "0000018c-5b1fa"])
    def test_no_id_begins_in_another_way(self, beginning: str) -> None:
        assert minted_between(beginning) is None


class TestWire:
    @given(ours.events())
    def test_an_event_comes_back_from_its_stored_form_equal(self, event: Event) -> None:
        assert event_from_json(event.type, event_to_json(event)) == event

    @given(ours.pushes())
    def test_a_pushs_wire_form_has_the_specified_fields_and_no_more(self, push: Push) -> None:
        body = event_body(push)

        assert list(body) == ["type", "action", "data"]
        assert list(body["data"]) == ["ref", "branch", "commits", "headCommit"]
        for commit in body["data"]["commits"]:
            assert list(commit) == ["id", "message", "author", "timestamp", "url"]
            assert set(commit["author"]) - {"username"} == {"name", "email"}
        for commit, sent in zip(push.commits, body["data"]["commits"], strict=True):
            assert ("username" in sent["author"]) == (commit.author.username is not None)

    @given(ours.releases())
    def test_a_releases_wire_form_has_the_specified_fields_and_no_more(self, release: Release) -> None:
        body = event_body(release)

        assert body["action"] == release.action
        assert list(body["data"]) == ["tagName", "name", "body", "prerelease", "draft", "publishedAt", "url"]


class TestContext:
    @given(ours.events(), ours.repository_ids(), ours.delivery_ids())
    def test_the_text_states_type_repository_action_and_data(self, event: Event, repository: int, id_: str) -> None:
        record = a_record(event, repository_id=repository, delivery_id=id_)
        body = to_builtins(RecordBody.of(record))
        headline, empty, label, data = body["content"].split("\n", 3)

        assert body["customId"] == f"codehost:{repository}:{id_}"
        assert body["metadata"] == {
            "source": "codehost_webhook",
            "eventType": event.type,
            "repository": "acme/lighthouse",
        }
        assert headline.startswith(f"Codehost {event.type} event for acme/lighthouse (")
        assert (empty, label) == ("", "Data:")
        assert json.loads(data) == {
            "eventType": event.type,
            "repository": "acme/lighthouse",
            "action": event.action,
            "data": event_body(event)["data"],
        }


class TestKeys:
    KEY = "csk_abcdefghij_" + "x" * 40
    RECORD = ApiKey(
        prefix="csk_abcdefghij",
        organization_id="org_1",
        name="",
        digest=digest(KEY),
        scopes=(Scope.READ,),
        created_at=START,
    )

    def test_a_key_opens_until_it_expires_or_is_revoked(self) -> None:
        expiring = evolve(self.RECORD, expires_at=START + timedelta(days=1))

        assert opens(self.RECORD, self.KEY, START)
        assert opens(expiring, self.KEY, START + timedelta(days=1, milliseconds=-1))
        assert not opens(expiring, self.KEY, START + timedelta(days=1))
        assert not opens(evolve(self.RECORD, revoked_at=START), self.KEY, START)

    @given(st.text(st.characters()))
    def test_no_other_text_opens(self, presented: str) -> None:
        assert not opens(self.RECORD, presented, START)

    def test_secrets_are_not_printed(self) -> None:
        integration = Integration(
            id="int_1", organization_id="org_1", provider="gitlab", enabled=True, repositories=(), created_at=START
        )
        delivery = signed(b"{}", at=address("gitlab"), secret="hush")

        assert digest(self.KEY) not in repr(self.RECORD)
        assert self.KEY not in repr(IssuedKey(key=self.KEY, record=self.RECORD))
        assert "hush" not in repr(Connection(integration=integration, secret="hush"))
        assert "hush" not in repr(StoredAnswer(status=200, headers=(), body='{"secret": "hush"}'))
        assert repr(delivery.headers) == "Headers(content-type, x-gitlab-event, idempotency-key, x-gitlab-token)"

    def test_the_prefix_names_the_key_and_nothing_else_has_one(self) -> None:
        assert key_prefix(self.KEY) == "csk_abcdefghij"
        for text in ("", "csk_abcdefghij", "csk_abc_" + "x" * 40, self.KEY + " ", self.KEY + "\n", "é" * 60):
            assert key_prefix(text) is None


@given(ours.deliveries())
def test_values_can_be_copied_and_pickled(delivery: Delivery) -> None:
    hook = HookConfiguration(
        address=delivery.address, enabled=True, secrets=("secret",), repository=Belonging.THIS_INTEGRATION, version=1
    )
    admitted = admit(delivery, hook)
    outcome = decide(admitted) if isinstance(admitted, VerifiedDelivery) else admitted
    settling = settlement(outcome, hook, at=START, new_id=CountingIds().new_id)

    values = (delivery, admitted, outcome, settling)
    assert pickle.loads(pickle.dumps(values)) == copy.deepcopy(values) == values  # noqa: S301  # bytes of ours
