"""The classes of files, and the meaning of a change's list of files."""

import re
from collections.abc import Sequence
from enum import Enum
from functools import lru_cache
from typing import Final, final

from msgspec import Struct
from msgspec.structs import replace

from contentsvc_core.content.changelog.tables import rows_of
from contentsvc_core.content.changelog.words import FRAGMENTS
from contentsvc_core.content.sections import Section
from contentsvc_core.events.normalized import Commit
from contentsvc_core.text import lowered


class PathClass(Enum):
    FRAGMENT = "fragment"
    CHANGELOG = "changelog"
    #: Instructions for moving to the next version.
    UPGRADE_GUIDE = "upgrade guide"
    TEST = "test"
    LOCK = "lock"
    TOOL = "tool"
    DOCUMENTATION = "documentation"
    EXAMPLE = "example"
    MANIFEST = "manifest"
    SOURCE = "source"

    # A member is one object: the hash of objects is several times as fast as the one of enumerations.
    __hash__ = object.__hash__


#: A file that only its folder makes documentation or a tool: its name is a part of the software, as in ``security.py``.
_CODE: Final = (
    r"\.(?:[cm]?[jt]sx?|c|cc|clj|cpp|cs|cxx|dart|elm|erl|exs?|fs|go|groovy|h|hpp|hs|java|jl|kts?|lua|mm?|ml|php|pl|py|pyi|pyx"
    r"|rb|rs|scala|svelte|swift|vue|zig)$"
)


def _found(*, folders: str = "", files: str = "", begun: str = "", patterns: str = "") -> "re.Pattern[str]":
    kinds = (
        (folders, "(?:^|/)(?:{})/"),
        (files, "(?:^|/)(?:{})$"),
        (begun, f"(?:^|/)(?:{{}})(?![^/]*{_CODE})[^/]*$"),
        (patterns, "{}"),
    )
    rows = (form.replace("{}", "|".join(rows_of(names))) for names, form in kinds if names)
    return re.compile("|".join(rows))


