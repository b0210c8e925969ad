"""What the files of a change say about it: a path has a class, and a list of paths a meaning."""

import re
from collections.abc import Iterable
from enum import Enum
from functools import lru_cache
from typing import Final, final

from attrs import field, frozen

from contentsvc_core.content.changelog.words import FRAGMENTS
from contentsvc_core.content.sections import Section
from contentsvc_core.webhooks.events import Commit


class PathClass(Enum):
    """What a file is for."""

    FRAGMENT = "fragment"
    CHANGELOG = "changelog"
    #: What tells readers how to move to the next version.
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


#: The first pattern that is found in a path gives its class. Compared without regard to case.
PATHS: Final = tuple(
    (class_, re.compile(pattern, re.IGNORECASE))
    for class_, pattern in (
        (
            PathClass.FRAGMENT,
            r"(?:^|/)(?:changelog\.d)/(?!readme|template|config|_template|pre\.json|\.)[^/]+\.(?:md|rst|txt|ya?ml|json|\w+)$",
        ),
        (
            PathClass.FRAGMENT,
            r"(?:^|/)(?:newsfragments?)/(?!readme|template|config|_template|pre\.json|\.)[^/]+\.(?:md|rst|txt|ya?ml|json|\w+)$",
        ),
        (
            PathClass.FRAGMENT,
            r"(?:^|/)(?:news)/(?!readme|template|config|_template|pre\.json|\.)[^/]+\.(?:md|rst|txt|ya?ml|json|\w+)$",
        ),
        (
            PathClass.FRAGMENT,
            r"(?:^|/)(?:changes?)/(?!readme|template|config|_template|pre\.json|\.)[^/]+\.(?:md|rst|txt|ya?ml|json|\w+)$",
        ),
        (
            PathClass.FRAGMENT,
            r"(?:^|/)(?:changelogs?)/(?!readme|template|config|_template|pre\.json|\.)[^/]+\.(?:md|rst|txt|ya?ml|json|\w+)$",
        ),
        (
            PathClass.FRAGMENT,
            r"(?:^|/)(?:\.changesets?)/(?!readme|template|config|_template|pre\.json|\.)[^/]+\.(?:md|rst|txt|ya?ml|json|\w+)$",
        ),
        (
            PathClass.FRAGMENT,
            r"(?:^|/)(?:\.changes)/(?!readme|template|config|_template|pre\.json|\.)[^/]+\.(?:md|rst|txt|ya?ml|json|\w+)$",
        ),
        (
            PathClass.FRAGMENT,
            r"(?:^|/)(?:releasenotes/notes)/(?!readme|template|config|_template|pre\.json|\.)[^/]+\.(?:md|rst|txt|ya?ml|json|\w+)$",
        ),
        (
            PathClass.FRAGMENT,
            r"(?:^|/)(?:changelog/unreleased)/(?!readme|template|config|_template|pre\.json|\.)[^/]+\.(?:md|rst|txt|ya?ml|json|\w+)$",
        ),
        (
            PathClass.FRAGMENT,
            r"(?:^|/)(?:changelogs/fragments)/(?!readme|template|config|_template|pre\.json|\.)[^/]+\.(?:md|rst|txt|ya?ml|json|\w+)$",
        ),
        (
            PathClass.FRAGMENT,
            r"(?:^|/)(?:changelog_unreleased/\w+)/(?!readme|template|config|_template|pre\.json|\.)[^/]+\.(?:md|rst|txt|ya?ml|json|\w+)$",
        ),
        (
            PathClass.FRAGMENT,
            r"(?:^|/)(?:upcoming_changes)/(?!readme|template|config|_template|pre\.json|\.)[^/]+\.(?:md|rst|txt|ya?ml|json|\w+)$",
        ),
        (
            PathClass.FRAGMENT,
            r"(?:^|/)(?:\.unreleased)/(?!readme|template|config|_template|pre\.json|\.)[^/]+\.(?:md|rst|txt|ya?ml|json|\w+)$",
        ),
        (
            PathClass.FRAGMENT,
            r"(?:^|/)(?:next-release)/(?!readme|template|config|_template|pre\.json|\.)[^/]+\.(?:md|rst|txt|ya?ml|json|\w+)$",
        ),
        (
            PathClass.FRAGMENT,
            r"(?:^|/)(?:release-notes\.d)/(?!readme|template|config|_template|pre\.json|\.)[^/]+\.(?:md|rst|txt|ya?ml|json|\w+)$",
        ),
        (
            PathClass.UPGRADE_GUIDE,
            r"(?:^|/)(?:upgrad(?:e|ing)|migrat(?:ion|ing)|breaking[-_]changes?)(?:[-_.](?:guides?|notes?|v?\d[a-z\d]*|to|from|next))*\.(?:mdx?|rst|txt|adoc)$",
        ),
        (PathClass.CHANGELOG, r"(?:^|/)(?:changelog|changes|history)(?:\.(?:md|rst|txt|adoc|markdown|org|xml))?$"),
        (PathClass.CHANGELOG, r"(?:^|/)(?:news|release[-_]?notes)(?:\.(?:md|rst|txt|adoc|markdown|org|xml))?$"),
        (PathClass.CHANGELOG, r"(?:^|/)(?:releases|whats_?new)(?:\.(?:md|rst|txt|adoc|markdown|org|xml))?$"),
        (PathClass.CHANGELOG, r"(?:^|/)(?:changelog[-_.]\w+)(?:\.(?:md|rst|txt|adoc|markdown|org|xml))?$"),
        (PathClass.CHANGELOG, r"(?:^|/)(?:unreleased)(?:\.(?:md|rst|txt|adoc|markdown|org|xml))?$"),
        (PathClass.CHANGELOG, r"(?:^|/)docs?/(?:\w+/)*(?:changelog|changes|history)(?:[/.][\w./-]*)?$"),
        (PathClass.CHANGELOG, r"(?:^|/)docs?/(?:\w+/)*(?:release[-_]?notes|whats_?new)(?:[/.][\w./-]*)?$"),
        (PathClass.TEST, r"(?:^|/)(?:tests?|specs?|__tests__|testing|testdata|test[-_]data|fixtures?|e2e)/"),
        (PathClass.TEST, r"(?:^|/)(?:cypress|mocks?|__mocks__|__snapshots__|snapshots|testcases|testsuite)/"),
        (PathClass.TEST, r"(?:^|/)(?:integration[-_]tests?|unit[-_]tests?|test[-_]utils?)/"),
        (PathClass.TEST, r"_tests?\.\w+$"),
        (PathClass.TEST, r"(?:^|/)tests?_[^/]*\.\w+$"),
        (PathClass.TEST, r"[.-](?:test|tests|spec|stories|e2e|snap)\.\w+$"),
        (PathClass.TEST, r"[a-z0-9]Tests?\.(?:java|kt|php|cs|swift|scala|groovy)$"),
        (PathClass.TEST, r"(?:^|/)conftest\.py$"),
        (PathClass.TEST, r"_spec\.rb$"),
        (PathClass.TEST, r"(?:^|/)tests?\.\w+$"),
        (PathClass.TEST, r"test_?helpers?\.\w+$"),
        (PathClass.LOCK, r"(?:^|/)(?:package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml)$"),
        (PathClass.LOCK, r"(?:^|/)(?:bun\.lockb?|cargo\.lock|poetry\.lock|uv\.lock|pdm\.lock|pipfile(?:\.lock)?)$"),
        (PathClass.LOCK, r"(?:^|/)(?:gemfile\.lock|composer\.lock|go\.(?:mod|sum)|mix\.lock|podfile\.lock)$"),
        (PathClass.LOCK, r"(?:^|/)(?:pubspec\.lock|flake\.lock|deno\.lock|packages\.lock\.json)$"),
        (PathClass.LOCK, r"(?:^|/)(?:[\w.-]*requirements[\w.-]*\.(?:txt|in)|constraints\.txt)$"),
        (PathClass.LOCK, r"(?:^|/)(?:\.pre-commit-config\.yaml|gradle\.lockfile|vendor/modules\.txt)$"),
        (PathClass.LOCK, r"(?:^|/)requirements/"),
        (PathClass.TOOL, r"^\.(?:github|gitlab|circleci|travis|azure|buildkite|semaphore|vscode|idea)\b"),
        (PathClass.TOOL, r"^\.(?:devcontainer|husky|config|woodpecker|forgejo|gitea|cargo|yarn|codesandbox)\b"),
        (PathClass.TOOL, r"^\.(?:clusterfuzzlite|ci|cirrus|tekton)\b"),
        (PathClass.TOOL, r"(?:^|/)(?:azure-pipelines|appveyor|jenkinsfile|\.?codecov|\.?goreleaser)[^/]*$"),
        (PathClass.TOOL, r"(?:^|/)(?:renovate|\.?dependabot|tox|noxfile|\.?pylintrc|mypy|pyrightconfig)[^/]*$"),
        (PathClass.TOOL, r"(?:^|/)(?:pytest|\.?eslintrc|eslint\.config|\.?prettierrc|\.?stylelintrc)[^/]*$"),
        (PathClass.TOOL, r"(?:^|/)(?:\.?golangci|\.?rubocop|\.?rustfmt|clippy|deny|makefile|justfile)[^/]*$"),
        (PathClass.TOOL, r"(?:^|/)(?:taskfile|rakefile|gemfile|\.?jshintrc|turbo|nx|lerna)[^/]*$"),
        (PathClass.TOOL, r"(?:^|/)(?:lint-staged\.config|commitlint\.config|karma\.conf|jest\.config)[^/]*$"),
        (PathClass.TOOL, r"(?:^|/)(?:vitest\.config|vite\.config|rollup\.config|webpack\.config|gulpfile)[^/]*$"),
        (PathClass.TOOL, r"(?:^|/)(?:gruntfile|babel\.config|\.?babelrc|\.?swcrc|\.?flake8)[^/]*$"),
        (PathClass.TOOL, r"(?:^|/)(?:\.git-blame-ignore-revs|codeowners|phpunit|phpstan|psalm)[^/]*$"),
        (PathClass.TOOL, r"(?:^|/)(?:\.?editorconfig|\.?gitignore|\.?gitattributes|\.?git_archival)[^/]*$"),
        (PathClass.TOOL, r"(?:^|/)(?:\.?mailmap|\.?dockerignore|\.?npmrc|\.?nvmrc|\.?node-version)[^/]*$"),
        (PathClass.TOOL, r"(?:^|/)(?:\.?tool-versions|\.?ruby-version|bors|\.?coveragerc|\.?markdownlint)[^/]*$"),
        (PathClass.TOOL, r"(?:^|/)(?:\.?cspell|typos|_typos|\.?yamllint|\.?styleci|\.?release-please\w*)[^/]*$"),
        (PathClass.TOOL, r"(?:^|/)(?:\.release-it|\.all-contributorsrc|\.?readthedocs|book)[^/]*$"),
        (PathClass.TOOL, r"(?:^|/)(?:ci|scripts?|tools?|tasks|hack|\.ci|devtools|bin/dev|utils/ci|build-tools)/"),
        (PathClass.TOOL, r"(?:^|/)(?:maint|maintenance|fuzz|gallery|etc/ci|infra)/"),
        (PathClass.EXAMPLE, r"(?:^|/)(?:examples?|samples?|demos?|playground|benchmarks?|benches|bench|perf)/"),
        (PathClass.EXAMPLE, r"(?:^|/)(?:cookbook|tutorials?|showcase|sandbox)/"),
        (PathClass.EXAMPLE, r"_bench(?:mark)?_?(?:test)?\.\w+$"),
        (PathClass.DOCUMENTATION, r"(?:^|/)(?:docs?|documentation|website|site|wiki|manual|guides?|art|\.docs)/"),
        (PathClass.DOCUMENTATION, r"(?:^|/)(?:doc-site|www)/"),
        (PathClass.DOCUMENTATION, r"\.(?:md|mdx|rst|adoc|asciidoc|markdown|textile)$"),
        (PathClass.DOCUMENTATION, r"(?:^|/)(?:readme|licen[cs]e|copying|authors|contributors|contributing)[^/]*$"),
        (PathClass.DOCUMENTATION, r"(?:^|/)(?:security|code_of_conduct|maintainers|governance|notice)[^/]*$"),
        (PathClass.DOCUMENTATION, r"(?:^|/)(?:citation|thanks|credits|funding|owners|faq|mkdocs|netlify)[^/]*$"),
        (PathClass.DOCUMENTATION, r"(?:^|/)(?:relnotes)[^/]*$"),
        (PathClass.DOCUMENTATION, r"(?:^|/)relnotes/"),
        (PathClass.MANIFEST, r"(?:^|/)(?:package\.json|cargo\.toml|pyproject\.toml|setup\.(?:py|cfg))$"),
        (PathClass.MANIFEST, r"(?:^|/)(?:composer\.json|[\w.-]+\.gemspec|pom\.xml|build\.gradle(?:\.kts)?)$"),
        (PathClass.MANIFEST, r"(?:^|/)(?:[\w.-]+\.csproj|mix\.exs|pubspec\.yaml|podfile|package\.swift)$"),
        (PathClass.MANIFEST, r"(?:^|/)(?:version(?:\.\w+)?|__version__\.py|_version\.pyi?|version\.go)$"),
        (PathClass.MANIFEST, r"(?:^|/)(?:manifest\.in|environment\.ya?ml)$"),
        (PathClass.SOURCE, r""),
    )
)

