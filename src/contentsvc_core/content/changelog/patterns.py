"""The tables of words that decide the section of a change; one line adds one habit."""

import re
from typing import Final

from contentsvc_core.content.changelog.critical import PLATFORM
from contentsvc_core.content.changelog.tables import Table, lines_of, words_of
from contentsvc_core.on_demand import late

PERFORMANCE: Final = words_of(r"""
    load time | zero[- ]copy
    performances? | rendimiento | desempenho | ladezeit(?:en)? | perf | faster | fast[- ]paths? | speed(?:s|ing)? up
    speedups? | quadratic | memory (?:usage|consumption|footprint)
    (?:fewer|less|reduce[sd]?|avoid|unnecessary|extra|redundant) (?:\S+ ){0,2}?(?:allocations?|copies|copying|copy
        |cloning|clones?|syscalls?|queries|lookups?|overhead|process(?:es)?) | lazily | lazy[- ]load(?:ing|ed)?
    (?=.*\bdemand\b)on demand | only load(?:ed)? when | hot path | startup time | throughput | latency | caching
    in parallel | in batches | optimi[sz]ations?
""")
DOCUMENTATION: Final = words_of(r"""
    (?:how-?to|roadmap)(?! (?:board|button|card|column|dialog|item|list|panel|tab|view|widget)s?\b)
    docs? | documentations? | docstrings? | doc ?comments? | read ?me(?:\.\w+)? | typos?(?![- ]toleran) | misspell\w*
    spelling | (?:changes|history|news|releases|whats ?new|upgrading)\.(?:md|rst|txt|adoc) | change ?logs?(?:\.\w+)?
    release notes? | (?:broken|dead) links? | tutorials? | sponsor\w* | code of conduct | faq | contributing(?:\.\w+)?
    licen[cs]e (?:year|header|file)s? | copyright | badges? | grammar (?:fix|mistake)\w*
    wording | javadocs? | rustdoc | jsdoc | godoc | issue templates? | pr template | mkdocs | dokumentation
    (?=.*\bcomments?\b)(?:in|code|fix|update|add|missing|some|inline) comments?
    documentación | documentação | документаци\w+ | tippfehler | rechtschreibfehler | coquilles? | erratas?
    fautes? (?:de frappe|d'orthographe)
""")
INTERNAL: Final = Table(r"""
    appveyor | vendored | fixme | pep ?8 | ^comment(?:s|ed)? out .*
    (?=.*\bdebug)^add(?:s|ed)? (?:some |more )?debug(?:ging)? (?:logs?|output|prints?|statements?)
    ci | tests?(?! (?:card|key|mode)s?\b) | testing | specs | workflows?
    (?=.*\bspec\b)(?:add|adds|added|broken|failing|fix|fixes|fixed|flaky|missing|new|unit|update|updates|updated) spec
    spec (?:files?|fix(?:es)?|helpers?|suite) | ^extract(?:s|ed)? (?!.* from ).*
    pre-?commit(?:\.\w+)? | lint(?:er|ers|ing|s)? | code ?ql | dependabot | renovate | fuzz(?:er|ers|ing)? | benchmarks?
    codecov | code coverage | reproducers? | github actions? | gha | travis[\w.]* | circle ?ci | azure pipelines?
    gitlab-ci | jenkins\w* | flaky | mypy | pyright | flake8 | ruff | isort | pylint(?:rc)? | clippy | rustfmt | gofmt
    golangci(?:-lint)? | eslint(?:rc)? | prettier | rubocop(?: offenses?)? | phpstan | psalm | style ?ci | shellcheck
    sonar\w* | code ?owners? | editorconfig | devcontainers?
    \.?git ?ignore(?! (?:bug|filter|glob|handl|match|pars|pattern|rule|semantic|support|syntax)\w*)
    makefile | justfile | tox(?:\.ini)? | nox | hatch | review (?:comments?|feedback|suggestions?) | code review
    (?:private|unused|unneeded|unnecessary|unneccessary|redundant|duplicate|stray|dead|wildcard) (?:\S+ )?(?:imports?
        |variables?|code|functions?|parameters?|args?|dependency|dependencies|files?|parens|parentheses|casts?|lines?
        |comments?|assignments?|branch(?:es)?|test case)
    ^(?:merge|rebase|sync)(?:d|s|ed)? (?:(?:from|in|on|onto|to|with) )?(?:main|master|develop|upstream|trunk)\Z
    (?:internal|helper) (?:function|method|class|refactor\w*|clean-?up|type|module|util\w*)s?
    refactor\w* | refaktor\w* | pruebas (?:de|para|unitarias) | clean ?-?ups?
    release (?:process|script|workflow|checklist|template|build|pipeline|automation)s? | staging
    boilerplate | code ?(?:style|base|gen)
    dev(?:elopment)? (?:environment|setup|container|dependenc(?:y|ies)|deps|tooling) | mocks? | todos?
    magic (?:numbers?|strings?) | trailing (?:white ?)?spaces?
    (?:in)?to (?:its|their) own (?:\S+ )?(?:class|component|crate|file|function|method|module|package)(?:e?s)?
    trove classifiers? | f-strings | checkstyle | spotless | ktlint | detekt | scalafmt | swiftlint | swiftformat
    biome | stylelint | codespell | (?:homebrew|brew|update|bump) (?:the )?(?:tap|formula|cask) | dead_code
    (?:cargo|go|run|deno) fmt | tool ?chain
    (?:cleaner|duplicated?|simpler) code | (?:terraform|tofu|mix|dart|nix|elm|zig) (?:fmt|format) | tflint | tfsec
    ^(?:break|breaks|broke|factor|pull|split)(?:s|ed|ting)? .{0,60}out (?:of|to|into) .* | ^(?:pull|split)s?(?:ed)? out
    ^(?:use|uses|used|using) `?\S*\w(?=::|\(\))
    ^(?:use|uses|used|using) (?:\S+ ){1,4}(?:constants?|dataclass\w*|enums?|generics|helpers?|idioms?|macros?
        |standard library|syntax)(?:\Z| (?:for|in|of|to) .*)
    ^(?:convert|migrat|mov|port|switch|transition)(?:e|ed|es|ing|s)? (?:\S+ ){0,4}to (?:declarative setup|esbuild|flit
        |gradle|hatch\w*|jest|meson|pdm|pnpm|poetry|pyproject\S*|pytest|rollup|setuptools\S*|swc|tsup|turborepo|uv|vite|vitest
        |webpack|yarn) | ^split(?:s|ting)? .* (?:in)?to (?:\S+ ){0,2}(?:classes|crates|files|functions|modules|packages)
    ^(?:avoid|prefer|remove|replace|use)(?:s|d|ed)? .* everywhere | ^moved? .* (?:in)?to \w\S*/\S+
    ^(?:embed|move|reuse|separate|share)(?:s|d|ed)? .*logic
    ^fix(?:es|ed)? (?:the |some |all |more |compiler )*(?:compiler? errors?|(?:deprecation |compiler )?warnings?
        |formatting|indentation|types|typing|type errors?)\Z
    ^fix(?:es|ed)? (?:\S+ )?warnings (?:from|of|with) .*
    (?=.*\bcomment)(?:incorrect|misplaced|obsolete|old|outdated|stale|wrong) comments?
    (?=.*\bind(?:ex|exes|ices)\b)^(?:add|drop|remove)(?:s|ed|ped|d)? (?:an? |the |composite |missing |unique )*
        ind(?:ex|exes|ices) (?:for|on|to) (?:\S*\ws\.\w|\S+_\w).*
    ^sort(?:s|ed)? (?:the )?(?:\S+ )?(?:dependencies|imports|includes)\Z
    (?=.*\b(?:assert|import|include|newline|semicolon))^add(?:s|ed)? (?:some |more |missing |an? )*(?:assert(?:ion)?s?
        |imports?|includes?|newlines?|semicolons?)\Z
    (?=.*\breadability\b)(?:for|improve) (?:better )?readability
    ^improve[sd]? (?:the )?(?:code )?(?:comments|consistency|maintainability|naming|quality|structure)\Z
    ^uses? (?:an? )?(?:const|early returns?|guard clauses?|let|list comprehensions?|nullptr|optional chaining|pathlib
        |template literals?)(?:\Z| (?:for|in|instead|to) .*)
    ^makes? (?:the |some |more )*(?:\w+ )?(?:class(?:es)?|fields?|functions?|helpers?|members?|methods?|structs?|types?
        |variables?) (?:const|final|private|static)\Z
    ^convert(?:s|ed)? .* to (?:async/await|composition api|(?:functional |function )components?|hooks)
""", r"\b(?<!-)(?:", r")\b")  # fmt: skip
#: Upkeep, although the type of the subject says that there is news.
MISTYPED: Final = words_of(r"""
    ^(?:fix(?:es|ed)? )?(?:the )?(?:docs?|documentation) (?:build|deploy|deployment|link|page|preview|site|workflow)s?
    (?:(?<= in )|(?<= in the )|(?<= on )|(?<= on the ))(?:docs|documentation|read ?me|tutorials?)\Z
    (?=.*\bexamples?\b)(?:in|of) (?:the |an? )?(?:\S+ )?examples?\Z | ^update[sd]? (?:the )?examples?
    ^(?:correct|fix)(?:e?s|e?d)? (?:(?:a few|few|minor|more|some|the|various) )*typos
    ^(?:fix(?:es|ed)? )?(?:the )?(?:lint(?:ing|er)?|clippy|eslint|mypy|ruff) (?:change|complaint|error|fixe
        |issue|warning)s?
    ^refactor(?:s|ed|ing)?\b(?!.* (?:for|so|to) ).*
    ^(?:fix(?:es|ed)? )?(?:the )?(?:build|ci|deploy|deployment|publish|(?:pre-?)?release|tests?) (?:job|pipeline
        |scr?ipt|workflow)s?\Z | (?=.*\btests\b)^(?:fix(?:es|ed)? )?(?:the )?(?:[\w-]+ )?tests\Z
    ^(?:fix(?:es|ed)? )?(?:the )?(?:build|dependencies|deps|package\.json|type errors?|types|version(?: number)?)\Z
    ^(?:fix|update)(?:e?s|e?d)? (?:the )?snapshots?\Z | ^bump(?:s|ed)? (?:the )?(?:dependencies|deps|version)\Z
    (?=.*\bunused\b)^remove[sd]? (?:the |an? |some )?unused (?:code|imports?|variables?)\Z
    ^update[sd]? (?:the )?(?:change ?log|read ?me)(?:\.\w+)?\Z
    (?=.*\b(?:eslint|prettier|storybook)\b)^(?:(?:add|fix|update)(?:e?s|e?d)? )?(?:the |an? )?(?:eslint
        |prettier|storybook)(?: (?:config\w*|rules?|setup))?\Z
    ^wip\b.* | ^makes? (?:the )?(?:\S+ )?(?:ci|clippy|compiler|eslint|lint\w*|mypy|ruff|tests?) happy\Z
    (?=.*\b(?:console|debug))^remove[sd]? (?:the |all |some )?(?:console\.\w+|debug(?:ging)? (?:code
        |logs?|output|prints?|statements?))\Z
    ^(?:appease|ignore|pacify|satisfy|silence|suppress)(?:e?s|e?d)? .*\b(?:clippy|eslint|flake8|mypy|pylint|pyright
        |ruff)\b.* | ^(?:derive|elide|inline|prefer)(?:s|d)? .* (?:when|where)(?:ver)? possible\Z
""")
#: Things that no reader misses when they are removed.
LEFTOVER: Final = words_of(r"""
    dead code | code ?paths? | left ?overs? | redundant | stray | superfluous | unneeded | unnecessary | unused
    usages? | useless | feature[- ](?:flag|toggle)s?(?! (?:list|menu|page|panel|screen|tab|view)s?\b)
    console\.\w+ | print (?:lines?|statements?) | printlns? | commented[- ]out
    (?:debug(?:ging)?|log) (?:calls?|code|lines?|logs?|output|prints?|statements?)
""")
#: Words that make any change small for most readers.
MINOR: Final = words_of(r"""
    docs? | documentation | readme | changelog | examples? | tests? | type hints? | typing | docstrings? | imports?
    warnings? | refactor(?:ing)? | clean-?up | messages? | logs? | logging | scripts? | sponsors?
    msrv | min(?:imum)? (?:supported )?(?:go|rust)
""")
#: Words of changes that only go on with earlier ones: they lead no post.
SLIGHT: Final = words_of(r"""
    some | few | minor | small | tiny | slight(?:ly)? | additional | extra | another | more(?! than) | completions?
""")
#: Words of faults, for subjects without a verb of fixing.
FAULT: Final = words_of(r"""
    fix(?:e[sd])? | bugs? | crash(?:e[sd]|ing)? | leaks? | wrong(?:ly)? | incorrect(?:ly)? | regressions? | broken
    panics? | deadlocks? | race conditions? | false[- ](?:positive|negative)s? | infinite loops? | segfaults? | fehler
    no longer (?:fails?|crash\w*|raises?|replaces?|breaks?|hangs?) | errors? when | missing | not working
    mismatch(?:ed|es)? | (?<!-)correct(?:ly)? | properly | should(?:n't| not| never| no longer)
    correct(?:amente|ement) | korrekt | richtig
    (?<=\w )(?<!to )duplicated?
    (?:needless|redundant|spurious|superfluous|unnecessary) (?:\S+ )?(?:warnings?|errors?|messages?)
""")
#: Faults that subjects without any verb of an action state: "Login loop on Safari", "The lid does not close".
STATED_FAULT: Final = words_of(r"""
    (?:is|are|was|were) \w+ twice(?! (?:an?|as|each|every|per)\b) | loses
    fails? | failing | freez(?:es|ing) | hangs? | disappears? | flicker(?:s|ing)? | got stuck | gets? lost
    too (?:early|late|often|soon) | ^(?:can't|cannot|unable to) (?!be ).*
    (?:customers?|people|users?|you) (?:can't|cannot|can not) \w+(?!.* (?:any ?more|longer)\b)
    npes? | null ?pointer(?: ?exception)?s? | stays? (?:blank|blocked|disabled|empty|hidden|invisible|locked|stuck)
    n\+1 (?:quer(?:y|ies)|problem|issue) | (?:battery|memory|cpu) drain
    (?:timeouts?|time outs?)(?=\Z| (?:after|at|during|in|on|when|while|with)\b)
    (?:login|redirect|reload|render(?:ing)?|restart|update) loops?
    (?:did|does|do|is|was|were|are)(?:n't| not) (?:appear|appearing|clickable|close|closing|displayed|found|load
        |loaded|loading|open|opening|play|playing|render|rendered|rendering|respond|responding|save|saved|saving|scroll
        |show|showing|shown|start|starting|sync|syncing|update|updated|updating|visible|work|working)
""")
#: Deprecations without the verb.
DEPRECATION: Final = words_of(r"""
    (?=.*\bdeprecation)^(?:add|emit|issue|raise|show|throw|trigger)(?:e?s|ed)? (?:an? |the )?deprecation ?warnings?
        (?:\Z| (?:about|for|on) .*)
    ^mark(?:s|ed)? .* deprecated | ^(?:formally|officially|soft)[- ]deprecate[sd]?
    (?=.*\bdeprecated\b)(?:is|are) (?:now )?deprecated
""")
#: A fault in the author's prose below a subject, not in a list, a form or a quotation.
FAULT_BELOW: Final = late(
    r"^(?![-*\[|>#<]).*\b(?:bugs?|crash(?:e[sd])?|regression|this fix\w*)\b", re.IGNORECASE | re.MULTILINE
)
#: An addition that mends something.
MISSING: Final = late(
    r"add(?:s|ed)? (?:back )?(?:the |some |a )?(?:missing|(?:nil|none|null) checks?)\b", re.IGNORECASE
)
#: Words of new things, for subjects without a verb of adding.
NOVELTY: Final = words_of(r"""
    (?:ability|possibility) to | additional (?:api|argument|command|field|flag|hook|option|rule|setting|theme)\w*
    ^configurable | support for | compatib(?:le|ility) with
    (?=.*\b(?:support|compat|compatibility)\b)\w\S* v?\d[\d.]* (?:support|compat|compatibility) | support\Z
""")
#: Parts of a product that have names of tools: "Add a lint plugin".
PRODUCT: Final = words_of(r"integrations? | plugins? | runners? | servers?")
#: Words of code: with them, a change of what users see is about its code.
OF_CODE: Final = words_of(r"""
    class(?:es)? | clean-?up | code | components? | css | functions? | handlers? | handling | helpers? | hooks?
    implementations? | imports? | internals | logic | markup | methods? | modules? | names? | props? | refactor\w*
    state | stores? | types? | variables?
""")
#: What the software does while it runs, with verbs that are mostly for work on code: "Clean up sessions on logout".
AT_RUNTIME: Final = late(
    r"(?:clean(?:s|ed)?(?: up)?|de-?dup\w*|format|pin|rebuild|regenerate|reorder|silence|tidy)s? .*"
    r" (?:after|at|before|by|during|if|on|once|when|whenever|while) (?!(?:merg|rebas|refactor|releas|review)\w*)\w+",
    re.IGNORECASE,
)
#: Things whose names begin like an action: "Export button stays grey", unlike "Export buttons".
THING: Final = words_of(r"""
    (?=.*\b(?:button|icon))^(?:cancel|close|save|skip|submit) (?:button|icon)s? | ^kill (?:feed|streak|switch)(?:e?s)?
    ^drop (?:chance|rate|target|zone)s?\b(?! (?:es\d|limit\w*|platform|support|x86))
    (?=.*\b(?:bar|box|button|dialog|field|form|icon|link|list|menu|name|page|panel|screen|tab|view)s?\b)^(?:add|create
        |delete|display|export|import|log|open|print|remove|report|save|search|send|share|show|sort|submit|support
        |update|upload) (?:(?!(?:an?|how|if|that|the|whe\w+|which|who|why)\b)\w+ ){0,2}
        (?:bar|box|button|dialog|field|form|icon|link|list|menu|name|page|panel|screen|tab|view)s?[ ]
        (?:is|are|was|were|can|cannot|can't|does|do|doesn't|don't|fails?|has|have|loses?|no longer|shows?|stays?)
""")
#: Places of documentation, whatever is done there.
IN_DOCUMENTATION: Final = words_of(r"""
    (?=.*\b(?:docs|documentation)\b)^(?:add|adds|added|clarify|clarified|extend|extended|fix|fixes|fixed|improve|improved
        |rework|update|updates|updated)(?: \S+){0,2} (?:docs|documentation)(?:\Z| (?:about|for|of|on) .*)
    (?=.*\bexamples?\b)^add(?:s|ed)?(?: \S+){0,3} examples?(?:\Z| (?:about|for|of|on|to|with) .*)
    docs? pages? | in (?:the )?(?:docs|documentation|read ?me|tutorials?)
    (?=.*\b(?:docs|documentation)\b)(?:from|in|into|on|to) (?:\S+ ){1,3}(?:docs|documentation)\Z
    (?=.*\bnotes?\b)add(?:s|ed)? (?:an? |some )?(?:\S+ )?notes? (?:about|regarding)
""")
AROUND_CODE: Final = words_of(r"""
    copyright | licen[cs]e headers? | typos? | doc ?strings? | read ?me | javadocs? | spelling
    (?:code|doc|inline|missing) comments?
""")
#: Names of features of commands, whatever the other words say.
COMMAND: Final = words_of(r"(?:sub)?commands? | flags? | options? | endpoints? | settings?")

