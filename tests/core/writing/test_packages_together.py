"""Posts that announce the packages of one commit together."""

from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from writing_samples import MONTH, commit, push, release

from contentsvc_core.content.forms import write_content
from contentsvc_core.content.options import ChangelogOptions
from contentsvc_core.content.packages import package_tag
from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.writing import Brief, Chapter, Draft, PackageRelease
from contentsvc_core.events.normalized import Commit, Push, Release
from contentsvc_core.strategies import foreign_text

FOLLOWS = "### Patch Changes\n\n- Updated dependencies [1234abc]:\n  - @acme/cli@2.0.0\n"
PUSHES = tuple(each for each in MONTH if isinstance(each, Push))


def package(made: Release, before: str | None = None) -> PackageRelease:
    tag = package_tag(made.tag_name)
    assert tag is not None
    return PackageRelease(release=made, tag=tag, previous_tag=before)


def together(
    *packages: PackageRelease,
    pushes: tuple[Push, ...] = (),
    content_type: ContentType = ContentType.CHANGELOG,
    **more: Any,
) -> Draft:
    names = [each.tag.package for each in packages]
    chapter = Chapter(repository="acme/kettle", events=pushes, packages=names)
    draft = write_content(Brief(content_type=content_type, chapters=[chapter], packages=packages, **more))
    assert isinstance(draft, Draft)
    return draft


def touching(message: str, *names: str) -> Commit:
    return evolve(commit(message), modified=tuple(f"packages/{name}/index.ts" for name in names))


CLI, API, WEB, GIT = (package(release(f"@acme/{name}@1.1.0")) for name in ("cli", "api", "web", "git"))


def headings(draft: Draft) -> list[str]:
    return [line.partition("](")[0] for line in draft.markdown.splitlines() if line.startswith("## ")]


def test_packages_with_content_come_first_then_their_common_changes_then_the_others_in_one_line() -> None:
    draft = together(API, CLI, WEB, pushes=(push(touching("feat: add a bell", "cli"), "feat: add a lid"),))

    assert headings(draft)[:2] == ["## [cli 1.1.0", "## Across packages"]
    assert "Also released, without changes of their own: [api 1.1.0](" in draft.markdown
    assert draft.title == "cli 1.1.0, api 1.1.0 and web 1.1.0: add a bell, a lid"


def test_posts_name_the_package_of_a_change() -> None:
    pushes = (push(touching("feat: add a bell", "cli"), touching("fix: stop the drip", "api")),)
    blog = together(API, CLI, pushes=pushes, content_type=ContentType.BLOG_POST).markdown
    assert "Added a bell (cli) (" in blog
    assert "\n- api: Stopped the drip. (" in blog
    alone = together(CLI, pushes=pushes, content_type=ContentType.TWITTER_POST).markdown
    assert "It adds a bell." in alone


def test_what_breaks_for_several_packages_stands_first() -> None:
    pushes = (push(touching("feat: a bell", "cli"), touching("feat!: speak another protocol", "cli", "api", "web")),)

    assert headings(together(CLI, API, WEB, pushes=pushes))[:2] == ["## Across packages", "## [cli 1.1.0"]


def test_a_change_of_a_few_packages_names_them_and_one_of_many_does_not() -> None:
    few = together(CLI, API, WEB, pushes=(push(touching("feat: a bell", "cli", "api")),))
    many = together(CLI, API, WEB, GIT, pushes=(push(touching("feat: a bell", "cli", "api", "web", "git")),))

    assert "- **api, cli:** A bell" in few.markdown
    assert "- A bell" in many.markdown


def test_a_scope_that_names_the_package_is_not_repeated_below_its_heading() -> None:
    draft = together(CLI, API, pushes=(push("feat(cli): a bell", "feat(lid): a hinge", "fix(api): a leak"),))

    assert "- A bell" in draft.markdown
    assert "- Fix a leak" in draft.markdown
    assert "**lid:** A hinge" in draft.markdown


def test_notes_of_a_package_stand_for_its_commits_with_headings_below_its_own() -> None:
    cli = package(release("@acme/cli@2.0.0", body="# New\n\n- Add a bell to the lid\n\n```sh\n# a comment\n```"))
    api = package(release("@acme/api@1.0.1", body=FOLLOWS))
    draft = together(cli, api, pushes=(push(touching("feat: ring", "cli")),))

    assert draft.title == "cli 2.0.0 and api 1.0.1: add a bell to the lid"
    assert "### New\n\n- Add a bell to the lid" in draft.markdown
    assert "\n# a comment\n" in draft.markdown
    assert "Ring" not in draft.markdown
    assert "Updated dependencies" not in draft.markdown


@pytest.mark.slow("writes or reads very large texts")
def test_a_post_about_very_many_packages_stays_within_its_limit() -> None:
    packages = [package(release(f"@acme/part-{number}@1.1.0", body="- Add a bell\n" * 20)) for number in range(250)]
    for longest in (1_000, 20_000, 100_000):
        draft = together(*packages, options=ChangelogOptions(longest=longest))
        assert len(draft.markdown) <= longest


@given(st.lists(foreign_text(), max_size=4), st.lists(foreign_text(), max_size=3))
def test_whatever_authors_write_there_is_a_post(messages: list[str], bodies: list[str]) -> None:
    packages = [package(release(f"part{index}@1.0.{index}", body=body)) for index, body in enumerate(bodies)]
    commits = [touching(message, f"part{index % 2}") for index, message in enumerate(messages)]
    draft = together(CLI, *packages, API, pushes=(push(*commits),))

    assert 1 <= len(draft.title) <= 120
    assert "\x00" not in draft.title + draft.markdown
    assert draft.markdown.endswith("\n")