_FRAGMENT_WORD: Final = re.compile(r"[a-z]+", re.IGNORECASE)
_NUMBER: Final = re.compile(r"(\d{1,10})\.")
#: A commit that touches more fragments collects them for a release.
_FRAGMENTS_OF_A_CHANGE: Final = 6
#: Files that stand in for the code where they are alone.
_UPKEEP: Final = {
    PathClass.TEST: Section.INTERNAL,
    PathClass.TOOL: Section.INTERNAL,
    PathClass.EXAMPLE: Section.INTERNAL,
    PathClass.DOCUMENTATION: Section.DOCUMENTATION,
    PathClass.CHANGELOG: Section.DOCUMENTATION,
    PathClass.UPGRADE_GUIDE: Section.DOCUMENTATION,
    PathClass.FRAGMENT: Section.DOCUMENTATION,
    PathClass.LOCK: Section.DEPENDENCIES,
}


@final
@frozen(kw_only=True)
class Touched:
    """What the files of a change say."""

    classes: frozenset[PathClass]
    #: The section that a news fragment names; ``None`` for no fragment and for one that names none.
    announced: Section | None
    #: Whether the author wrote news for readers beside the change.
    noted: bool
    #: The issues and pull requests that news fragments are named after.
    numbers: tuple[str, ...] = field(converter=tuple)

    @property
    def upkeep(self) -> Section | None:
        """Return where a change belongs that touches no code; ``None`` where it touches code or no path is known."""
        if not self.classes or not self.classes <= _UPKEEP.keys():
            return None
        sections = {_UPKEEP[class_] for class_ in self.classes}
        for section in (Section.INTERNAL, Section.DEPENDENCIES):
            if section in sections:
                return section
        return Section.DOCUMENTATION

    @property
    def source(self) -> bool:
        """Whether code that users run is touched."""
        return PathClass.SOURCE in self.classes


