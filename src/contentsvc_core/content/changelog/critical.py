"""The tables of breaking changes, removals and security fixes."""

import re
from typing import Final

from contentsvc_core.content.changelog.tables import Table, words_of
from contentsvc_core.on_demand import late

PLATFORM: Final = (
    r"(?:python ?\d*|py ?\d*|node(?:\.?js)?|ruby|jruby|rails|php|go(?:lang)?|rust|rustc|java|jdk|jre|kotlin|scala"
    r"|clojure|\.net(?: (?:core|framework|standard))?|dotnet|net(?:standard|core|coreapp)?\d[\d.]*|django|flask"
    r"|react|vue|angular|ember|svelte|laravel|symfony|postgres(?:ql)?|pg(?= ?\d)|mysql|mariadb|sqlite|redis|mongodb"
    r"|elasticsearch|elixir|erlang|otp|swift|xcode|ios|macos|android|windows|ubuntu|debian|centos|cmake|gcc|clang"
    r"|llvm|msvc|compiler|c\+\+|typescript|npm|yarn|pnpm|deno|bun|webpack|eslint|babel|jquery|kubernetes|k8s"
    r"|openssl|libressl|pypy|cpython|cython|numpy|scipy|pandas|qt|gtk|cuda|perl|ghc|lua|julia|gradle|maven"
    r"|spring(?: boot)?|electron|internet explorer|ie ?\d*|safari|chrome|firefox|32[- ]?bit|x86)"
)
_VERSION: Final = r"(?:>=? ?|<=? ?|== ?|v)?\d[\w.]*\+?"
#: Minimums of other things than versions: "the minimum width on Android".
_MEASURE: Final = (
    r"\b(?:age|amount|contrast|delay|distance|duration|font|height|interval|length|opacity|password|price|quantity"
    r"|size|time|timeout|width|zoom)s?\b"
)
_NOT: Final = r"(?<!non-)(?<!non )(?<!not )(?<!not a )(?<!no )(?<!without )(?<!any )"
BREAKING: Final = Table(r"""
    ^deprecates? (?:support for )?<PLATFORM> v?\d | ^breaking(?! (?:news|up|down|out))\b
    (?:\[|\()breaking\b[^\])]*[\])]
    <NOT>\bbreaking[- ](?:\S+ )?(?:changes?|apis?|abi|upgrades?|updates?|removals?|renames?)\b(?! (?:check|detect|test
        |report|section|label|note|template|log|page|guide|doc|announce))
    <NOT>\b(?:api|abi|bc|semver)[- ]break(?:ing|age|s)?\b | <NOT>\bbackwards?[- ]?incompatib
    \bnot backwards?[- ]compatible | \bbackwards compatibility break
    (?=.*\bsupport\b)^(?:drop|end|discontinue|cease|stop|abandon|retire|remove|removing|dropping)(?:s|d|ped|ped
        |ing)? (?:\S+ ){0,3}?support (?:for|of)\b
    ^(?:drop|drops|dropped|dropping|discontinue) (?:\S+ ){0,2}?<PLATFORM>(?!\w)(?: ?(?:(?:<VERSION>|and|or|<PLATFORM>
        |support|versions?|older|below|earlier|completely|entirely)(?<! )(?!\.?\w)|/|,|&|[<>]=?)){0,12}\.?$
    (?=.*\bsupport\b)\b(?:drop|drops|dropped|dropping|remove|removes|removed
        |end(?:ed)?) (?:\S+ ){0,2}?<PLATFORM>\b[^,;]{0,20}\bsupport\b
    (?=.*\bsupport\b)\b<PLATFORM>\b[^,;]{0,30}\bsupport (?:(?:has|have) been |was |is )?(?:now )?(?:dropped|removed
        |discontinued)
    \bsupport (?:for|of) .{1,60}\b(?:is|are|was|were|has been|have been)(?: now)? (?:dropped|removed|discontinued)\b
    (?=.*\b(?:minim(?:um|al|ally)?|min)\b)\b(?:bump|up|support|raise|increase|update|upgrade|set|require|change|new
        |have)(?:s|d)?\b.{0,30}\b(?:minim(?:um|al|ally)?|min\.?)\b(?!.{0,20}<MEASURE>).{0,20}(?:<PLATFORM>\b
        |supported|required)
    ^(?:die )?(?:support|unterstützung) (?:für |von )<PLATFORM>.* (?:beendet|eingestellt|entfernt|gestrichen)
    ^(?:entfern|streich|beend|supprim|suppression|retir|retrait|abandon|élimin|elimin|quit)\S* .*\b(?:support|soporte
        |unterstützung|prise en charge|compatibilité) (?:avec |de |del |d'|für |para |von )<PLATFORM>\b
    \bnicht (?:länger|mehr) unterstützt\b | \b(?:n'est|ne sont) plus (?:pris\w* en charge|supporté\w*)
    \bya no (?:es|son) compatibles?\b | \bya no se admiten?\b
    (?=.*\bdrop(?:s|ped)?\b)\bsupport\b.*(?: and|,| &) drop(?:s|ped)? v?\d+\.\d
    (?=.*\bdrop(?:s|ped)?\b)(?:\band|,|&) drop(?:s|ped)? (?:support for )?<PLATFORM> ?v?\d
    ^drop(?:s|ped)? (?:support for )?(?:all )?(?:eol|end[- ]of[- ]life|unsupported) (?:versions of )?<PLATFORM>s?\b
    (?=.*\b(?:amd|cjs|commonjs|umd)\b)^(?:drop|remove)(?:s|d|ped)? (?:the )?(?:amd|cjs|commonjs|umd) (?:build|bundle
        |export|output)s?\b
    (?=.*\bsupported\b)\b(?:is|are) not supported any ?more\b | ^needs? <PLATFORM> ?<VERSION>
    ^(?:bump|increase|raise|set|update)(?:s|d)? (?:the )?(?:deployment target|minsdk\w*)\b.*\d
    \brequires? (?:a |an )?(?:data|database|manual) migration\b
    ^drop(?:s|ped)? (?:py|v)?\d+\.\d+(?=\Z| (?:&|and|support)\b| &)
    \b(?:minimum|min) (?:supported |required )?(?:<PLATFORM> )?version\b.{0,30}\d
    \b(?:minimum|min|minimal|lowest|oldest)(?: (?:supported|required|compatible|version of|the))* <PLATFORM>\b.{0,30}\d
    ^(?:bump|raise|increase|update|upgrade|set|change)(?:s|d)? (?:the )?(?:required|supported|lowest|oldest|baseline
        |base) (?:supported |required )?<PLATFORM>(?: engine)?(?: versions?)?\b.{0,30}\d
    ^(?:bump|raise|increase|update|upgrade|set)(?:s|d)? <PLATFORM> (?:version )?(?:baseline|requirement|minimum
        |floor)s?\b
    (?=.*\b(?:only|required|minimum|baseline)\b)\b<PLATFORM> ?<VERSION> (?:only\b
        |(?:is |are )?(?:now )?(?:the )?(?:new )?(?:required|minimum|baseline)\b)
    \b(?:now|only) (?:requires?|supports?|needs?) <PLATFORM> ?<VERSION> | \bmsrv\b.{0,30}\d
    ^(?:bump|raise|increase|update|set|change|up)(?:s|d)? (?:the |our |workspace |crate )*msrv\b
    ^(?:bump|raise|increase|update|set|change)(?:s|d)? `?(?:python_requires|requires-python|rust-version)\b.*\d
    (?<!\()\b(?:require|requires|required|requiring)s? (?:at least )?<PLATFORM> ?(?:>=|v?\d|or (?:newer|later|higher))
    \bengines?\b.{0,20}\bnode\b | \bnode\b.{0,12}\bengines?\b.{0,12}\d
    (?=.*\bengines?\b)^(?:set|add|bump|change|specify|restrict|raise|update)s? .*\bin (?:the )?`?engines`?(?: field)?\b
    \b(?:esm|es modules?|python ?3|py3)[- ]only\b
    (?=.*\blonger\b)^(?!.*\b(?:if|once|when|whether|which)\b.*\blonger\b).*\b(?:no longer supports?
        |(?:is|are) no longer supported)\b
    \bstop(?:s|ped|ping)? supporting\b | \bescalate deprecations\b
    \b(?:enforce|expire|finali[sz]e|execute)(?:s|d)? (?:the |all |some |old |pending |\S+ )?deprecat(?:ed|ions?)\b
    \bper deprecation (?:timeline|policy|cycle)\b | \bexpired deprecat
    (?=.*\bdeprecat)^(?:remove|removes|removed|drop|drops|dropped|delete|deletes|deleted|purge
        |prune) (?:all |the |some |any |old |various |support for |more |legacy |many )*(?:previously |long[- ])?
        (?:deprecat(?:ed|ions?))\b(?! (?:warnings?|usages?|uses?|calls?|imports?|notices?)|(?: \S+){1,2} warnings?\b
        |(?: \S+)? (?:action|crate|dependency|dependencies|gem|step|workflow)s?\b| <PLATFORM>\b(?! (?:v?\d|support)))
    (?=.*\bdeprecated\b)^(?:remove|drop|delete)(?:s|d|ped)? .{1,80}\bdeprecated (?:since|in|as of) v?\d
""", PLATFORM=PLATFORM, VERSION=_VERSION, NOT=_NOT, MEASURE=_MEASURE)  # fmt: skip
#: The author's mark, whatever the verb is: "Allow lids of glass (breaking)".
MARKED: Final = late(r"[\[(](?:api |bc )?breaking(?: changes?)?!?[\])]", re.IGNORECASE)
#: Beginnings of subjects that mend a breakage, or are about one, and so only name a breaking change.
MENDS_BREAKING: Final = late(
    r"(?:fix|avoid|prevent|revert|undo|restore|mitigate|repair|resolve|un-?break|address|handle|adapt"
    r"|adjust|work around"
    r"|document|mention|note|announce|describe|allow|warn|detect|report|test|check)(?:s|es|ed|d|ing)?\b"
    r"|(?:claim|classify|count|display|follow|group|highlight|ignore|list|prepare|print|show|skip)"
    r"(?:s|ed|d|ping|ing)? .*\b(?:breaking|\w*incompatib\w+|minim\w+)\b"
    r"|(?:add|improve|make|show)(?:s|d|ed)? .*\b(?:check|checking|detection|label|message|note|section|test"
    r"|warning)s?\b",
    re.IGNORECASE,
)
#: Things that no user of a release has used.
UNNOTICED: Final = words_of(r"""
    unused | unnecessary | redundant | outdated | duplicated? | stray | stale | dead | leftovers? | superfluous
    spurious | internals? | internally | temporary | hard-?coded | debug(?:ging)? | repetition | unneeded | useless
    workarounds? | hacks? | dependenc(?:y|ies) | code that | comments? | usages | (?:usage|uses?) of
    private (?:apis?|methods?|functions?|class(?:es)?|attributes?|members?|fields?|helpers?|modules?)
    no longer (?:used|needed|existing|necessary) | unreachable | confusing | trailing | empty | obsolete | warnings?\Z
""")
#: Probably breaking: a thing is gone, or required instead of optional.
GONE: Final = Table(r"""
    (?=.*\bsupport\b)\A(?:drop|remove|end|discontinue|cease|delete|purge|retire|kill)(?:s|d|ped|ing
        |ping)? (?:\S+ ){1,6}?support\b(?! (?:code|file|librar|method|function|util|class|script|module|page|link|email
        |ticket|matrix|table))
    (?=.*\b(?:removed|dropped|deleted)\b)\A(?!.*\b(?:when|if|after|once|until|where|while|before|ensure|sure|fix\w*|bug
        |so that|incorrectly|wrongly)\b).{0,60}?(?:`[^`]+`|\w[._]\w+|\w\(\)|\b(?:option|flag|argument|parameter|method
        |function|class|command|endpoint|api|setting|fixture|hook|field|property|feature|module|plugin|alias|backend
        |driver|operator|keyword|kwarg|support)s?\b).{0,40}\b(?:is|are|was|were|has been|have been)(?: now| finally
        | completely)? (?:removed|dropped|deleted)\b(?! from (?:the )?(?:cache|list|output|log|queue|index|doc))
    (?=.*\b(?:keyword|positional)\b)\b(?:make|are now|is now|enforce|force|require|become)s?\b.*\b(?:keyword
        |positional)[- ]only\b | (?=.*\bnow\b)`? (?:\w+ )?(?:is|are) now (?:required|mandatory|private)\b
    \bno longer (?:accepts?|accepted|allows|exports?|exported|exposes?|exposed
        |ships?|shipped|bundles?|bundled|provides?|provided|implements?|inherits?|re-?exports?|re-?exported)\b
    (?=.*\blonger\b)(?:`|[\w)][._]\w+|\w\(\)|\b(?:api|argument|class|command|endpoint|field|flag|function|method|module|option
        |package|parameter|plugin|property|setting)s?)(?: (?:is|are))? no longer (?:available|possible|includes?
        |included|part of)\b(?! (?:after|before|if|once|until|when|while)\b)
    \Arequires? `?[\w.-]+`? ?(?:>=? ?|v)?\d+(?:\.\d+)*(?:\+| or (?:newer|later|higher))?`?\.?$
    \Areplace[sd]? (?:the )?`?--[\w-]+.* (?:by|with)[ ]
    \Arename[sd]? (?:public |the )?(?:`?[\w.-]+`? )?(?:option|flag|setting|command|package|endpoint
        |env(?:ironment)? var(?:iable)?)s?\b(?! (?:in|on)\b
        |(?: \w+)? (?:button|class|dialog|entry|entries|file|folder|label|menu|page|palette|section|tab|title|variable
        |view)s?\b)
    \Arename[sd]? (?:the )?`?--[\w-]+
""")
SECURITY: Final = Table(r"""
    \bcve-\d{4}-\d+ | \bghsa(?:-[0-9a-z]{4}){3} | \[security\]
    \bvulnerabilit(?:y|ies)\b(?! (?:scan|report|polic|alert|check|disclos)) | \b(?:xss|csrf|ssrf|rce|redos)\b
    \b(?:sql|command|code|header|log|crlf|html|template|shell) injection | \bpath traversal | \bdirectory traversal
    \bprototype pollution | \bopen redirect | \bdenial[- ]of[- ]service | \bprivilege escalation | \brequest smuggling
    \bcatastrophic (?:backtracking|performance) | \bsecurity (?:fix|issue|hole|bug|flaw|patch|hardening)
    \b(?:leak|expos)\w* (?:of )?(?:credentials?|secrets?|passwords?|tokens?|private keys?)\b
    \bbuffer (?:overflow|overrun) | \buse[- ]after[- ]free | \bout[- ]of[- ]bounds | \btiming attack | \bzip bomb
    \bdouble[- ]free | \bsession (?:fixation|hijack\w*) | \bclickjacking | \baccount takeover
    (?=.*\bbypass\b)^(?!(?:add|allow|enable|implement|support)s?\b).*\bauth(?:entication)? bypass
    \barbitrary (?:code|command)s? execution | (?=.*\bexecution)\bremote code execution
    \bsandbox escape | \bheap overflow
    \b(?:avoid|don't|do not|never|no longer|stop) (?:display|expos|log|print|send|show|stor)(?:e|es|ing|s)? (?:\S+ )
        {0,2}?(?:credentials?|secrets?|passwords?|(?:access|api|auth|refresh|session) tokens?|(?:api|private) keys?)\b
    \btmp race | \black of escaping | \bsecurity (?:update|upgrade) \S+ from \S*\d
    \bsicherheitslücken? | \bfailles? de sécurité | \bvulnérabilités? | \bvulnerabilidad(?:es)?
""")
#: Subjects about vulnerabilities of other software: "Add a rule for XSS", "Report vulnerabilities in the dashboard".
#: "Fix XSS in the rules" is about one of the software itself.
OF_OTHERS: Final = late(
    r"(?!.*\b(?:CVE|GHSA)-)(?:(?:add|detect|document|find|flag|implement|list|report|scan|show|support)(?:s|ed|ing)? "
    r"(?!.*\b(?:against|block|check|den[iy]|escap|fix|guard|instead|mitigat|prevent|protect|reject|sanit|token|valid)\w*)"
    r"|.*\bfalse positives?\b|(?!(?:fix|prevent|resolve)\w* .*\b(?:attacks?|bounds|escalation|escape|execution|free"
    r"|injection|overflow|overrun|pollution|redos|redirect|service|smuggling|[cs]srf|traversal|vulnerabilit(?:y|ies)|xss)"
    r" (?:\w+ )?(?:by|from|in|of|through|via|when|while|with) )"
    r".*\b(?:detection|detector|rule|scanner)s?\b)",
    re.IGNORECASE,
)
#: The number of a vulnerability in a line of its own below a subject; updates of dependencies quote others.
ADVISORY: Final = late(
    r"^(?:(?i:(?:address|fix|resolve)(?:[sd]|es|ed)?:? |security: ))?"
    r"[(\[]?(?:CVE-\d{4}-\d{4,7}|GHSA(?:-[0-9a-z]{4}){3})[)\]]?\.?$",
    re.MULTILINE,
)
REMOVING: Final = "remove removes removed removing drop drops dropped delete deletes deleted purge"
#: The things may be parts of other things: "the call of `light()`", "lids in the menu".
_APART: Final = (
    r"(?:after|around|as|at|before|between|by|during|for|from|if|in|into|of|on|than|to|until|via|when|while|with)"
)
#: Behind a thing: no noun that makes it a part of another thing.
_ALONE: Final = (
    r"(?=\Z|[^\w\s(]| (?:[^\w\s`]|`? ?(?:and|as|at|because|by|completely|due|entirely|for|from|impl|in|now|of"
    r"|on|or|since|so|support|that|to|which|with|without)\b))"
)
#: Names with a capital inside that are no names of code.
_BRANDS: Final = (
    r"(?!(?i:appveyor|bitbucket|circleci|devtools|facebook|fastapi|freebsd|git(?:hub|lab)|graphi?ql|intellij|ipad"
    r"|iphone|ios|javascript|jquery|linkedin|macos|mongodb|mysql|oauth\d?|openai|openapi|openssl|paypal|postgresql|pytorch"
    r"|tensorflow|tiktok|typescript|vscode|websockets?|whatsapp|wordpress|youtube)s?\b)"
)
#: The moment at which running software acts: "Delete the account on request".
_WHEN: Final = (
    r"(?:after|during|if|once|until|upon|when|while) |on (?:\w+ )?(?:blur|click|close|delete|disconnect|error|exit"
    r"|failure|focus|hover|load|log-?in|log-?out|quit|reload|request|save|scroll|shutdown|start(?:up)?|stop|submit"
    r"|unmount)\b"
)
REMOVES_AT_WORK: Final = late(rf".* (?:{_WHEN})")
#: Not for things that the software itself removes while it runs, or that leave a page or a log.
_AT_WORK: Final = (
    rf"(?!.* (?:{_WHEN}))"
    r"(?!(?i:.* from (?:the |its |all )?(?:\w+ )?(?:cache|console|database|dom|footer|header|home ?page|logs?|logging"
    r"|menu|page|queue|sidebar|title|toolbar|ui|url)s?\b))"
    rf"(?!(?i:deprecated {PLATFORM}\b(?! (?:v?\d|support))))"
)
_USED: Final = (
    r"(?!`? (?:branding|button|call|check|delay|fallback|hack|icon|import|link|logo|mock|overhead|polyfill|reference"
    r"|stub|test|usage|use|warning|workaround)s?\b)"
)
REMOVED: Final = late(
    rf"(?i:{REMOVING.replace(' ', '|')}) {_AT_WORK}(?:(?:the|all|old|public) )*"
    rf"(?:(?!{_APART} )\S+ ){{0,4}}?"
    rf"(?:(?:`?--\w[\w-]*|`?[\w.:]*\w\([^()]*\)|`[A-Za-z_.:]*[a-z][A-Z]\w*`|`\w*[._:]\w[^`]*`){_USED}"
    rf"|{_BRANDS}[A-Z]?\w*[a-z][A-Z]\w+\b{_ALONE}"
    rf"|(?!{_APART} )[`\"']?(?!(?i:feature) flag|(?i:file) ext)[\w-]+[`\"']? (?:option|flag|argument|parameter|param"
    r"|method|function|class|command|endpoint|api|API|setting|fixture|hook|field|property|feature|extractor|event|prop|attribute|alias|module|plugin"
    r"|format|type|operator|backend|driver|provider|extension|keyword|kwarg|constant|trait|interface"
    r"|middleware|macro|mixin|env(?:ironment)? var(?:iable)?|constructor|getter|setter"
    rf"|directive|helper|rule|preset|config)(?:s|es)?\b{_ALONE})"
)
MESSAGE: Final = words_of(r"(?:error|warning|log|help|debug)? ?messages? | logging | log level | examples? | verbos\w+")
#: What users see without having built on it. Without code beside it, its changes break nothing.
LOOKS: Final = words_of(r"""
    banners? | borders? | buttons? | cards? | checkout | colou?rs? | confirmations? | cursors? | dashboards?
    dialogs? | drop-?downs? | editors? | favicons? | feeds? | flicker\w* | fonts? | footers? | forms? | headers?
    icons? | images? | inbox | lag | layouts? | login | logos? | margins? | menus? | modals? | navbars? | navigation
    overlays? | padding | pages? | panels? | placeholders? | playlists? | pop-?ups? | prompts? | screens? | shadows?
    sidebars? | sign-?up | spacing | spinners? | splash | tabs? | themes? | toasts? | toolbars? | tooltips? | views?
    wizards?
""")
CODE: Final = late(r"`|--\w|\w\(|\w[._:]\w|[a-z][A-Z]")
#: Breaking only in a release whose number promises breaking changes.
BREAKING_IN_MAJOR: Final = Table(r"""
    \Arename[sd]?\b | \b(?:is|are|was|were|has been|have been) (?:replaced|removed|dropped)\b | \brenamed\b
    \A(?:replace|convert)(?:s|d|ed)?\b.*` | \A(?:require|disallow|forbid|prohibit|refuse|enforce)s?d?\b
    \Amove[sd]? .*\bto\b
    \b(?:has |have |is |are )?changed from .* to\b | \bconfig(?:uration)?(?: file| format)? (?:has |is )?moved\b
    \A(?:convert|migrate|switch)(?:s|d|ed)? (?:the )?config(?:uration)?\b.* to\b | \Areplace[sd]? .*\bformat\b
    \bmake\b.*\b(?:private|generic|required|mandatory|strict(?:er)?|async|sync|immutable|final|frozen|sealed|explicit
        |opt-(?:in|out)|non-?nullable|read-?only|abstract|protected|unsafe|fallible|keyword|positional|raise|throw
        |return)\b
    \bno longer (?:accept|allow|support|export|expose|include|install|ship|bundle|provide|return|inherit|implement
        |default|available|possible|convert|valid|public|optional|part of|public(?:ly)?)(?:s|ed|d)?\b
    \Ano longer\b(?! (?:block|break|crash|fail|flicker|freeze|hang|leak|panic|stall)\w*)
    \bstricter\b | \bexits? with code
    \bchange[sd]? (?:the )?(?:\S+ ){0,3}?(?:default|signature|return|type|behaviou?r|peer|order|interface|api|format
        |semantics|structure)s?\b | \b(?:minimum|min|minimal) (?:\S+ ){0,3}?versions?\b | \bremoved(?:,| in favou?r|\Z)
    \A(?:remove|drop|delete)(?:s|d|ped)?\b(?! (?:an?|another|\w+ (?:are|is|was|were))\b)(?!.* (?:extra|limit
        |limitation|need|newline|overhead|race|restriction)s?\b)
""")
BREAKING_IN_STABLE: Final = Table(r"""
    \bby default\b | \bdefaults? to\b
    \bnow (?:raise|throw|return|require|reject|default|expect|take|inherit|use|only|error)s?\b(?! (?:faster
        |fewer|less|more)\b)
    \b(?:is|are) now (?!supported|available|possible|allowed|compatible|tested|fix|correct|proper|able|used|documented
        |faster|optional|fully|also|included|cleaned|dual|more|better|shown|handled|covered)
    \bnow (?:doesn't|don't|does not|do not)\b | \b(?:doesn't|don't|does not|do not)\b.*\bany ?more\b
    \b(?:has|have) changed\b | \A(?:raise|throw|return)s?[ ](?!(?:the )?(?:\w+ )?(?:limit|max\w*|minimum|timeout)\b)
    \A(?:convert|switch|move|migrate)(?:s|ed|d)? (?:\S+ ){0,3}?to (?:pure )?(?:esm|es ?modules)\b
""")
_FILLING: Final = (
    r"(?:the|our|its|min|minim|minim(?:um|al)|lowest|oldest|supported|required|requirement|versions?|of|for|engines?"
    r"|field|in|to|from|is|now|at|least|support)"
)
#: A change that raises a requirement: the required thing, and what else the text says.
RAISED: Final = late(
    rf"(?:bump|raise|increase|update|upgrade|set|up|change|require)(?:s|d|ed)? (?=.*\d)(?:{_FILLING}\W+)*+"
    rf"(?P<what>[a-z][\w.+#-]*)(?:\W+(?:{_FILLING}|v?\d[\w.]*|and|or|above|newer|later|higher)\b)++\W*"
    r"(?:(?:and )?(?:bump|update|use)s? \S+\Z)?(?P<more>.*)",
    re.IGNORECASE,
)
#: The same of a limit that breaks nothing: "Increase upper limit of oil to 8".
MOVED_LIMIT: Final = late(
    r"(?:bump|increase|lower|raise|reduce|set)(?:s|d|ed)? (?P<what>.*\b(?:bound|ceiling|floor|limit|max|maximum|min"
    r"|minimum|timeout)\b.*) to v?\d[\w.]*(?P<more>)\Z",
    re.IGNORECASE,
)
#: A higher minimum of a compiler: old versions of the software still build, and Cargo's rules call it no major change.
#: A second requirement or removal in the same text breaks, and "go" is also an English word.
_RAISES_COMPILER: Final = late(
    r"(?!.*\bbreaking\b)(?!(?:cease|discontinu|drop|end|remov|stop)\w* )"
    rf"(?!.*\b(?:drop|remov)\w* (?:support|(?:the )?`))(?!.*\b(?!go|rust|compiler){PLATFORM}\b)"
    r"(?=.*\b(?:msrv|rustc?|(?-i:Go)|golang|(?:min(?:imum)?|supported|required) go"
    r"|go(?=\W+(?:to )?(?:v?\d|directive|requirement|toolchain|version)))\b)"
    r".*\b(?:msrv|rust-version|min|minim(?:um|al(?:ly)?)|requir\w+|lowest|oldest|baseline|floor)\b",
    re.IGNORECASE,
)
#: The first release of a new series of a dependency. Such an update breaks in releases that break.
NEW_SERIES: Final = late(
    r"(?:bump|update|upgrade)[sd]? .*\bto v?(?:\d+(?:\.0)*|0\.\d+(?:\.0)?)\b(?!\.\d)", re.IGNORECASE
)


def raises_compiler(scope: str, text: str) -> bool:
    """Check that a requirement is only one of compilers, not of the systems on which the software runs."""
    return scope == "msrv" or _RAISES_COMPILER.match(text) is not None
