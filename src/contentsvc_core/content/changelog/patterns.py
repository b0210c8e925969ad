"""The tables of patterns that tell what a change is; one line adds one habit."""

import re
from typing import Final

from contentsvc_core.content.changelog.tables import Table


def _any(*alternatives: str) -> "re.Pattern[str]":
    return re.compile("|".join(alternatives), re.IGNORECASE)


def _words(*alternatives: str) -> Table:
    return Table(*(rf"\b(?:{each})\b" for each in alternatives))


_PLATFORM: Final = (
    r"(?:python ?\d*|py ?\d*|node(?:\.?js)?|ruby|jruby|rails|php|go(?:lang)?|rust|rustc|java|jdk|jre"
    r"|kotlin|scala|clojure"
    r"|\.net(?: (?:core|framework|standard))?|dotnet|net(?:standard|core|coreapp)?\d[\d.]*|django|flask"
    r"|react|vue|angular|ember|svelte|laravel|symfony|postgres(?:ql)?|mysql|mariadb|sqlite|redis|mongodb|elasticsearch"
    r"|elixir|erlang|otp|swift|xcode|ios|macos|android|windows|ubuntu|debian|centos|cmake|gcc|clang|llvm"
    r"|msvc|compiler|c\+\+"
    r"|typescript|npm|yarn|pnpm|deno|bun|webpack|eslint|babel|jquery|kubernetes|k8s|openssl|libressl|pypy"
    r"|cpython|cython"
    r"|numpy|scipy|pandas|qt|gtk|cuda|perl|ghc|lua|julia|gradle|maven|spring(?: boot)?|electron|internet"
    r" explorer|ie ?\d*"
    r"|safari|chrome|firefox|32[- ]?bit|x86)"
)
_VERSION: Final = r"(?:>=? ?|<=? ?|== ?|v)?\d[\w.]*\+?"
_NOT: Final = r"(?<!non-)(?<!non )(?<!not )(?<!not a )(?<!no )(?<!without )(?<!any )"
#: What no reader may miss: something that worked will not work any more.
BREAKING: Final = Table(
    rf"^deprecates? (?:support for )?{_PLATFORM} v?\d",
    r"^breaking(?! (?:news|up|down|out))\b",
    r"[\[(]breaking\b[^\])]*[\])]",
    (
        rf"{_NOT}\bbreaking[- ](?:\S+ )?(?:changes?|apis?|abi|upgrades?|updates?|removals?|renames?)\b"
        r"(?! (?:check|detect|test|report|section|label|note|template|log|page|guide|doc|announce))"
    ),
    rf"{_NOT}\b(?:api|abi|bc|semver)[- ]break(?:ing|age|s)?\b",
    rf"{_NOT}\bbackwards?[- ]?incompatib",
    r"\bnot backwards?[- ]compatible",
    r"\bbackwards compatibility break",
    (
        r"^(?:drop|end|discontinue|cease|stop|abandon|retire|remove|removing|dropping)(?:s|d|ped|ped|ing)? (?:\S+"
        r" ){0,3}?support (?:for|of)\b"
    ),
    (
        rf"^(?:drop|drops|dropped|dropping|discontinue) (?:\S+ ){{0,2}}?{_PLATFORM}(?!\w)"
        rf"(?: ?(?:{_VERSION}|and|or|/|,|&|[<>]=?|{_PLATFORM}|support|versions?|older|below|earlier|completely"
        r"|entirely))*\.?$"
    ),
    (
        rf"\b(?:drop|drops|dropped|dropping|remove|removes|removed|end(?:ed)?) (?:\S+"
        rf" ){{0,2}}?{_PLATFORM}\b[^,;]{{0,20}}\bsupport\b"
    ),
    rf"\b{_PLATFORM}\b[^,;]{{0,30}}\bsupport (?:(?:has|have) been |was |is )?(?:now )?(?:dropped|removed|discontinued)",
    r"\bsupport (?:for|of) .{1,60}\b(?:is|are|was|were|has been|have been)(?: now)? (?:dropped|removed|discontinued)\b",
    (
        r"\b(?:bump|up|support|raise|increase|update|upgrade|set|require|change|new|have)[sd]?\b.{0,30}"
        rf"\b(?:minimum|minim|min\.?|minimal|minimally)\b.{{0,20}}(?:{_PLATFORM}\b|supported|required)"
    ),
    (
        rf"\b(?:bump|up|raise|increase|update|upgrade|set|change|new)[sd]?\b.{{0,20}}\b{_PLATFORM}\b.{{0,20}}"
        r"\b(?:minimum|minim|min)\b"
    ),
    rf"\b(?:minimum|min) (?:supported |required )?(?:{_PLATFORM} )?version\b.{{0,30}}\d",
    (
        r"\b(?:minimum|min|minimal|lowest|oldest)(?: (?:supported|required|compatible|version of|the))*"
        rf" {_PLATFORM}\b.{{0,30}}\d"
    ),
    (
        r"^(?:bump|raise|increase|update|upgrade|set|change)[sd]? (?:the )?(?:required|supported|lowest|oldest"
        r"|baseline|base)"
        rf" (?:supported |required )?{_PLATFORM}(?: engine)?(?: versions?)?\b.{{0,30}}\d"
    ),
    (
        rf"^(?:bump|raise|increase|update|upgrade|set)[sd]? {_PLATFORM} (?:version )?(?:baseline|requirement"
        r"|minimum|floor)s?\b"
    ),
    rf"\b{_PLATFORM} ?{_VERSION} (?:only\b|(?:is |are )?(?:now )?(?:the )?(?:new )?(?:required|minimum|baseline)\b)",
    rf"\b(?:now|only) (?:requires?|supports?|needs?) {_PLATFORM} ?{_VERSION}",
    r"\bmsrv\b.{0,30}\d",
    r"^(?:bump|raise|increase|update|set|change|up)[sd]? (?:the |our |workspace |crate )*msrv\b",
    r"^msrv: ",
    r"^(?:bump|raise|increase|update|set|change)[sd]? `?(?:python_requires|requires-python|rust-version)\b.*\d",
    (
        rf"(?<!\()\b(?:require|requires|required|requiring)s? (?:at least )?{_PLATFORM} ?(?:>=|v?\d|or (?:newer"
        r"|later|higher))"
    ),
    r"\bengines?\b.{0,20}\bnode\b",
    r"\bnode\b.{0,12}\bengines?\b.{0,12}\d",
    r"^(?:set|add|bump|change|specify|restrict|raise|update)s? .*\bin (?:the )?`?engines`?(?: field)?\b",
    r"\b(?:esm|es modules?|python ?3|py3)[- ]only\b",
    r"\bno longer supports?\b",
    r"\b(?:is|are) no longer supported\b",
    r"\bstop(?:s|ped|ping)? supporting\b",
    r"\bescalate deprecations\b",
    r"\b(?:enforce|expire|finali[sz]e|execute)[sd]? (?:the |all |some |old |pending |\S+ )?deprecat(?:ed|ions?)\b",
    r"\bper deprecation (?:timeline|policy|cycle)\b",
    r"\bexpired deprecat",
    (
        r"^(?:remove|removes|removed|drop|drops|dropped|delete|deletes|deleted|purge|prune)"
        r" (?:all |the |some |any |old |various |support for |more |legacy |many )*(?:previously |long[- ])?"
        r"(?:deprecat(?:ed|ions?))\b(?! (?:warnings?|usages?|uses?|calls?|imports?|notices?))"
    ),
    r"^(?:remove|drop|delete)(?:s|d|ped)? .{1,80}\bdeprecated (?:since|in|as of) v?\d",
)
#: Parts of words of which each alternative of :data:`BREAKING` needs one: most subjects have none and need no search.
BREAKING_STEMS: Final = (
    "break", "compatib", "support", "min", "msrv", "requir", "engine", "deprecat", "drop", "discontinu", "only",
    "lowest", "oldest", "base", "floor", "rust-version",
)  # fmt: skip
#: How a subject begins that mends a breakage: the words of a breaking change are about an earlier one.
MENDS_BREAKING: Final = re.compile(
    r"(?:fix|avoid|prevent|revert|undo|restore|mitigate|repair|resolve|un-?break|address|handle|adapt"
    r"|adjust|work around"
    r"|document|mention|note|announce|describe|allow|warn|detect|report|test|check)(?:s|es|ed|d|ing)?\b",
    re.IGNORECASE,
)
#: What nobody outside has used, or what stands beside the code.
UNNOTICED: Final = _words(
    r"unused", r"unnecessary", r"redundant", r"outdated", r"duplicated?", r"stray", r"stale", r"dead", r"leftovers?",
    r"superfluous", r"spurious", r"internals?", r"internally", r"temporary", r"hard-?coded", r"debug(?:ging)?",
    r"repetition", r"unneeded", r"useless", r"workarounds?", r"hacks?", r"dependenc(?:y|ies)", r"code that",
    r"comments?",
    r"private (?:apis?|methods?|functions?|class(?:es)?|attributes?|members?|fields?|helpers?|modules?)",
    r"no longer (?:used|needed|existing|necessary)", r"unreachable", r"confusing", r"trailing", r"empty", r"obsolete",
)  # fmt: skip
#: What probably breaks: what was there is gone, or was optional and is required.
GONE: Final = Table(
    (
        r"\A(?:drop|remove|end|discontinue|cease|delete|purge|retire|kill)(?:s|d|ped|ing|ping)? (?:\S+ ){1,6}?support\b"
        r"(?! (?:code|file|librar|method|function|util|class|script|module|page|link|email|ticket|matrix|table))"
    ),
    (
        r"\A(?!.*\b(?:when|if|after|once|until|where|while|before|ensure|sure|fix\w*|bug|so that|incorrectly"
        r"|wrongly)\b)"
        r".{0,60}?(?:`[^`]+`|\w[._]\w+|\w\(\)|\b(?:option|flag|argument|parameter|method|function|class"
        r"|command|endpoint|api"
        r"|setting|fixture|hook|field|property|feature|module|plugin|alias|backend|driver|operator|keyword"
        r"|kwarg|support)s?\b)"
        r".{0,40}\b(?:is|are|was|were|has been|have been)(?: now| finally| completely)? (?:removed|dropped|deleted)\b"
        r"(?! from (?:the )?(?:cache|list|output|log|queue|index|doc))"
    ),
    r"\b(?:make|are now|is now|enforce|force|require|become)s?\b.*\b(?:keyword|positional)[- ]only\b",
    r"`? (?:\w+ )?(?:is|are) now (?:required|mandatory|private)\b",
    (
        r"\bno longer (?:accepts?|accepted|allows|exports?|exported|exposes?|exposed|available|possible"
        r"|includes?|included"
        r"|ships?|shipped|bundles?|bundled|provides?|provided|implements?|inherits?|re-?exports?|re-?exported"
        r"|part of)\b"
    ),
    r"\A(?:the )?deprecated .{1,60}\b(?:is|are|was|were|has been|have been)(?: now)? (?:removed|dropped|deleted)\b",
    r"\Arequires? `?[\w.-]+`? ?(?:>=? ?|v)?\d+(?:\.\d+)*(?:\+| or (?:newer|later|higher))?`?\.?$",
    r"\Arename[sd]? (?:public |the )?(?:[\w.]+ )?(?:option|flag|setting|command|package|endpoint)s?\b",
    r"\Arename[sd]? (?:the )?`?--[\w-]+",
)
#: What every reader wants to know, whatever else the subject says.
SECURITY: Final = Table(
    r"\bCVE-\d{4}-\d+",
    r"\bGHSA(?:-[0-9a-z]{4}){3}",
    r"\[security\]",
    r"\bvulnerabilit(?:y|ies)\b(?! (?:scan|report|polic|alert|check|disclos))",
    r"\b(?:xss|csrf|ssrf|rce|redos)\b",
    r"\b(?:sql|command|code|header|log|crlf|html|template|shell) injection",
    r"\bpath traversal",
    r"\bdirectory traversal",
    r"\bprototype pollution",
    r"\bopen redirect",
    r"\bdenial[- ]of[- ]service",
    r"\bprivilege escalation",
    r"\brequest smuggling",
    r"\bcatastrophic (?:backtracking|performance)",
    r"\bsecurity (?:fix|issue|hole|bug|flaw|patch|hardening)",
    r"\b(?:leak|expos)\w* (?:of )?(?:credentials?|secrets?|passwords?|tokens?|private keys?)\b",
    r"\bbuffer (?:overflow|overrun)",
    r"\buse[- ]after[- ]free",
    r"\bout[- ]of[- ]bounds",
    r"\btiming attack",
    r"\bzip bomb",
    r"\btmp race",
    r"\black of escaping",
)
#: A thing of the outside that is gone: an option, a method, a type, a flag.
REMOVED: Final = re.compile(
    r"(?i:remove|removes|removed|removing|drop|drops|dropped|delete|deletes|deleted|purge) (?:(?:the|all|old|public) )*"
    r"(?:\S+ ){0,4}?(?:`?--\w[\w-]*|`?\.?\w+\(\)|`[A-Za-z_.:]*[a-z][A-Z]\w*`|`\w*[._:]\w[^`]*`"
    r"|[A-Z]?\w*[a-z][A-Z]\w+\b|`?\w+`? (?:option|flag|argument|parameter|param|method|function|class|command"
    r"|endpoint|api|API|setting|fixture|hook|field|property|feature|extractor|event|prop|attribute|alias|module|plugin"
    r"|format|type|operator|backend|driver|provider|extension|keyword|kwarg|constant|trait|interface"
    r"|middleware|macro|mixin"
    r"|directive|helper|rule|preset|config)(?:s|es)?\b)"
)
#: What is said to people, not to programs.
MESSAGE: Final = _words(
    r"(?:error|warning|log|help|debug)? ?messages?", r"logging", r"log level", r"examples?", r"verbos\w+"
)
#: What breaks something where a release says by its number that something breaks.
BREAKING_IN_MAJOR: Final = Table(
    r"\Arename[sd]?\b",
    r"\b(?:is|are|was|were|has been|have been) (?:replaced|removed|dropped)\b",
    r"\brenamed\b",
    r"\A(?:replace|convert)(?:s|d|ed)?\b.*`",
    r"\A(?:require|disallow|forbid|prohibit|refuse|enforce)s?d?\b",
    r"\Amove[sd]? .*\bto\b",
    (
        r"\bmake\b.*\b(?:private|generic|required|mandatory|strict(?:er)?|async|sync|immutable|final|frozen"
        r"|sealed|explicit"
        r"|opt-(?:in|out)|non-?nullable|read-?only|abstract|protected|unsafe|fallible|keyword|positional|raise"
        r"|throw|return)\b"
    ),
    (
        r"\bno longer (?:accept|allow|support|export|expose|include|install|ship|bundle|provide|return|inherit"
        r"|implement"
        r"|default|available|possible|convert|valid|public|optional|part of|public(?:ly)?)(?:s|ed|d)?\b"
    ),
    r"\Ano longer\b",
    r"\bstricter\b",
    r"\bexits? with code",
    (
        r"\bchange[sd]? (?:the )?(?:\S+ ){0,3}?(?:default|signature|return|type|behaviou?r|peer|order"
        r"|interface|api|format"
        r"|semantics|structure)s?\b"
    ),
    r"\b(?:minimum|min|minimal) (?:\S+ ){0,3}?versions?\b",
    r"\bremoved(?:,| in favou?r|\Z)",
    r"`?\brecommended`? (?:config|preset|rule|set)",
    r"\A(?:remove|drop|delete)(?:s|d|ped)?\b",
)
#: The same where a project that has had its first stable release says so: more is meant for its readers.
BREAKING_IN_STABLE: Final = Table(
    r"\bby default\b",
    r"\bdefaults? to\b",
    r"\bnow (?:raise|throw|return|require|reject|default|expect|take|inherit|use|only|error)s?\b",
    (
        r"\b(?:is|are) now (?!supported|available|possible|allowed|compatible|tested|fix|correct|proper|able"
        r"|used|documented"
        r"|faster|optional|fully|also|included|cleaned|dual|more|better|shown|handled|covered)"
    ),
    r"\bnow (?:doesn't|don't|does not|do not)\b",
    r"\b(?:doesn't|don't|does not|do not)\b.*\bany ?more\b",
    r"\b(?:has|have) changed\b",
    r"\A(?:raise|throw|return)s? ",
    r"\A(?:convert|switch|move|migrate)(?:s|ed|d)? (?:\S+ ){0,3}?to (?:pure )?(?:esm|es ?modules)\b",
)
#: A dependency's first release of a new series; it breaks where authors announce it in a release that breaks.
NEW_SERIES: Final = re.compile(
    r"(?:bump|update|upgrade)[sd]? .*\bto v?(?:\d+(?:\.0)*|0\.\d+(?:\.0)?)\b(?!\.\d)", re.IGNORECASE
)
PERFORMANCE: Final = _words(
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
DOCUMENTATION: Final = _words(
    r"docs?", r"documentations?", r"docstrings?", r"doc ?comments?", r"read ?me(?:\.\w+)?", r"typos?", r"misspell\w*",
    r"spelling", r"change ?logs?(?:\.\w+)?", r"release notes?", r"(?:broken|dead) links?", r"tutorials?",
    r"sponsor\w*", r"code of conduct", r"faq", r"contributing(?:\.\w+)?", r"authors?(?:\.\w+)", r"contributors? list",
    r"as a contributor", r"licen[cs]e (?:year|header|file)s?", r"copyright", r"badges?",
    r"grammar (?:fix|mistake)\w*", r"wording", r"(?:in|code|fix|update|add|some|inline) comments?", r"javadocs?",
    r"rustdoc", r"jsdoc", r"godoc", r"how-?to", r"third[- ]party packages", r"roadmap", r"issue templates?",
    r"pr template", r"translat(?:e|ion) (?:of )?docs",
)  # fmt: skip
INTERNAL: Final = _words(
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
FAULT: Final = _words(
    r"fix(?:e[sd])?", r"bugs?", r"crash(?:e[sd]|ing)?", r"leaks?", r"wrong(?:ly)?", r"incorrect(?:ly)?",
    r"regressions?", r"broken", r"panics?", r"deadlocks?", r"race conditions?", r"false[- ](?:positive|negative)s?",
    r"infinite loops?", r"segfaults?", r"typo in error",
    r"no longer (?:fails?|crash\w*|raises?|replaces?|breaks?|hangs?)", r"errors? when", r"missing", r"misdetection",
    r"not working", r"mismatch(?:ed|es)?", r"memory corruption",
)  # fmt: skip
#: Words of new things, where no verb says so.
NOVELTY: Final = _words(
    r"ability to",
    (
        r"(?:new|additional) (?:option|flag|setting|command|method|function|api|argument|field|hook|lint|rule"
        r"|language|theme|syntax)\w*"
    ),
    r"support for",
)  # fmt: skip
#: Texts that stand in the code and are none.
AROUND_CODE: Final = _words(
    r"copyright", r"typos?", r"doc ?strings?", r"read ?me", r"javadocs?", r"spelling", r"doc comments?"
)
#: What a feature of a command is called, whatever else the words say.
COMMAND: Final = _words(r"(?:sub)?commands?", r"flags?", r"options?", r"endpoints?", r"settings?")
#: What stands behind "remove": what users can name and may have used.
PUBLIC_THING: Final = _words(
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
RELEASE: Final = _any(
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
RELEASE_WORDS: Final = _any(
    r"publish",
    r"release(?: packages?| commit)?",
    r"version packages(?: \(.*\))?",
    r"bump version",
    r"prepare (?:for )?(?:the )?next (?:development iteration|release|version)",
)
#: Subjects that tell a reader nothing, whatever they touch.
EMPTY: Final = _any(
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
ROBOT: Final = _any(
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
