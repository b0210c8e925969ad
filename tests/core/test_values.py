"""The small values: time, text, identifiers, wire forms, keys, the journal, runs, queries."""

import json
import re
import sys
from datetime import UTC, datetime, timedelta, timezone

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from msgspec import to_builtins

from contentsvc_core import ContentType, ContextRecord, PostStatus, Push, Release
from contentsvc_core import strategies as ours
from contentsvc_core.access.keys import ApiKey, Scope, digest, key_prefix, opens
from contentsvc_core.content.queries import PostOrder, PostQuery, read_post_query
from contentsvc_core.events.normalized import Event
from contentsvc_core.events.wire import event_body, event_from_json, event_to_json
from contentsvc_core.identifiers import is_slug, slugify
from contentsvc_core.journal import FailureBudget, LogQuery, LogStatus, read_log_query, retention_cutoff
from contentsvc_core.organizations import Organization
from contentsvc_core.refusals import Refusal
from contentsvc_core.testing import START
from contentsvc_core.text import has_controls, one_line, storable
from contentsvc_core.timestamps import from_ms, iso_ms, to_ms, whole_ms
from contentsvc_core.workflows.context import RecordBody
from contentsvc_core.workflows.runs import MAX_ATTEMPTS, retry_delay


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
    def test_what_is_storable_can_be_encoded_and_nothing_else_is_touched(self, text: str) -> None:
        clean = storable(text)

        clean.encode()
        assert "\0" not in clean
        assert len(clean) == len(text)
        assert all(new in (old, "\ufffd") for old, new in zip(text, clean, strict=True))

    def test_what_is_given_back_unseen_is_nothing_that_the_patterns_would_change(self) -> None:
        # Every character that is printable, with neither a space nor anything that breaks or reorders a line.
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

    def test_a_long_text_ends_in_an_ellipsis(self) -> None:
        assert one_line("word " * 100, 12) == "word word w…"


class TestIdentifiers:
    @given(st.text())
    def test_a_slug_that_was_made_is_one(self, name: str) -> None:
        assert slugify(name) == "" or is_slug(slugify(name))

    def test_a_slug_reads_like_its_name(self) -> None:
        assert slugify("Acme, Inc. (Europe)") == "acme-inc-europe"


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
        record = ContextRecord(
            id="ctx_1",
            organization_id="org_1",
            provider="codehost",
            repository_id=repository,
            repository="acme/lighthouse",
            delivery_id=id_,
            event=event,
            created_at=START,
        )
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

    def test_a_keys_digest_is_not_printed(self) -> None:
        assert digest(self.KEY) not in repr(self.RECORD)

    def test_the_prefix_names_the_key_and_nothing_else_has_one(self) -> None:
        assert key_prefix(self.KEY) == "csk_abcdefghij"
        for text in ("", "csk_abcdefghij", "csk_abc_" + "x" * 40, self.KEY + " ", self.KEY + "\n", "é" * 60):
            assert key_prefix(text) is None


class TestJournal:
    def test_a_budget_grants_its_limit_a_minute_and_counts_what_it_left_out(self) -> None:
        budget = FailureBudget(limit=2)
        granted: list[bool] = []
        for second in (0, 1, 2, 59, 60):
            budget, may = budget.spend(START + timedelta(seconds=second))
            granted.append(may)

        assert granted == [True, True, False, False, True]
        assert budget.left_out == 2
        assert budget.told(2).left_out == 0

    def test_a_clock_that_was_stepped_back_does_not_keep_a_budget_spent(self) -> None:
        budget, _ = FailureBudget(limit=1).spend(START)

        assert budget.spend(START - timedelta(hours=1))[1]

    def test_retention_follows_the_plan(self) -> None:
        assert retention_cutoff(7, START) == START - timedelta(days=7)
        with pytest.raises(ValueError, match="7 or 30 days"):
            Organization(id="o", slug="o", name="o", retention_days=8, created_at=START)


class TestRuns:
    def test_a_run_waits_longer_each_time_and_is_given_up_in_the_end(self) -> None:
        delays = [retry_delay(attempt) for attempt in range(1, MAX_ATTEMPTS + 1)]

        assert delays[-1] is None
        seconds = [delay.total_seconds() for delay in delays if delay is not None]
        assert seconds == [2.0**n for n in range(MAX_ATTEMPTS - 1)]


class TestQueries:
    def test_lists_are_read_and_an_empty_one_means_all(self) -> None:
        assert read_post_query({}) == PostQuery()
        assert read_post_query({"orderBy": "createdAt"}) == PostQuery()
        assert read_post_query({"sort": "", "orderBy": "", "status": "", "contentType": " , "}) == PostQuery()
        asked = {"status": "draft, published,draft", "contentType": "changelog", "brandIdentityId": " bi_1,,bi_2,bi_1"}
        assert read_post_query({"sort": "asc", "orderBy": "occurredAt", **asked}) == PostQuery(
            ascending=True,
            order_by=PostOrder.OCCURRED_AT,
            statuses=(PostStatus.DRAFT, PostStatus.PUBLISHED),
            content_types=(ContentType.CHANGELOG,),
            brand_identity_ids=("bi_1", "bi_2"),
        )
        assert read_log_query({}) == read_log_query({"status": ",", "integrationId": " "}) == LogQuery()
        assert read_log_query({"status": "failed,pending", "integrationId": "int_1,int_2"}) == LogQuery(
            integration_ids=("int_1", "int_2"), statuses=(LogStatus.FAILED, LogStatus.PENDING)
        )

    @pytest.mark.parametrize(
        ("name", "value"),
        [("sort", "DESC"), ("orderBy", "updatedAt"), ("status", "draft,gone"), ("contentType", "changelog;x")],
    )
    def test_an_unknown_value_is_named(self, name: str, value: str) -> None:
        refused = read_post_query({name: value})

        assert isinstance(refused, Refusal)
        assert refused.message().startswith(f"Invalid {name}: '")
