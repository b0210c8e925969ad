"""The tables of patterns that tell what a change is; one line adds one habit."""

import re
from typing import Final

from contentsvc_core.content.changelog.tables import any_of, words_of

PERFORMANCE: Final = words_of(
    r"performance", r"perf", r"faster", r"fast[- ]paths?", r"speed(?:s|ing)? up", r"speedups?", r"quadratic",
    r"exponential time", r"memory (?:usage|consumption|footprint)",
    (
        r"(?:fewer|less|reduce[sd]?|avoid|unnecessary|extra|redundant) (?:\S+ ){0,2}?(?:allocations?|copies|copying"
        r"|copy|cloning|clones?|syscalls?|queries|lookups?|overhead|process(?:es)?)"
    ),
    r"lazily", r"lazy[- ]load(?:ing|ed)?", r"lazy import", r"on demand", r"only load(?:ed)? when", r"hot path",
    r"startup time", r"load time", r"throughput", r"latency", r"caching", r"in parallel", r"in batches",
    r"optimi[sz]ations?", r"preallocat\w+", r"zero[- ]copy",
)  # fmt: skip
DOCUMENTATION: Final = words_of(
    r"docs?", r"documentations?", r"docstrings?", r"doc ?comments?", r"read ?me(?:\.\w+)?", r"typos?", r"misspell\w*",
    r"spelling", r"change ?logs?(?:\.\w+)?", r"release notes?", r"(?:broken|dead) links?", r"tutorials?",
    r"sponsor\w*", r"code of conduct", r"faq", r"contributing(?:\.\w+)?", r"authors?(?:\.\w+)", r"contributors? list",
    r"as a contributor", r"licen[cs]e (?:year|header|file)s?", r"copyright", r"badges?",
    r"grammar (?:fix|mistake)\w*", r"wording", r"(?:in|code|fix|update|add|some|inline) comments?", r"javadocs?",
    r"rustdoc", r"jsdoc", r"godoc", r"how-?to", r"third[- ]party packages", r"roadmap", r"issue templates?",
    r"pr template", r"translat(?:e|ion) (?:of )?docs",
)  # fmt: skip
INTERNAL: Final = words_of(
    r"ci", r"tests?", r"test[- ]?(?:suite|case|data|matrix|coverage)s?", r"unit ?tests?", r"testing", r"specs?",
    r"workflows?", r"pre-?commit(?:\.\w+)?", r"lint(?:er|ers|ing|s)?", r"code ?ql", r"dependabot", r"renovate",
    r"snapshots? tests?", r"fuzz(?:er|ers|ing)?", r"benchmarks?", r"codspeed", r"codecov", r"code coverage",
    r"github actions?", r"gha", r"travis(?:\.\w+)?", r"appveyor", r"circle ?ci", r"azure pipelines?", r"gitlab-ci",
    r"jenkins\w*", r"flaky", r"mypy", r"pyright", r"flake8", r"ruff", r"isort", r"pylint(?:rc)?", r"clippy",
    r"rustfmt", r"gofmt", r"golangci(?:-lint)?", r"eslint(?:rc)?", r"prettier", r"rubocop(?: offenses?)?", r"phpstan",
    r"psalm", r"style ?ci", r"shellcheck", r"sonar\w*", r"code ?owners", r"editorconfig", r"devcontainers?",
    r"\.?git ?ignore", r"makefile", r"justfile", r"tox(?:\.ini)?", r"nox", r"hatch",
    r"review (?:comments?|feedback|suggestions?)", r"code review",
    (
        r"(?:private|unused|unneeded|unnecessary|unneccessary|redundant|duplicate|stray|dead|wildcard) (?:\S+"
        r" )?(?:imports?|variables?|code|functions?|parameters?|args?|dependency|dependencies|files?|parens"
        r"|parentheses|casts?|lines?|comments?|assignments?|branch(?:es)?|test case)"
    ),
    r"(?:merge|rebase|sync)(?:d|s)? (?:with |from |branch |remote |in )?(?:main|master|develop|upstream|trunk)",
    r"(?:internal|helper) (?:function|method|class|refactor\w*|clean-?up|type|module|util\w*)s?",
    r"refactor(?:s|ed|ing|ings)?", r"clean ?-?ups?", r"nightly build",
    r"release (?:process|script|workflow|checklist|template|build|pipeline|automation)s?", r"publish workflow",
    r"type ?hints? for tests?", r"staging", r"vendored", r"boilerplate", r"code ?(?:style|base|gen)",
    r"version constant", r"compile assets", r"apply fixes from",
    r"dev(?:elopment)? (?:environment|setup|container|dependenc(?:y|ies)|deps|tooling)", r"build errors?",
    r"regression test", r"mocks?", r"todos?", r"fixme", r"magic (?:numbers?|strings?)", r"whitespace changes",
    r"trailing whitespace", r"stale (?:bot|issue)s?", r"issue bot", r"dogfood\w*", r"trove classifiers?",
    r"f-strings", r"git blame", r"archival", r"small (?:fix|tweak)es to scripts",
)  # fmt: skip
#: Words of faults, where no verb says that they are mended.
FAULT: Final = words_of(
    r"fix(?:e[sd])?", r"bugs?", r"crash(?:e[sd]|ing)?", r"leaks?", r"wrong(?:ly)?", r"incorrect(?:ly)?",
    r"regressions?", r"broken", r"panics?", r"deadlocks?", r"race conditions?", r"false[- ](?:positive|negative)s?",
    r"infinite loops?", r"segfaults?", r"typo in error",
    r"no longer (?:fails?|crash\w*|raises?|replaces?|breaks?|hangs?)", r"errors? when", r"missing", r"misdetection",
    r"not working", r"mismatch(?:ed|es)?", r"memory corruption",
)  # fmt: skip
#: Words of new things, where no verb says so.
NOVELTY: Final = words_of(
    r"ability to",
    (
        r"(?:new|additional) (?:option|flag|setting|command|method|function|api|argument|field|hook|lint|rule"
        r"|language|theme|syntax)\w*"
    ),
    r"support for",
)  # fmt: skip
#: Texts that stand in the code and are none.
AROUND_CODE: Final = words_of(
    r"copyright", r"typos?", r"doc ?strings?", r"read ?me", r"javadocs?", r"spelling", r"doc comments?"
)
#: What a feature of a command is called, whatever else the words say.
COMMAND: Final = words_of(r"(?:sub)?commands?", r"flags?", r"options?", r"endpoints?", r"settings?")
#: What stands behind "remove": what users can name and may have used.
PUBLIC_THING: Final = words_of(
    r"option", r"flag", r"argument", r"parameter", r"method", r"function", r"class", r"command", r"endpoint", r"api",
    r"setting", r"support", r"feature", r"plugin", r"export", r"alias(?:es)?", r"module", r"package", r"field",
    r"property", r"deprecated", r"experimental", r"config\w*", r"fixture", r"hook", r"param",
)  # fmt: skip

