"""Packages of one repository: names in tags, files of packages, and the run that reports their releases."""

from datetime import timedelta

import pytest
from tests.refusals import existing

from contentsvc_core.content.changelog.report import Packages
from contentsvc_core.content.packages import package_tag
from contentsvc_core.events.normalized import Author, Commit
from contentsvc_core.testing import START
from contentsvc_core.workflows.packages import (
    PACKAGE_DELAY,
    PACKAGE_GAP,
    Arrival,
    ReleaseRun,
    companions,
    reporting_run,
)
from contentsvc_core.workflows.runs import RunStatus


class TestTags:
    @pytest.mark.parametrize(
        ("tag", "package", "version"),
        [
            ("@acme/cli@3.0.0", "@acme/cli", "3.0.0"),
            ("cli@3.1.0-beta.2", "cli", "3.1.0-beta.2"),
            ("create-vite@v5.0.0", "create-vite", "5.0.0"),
            ("axum-core-v0.5.2", "axum-core", "0.5.2"),
            ("sdk/client/v1.4.0", "sdk/client", "1.4.0"),
            ("clap_complete-v4.4.1+build.7", "clap_complete", "4.4.1+build.7"),
        ],
    )
    def test_a_tag_names_a_package_and_its_version(self, tag: str, package: str, version: str) -> None:
        found = existing(package_tag(tag))
        assert (found.package, found.version) == (package, version)

    @pytest.mark.parametrize(
        "tag",
        [
            *("v1.2.3", "1.2.3", "v1.2.3-beta-v2", "release-v1.2.3", "release/v1.0", "nightly@2026", "kettle-1.2.3"),
            *("package@latest", "a@b@1.0", "@1.0", "cli@", "lamp", "", "c" * 100 + "@1.0"),
        ],
    )
    def test_any_other_tag_names_none(self, tag: str) -> None:
        assert package_tag(tag) is None


def commit(message: str, *paths: str) -> Commit:
    author = Author(name="Ada", email="")
    return Commit(id=message, message=message, author=author, timestamp="", url="", modified=paths)


class TestOwners:
    packages = Packages(
        ["@acme/cli", "@acme/config", "core", "sdk/client", "@a/same", "@b/same", "clap_complete", "a/b", "go/tea/pot"]
    )

    @pytest.mark.parametrize(
        ("path", "owner"),
        [
            ("packages/cli/src/main.ts", "@acme/cli"),
            ("packages/@acme/cli/index.ts", "@acme/cli"),
            ("packages/acme-config/index.ts", "@acme/config"),
            ("crates/core/lib.rs", "core"),
            ("core/lib.rs", "core"),
            ("sdk/client/go.mod", "sdk/client"),
            ("a/b/index.ts", "a/b"),
            ("clap-complete/src/lib.rs", "clap_complete"),
            ("packages/a-same/index.ts", "@a/same"),
            ("packages/pot/main.go", "go/tea/pot"),
            ("packages/tea-pot/main.go", "go/tea/pot"),
        ],
    )
    def test_a_path_belongs_to_the_package_whose_folder_holds_it(self, path: str, owner: str) -> None:
        assert self.packages.owners([commit("Change it", path)]) == {owner}

    @pytest.mark.parametrize(
        "path",
        # A folder of another package; a file, not a folder; a name that two packages share; no folder at all.
        ["packages/server/core/x.ts", "packages/cli", "packages/same/x.ts", "README.md", "docs/cli/usage.md"],
    )
    def test_any_other_path_belongs_to_none(self, path: str) -> None:
        assert self.packages.owners([commit("Change it", path)]) == frozenset()

    def test_without_a_path_of_a_package_the_scope_names_it(self) -> None:
        assert self.packages.owners([commit("fix(cli): start")]) == {"@acme/cli"}
        assert self.packages.owners([commit("fix(cli): say how to start", "docs/start.md")]) == {"@acme/cli"}
        assert self.packages.owners([commit("fix(api): start")]) == frozenset()

    def test_of_several_packages_the_scope_names_the_one_that_a_change_is_about(self) -> None:
        paths = "packages/cli/a.ts", "packages/config/b.ts"
        assert self.packages.owners([commit("Read one file", *paths)]) == {"@acme/cli", "@acme/config"}
        assert self.packages.owners([commit("feat(config): read one file", *paths)]) == {"@acme/config"}

    def test_without_packages_nothing_has_an_owner(self) -> None:
        assert Packages([]).owners([commit("feat(cli): x", "packages/cli/a.ts")]) == frozenset()