#: Updates of a dependency alone; ``name``, ``begin``, ``end`` where the subject names them.
_UPDATE: Final = r"(?:bump(?:s|ed|ing)?|(?:updat|upgrad)(?:e|es|ed|ing))"
DEPENDENCY: Final = Table(r"""
    (?:<UPDATE>|pin|downgrade)(?: the)?(?: (?:dependency|rust crate|crate|npm|module|helm release|github-actions?
        |docker))? (?P<name>(?!version\b|release\b|to\b)\S+)(?: (?:docker tag|action|orb|digest|requirement|dependency
        |package|crate|lib|library|module))*(?: from v?(?P<begin>\S+))? (?:to|->|=>) \W?v?(?P<end>\w*\d\S*)(?:(?:,| and
        | in| \[|:) ?.*| \(.*| for .*)?
    <UPDATE> (?:the )?(?:\w+ )?(?:bound|requirement|constraint|limit)s? (?:of|for
        |on) (?P<bounded>[\w@/.-]+) from\ \W{0,3}v?(?P<lowest>\d[\w.+-]*)\S* to \W{0,3}v?(?P<least>\d[\w.+-]*).*
    <UPDATE> (?P<among>[\w@/.-]+)(?:,? (?:and )?+[\w@/.-]+)* from \S+ to \S+.*
    <UPDATE> (?:(?:the|all|various|some|external|go|npm|dev|development|python|rust|js|node|third[- ]party|outdated
        |minor|major|patch|non-major|runtime|test|doc|docs|package|project) )*(?:dependenc(?:y|ies)|deps|lock ?files?
        |packages|requirements?(?:\.txt)?|submodules?|vendored \S+|crates|modules|gems)(?: .*)?
    (?:bump|update) (?:the )?\S+ (?:group|packages|dependencies|monorepo)\b.*
    (?:bump|update)s? (?P<listed>[\w@/.-]+)(?:, [\w@/.-]+)+ to v?\d\S*(?: in .*)?
    <UPDATE> (?P<tool>\S+)(?: (?:wrapper|version|toolchain|sdk|parent))+ (?:from \S+ )?to v?(?P<tooled>\d\S*)(?: .*)?
    rustup(?: to .*)? | go mod (?:tidy|vendor|update)
    (?:abhängigkeiten|dépendances|dependencias|dependências|dipendenze) (?:aktualisiert|angehoben|erneuert|mises à jour
        |actualizadas|atualizadas|aggiornate)
    (?:aktualisier\w+|mise à jour|mettre à jour|mets? à jour|actuali[sz]\w+|atuali[sz]\w+|aggiorna\w*
        |обнов\w+)(?: (?:de|des|der|die|les|las|de las|das|as|le))? (?:abhängigkeiten|dépendances|dependencias
        |dependências|dipendenze|зависимост\w+)(?: .*)?
    (?:bump|update|upgrade|sync)(?:s|d|ed)? (?:the )?(?:submodules? \S+|(?P<module>\S+) (?:git )?submodules?)(?: .*)?
    <UPDATE> \S+(?: \S+){0,3}? to \W?(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7,40}\b.* | lock ?file maintenance.*
    (?=.*\bpre-?commit\b).*\bpre-?commit (?:auto ?update|hooks?(?: update)?)\b.*
    (?:(?:automat(?:ic|ed)|scheduled|daily|weekly|monthly) )+(?:update of )?(?:update|dependency|dependencies).*
    (?=.*\bdependency)(?:add|remove) (?P<added>\S+) (?:dev )?dependency
    <UPDATE> (?:dependency )?(?P<named>\S+) (?:action )?to (?:v?\d\S*|latest(?: version)?).*
    (?:update|upgrade) everything(?: else)?
    (?:npm|pnpm|yarn|composer|bundle|cargo|go get) (?:audit fix|update|upgrade|-u)\b.*
    <UPDATE> (?:to )?(?:the )?(?:latest )?(?:(?:base|docker|node|python|golang|alpine|debian|builder) )*images?\b.*
    <UPDATE> \S+ ?(?:->|=>) ?v?\d\S*
    <UPDATE> to (?!<PLATFORM> |release |the |unicode |version )(?P<newer>[\w@/`-]+) v?(?P<newest>\d[^ ,]*)(?:,? .*)?
    (?:update|bump|regenerate|refresh) \S*(?:yarn\.lock|package-lock\.json|pnpm-lock\.yaml|cargo\.lock|poetry\.lock
        |uv\.lock|go\.(?:mod|sum)|gemfile\.lock|composer\.lock|requirements\S*\.txt)\b.*
    (?:babel|biome|eslint|jest|prettier|rollup|ruff|typescript|vite|vitest|webpack) v?\d[\d.]*
    bump (?P<bare>[\w@/.-]+(?:\s+and\s+[\w@/.-]+)?)(?: in /\S*)?
""", r"\A(?:", r")\Z", UPDATE=_UPDATE, PLATFORM=PLATFORM)  # fmt: skip
#: After such a word, another verb is hardly an imperative: "allow to add and remove lids".
SUBORDINATE: Final = late(
    r"\b(?:to(?! \W?v?\d)|when|if|that|which|who|can|may|for|let|lets|make|before|after|while|not|as|instead)\b",
    re.IGNORECASE,
)
#: The update of a submodule from one hash to another: the hashes and the folder are of no use to readers.
HASHES: Final = late(
    r"bump (?:\S+/)?(?P<what>\S+(?: \S+){0,2}?)(?: from \W?[0-9a-f]{7,40}\b\W?)?"
    r" to \W?(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7,40}\W?\Z",
    re.IGNORECASE,
)
#: Subjects that are a version, maybe behind a name.
VERSION: Final = late(
    r"(?:(?!(?:add|allow|drop|fix|remove|require|revert|support|test|use)[sd]? )\S+[-@ ])?v?\d+\.\d+(?:\.\d+)*"
    r"(?:[-+.]?(?:alpha|beta|rc|dev|pre|post|a|b|snapshot|final)[-.]?\d*)?\.?",
    re.IGNORECASE,
)
RELEASE: Final = lines_of(r"""
    release candidate(?: v?\d.*)? | dev version(?: v?\d.*)?
    (?:chore: ?)?version packages(?: \(.*\))? | publish(?: packages)? | release[/-]v?\d\S*
    release (?:packages?|main|master|libraries) | (?=.*\bversion\b)(?:\S+ )?version bump(?: .*)?
    new (?:version|release)(?: of \S+)?:? v?\d\S* | build (?:a )?new version
    updates? for \S+ v?\d+\.\d\S*
    (?:bump|bumps|bumped|bumping|set|setting|update|updated|updating|increment|change|start|reset)(?: (?:the|a|new|next
        |package|crate|project|library|gem|module|app|plugin|dev|development|minor|major|patch|release|npm|lib|code
        |and))* (?:versions?|soname|version number|version constant|build numbers?|version ?codes?)\b(?: (?:to|for|of|in
        |number).*| v?\d\S*)?
    (?:bump|update) to v?\d\S*(?: release)?
    (?:release|releases|released|releasing|cut|tag|publish|ship|ready)(?: (?:release|new|version|of|for|the
        |\S+))?(?: \S+)?(?: version| release)? v?\d[\w.+-]*(?: .{0,20})?
    (?:prepare|prepares|preparing|prep|prepared|start|begin|finali[sz]e|back to)(?: (?:for|the|next|new|to|docs?
        |changelog|on|a))* ?(?:\S+ )?(?:releases?|version|development|dev|v?\d+\.\d+\S*)(?: (?:for|of|to|cycle
        |iteration|branch|candidate|version|v?\d).*)? | version v?\d[\w.+-]*(?: (?:→|->|=>|to) v?\d[\w.+-]*)?
    (?=.*\b(?:change|docs|history|news|release|whats))(?:update|updates|updated|generate|regenerate|reset|add|prepare
        |finali[sz]e|bring|new|edit|fix)(?: (?:the|a|new|next))*(?: \S+)? (?:change-?log|changes|history|news
        |release notes|whats ?new|docs version)(?:\.\w+)?(?: (?:for|to|with|up|after|and|entry|entries|template|date
        |section).*|,.*|\(.*)?
    (?:post|pre)[- ]?release(?: .*)? | release(?: commit)? | various updates
    (?=.*\bnext section)(?:add|start) next section | (?:version ?(?:code|name)|build(?: number)?) v?\d\S*
""")
#: Commits that make a release without naming a version, whatever they touch.
RELEASE_WORDS: Final = lines_of(r"""
    publish | build (?:a )?new version | release(?: packages?| commit)? | version packages(?: \(.*\))? | bump version
    (?:start|begin|back to)(?: (?:a|the|new|next))* (?:development|dev)(?: (?:cycle|iteration|version))?
    prepare (?:for )?(?:the )?next (?:development iteration|release|version)
""")
_FILE: Final = (
    "(?:c|cc|cfg|cpp|cs|css|dart|env|ex|exs|go|gradle|h|hcl|hpp|html|ini|java|js|json|jsx|kt|kts|lua|m|php|plist"
    "|properties|proto|py|pyi|rb|rs|scss|sh|sql|swift|tf|toml|ts|tsx|vue|xml|ya?ml)"
)
#: Words that say nothing about a change. A subject of such words alone is empty: "Added some more stuff".
_NOTHING: Final = r"""
    a adds? added adding adjust(?:ed|ments?|s)? again all also an and attempt bugs? bugfix(?:es)? bunch changed? changes
    changing code commit(?!\Werrors?) corrections? did do done edit(?:ed|s)? enhancements? errors?(?!\Wcode)
    few final finally first fix(?:ed|es|ing|up)? for general hope hopefully hot i(?:\Wpromise)? idk
    improv(?:e|ed|es|ements?|ing) is issues? it last little lol lots? made make makes maybe minor misc miscellaneous
    mistakes? more new next now of ok okay oops other please polish(?:ed|ing)? problems? quick real really remaining
    same several silly small some stuff stupid hotfix(?:es)? that the these things? this(?:\Wtime)? tiny ton try
    trying tweak(?:ed|s)? updat(?:e|ed|es|ing) various whoops work worked working works yet
    behoben diverse einige fehler fehlerbehebung(?:en)? kleine kleinere korrektur(?:en)? und verbesserung(?:en)?
    verschiedene weitere änderung(?:en)? anpassung(?:en)?
    améliorations changements corrections de divers diverses et mineures modifications petites petits quelques
    ajustes arreglos cambios? correcciones errores mejoras? menores pequeñas pequeños varias varios y
"""
#: Those with which many subjects begin: only subjects with another of these words are searched.
_OFTEN: Final = "adds? added adding made make makes new"