#: The first class that has a pattern that is found in a path in lower case; else the path is source code.
PATHS: Final = {
    PathClass.FRAGMENT: _found(patterns=rf"""
    (?:^|/)(?:changelog\.d|newsfragments?|news|changes?|changelogs?|\.changesets?|\.changes|releasenotes/notes
        |changelog/unreleased|changelogs/fragments|changelog_unreleased/\w+|upcoming_changes|\.unreleased|next-release
        |release-notes\.d)/(?!readme|template|config|_template|pre\.json|\.|[^/]*{_CODE})[^/]+\.\w+$
    """),
    PathClass.UPGRADE_GUIDE: _found(patterns=r"""
    (?:^|/)(?:upgrad(?:e|ing)|migrat(?:ion|ing)|breaking[-_]changes?)(?:[-_.](?:guides?|notes?|v?\d[a-z\d]*|to|from
        |next))*\.(?:mdx?|rst|txt|adoc)$
    """),
    PathClass.CHANGELOG: _found(patterns=r"""
    (?:^|/)(?:changelog|changes|history|news|release[-_]?notes|releases|whats_?new|changelog[-_.]\w+
        |unreleased)(?:\.(?:md|rst|txt|adoc|markdown|org|xml))?$
    (?:^|/)docs?/(?:\w+/)*(?:changelog|changes|history|release[-_]?notes|whats_?new)(?:[/.][\w./-]*)?$
    """),
    PathClass.TEST: _found(folders=r"""
    tests? | specs? | __tests__ | testing | testdata | test[-_]data | fixtures? | e2e | cypress | mocks? | __mocks__
    __snapshots__ | snapshots | testcases | testsuite | integration[-_]tests? | unit[-_]tests? | test[-_]utils?
    """, files=r"tests?_[^/]*\.\w+ | conftest\.py | tests?\.\w+",
        patterns=r"""
    _tests?\.\w+$ | _spec\.rb$ | test_?helpers?\.\w+$ | [.-](?:test|tests|spec|stories|e2e|snap)\.\w+$
    [a-z0-9]tests?\.(?:java|kt|php|cs|swift|scala|groovy)$
    """),
    PathClass.LOCK: _found(files=r"""
    requirements/[\w.-]+\.(?:in|pip|txt)
    package-lock\.json | npm-shrinkwrap\.json | yarn\.lock | pnpm-lock\.yaml | bun\.lockb? | cargo\.lock | poetry\.lock
    uv\.lock | pdm\.lock | pipfile(?:\.lock)? | gemfile\.lock | composer\.lock | go\.(?:mod|sum) | mix\.lock
    podfile\.lock | pubspec\.lock | flake\.lock | deno\.lock | packages\.lock\.json | \.pre-commit-config\.yaml
    [\w.-]*requirements[\w.-]*\.(?:txt|in) | constraints\.txt | gradle\.lockfile | vendor/modules\.txt
    """),
    PathClass.TOOL: _found(folders=r"""
    ci | hack | \.ci | bin/dev | utils/ci | build-tools | maint | maintenance | fuzz | gallery | etc/ci
    fastlane
    """, files=r"""
    (?:babel|commitlint|eslint|jest|lint-staged|prettier|rollup|stylelint|vite|vitest|webpack)\.config\.[\w.]+
    (?:grunt|gulp|nox)file\.\w+ | karma\.conf\.\w+ | \.[a-z-]+(?:rc)?\.[cm]?js
    """, begun=r"""
    azure-pipelines | appveyor | jenkinsfile | \.?codecov | \.?goreleaser | renovate | \.?dependabot | tox
    \.?pylintrc | mypy | pyrightconfig | pytest | \.?eslintrc | \.?prettierrc | \.?stylelintrc | \.?golangci
    \.?rubocop | \.?rustfmt | clippy | deny | makefile | justfile | taskfile | rakefile | gemfile | \.?jshintrc
    turbo | nx | lerna | \.?babelrc | \.?swcrc | \.?flake8 | \.git-blame-ignore-revs | codeowners | phpunit | phpstan
    psalm | \.?mailmap | \.?editorconfig | \.?gitignore | \.?gitattributes | \.?git_archival | \.?dockerignore
    \.?npmrc | \.?nvmrc | \.?node-version | \.?tool-versions | \.?ruby-version | bors | \.?coveragerc
    \.?markdownlint | \.?cspell | typos | _typos | \.tflint | \.?swiftlint | \.?yamllint | \.?styleci
    \.?release-please\w* | \.release-it | \.all-contributorsrc | \.?readthedocs | book | cloudbuild
    """, patterns=r"""
    ^(?!(?:.*/)?(?:app|assets|src)/|.*\.(?:cs|gd)$)(?:.*/)?(?:infra|scripts?|tasks|tools?)/ | ^devtools/
    ^\.(?:github|gitlab|circleci|travis|azure|buildkite|semaphore|vscode|idea|devcontainer|husky|config|woodpecker
        |forgejo|gitea|cargo|yarn|codesandbox|clusterfuzzlite|ci|cirrus|tekton|changeset)\b
    """),
    PathClass.EXAMPLE: _found(folders=r"""
    examples? | samples? | demos? | playground | benchmarks? | benches | bench | perf | cookbook | tutorials?
    showcase | sandbox
    """, patterns=r"_bench(?:mark)?_?(?:test)?\.\w+$"),
    PathClass.DOCUMENTATION: _found(
        folders=r"docs? | documentation | website | site | wiki | manual | guides? | art | \.docs | doc-site",
        begun=r"""
    readme | licen[cs]e | copying | authors | contributors | contributing | security | code_of_conduct | maintainers
    governance | notice | citation | thanks | credits | funding | owners | faq | mkdocs | netlify | relnotes
    """, patterns=r"(?:^|/)(?:www|relnotes)/ | \.(?:md|mdx|rst|adoc|asciidoc|markdown|textile)$"),
    PathClass.MANIFEST: _found(files=r"""
    package\.json | cargo\.toml | pyproject\.toml | setup\.(?:py|cfg) | composer\.json | [\w.-]+\.gemspec | pom\.xml
    build\.gradle(?:\.kts)? | [\w.-]+\.csproj | mix\.exs | pubspec\.yaml | podfile | package\.swift | manifest\.in
    version(?:\.\w+)? | __version__\.py | _version\.pyi? | version\.go | environment\.ya?ml
    """),
}  # fmt: skip
_UPKEEP_ORDER: Final = (Section.INTERNAL, Section.DEPENDENCIES, Section.DOCUMENTATION)
_UPKEEP: Final = {
    **dict.fromkeys((PathClass.TEST, PathClass.TOOL, PathClass.EXAMPLE), Section.INTERNAL),
    **dict.fromkeys((PathClass.DOCUMENTATION, PathClass.CHANGELOG), Section.DOCUMENTATION),
    **dict.fromkeys((PathClass.UPGRADE_GUIDE, PathClass.FRAGMENT), Section.DOCUMENTATION),
    PathClass.LOCK: Section.DEPENDENCIES,
}

