"""The tables of what no reader may miss: breaking changes, removals and security fixes."""

import re
from typing import Final

from contentsvc_core.content.changelog.tables import Table, words_of

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
#: What no user of a release has used, or what stands beside the code.
UNNOTICED: Final = words_of(
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
MESSAGE: Final = words_of(
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