#: What only moves a dependency to another version; ``name``, ``begin``, ``end`` where the subject names them.
DEPENDENCY: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        (
            r"(?:bump|bumps|bumped|upgrade|upgrades|upgraded|update|updates|updated|pin|downgrade)(?: the)?(?:"
            r" dependency| rust crate| crate| npm| module| helm release| github-actions?| docker)?"
            r" (?P<name>(?!version\b|release\b|to\b)\S+)(?: (?:docker tag|action|orb|digest|requirement|dependency"
            r"|package|crate|lib|library|module))*(?: from v?(?P<begin>\S+))? (?:to|->|=>)"
            r" \W?v?(?P<end>\w*\d\S*)(?:(?:,| and| in| \[|:) ?.*| \(.*| for .*)?"
        ),
        r"(?:bump|update|upgrade)s? (?P<name>[\w@/.-]+)(?:,? (?:and )?[\w@/.-]+)* from \S+ to \S+.*",
        (
            r"(?:bump|upgrade|update)s?d? (?:the |all |various |some |external |go |npm |dev |development |python "
            r"|rust |js |node |third[- ]party |outdated |minor |major |patch |non-major |runtime |test |doc |docs "
            r"|package |project )*(?:dependenc(?:y|ies)|deps|lock ?files?|packages|requirements?(?:\.txt)?"
            r"|submodules?|vendored \S+|crates|modules|gems)(?: .*)?"
        ),
        r"(?:bump|update) (?:the )?\S+ (?:group|packages|dependencies|monorepo)\b.*",
        r"bump the .* group\b.*",
        r"(?:update|bump) \S+ monorepo.*",
        r"lock ?file maintenance.*",
        r".*\bpre-?commit (?:auto ?update|hooks?(?: update)?)\b.*",
        r"\[pre-commit\.ci\].*",
        r"weekly (?:update|dependency).*",
        r"(?:npm|pnpm|yarn|composer|bundle|cargo|go get) (?:audit fix|update|upgrade|-u)\b.*",
        r"(?:bump|update) (?:actions|docker|github)/\S+.*",
        r"(?:pin|unpin) (?:dependenc(?:y|ies)|\S+ to \S+|\S+ ?[<=>~]=?.*)",
        r"(?:add|remove) (?P<added>\S+) (?:dev )?dependency",
        r"(?:update|bump|upgrade)s? (?:dependency )?(?P<named>\S+) (?:action )?to (?:v?\d\S*|latest(?: version)?).*",
        r"(?:update|upgrade) everything(?: else)?",
        (
            r"(?:bump|update|upgrade)s? (?:to )?(?:the )?(?:latest )?(?:base |docker |node |python |golang |alpine "
            r"|debian |builder )*images?\b.*"
        ),
        r"(?:bump|upgrade|update)s? \S+ ?(?:->|=>) ?v?\d\S*",
        (
            r"(?:update|bump|regenerate|refresh) \S*(?:yarn\.lock|package-lock\.json|pnpm-lock\.yaml|cargo\.lock"
            r"|poetry\.lock|uv\.lock|go\.(?:mod|sum)|gemfile\.lock|composer\.lock|requirements\S*\.txt)\b.*"
        ),
        r"bump (?P<bare>[\w@/.-]+(?:\s+and\s+[\w@/.-]+)?)(?: in /\S*)?",
        r"semver compatible updated? .*",
    )
)
#: What only makes a release.
RELEASE: Final = any_of(
    r"(?:\S+[-@ ])?v?\d+\.\d+(?:\.\d+)*(?:[-+.]?(?:alpha|beta|rc|dev|pre|post|a|b|snapshot|final)[-.]?\d*)?\.?",
    r"(?:chore: ?)?version packages(?: \(.*\))?",
    r"publish",
    r"release[/-]v?\d\S*",
    r"release packages?",
    (
        r"(?:bump|bumps|bumped|set|update|updated|increment|change|start|reset)(?: (?:the|a|new|next|package|crate"
        r"|project|library|gem|module|app|plugin|dev|development|minor|major|patch|release|npm|lib|code|and))* "
        r"(?:versions?|soname|version number|version constant)\b(?: (?:to|for|of|in|number).*| v?\d\S*)?"
    ),
    r"(?:bump|update) to v?\d\S*(?: release)?",
    (
        r"(?:release|releases|released|releasing|cut|tag|publish|ship|ready)"
        r"(?: (?:release|new|version|of|for|the|\S+))?(?: \S+)?(?: version| release)? v?\d[\w.+-]*(?: .{0,20})?"
    ),
    (
        r"(?:prepare|prepares|preparing|prep|prepared|start|begin|finali[sz]e|back to)"
        r"(?: (?:for|the|next|new|to|docs?|changelog|on|a))* ?(?:\S+ )?"
        r"(?:releases?|version|development|dev|v?\d+\.\d+\S*)"
        r"(?: (?:for|of|to|cycle|iteration|branch|candidate|version|v?\d).*)?"
    ),
    r"version v?\d[\w.+-]*",
    (
        r"(?:update|updates|updated|generate|regenerate|reset|add|prepare|finali[sz]e|bring|new|edit|fix)"
        r"(?: (?:the|a|new|next))*(?: \S+)? (?:change-?log|changes|history|news|release notes|whats ?new|docs version)"
        r"(?:\.\w+)?(?: (?:for|to|with|up|after|and|entry|entries|template|date|section).*|,.*|\(.*)?"
    ),
    r"\[(?:release|maven-release-plugin)\].*",
    r"(?:post|pre)[- ]?release(?: .*)?",
    r"new release template",
    r"(?:new|next) changelog template",
    r"release(?: commit)?",
    r"bump version.*",
    r"update release (?:date|version).*",
    r"various updates",
    r"start next section",
    r"add next section",
    r"release candidate.*",
    r"dev version.*",
    r"merge (?:release|version) .*",
    r"add unreleased section.*",
    r"add release date.*",
)
#: What makes a release without naming a version, whatever it touches.
RELEASE_WORDS: Final = any_of(
    r"publish",
    r"release(?: packages?| commit)?",
    r"version packages(?: \(.*\))?",
    r"bump version",
    r"prepare (?:for )?(?:the )?next (?:development iteration|release|version)",
)
#: Subjects that tell a reader nothing, whatever they touch.
EMPTY: Final = any_of(
    (
        r"(?:update|updates|updated|changes?|fix|fixes|fixed|fixup|more fixes|oops|whoops|wip|cleanup|clean up|tmp"
        r"|temp|test|testing|misc\w*|minor|typos?|stuff|tweaks?|nits?|ok|done|initial commit|small (?:fix(?:es)?"
        r"|changes?)|minor (?:fix(?:es)?|changes?|tweaks?|updates?)|address (?:review )?(?:comments?|feedback)"
        r"|review|feedback|\.+|address pr .*|apply suggestions.*|merge (?:develop|main|master|dev|trunk|next"
        r"|upstream)(?: .*)?|sync|format|lint|durr|again|try again|rebase|revert|empty commit|trigger (?:ci|build)"
        r"|bump)\W*"
    ),
)
#: What translators' platforms and other machines write.
ROBOT: Final = any_of(
    r"(?:fix|fixes|fixed|correct)(?: (?:a|some|small|minor|more|few))* (?:typos?|spelling|grammar)\b.*",
    r"translated using weblate.*",
    r"translations? update from .*",
    r"new crowdin (?:updates?|translations).*",
    r"new translations? .*",
    r"update(?:d|s)? (?:source file|translations?(?: files?| from \S+| \(.*| \[.*)?)\S*",
    r"i18n: translations?.*",
    r"apply fixes from \S+",
    r"compile assets",
    r"add .* as a contributor.*",
    r"update (?:sponsors?|contributors?|people|backers)\b.*",
    r"\[autofix\.ci\].*",
    r"auto-?generate.*",
    r"automated? (?:cherry|back).*",
    r"sync(?:ed|hroniz\w+)? (?:files|config|repo|labels|with template|upstream).*",
    r"(?:github|gitlab) (?:classroom|pages).*",
)