_FRAGMENT_WORD: Final = re.compile(r"[a-z]+", re.IGNORECASE)
#: Fragments with random names, such as ``new-brooms-fix.md``.
_RANDOM_NAME: Final = re.compile(r"(?:^|/)\.changesets?/")
_NUMBER: Final = re.compile(r"(\d{1,10})\.")
#: A commit that touches more fragments collects them for a release.
_FRAGMENTS_OF_A_CHANGE: Final = 6


@final
class Touched(Struct, frozen=True, kw_only=True, gc=False):
    classes: frozenset[PathClass] = frozenset()
    #: The section of a change without code; ``None``: code is touched, or no path is known.
    upkeep: Section | None = None
    source: bool = False
    #: The section of a news fragment; ``None``: unknown.
    announced: Section | None = None
    noted: bool = False
    #: The issues and pull requests that news fragments are named after.
    numbers: tuple[str, ...] = ()


NOTHING: Final = Touched()


@lru_cache(maxsize=4096)
def class_of(path: str) -> PathClass:
    line = lowered(path)
    return next((class_ for class_, pattern in PATHS.items() if pattern.search(line)), PathClass.SOURCE)


@lru_cache(maxsize=1024)
def _of_classes(classes: frozenset[PathClass]) -> Touched:
    upkeep: Section | None = None
    if classes and classes <= _UPKEEP.keys():
        sections = {_UPKEEP[class_] for class_ in classes}
        upkeep = next(section for section in _UPKEEP_ORDER if section in sections)
    noted = len(classes) > 1 and PathClass.CHANGELOG in classes
    return Touched(classes=classes, upkeep=upkeep, source=PathClass.SOURCE in classes, noted=noted)


def touched(commits: Sequence[Commit]) -> Touched:
    """Return the evidence of some commits together; nothing if a list is missing or cut."""
    present: list[str] = []
    removed: list[str] = []
    for commit in commits:
        if commit.paths_cut or not (commit.added or commit.modified or commit.removed):
            return NOTHING
        present += commit.added
        present += commit.modified
        removed += commit.removed
    classes = frozenset(map(class_of, present + removed))
    seen = _of_classes(classes)
    if PathClass.FRAGMENT not in classes:
        return seen
    fragments = dict.fromkeys(path for path in present if class_of(path) is PathClass.FRAGMENT)
    if not fragments:
        return seen
    few = len(fragments) <= _FRAGMENTS_OF_A_CHANGE
    descriptive = [path for path in fragments if few and not _RANDOM_NAME.search(path)]
    names = [path.rpartition("/")[2] for path in descriptive]
    return replace(
        seen,
        announced=next(filter(None, map(FRAGMENTS.get, _FRAGMENT_WORD.findall(" ".join(names).lower()))), None),
        noted=few and len(classes) > 1,
        numbers=tuple(number[1] for name in names if (number := _NUMBER.match(name))),
    )
