"""The rules for every provider, and the peculiarities of some."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.builders import a_release
from tests.golden_text import check_text
from tests.refusals import existing

from contentsvc_core import (
    PROVIDERS,
    Belonging,
    Delivery,
    Fault,
    Filtered,
    Headers,
    HookConfiguration,
    Outcome,
    Processed,
    Provider,
    Push,
    Rejected,
    Release,
    VerifiedDelivery,
    admit,
    decide,
)
from contentsvc_core.events.normalized import Author, Commit, Event, HeadCommit
from contentsvc_core.testing import address, signed
from contentsvc_core.webhooks.providers import DEFAULT_PROVIDER, HOSTED_PROVIDER, provider_named
from contentsvc_core.webhooks.providers.bitbucket import BITBUCKET, repository_number
from contentsvc_core.webhooks.providers.decoding import Malformed
from contentsvc_core.webhooks.providers.gitlab import GITLAB
from contentsvc_core.webhooks.providers.native import Reading
from contentsvc_core.webhooks.providers.tags import is_prerelease, is_version

SECRET = "whsec_1"
TEXT = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=30)
EVERY = pytest.mark.parametrize("provider", PROVIDERS, ids=lambda provider: provider.slug)

commits = st.builds(
    Commit,
    id=st.text("0123456789abcdef", min_size=40, max_size=40),
    message=TEXT,
    author=st.builds(
        Author,
        # ``Name <address>`` has both.
        name=st.text("Ada Lovelace.", max_size=12).map(str.strip),
        email=st.text("a@.x", max_size=9),
    ),
    timestamp=st.just("2026-01-01T12:00:00+02:00"),
    url=TEXT,
)


@st.composite
def pushes(draw: st.DrawFn) -> Push:
    branch = draw(st.sampled_from(["main", "release/1.x", "tags"]))
    found = tuple(draw(st.lists(commits, min_size=1, max_size=3, unique_by=lambda commit: commit.id)))
    head = HeadCommit(id=found[-1].id, message=found[-1].message)
    return Push(ref=f"refs/heads/{branch}", branch=branch, commits=found, head_commit=head)


def releases() -> st.SearchStrategy[Release]:
    return st.builds(
        Release,
        action=st.just("published"),
        tag_name=st.sampled_from(["v1.0.0", "2.0", "cli@1.2.3"]),
        name=st.none(),
        body=st.none() | TEXT.map(lambda text: f"# Notes\n{text}.".strip()),
        prerelease=st.just(False),
        draft=st.just(False),
        published_at=st.just("2026-01-01T12:00:00Z"),
        url=TEXT,
        commit=st.just("a" * 40),
    )


def hook(provider: Provider, branch: str | None = "main") -> HookConfiguration:
    at = address(provider=provider.slug, repository_id=7)
    return HookConfiguration(
        address=at, enabled=True, secrets=(SECRET,), repository=Belonging.THIS_INTEGRATION, version=1, branch=branch
    )


def sent(provider: Provider, *events: Event) -> Delivery:
    readings = [Reading(event=each, repository_id=7, repository="acme/x", default_branch="main") for each in events]
    kind, body = provider.write(replace(readings[0], also=tuple(readings[1:])))
    return signed(json.dumps(body).encode(), at=hook(provider).address, secret=SECRET, event=kind)


def decided(delivery: Delivery, at: HookConfiguration) -> Outcome:
    admission = admit(delivery, at)
    return decide(admission) if isinstance(admission, VerifiedDelivery) else admission


def push(ref: str = "refs/heads/main", *, head: str = "a") -> Push:
    commit = Commit(id=head * 40, message="feat: x", author=Author(name="Ada", email=""), timestamp="", url="")
    return Push(
        ref=ref,
        branch=ref.removeprefix("refs/heads/"),
        commits=(commit,),
        head_commit=HeadCommit(id=commit.id, message=commit.message),
    )


@EVERY
class TestEveryProvider:
    @given(st.data())
    def test_a_written_event_is_read_back_unchanged(self, provider: Provider, data: st.DataObject) -> None:
        event = data.draw(pushes() | releases())
        kind, body = provider.write(Reading(event=event, repository_id=7, repository="acme/x", default_branch="main"))

        reading = provider.readers[kind](json.dumps(body).encode())

        assert reading.event == event
        assert (reading.repository_id, reading.repository, reading.also) == (7, "acme/x", ())

    def test_each_written_event_reads_like_this(self, provider: Provider) -> None:
        (commit,) = push().commits
        author = Author(name="Bo", email="bo@x.example", username="bo")
        account = replace(push(), commits=(replace(commit, author=author, added=("a",), removed=("b",)),))
        tag = replace(push("refs/tags/v1"), before="b" * 40)
        gone = replace(push(), commits=(), head_commit=None, before="b" * 40)
        named = Release(
            action="published",
            tag_name="v1",
            name="One",
            body="# Notes\nx",
            prerelease=False,
            draft=False,
            published_at="2026-01-01T12:00:00Z",
            url="https://x.example/1",
            commit="c" * 40,
        )
        readings = [
            Reading(event=event, repository_id=7, repository="acme/x", default_branch=branch)
            for event in (push(), account, replace(push(), is_cut=True), tag, gone, named)
            for branch in ("main", None)
        ]
        lines = [json.dumps(provider.write(reading)) for reading in readings]

        check_text(Path(__file__).with_name(f"golden_written_{provider.slug}.txt"), "\n".join(lines) + "\n")

    @given(st.binary() | TEXT.map(str.encode))
    def test_a_reader_is_total(self, provider: Provider, body: bytes) -> None:
        for read in provider.readers.values():
            with pytest.raises(Malformed):
                read(body)

    def test_a_delivery_without_the_right_proof_is_refused(self, provider: Provider) -> None:
        delivery, at = sent(provider, push()), hook(provider)
        header = provider.scheme.header.lower().encode()
        proof = existing(delivery.headers.sole.get(provider.scheme.name))

        def having(*values: bytes) -> Outcome:
            others = tuple(each for each in delivery.headers if each[0] != header)
            return decided(evolve(delivery, headers=Headers.of((*others, *((header, value) for value in values)))), at)

        assert isinstance(having(proof), Processed)
        for values in ((), (b"",), (proof, proof), (proof[:-1],), (proof.upper(),), (b"\xff" * len(proof),)):
            refused = having(*values)
            assert isinstance(refused, Rejected)
            assert (refused.fault, refused.error) == (Fault.INVALID_SIGNATURE, "Invalid webhook signature")

    def test_its_names_are_fit_for_paths_headers_and_variables(self, provider: Provider) -> None:
        assert re.fullmatch(r"[a-z]+", provider.slug)
        assert provider_named(provider.slug) is provider
        assert address(provider=provider.slug).dialect is provider
        headers = (provider.event_header, provider.delivery_header, provider.scheme.header)
        assert all(re.fullmatch(r"[A-Za-z0-9-]+", header) for header in headers)
        assert len(set(headers)) == len(headers)
        assert provider.name
        assert provider.setup.events
        assert provider.operation_id.startswith(("connect", "create"))


def test_the_providers_differ_where_they_must() -> None:
    assert DEFAULT_PROVIDER.slug == "codehost"
    assert HOSTED_PROVIDER.slug == "github"
    for name in ("slug", "name", "operation_id", "event_header"):
        assert len({getattr(each, name) for each in PROVIDERS}) == len(PROVIDERS), name
    hosts = [host for each in PROVIDERS for host in each.hosts]
    assert len(set(hosts)) == len(hosts)


class TestSeveralEventsOfOneDelivery:
    def test_each_has_a_delivery_id_that_an_attempt_repeats(self) -> None:
        delivery = sent(BITBUCKET, a_release("v1.0.0"), push(), a_release("v1.0.1"))

        first, again = (decided(delivery, hook(BITBUCKET)) for _ in range(2))

        assert first == again
        assert isinstance(first, Processed)
        # The push comes first, because a release reads earlier pushes.
        assert isinstance(first.event, Push)
        assert [each.delivery_id for each in first.also] == [f"{first.delivery_id}.1", f"{first.delivery_id}.2"]
        assert [each.event.type for each in first.also] == ["release", "release"]

    def test_a_long_delivery_id_leaves_space_for_the_number(self) -> None:
        delivery = sent(BITBUCKET, push(), a_release("v1.0.0"))
        header = BITBUCKET.delivery_header.lower().encode()
        headers = Headers.of((name, b"x" * 255 if name == header else value) for name, value in delivery.headers)

        outcome = decided(evolve(delivery, headers=headers), hook(BITBUCKET))

        assert isinstance(outcome, Processed)
        assert [len(each.delivery_id) for each in outcome.also] == [252]

    def test_a_filtered_event_is_not_among_the_further_events(self) -> None:
        outcome = decided(
            sent(BITBUCKET, push("refs/heads/side"), push(head="b"), a_release("v1.0.0")), hook(BITBUCKET)
        )

        assert isinstance(outcome, Processed)
        assert outcome.event == push(head="b")
        assert len(outcome.also) == 1

    def test_one_outcome_is_left_where_all_are_filtered_out(self) -> None:
        outcome = decided(sent(BITBUCKET, push("refs/heads/one"), push("refs/heads/two")), hook(BITBUCKET))

        assert isinstance(outcome, Filtered)
        assert outcome.reason == "refs/heads/one is not the default branch (main)"


class TestDeliveriesWithoutADefaultBranch:
    @pytest.mark.parametrize(
        ("branch", "ref", "is_processed"),
        [
            ("trunk", "refs/heads/trunk", True),
            ("trunk", "refs/heads/main", False),
            (None, "refs/heads/main", True),
            (None, "refs/heads/master", True),
            (None, "refs/heads/trunk", False),
            (None, "refs/tags/main", False),
        ],
    )
    def test_the_stored_branch_decides_and_else_the_usual_names(
        self, branch: str | None, ref: str, is_processed: bool
    ) -> None:
        outcome = decided(sent(BITBUCKET, push(ref)), hook(BITBUCKET, branch))

        assert isinstance(outcome, Processed) is is_processed

    def test_a_delivery_that_names_one_is_decided_by_it(self) -> None:
        assert isinstance(decided(sent(GITLAB, push()), hook(GITLAB, "trunk")), Processed)


class TestTags:
    @pytest.mark.parametrize(
        "tag",
        ["v1.2", "1.2.3", "V2.0.0", "v1.2.3-rc.1", "cli@2.0.0", "@acme/cli@2.0.0", "release-1.4", "1.0b2", "a/v1.0"],
    )
    def test_a_version(self, tag: str) -> None:
        assert is_version(tag)

    @pytest.mark.parametrize(
        "tag", ["", "nightly", "latest", "v1", "2026-03-04", "deploy-2026-03-04", "v1.2.3 final", "x" * 300]
    )
    def test_no_version(self, tag: str) -> None:
        assert not is_version(tag)

    def test_a_prerelease(self) -> None:
        assert is_prerelease("v2.0.0-rc.1")
        assert not is_prerelease("v2.0.0")


class TestRepositoryNumbers:
    def test_a_uuid_has_one_number_however_it_is_written(self) -> None:
        uuid = "6f1c2f3e-5d4b-4a39-9c58-7d6e5f4a3b2c"

        # Pinned, because webhooks' addresses contain the slug.
        assert repository_number(f"{{{uuid}}}") == repository_number(uuid.upper()) == 5835474751540815

    @given(st.uuids(version=4))
    def test_a_number_is_exact_in_every_reader_of_json(self, uuid: object) -> None:
        number = existing(repository_number(str(uuid)))

        assert 1 <= number < 2**53

    @pytest.mark.parametrize("text", ["", "4242", "{}", "{6f1c2f3e}", "00000000-0000-0000-0000-000000000000"])
    def test_text_that_is_not_a_uuid_has_no_repository_number(self, text: str) -> None:
        assert repository_number(text) is None


@pytest.mark.parametrize(
    ("name", "is_nested", "is_plain"),
    [
        ("acme/x", True, True),
        ("acme/harbour/x", True, False),
        ("/".join("a" * 22), True, False),
        ("/".join("a" * 23), False, False),
        ("x", False, False),
        ("acme//x", False, False),
        ("acme/../x", False, False),
        ("acme/harbour/..", False, False),
        ("acme/har bour/x", False, False),
    ],
)
def test_owners_are_nested_at_gitlab_alone(name: str, is_nested: bool, is_plain: bool) -> None:
    assert GITLAB.is_full_name(name) is is_nested
    assert all(each.is_full_name(name) is is_plain for each in PROVIDERS if each is not GITLAB)


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("PROVIDER = evolve(GITHUB, name='Other')", "ProviderUnusable: two providers have the slug 'github'"),
        (
            "PROVIDER = evolve(GITHUB, slug='other', scheme=slice(0))",
            "ProviderUnusable: the scheme of the provider 'other' lacks header, name, description, proof, pattern,",
        ),
        ("OTHER = GITHUB", "ProviderUnusable: the provider of contentsvc_providers.other cannot be imported: module"),
    ],
)
def test_a_faulty_provider_of_another_package_is_named(source: str, fault: str, tmp_path: Path) -> None:
    package = tmp_path / "contentsvc_providers"
    package.mkdir()
    (package / "_helpers.py").write_text("raise AssertionError('only for its siblings')", "utf-8")
    imports = "from attrs import evolve\nfrom contentsvc_core.webhooks.providers.github import GITHUB\n"
    (package / "other.py").write_text(f"{imports}{source}\n", "utf-8")

    done = subprocess.run(
        [sys.executable, "-c", "from contentsvc_core import PROVIDERS"],
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert fault in done.stderr