def _any_of(words: str, *, but: str = "") -> str:
    return f"(?:{'|'.join(word for word in words.split() if word not in but.split())})"


#: Subjects without information for readers, whatever they touch.
EMPTY: Final = Table(r"""
    (?:another )?(?!\w\Z)<BEGIN>(?:[ ,&+]+<NOTHING>){0,7}\W*
    (?!adds? quick fixes\Z)(?=.*\b<VAGUE>\b)(?=.+\b<VAGUE>\b)<OFTEN>(?:[ ,&+]+<NOTHING>){1,7}\W*
    (?:another |internal |minor |more |small |variable )*(?:comment|cosmetics?|micro-?optimi[sz]e|rename|whitespaces?)
    (?:wip|cleanup|clean up|tmp|temp|test|testing|typos?|nits?|initial commit
        |address (?:review )?(?:comments?|feedback|review)|review|feedback|address pr .*|apply suggestions.*
        |merge (?:develop|main|master|dev|trunk|next|stable|upstream)(?: .*)?|stable|sync|format|lint|fmt|bless|durr
        |rebase|revert|empty commit|trigger (?:ci|build)|bump|(?:temp|temporary|wip|test) commit|init|checkpoint|save
        |asdf|skeleton|(?:pr|review) (?:comments?|feedback)|bug ?fix(?:es)?
        |(?:more|further|some) work (?:on|for) .*|(?:lints?|linter|linting|tests|ci|structure)
        |(?:improve|refine|tidy|adjust)s?d? (?:the )?(?:code(?: structure)?|structure)
        (?: (?:and|/) format)?(?: of (?:the )?code)?|deploy(?:ed|ment|s)?(?: to \w+)?
        |changes? (?:requested|suggested) by .*|(?:requested|suggested) changes
        |rename (?:class(?:es)?|files?|functions?|icons?|images?|methods?|things?|var(?:iable)?s?)
        |(?:rebuild|regenerate|update|move|split|reorgani[sz]e)d? (?:the |some )?(?:assets|files?)
        |(?:inline|extract|move|split)(?:ed)? (?:the |a |some )?(?:class(?:es)?|functions?|helpers?|methods?|modules?)
        |(?:begin|continue|finish|start)(?:ed)? work(?:ing)? on .*|(?:experiment|prototype)s? (?:for|of|with) .*
        |(?:move|shuffle)d? (?:the |some )?code around
        |(?:try|tries|trying) to (?:fix|make) (?:the )?(?:build|ci|tests?)\b.*
        |(?:fix(?:e[sd])?|undo) (?:the )?(?:last|previous) commit
        |post[- ]release version bump|revert accidental .*|(?:(?:more|some) ){0,2}progress
        |(?:first|initial|next|rough) (?:attempt|draft|implementation|pass|try|version))\W*
    (?=.*\b(?:migrations?|upload)\b)(?:(?:add )?(?:db |database )?migrations?|add files via upload)\W*
    squashed commits?(?: of the following)?:?
    (?:merge|resolved?) (?:the |some )?(?:merge ?)?conflicts? | forg[eo]t(?:ten)? (?:a )?files? | s/[^/ ]+/[^/ ]*/g?
    fix(?:es|ed)? (?:(?:the |some )?(?:merge ?)?conflicts?
        |(?:the )?(?:merge|build|pipeline)|(?:after|from) (?:code )?review)
    (?:cr|pr|review) fix(?:es)? | bug ?fixes (?:and|&) (?:performance )?improvements
    (?:final|finishing) touches(?: .*)?
    merge (?:remote-tracking )?branch(?:es)? .* | merge pull request \W?\d+ (?:from|in) .*
    (?:fixup|squash|amend)!.*
    (?:create|update|delete|rename)d? [\w./-]+\.<FILE>(?: to [\w./-]+\.<FILE>)?
""", r"\A(?:", r")\Z",
    FILE=_FILE, NOTHING=_any_of(_NOTHING), BEGIN=_any_of(_NOTHING, but=_OFTEN), OFTEN=_any_of(_OFTEN),
    VAGUE=_any_of("changes code fix(?:es)? improvements more stuff things? tweaks? updates"),
)  # fmt: skip
#: Subjects that only refer to an issue: "Fix #12", "Closes issue acme/lid#12", or to its page.
REFERENCE_ALONE: Final = late(
    r"(?:(?:address|close|fix|resolve)(?:[sd]|es|ed)? )?(?:(?:bug|issue|ticket) )?(?:[\w./-]*#\d+|https?://\S+)",
    re.IGNORECASE,
)
ROBOT: Final = lines_of(r"""
    cherry[ -]picked from .* | i18n: translations?.* | auto-?generated .* | automated? (?:cherry|back).*
    (?:fix|fixes|fixed|correct)(?: (?:a|all|few|minor|more|other|remaining|small|some|various))* (?:typos?|spelling
        |grammar)\b.* | (?:minor )?(?:typo|spelling|grammar) (?:fix(?:es)?|corrections?|mistakes?)
    (?:behebe|korrigiere|corrige|correction)\w* (?:\w+ ){0,2}(?:coquilles?|erratas?|fautes? (?:de frappe|d'orthographe)
        |rechtschreibfehler|tippfehler) | (?:rechtschreibfehler|tippfehler) (?:behoben|korrigiert)
    (?:übersetzungen|traductions|traducciones) \w+ | (?:mise à jour|ajout) des traductions
    translated using weblate.* | translations? update from .* | new crowdin (?:updates?|translations).*
    import(?:ed|s)? (?:(?:latest|new|updated) )?translations?\b.* | update[sd]? (?:main|master|trunk) for .*
    new translations? .* | update(?:d|s)? (?:the )?(?:\S+ ){1,3}translations?
    update(?:d|s)? (?:source file|translations?(?: files?| from \S+| \(.*| \[.*)?)\S* | apply fixes from \S+
    compile assets | (?:apply )?automat(?:ed|ic) changes? | no functional changes?(?: intended)?
    (?:locali[sz]ation|translation|i18n|l10n)s? updates?(?: (?:for|from|in|of) .*)?
    (?=.*\bcontributor)add .* as a contributor.* | update (?:sponsors?|contributors?|people|backers)\b.*
    \[autofix\.ci\].* | sync(?:ed|hroniz\w+)? (?:files|config|repo|labels|with template|upstream).*
""")
