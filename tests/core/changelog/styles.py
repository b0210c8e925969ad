"""Releases in many styles, written for these tests: each entry with the section that it belongs in.

``python -m tests.core.changelog.styles`` (``make writing``) prints them as a table beside what the writer finds.
"""

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from contentsvc_core.content.changelog.select import Change, reported_changes
from contentsvc_core.content.options import ChangelogOptions
from contentsvc_core.content.sections import Section
from contentsvc_core.events.normalized import Author, Commit, Push

#: Message, paths (a plus for an added one), and the section; ``None``: no entry of its own.
Line: TypeAlias = tuple[str, str, Section | None]

_S = Section
_CODE: Final = "src/lamp.py"

STYLES: Final[Mapping[str, Sequence[Line]]] = {
    "conventional": (
        ("feat(beam): turn the beam by remote control (#12)", _CODE, _S.ADDED),
        ("fix(changelog): respect the output setting (#13)", _CODE, _S.FIXED),
        ("fix(config): respect the changelog.output configuration", _CODE, _S.FIXED),
        ("feat!: read settings from lamp.toml (#14)\n\nBREAKING CHANGE: lamp.ini is not read", _CODE, _S.BREAKING),
        (
            "feat: new storage (#15)\n\n* feat: one\n\nBREAKING CHANGE: stores are converted once\n\n* fix: two",
            _CODE,
            _S.BREAKING,
        ),
        ("perf(lens): cache the prism table", _CODE, _S.PERFORMANCE),
        ("fix(deps): oil to v1.7 [security]", "go.sum go.mod", _S.SECURITY),
        ("chore(docker): install ca-certificates", "Dockerfile", _S.CHANGED),
        ("chore(lib): raise MSRV to 1.87.0", "Cargo.toml README.md", _S.BREAKING),
        ("fix(fixtures): order them", "tests/fixtures/a.json", _S.INTERNAL),
        ("fix(docs): repair a link", "docs/index.md", _S.DOCUMENTATION),
        ("refactor(lens): split the module", _CODE, _S.INTERNAL),
        ("Use `!theme.is_empty()`", _CODE, _S.INTERNAL),
        ("chore(main): release 2.1.0", "CHANGELOG.md pyproject.toml", None),
        ("chore(deps): bump oil from 1 to 2", "uv.lock", _S.DEPENDENCIES),
        ("revert: feat(horn): sound twice", _CODE, _S.REVERTED),
    ),
    "gitmoji": (
        ("✨ Add a fog horn (#3)", _CODE, _S.ADDED),
        (":bug: Ring only once", _CODE, _S.FIXED),
        ("💥 Bump Node.js minimum version to v18 (#4)", "package.json .github/workflows/ci.yml", _S.BREAKING),
        ("⚡️ Draw the map faster", _CODE, _S.PERFORMANCE),
        ("🔒️ Refuse unsigned charts", _CODE, _S.SECURITY),
        ("⬆️ Bump oil from 1.0.0 to 1.1.0 (#5)", "package.json yarn.lock", _S.DEPENDENCIES),
        ("📝 Explain the lens", "docs/lens.md", _S.DOCUMENTATION),
        ("👷 Run the tests on Windows", ".github/workflows/ci.yml", _S.INTERNAL),
        ("🔖 2.7.0", "package.json", None),
    ),
    "brackets": (
        ("[Fix #21] Fix a false alarm of `Fog/Horn`", f"{_CODE} +changelog/fix_a_false_alarm.md", _S.FIXED),
        ("[`horn`] Add a louder mode", _CODE, _S.ADDED),
        ("[cmake] Respect CMAKE_PREFIX_PATH", _CODE, _S.FIXED),
        ("[Docs] Name the parts", "docs/parts.md", _S.DOCUMENTATION),
        ("[2.x] Prevent an infinite loop of signals (#22)", _CODE, _S.FIXED),
        ("[pre-commit.ci] pre-commit autoupdate (#23)", ".pre-commit-config.yaml", _S.DEPENDENCIES),
    ),
    "paths": (
        ("net/horn: add a Loudness type", "net/horn/horn.go", _S.ADDED),
        ("loadbalancer/config: Parse weights of zero", "loadbalancer/config.go", _S.CHANGED),
        ("CMakeLists.txt: respect the prefix", "CMakeLists.txt lamp.c", _S.FIXED),
        ("doc: fix a typo", "README.md", _S.DOCUMENTATION),
        ("deps: update everything", "Cargo.lock", _S.DEPENDENCIES),
        ("lamp-0.4.22", "Cargo.toml Cargo.lock", None),
    ),
    "imperative": (
        ("Drop support for Python 3.9 (#31)", "pyproject.toml src/lamp.py", _S.BREAKING),
        ("Drop Python 3.9 from the matrix", ".github/workflows/ci.yml", _S.INTERNAL),
        ("Allow two lamps on one mast (#32)", _CODE, _S.ADDED),
        ("Remove the `dim()` method (#33)", _CODE, _S.BREAKING),
        ("Deprecate `Lamp.old`", _CODE, _S.DEPRECATED),
        ("Speed up the search for ships", _CODE, _S.PERFORMANCE),
        ("Rename the test module", "tests/test_lamp.py", _S.INTERNAL),
        ("Address review comments", _CODE, _S.INTERNAL),
        ("Prepare release 25.1.0", "CHANGELOG.md", None),
        ("Add new section to changes.rst. Raise the version", "CHANGES.rst pyproject.toml uv.lock", _S.DOCUMENTATION),
        ("Add the beam to news.md and README", "NEWS.md Cargo.toml", _S.DOCUMENTATION),
        ("Add a note to CHANGES.rst about #32", "CHANGES.rst", _S.DOCUMENTATION),
        ("Add a change of history for ships", _CODE, _S.ADDED),
    ),
    "work in progress": (
        ("Work around a bug of the clock", _CODE, _S.FIXED),
        ("Work on the new lens", _CODE, _S.CHANGED),
        ("Remove unused wiring", _CODE, _S.INTERNAL),
        ("Spelling fixes", _CODE, _S.DOCUMENTATION),
        ("Stable (#34)", f"{_CODE} docs/upgrading.md", _S.INTERNAL),
        ("chore: build new version", "dist/lamp.js package.json", None),
        ("Bump the beam submodule", "vendor/beam", _S.DEPENDENCIES),
        ("Update libbeam submodule to 1a2b3c4d (#35)", "vendor/beam", _S.DEPENDENCIES),
        ("Bump beam syntax to `9b25682`", "vendor/beam", _S.DEPENDENCIES),
        ("Update the greatest range to 1000000", _CODE, _S.CHANGED),
    ),
    "words before the verb": (
        ("Robustly handle empty barrels", _CODE, _S.FIXED),
        ("Officially support barrels of oak", _CODE, _S.ADDED),
        ("When sailing, don\u2019t ring the bell", _CODE, _S.FIXED),
        ("Only ring the bell in fog", _CODE, _S.FIXED),
        ("Reply to signals with flags", _CODE, _S.CHANGED),
    ),
    "faults without a verb of fixing": (
        ("Re-add the bell of the harbour", _CODE, _S.FIXED),
        ("Add missing ropes to the sail", _CODE, _S.FIXED),
        ("Add a hint about missing ropes", _CODE, _S.ADDED),
        ("Show the correct depth", _CODE, _S.FIXED),
        ("The bell should never ring twice", _CODE, _S.FIXED),
        ("Remove duplicate ropes from the list", _CODE, _S.FIXED),
        ("Improve errors about missing ropes", _CODE, _S.CHANGED),
        ("Warn about missing ropes", _CODE, _S.CHANGED),
        ("Duplicate a rope with one knot", _CODE, _S.CHANGED),
        ("Remove an unnecessary warning", _CODE, _S.FIXED),
        ("Disallow open fire", _CODE, _S.CHANGED),
    ),
    "words of tools": (
        ("Fix a crash when the tests of the lens run twice", _CODE, _S.FIXED),
        ("Fix the tests of the lens", _CODE, _S.INTERNAL),
        ("Show the depth if the CI of a harbour runs", _CODE, _S.CHANGED),
        ("Mend the lens and add a few tests", _CODE, _S.CHANGED),
        ("Add a lens and its test", f"{_CODE} tests/test_lens.py", _S.ADDED),
        ("Add `_LENS_PATH` to the environment", _CODE, _S.ADDED),
        ("Fix build error on old ships", _CODE, _S.FIXED),
        ("Add a lens to follow the lamp spec", _CODE, _S.ADDED),
        ("Fix spec of the lens", _CODE, _S.INTERNAL),
        ("Make sure that `Lens._list` is a list", _CODE, _S.FIXED),
        ("Extract colours from the lens", _CODE, _S.CHANGED),
        ("Extract the lens into a function", _CODE, _S.INTERNAL),
        ("Move the lens to its own module", _CODE, _S.INTERNAL),
        ("Remove code paths of old lamps", _CODE, _S.INTERNAL),
        ("Trim trailing spaces", _CODE, _S.INTERNAL),
        ("Retry steps of travis_wait", _CODE, _S.INTERNAL),
        ("Updated to `libbeam` 0.21.0.", f"{_CODE} Cargo.toml", _S.DEPENDENCIES),
        ("Update to Unicode 15.1", _CODE, _S.CHANGED),
        ("msrv: bump to Rust 1.88", f"{_CODE} Cargo.toml", _S.BREAKING),
        ("Clarify the meaning of `--tests`", _CODE, _S.CHANGED),
        ("Pull out the lens into a new package", _CODE, _S.INTERNAL),
        ("Split the lens out of the lamp", _CODE, _S.INTERNAL),
        ("Move beams to light/beams", _CODE, _S.INTERNAL),
        ("Move beams to ~/.beams", _CODE, _S.CHANGED),
        ("Reuse the logic of lenses", _CODE, _S.INTERNAL),
        ("Use a lens for cleaner code", _CODE, _S.INTERNAL),
        ("Use `Lens::clear` instead of a loop", _CODE, _S.INTERNAL),
        ("Use `is_dark()` in the lamp", _CODE, _S.INTERNAL),
        ("Use the new type alias syntax", _CODE, _S.INTERNAL),
        ("Use the new syntax highlighting", _CODE, _S.CHANGED),
        ("Split the lamp into several files", _CODE, _S.INTERNAL),
        ("Remove old lenses everywhere", _CODE, _S.INTERNAL),
        ("Allow lenses everywhere", _CODE, _S.ADDED),
        ("Switch the lamp to setuptools-scm", _CODE, _S.INTERNAL),
        ("Updating all dependencies", f"{_CODE} Cargo.toml", _S.DEPENDENCIES),
        ("Bumping version to 1.2.3", f"{_CODE} Cargo.toml", None),
        ("Switch the images to lamp oil", "images/cloudbuild.yaml", _S.INTERNAL),
        ("Clean some fragments", ".changeset/config.json +.changeset/new-lamp.md", _S.INTERNAL),
    ),
    "types of news for upkeep": (
        ("fix: documentation link to the lens", _CODE, _S.DOCUMENTATION),
        ("fix: correct a few typos of the lens", _CODE, _S.DOCUMENTATION),
        ("feat: larger letters in the docs", _CODE, _S.DOCUMENTATION),
        ("feat: open the docs", _CODE, _S.ADDED),
        ("fix: correct the colour in the harbour example", _CODE, _S.INTERNAL),
        ("fix: linting changes of the lens", _CODE, _S.INTERNAL),
        ("fix: linting of the lens forgets the lamp", _CODE, _S.FIXED),
        ("feat: refactor the lens & code cleanup", _CODE, _S.INTERNAL),
        ("fix: refactor the lens to find the light again", _CODE, _S.FIXED),
        ("fix: tests workflow", _CODE, _S.INTERNAL),
        ("fix: prerelease scripts", _CODE, _S.INTERNAL),
        ("fix: lamp tests", f"tests/test_lamp.py {_CODE}", _S.INTERNAL),
        ("fix: tests of the horn are too loud", _CODE, _S.FIXED),
        ("fix: silence `clippy::dim_light` in the lamp", _CODE, _S.INTERNAL),
        ("fix: derive the colour when possible", _CODE, _S.INTERNAL),
        ("fix: documentation link to the lamp", f"{_CODE} +newsfragments/85.fix.md", _S.FIXED),
    ),
    "words of documentation": (
        ("Clarify the use of lamps in docs", _CODE, _S.DOCUMENTATION),
        ("Fix a link on the troubleshooting docs page", _CODE, _S.DOCUMENTATION),
        ("Add a note about lamps at sea", _CODE, _S.DOCUMENTATION),
        ("Add notes to lamps", _CODE, _S.ADDED),
        ("Improve lamp documentation", _CODE, _S.DOCUMENTATION),
        ("Add lamps to the harbour API docs", _CODE, _S.DOCUMENTATION),
        ("Fix issues with generating documentation for lamps", _CODE, _S.FIXED),
        ("Add an example with two lamps", _CODE, _S.DOCUMENTATION),
        ("Mention the lamp in error messages", _CODE, _S.CHANGED),
        ("Upgrade MkDocs and its theme", "mkdocs.yml pyproject.toml", _S.DOCUMENTATION),
        ("Add missing comment about the lamp", _CODE, _S.DOCUMENTATION),
    ),
    "past tense": (
        ("Fixed #345 -- Made the lamp blink at noon.", _CODE, _S.CHANGED),
        ("Added a dimmer for the harbour", _CODE, _S.ADDED),
        ("made dependencies on oil only load when required (#41)", _CODE, _S.PERFORMANCE),
        ("Removed unused imports", _CODE, _S.INTERNAL),
        ("Updated translations from Crowdin", "locale/de.po", _S.INTERNAL),
    ),
    "merge commits": (
        ("Count the waves", "src/waves.py", None),
        ("Count them twice", "src/waves.py tests/test_waves.py", None),
        ("Merge pull request #51 from ada/waves\n\nAdd wave statistics", "src/waves.py tests/test_waves.py", _S.ADDED),
        ("oops", "src/fog.py", None),
        (
            "Merge branch 'fog' into 'main'\n\nFix the fog density\n\nSee merge request acme/lamp!52",
            "src/fog.py",
            _S.FIXED,
        ),
        ("Merge pull request 'Allow green light' (#53) from bob/green into main", "src/green.py", _S.ADDED),
        ("Merged in feature/tide (pull request #54)\n\nImprove the tide tables", "src/tide.py", _S.CHANGED),
        ("Merge commit from fork\n\nDo not print the key", "src/key.py", _S.SECURITY),
        ("Merge branch 'main' into ada/waves", "src/other.py", None),
    ),
    "breaking": (
        ("Support for Python 3.9 was dropped (#81)", _CODE, _S.BREAKING),
        ("Drop Node 18 & 19", "package.json src/lamp.js", _S.BREAKING),
        ("Python 3.12+ is now required", _CODE, _S.BREAKING),
        ("Raise the lowest supported Go version to 1.24", "go.mod src/lamp.go", _S.BREAKING),
        ("Bump MSRV", "Cargo.toml src/lamp.rs", _S.BREAKING),
        ("Java 21 baseline", "pom.xml src/Lamp.java", _S.BREAKING),
        ("Stop supporting oil lamps", _CODE, _S.BREAKING),
        ("Remove signal flag support (#82)", _CODE, _S.BREAKING),
        ("The `Lamp.wick` setting has been removed", _CODE, _S.BREAKING),
        ("Make the arguments of `light()` keyword-only", _CODE, _S.BREAKING),
        ("Lamps no longer accept whale oil", _CODE, _S.BREAKING),
        ("DEPR: Enforce the deprecation of candles", _CODE, _S.BREAKING),
        ("[BC BREAK] Turn the mirror around", _CODE, _S.BREAKING),
        ("**Breaking:** turn the lens around", _CODE, _S.BREAKING),
        ("BREAKING CHANGE: light the mirror first", _CODE, _S.BREAKING),
        ("⚠️ Light the prism first (#83)", _CODE, _S.BREAKING),
        ("Turn the mirror by hand", f"{_CODE} UPGRADING.md", _S.BREAKING),
        ("Announce the port of call", f"{_CODE} +newsfragments/84.significant.rst", _S.BREAKING),
        ("Fix a breaking change of the mirror", _CODE, _S.FIXED),
        ("fix: remove the misleading `MirrorProtocol` mapping", _CODE, _S.FIXED),
        ("Remove brackets around mirror types", _CODE, _S.REMOVED),
        ("Remove deprecated mirror flag warnings", _CODE, _S.REMOVED),
        ("fix: drop support for Python 3.9", _CODE, _S.BREAKING),
        ("Allow non-breaking spaces in names", _CODE, _S.ADDED),
        ("Ensure that `light()` is removed after the night", _CODE, _S.FIXED),
        ("Remove unused `light_twice()` helper function", _CODE, _S.INTERNAL),
        ("The lamp no longer crashes on start", _CODE, _S.FIXED),
        ("Add a lantern", f"{_CODE} docs/migration-guide.md", _S.ADDED),
        ("Explain the lantern", "docs/migration-guide.md", _S.DOCUMENTATION),
    ),
    "habits of large projects": (
        ("Bug 1234567 - Part 2: Add a lamp to the mast. r=ada,bob", _CODE, _S.ADDED),
        ("Issue #1234567 by ada, bob: Fix the lamp on the mast", _CODE, _S.FIXED),
        ("[LAMP-1234][Mast] Allow two lamps", _CODE, _S.ADDED),
        ("tdf#12345 stop the drip", _CODE, _S.FIXED),
        ("* src/horn.el (horn-sound): Fix the echo.", _CODE, _S.FIXED),
        ("beacon - fix the mode of the shutter", _CODE, _S.FIXED),
        ("subsys/lamp: mast: fix use of a wet wick", _CODE, _S.FIXED),
        ("🌱 Bump oil to 1.2", "go.mod go.sum", _S.DEPENDENCIES),
        ("📖 Explain the wick", "docs/wick.md", _S.DOCUMENTATION),
        ("MNT: tidy the wick", _CODE, _S.INTERNAL),
        ("MNT Use a shorter wick", _CODE, _S.CHANGED),
        ("FEA Use a longer wick", _CODE, _S.ADDED),
        ("EFF Burn less oil", _CODE, _S.PERFORMANCE),
        ("[IMP] mast: show the flag", _CODE, _S.CHANGED),
        ("[REM] mast: the flag", _CODE, _S.REMOVED),
        ("Drop usages of the old encoder", "src/kettle/encode.py", _S.INTERNAL),
        ("fix - the flag of the mast", _CODE, _S.FIXED),
        ('Merge "Add the mast"', _CODE, None),
    ),
    "kernels and languages": (
        ("net: phy: add support for the oil lamp", "drivers/net/phy.c", _S.ADDED),
        ("drivers: mast: fix a use-after-free of the flag", "drivers/mast.c", _S.SECURITY),
        ("selftests/mast: Add a test of the flag", _CODE, _S.INTERNAL),
        ("arm64: dts: lamp: add the clock of the shutter", _CODE, _S.ADDED),
        ("net/horn: reject names with a bell", "net/horn.go", _S.FIXED),
        ("go/lamp, go/mast: better messages", "go/lamp.go", _S.CHANGED),
        ("Rustup to rustc 1.80.0-nightly", _CODE, _S.DEPENDENCIES),
        ("KAFKA-1234: Remove the deprecated wick", _CODE, _S.BREAKING),
        ("HBASE-123 Addendum for checkstyle", _CODE, _S.INTERNAL),
        ("[!!!][TASK] Light the prism first", _CODE, _S.BREAKING),
        ("FEAT(lens)!: turn the prism", _CODE, _S.BREAKING),
        ("_lamp: complete more flags", _CODE, _S.INTERNAL),
        ("Lint: order the imports of lamps", _CODE, _S.INTERNAL),
        ("Docstrings: name the wick", _CODE, _S.DOCUMENTATION),
        ("Ring twice, as ships do (!91)", _CODE, _S.CHANGED),
    ),
    "tongues": (
        ("Füge ein Nebelhorn hinzu", _CODE, _S.ADDED),
        ("Behebt den Absturz beim Start", _CODE, _S.FIXED),
        ("Aktualisiere Abhängigkeiten", _CODE, _S.DEPENDENCIES),
        ("Ajoute une corne de brume", _CODE, _S.ADDED),
        ("Corrige le plantage au démarrage", _CODE, _S.FIXED),
        ("Mise à jour des dépendances", _CODE, _S.DEPENDENCIES),
        ("Met à jour les dépendances", _CODE, _S.DEPENDENCIES),
        ("Añadir una sirena", _CODE, _S.ADDED),
        ("Elimina el modo antiguo", _CODE, _S.REMOVED),
        ("Adiciona uma sirene", _CODE, _S.ADDED),
        ("Исправлена ошибка входа", _CODE, _S.FIXED),
        ("修复登录错误", _CODE, _S.FIXED),
        ("新增暗色主题", _CODE, _S.ADDED),
        ("更新文档", _CODE, _S.DOCUMENTATION),
        ("fix\uff1a登录错误", _CODE, _S.FIXED),
        ("feat:新增灯塔", _CODE, _S.ADDED),
        ("機能追加", _CODE, _S.ADDED),
        ("버그 수정", _CODE, _S.FIXED),
    ),
    "hasty": (
        ("fixup! Add the mast", _CODE, _S.INTERNAL),
        ("WIP: second mast", _CODE, _S.INTERNAL),
        ("Various improvements", _CODE, _S.INTERNAL),
        ("Bugfixes", _CODE, _S.INTERNAL),
        ("first commit", _CODE, _S.INTERNAL),
        ("Update index.js", "index.js", _S.INTERNAL),
        ("Add files via upload", _CODE, _S.INTERNAL),
        ("Rename icon", "icons/lamp.svg", _S.INTERNAL),
        ("Update assets", "assets/lamps.bin", _S.INTERNAL),
        ("Fix remaining typos", _CODE, _S.DOCUMENTATION),
        ("Add 'allow(dead_code)' annotations", _CODE, _S.INTERNAL),
        ("Remove a superfluous mast", _CODE, _S.INTERNAL),
        ("fix:burn no oil at noon", _CODE, _S.FIXED),
        ("Draft: Add a second horn", _CODE, _S.ADDED),
        ("Feature/LAMP-12 add a bell", _CODE, _S.ADDED),
        ("Fix/the bell rings twice", _CODE, _S.FIXED),
        ("Python 3.13 compatibility", _CODE, _S.ADDED),
        ("Support 3.13", _CODE, _S.ADDED),
    ),
    "versions": (
        ("v1.2.3", "package.json", None),
        ("Release 1.2.3 (#92)", "package.json", None),
        ("bump: version 1.2.2 → 1.2.3", "pyproject.toml src/version.py", None),
        ("chore(release): 1.2.3 [skip ci]", "package.json CHANGELOG.md", None),
        ("chore: release main", "package.json", None),
        ("[maven-release-plugin] prepare release lamp-1.2.3", "pom.xml", None),
        ("Version bump to 1.2.3", "package.json", None),
        ("Setting version to 1.2.3", "build.sbt", None),
        ("Start new development cycle", _CODE, None),
        ("New version 1.2.3", "package.json", None),
        ("pkg/brew: Update tap", "pkg/brew/lamp.rb", _S.INTERNAL),
        ("Update oil, wick to 1.9.8", "build.sbt", _S.DEPENDENCIES),
        ("Bump go version to 1.22.1", "go.mod src/lamp.go", _S.DEPENDENCIES),
        ("Update gradle wrapper to 8.5", _CODE, _S.DEPENDENCIES),
        ("Scheduled weekly dependency update for week 12", _CODE, _S.DEPENDENCIES),
        ("fix(deps): update dependency oil to v18 [security]", "package.json", _S.SECURITY),
    ),
    "squash": (
        ("Add a `lint` command (#60)", _CODE, _S.ADDED),
        ("Add zstd decoding of charts (#61)\n\n* first try\n* Fix tests and other stuff.", _CODE, _S.ADDED),
        ("typo: reading a chart, not a map (#62)", "docs/charts.md", _S.DOCUMENTATION),
        ("Bump the charts group with 8 updates (#63)", "requirements.txt", _S.DEPENDENCIES),
        ("Version Packages (#64)", "package.json CHANGELOG.md", None),
        ("Validate signatures of charts (CVE-2026-1234) (#65)", _CODE, _S.SECURITY),
    ),
    "monorepo": (
        ("fix(lens): focus again", "packages/lens/src/index.ts +.changeset/blue-ships-turn.md", _S.FIXED),
        ("rollup: add a `--watch` mode", "packages/rollup/src/cli.ts +.changeset/red-cats-run.md", _S.ADDED),
        ("Fixed false success logs", "packages/rollup/src/cli.ts +.changeset/new-brooms-turn.md", _S.FIXED),
        ("Update Rust crate rand to v0.10.2", "Cargo.toml Cargo.lock", _S.DEPENDENCIES),
        ("Update actions/cache action to v5", ".github/workflows/ci.yml", _S.INTERNAL),
        ("chore(action): fix the list of keepers", "bin/keepers.js", _S.INTERNAL),
        ("Update light dependencies", "src/light.ts package.json +.changeset/old-seas-run.md", _S.DEPENDENCIES),
        ("Update light dependencies.", "src/light.ts package.json CHANGELOG.md", _S.CHANGED),
        ("Remove oil dependency", "src/oil.ts package.json +.changeset/new-seas-run.md", _S.REMOVED),
        ("Update light-beams", "package.json pnpm-lock.yaml +.changeset/big-seas-run.md", _S.DEPENDENCIES),
        ("Prettier v3", "src/light.ts package.json +.changeset/red-seas-run.md", _S.DEPENDENCIES),
        ("lock file maintenance", "pnpm-lock.yaml", _S.DEPENDENCIES),
    ),
    "edges": (
        ("...", _CODE, _S.INTERNAL),
        ("Mention the harbour", _CODE, _S.DOCUMENTATION),
        ("Mention the harbour in the error message", _CODE, _S.CHANGED),
        ("Lamp crashes at noon", _CODE, _S.FIXED),
        ("Change the angle\n\nIt was a regression.", _CODE, _S.FIXED),
        ("Improve wrong angles", _CODE, _S.CHANGED),
        ("Remove the wrong lamp", _CODE, _S.FIXED),
        ("Remove the broken option", _CODE, _S.BREAKING),
        ("`Add` a lamp", _CODE, _S.ADDED),
        ("Update dependencies.", "", _S.DEPENDENCIES),
        ("Release `v2.0.0`", "", None),
        ("Make sure the lamp is lit", _CODE, _S.FIXED),
        ("Quickly add a lamp", _CODE, _S.ADDED),
        ("When it is night, add a lamp", _CODE, _S.ADDED),
        ("Split the lens because of tests", _CODE, _S.CHANGED),
        ("Fix _lens of the lamp", _CODE, _S.FIXED),
        ("Fix the lamp and add tests", _CODE, _S.FIXED),
        ("Correct copyright of the lamp", _CODE, _S.FIXED),
        ("Lens support", _CODE, _S.CHANGED),
        ("Auto-generate slugs from titles", _CODE, _S.CHANGED),
        ("Auto-generated files", _CODE, _S.INTERNAL),
        ("Release candidates can be promoted to stable", _CODE, _S.CHANGED),
        ("Merge version filters into one menu", _CODE, _S.CHANGED),
    ),
    "news fragments": (
        ("Tests do not fail without a package", f"{_CODE} +changelog.d/71.changed.rst", _S.CHANGED),
        ("Semantic line breaks", "changelog.d/70.breaking.md", _S.DOCUMENTATION),
        ("ci: test the night", ".github/workflows/ci.yml", _S.INTERNAL),
        ("The horn is quiet at night", f"{_CODE} +newsfragments/72.feature.md", _S.ADDED),
        ("Old charts are refused", f"{_CODE} +changelog.d/73.removal.md", _S.REMOVED),
    ),
}