NOTHING: Final = Touched(classes=frozenset(), announced=None, noted=False, numbers=())


@lru_cache(maxsize=4096)
def class_of(path: str) -> PathClass:
    """Return what a file is for."""
    return next(class_ for class_, pattern in PATHS if pattern.search(path))


def touched(commits: Iterable[Commit]) -> Touched:
    """Return what the files of some commits say together; nothing where a list is missing or was cut."""
    classes: set[PathClass] = set()
    fragments: dict[str, None] = {}
    for commit in commits:
        present = (*commit.added, *commit.modified)
        if commit.paths_cut or not (present or commit.removed):
            return NOTHING
        classes.update(class_of(path) for path in (*present, *commit.removed))
        fragments.update((path, None) for path in present if class_of(path) is PathClass.FRAGMENT)
    few = 0 < len(fragments) <= _FRAGMENTS_OF_A_CHANGE
    return Touched(
        classes=frozenset(classes),
        announced=next(filter(None, map(_announced, fragments)), None) if few else None,
        noted=len(classes) > 1 and (few or (PathClass.CHANGELOG in classes and not fragments)),
        numbers=[number[1] for path in fragments if (number := _NUMBER.match(path.rpartition("/")[2]))] if few else (),
    )


def _announced(path: str) -> Section | None:
    words = _FRAGMENT_WORD.findall(path.rpartition("/")[2].lower())
    return next((FRAGMENTS[word] for word in words if FRAGMENTS.get(word)), None)