def released(name: str, second: float, *, status: RunStatus = RunStatus.PENDING, commit: str = "") -> Arrival:
    run = ReleaseRun(id=name, status=status, tag=f"{name}@1.0.0", delivery_id=name, key=name)
    return Arrival(at=START + timedelta(seconds=second), run=run, commit=commit)


def pushed(second: float) -> Arrival:
    return Arrival(at=START + timedelta(seconds=second))


def plan(*arrivals: Arrival) -> dict[str, tuple[str | None, list[str]]]:
    """Return for each run the run that reports its release, and the runs whose releases it reports."""
    found: dict[str, tuple[str | None, list[str]]] = {}
    for each in arrivals:
        if each.run is not None:
            run_id = reporting_run(arrivals, each.run.id)
            found[each.run.id] = (run_id and run_id.id, [other.id for other in companions(arrivals, each.run.id)])
    return found


class TestAnnouncingRelease:
    def test_the_last_release_of_a_commit_reports_all(self) -> None:
        assert plan(pushed(0), released("a", 1), released("b", 2), released("c", 40)) == {
            "a": ("c", []),
            "b": ("c", ["a"]),
            "c": (None, ["a", "b"]),
        }

    def test_a_single_release_reports_itself(self) -> None:
        assert plan(pushed(0), released("a", 1), pushed(2)) == {"a": (None, [])}

    def test_a_push_between_makes_it_another_commit(self) -> None:
        assert plan(released("a", 1), pushed(2), released("b", 3)) == {"a": (None, []), "b": (None, [])}

    def test_the_hash_of_the_commit_goes_before_that(self) -> None:
        one, two = "1" * 40, "2" * 40
        assert plan(released("a", 1, commit=one), pushed(2), released("b", 3, commit=one)) == {
            "a": ("b", []),
            "b": (None, ["a"]),
        }
        alone: dict[str, tuple[str | None, list[str]]] = {"a": (None, []), "b": (None, [])}
        for first, second in ((one, ""), ("", one)):
            a, b = released("a", 1, commit=first), released("b", 3, commit=second)
            assert plan(a, pushed(2), b) == alone
            assert plan(a, b) == {"a": ("b", []), "b": (None, ["a"])}
        assert plan(released("a", 1, commit=one), released("b", 2, commit=two), released("c", 3, commit=one)) == {
            "a": ("c", []),
            "b": (None, []),
            "c": (None, ["a"]),
        }

    def test_a_late_release_has_its_own_post(self) -> None:
        gap = 50.0
        assert plan(released("a", 0), released("b", gap)) == {"a": ("b", []), "b": (None, ["a"])}
        assert plan(released("a", 0), released("b", gap + 0.001)) == {"a": (None, []), "b": (None, [])}

    def test_a_run_is_due_after_the_last_moment_at_which_another_release_may_join(self) -> None:
        assert PACKAGE_DELAY > PACKAGE_GAP

    @pytest.mark.parametrize("status", [RunStatus.CANCELLED, RunStatus.FAILED])
    def test_a_run_that_ended_without_telling_takes_no_release_with_it(self, status: RunStatus) -> None:
        found = plan(released("a", 1), released("b", 2, status=status))
        assert found["a"] == (None, [])
        found = plan(released("a", 1), released("b", 2, status=status), released("c", 3))
        assert (found["a"], found["c"]) == (("c", []), (None, ["a"]))

    def test_a_release_left_to_another_run_is_reported_by_that_run(self) -> None:
        found = plan(released("a", 1), released("b", 2, status=RunStatus.SKIPPED), released("c", 45))
        assert found["a"] == ("c", [])
        assert found["c"] == (None, ["a", "b"])

    def test_a_release_after_a_written_post_has_its_own_post(self) -> None:
        found = plan(
            released("a", 1, status=RunStatus.SKIPPED), released("b", 2, status=RunStatus.COMPLETED), released("c", 3)
        )
        assert found["c"] == (None, [])
        # The store decides whether another run reports such a run's release.
        assert found["a"] == (None, [])

    def test_a_sender_that_never_stops_keeps_no_post_back(self) -> None:
        # 10 minutes, and 250 releases.
        for step, most in ((40, 15), (1, 250)):
            endless = [released(str(number), number * step) for number in range(2 * most)]
            assert reporting_run(endless, str(most - 1)) is not None
            assert reporting_run(endless, str(most)) is None