def commit_of(number: int, message: str, paths: str) -> Commit:
    """Return a commit with its files."""
    files = paths.split()
    return Commit(
        id=f"{number:040x}",
        message=message,
        author=Author(name="Ada", email=""),
        timestamp="2030-01-02T03:04:05+00:00",
        url="",
        added=tuple(path[1:] for path in files if path.startswith("+")),
        modified=tuple(path for path in files if not path.startswith("+")),
    )


def changes_of(lines: Sequence[Line]) -> tuple[Change, ...]:
    """Return the changes that the writer finds in one release."""
    commits = [commit_of(number, message, paths) for number, (message, paths, _) in enumerate(lines)]
    push = Push(ref="refs/heads/main", branch="main", commits=tuple(commits), head_commit=None)
    return reported_changes([push], ChangelogOptions())


def found(lines: Sequence[Line]) -> list[tuple[str, Section | None, Change | None]]:
    """Return each line's subject, the expected section, and its change."""
    leads = {change.commits[0].id: change for change in changes_of(lines)}
    return [
        (message.partition("\n")[0], section, leads.get(f"{number:040x}"))
        for number, (message, _, section) in enumerate(lines)
    ]


def main() -> None:
    """Print the table."""
    right = total = 0
    for style, lines in STYLES.items():
        print(f"\n{style}")  # noqa: T201
        for subject, expected, change in found(lines):
            section = None if change is None else change.section
            right, total = right + (section is expected), total + 1
            name = "-" if section is None else section.name.lower()
            fault = "" if section is expected else f"   EXPECTED {expected.name.lower() if expected else '-'}"
            told = "shown " if change and change.shown else "folded" if change else "      "
            print(f"  {name:14} {told}  {subject[:70]}{fault}")  # noqa: T201
    print(f"\n{right} of {total} as expected")  # noqa: T201


if __name__ == "__main__":
    main()
