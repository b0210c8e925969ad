"""The tables of words that decide the section and the mood of a change; one line adds one habit."""

import re
from collections.abc import Hashable, Mapping
from typing import Final, TypeVar

from contentsvc_core.content.sections import Section
from contentsvc_core.on_demand import late

_Of = TypeVar("_Of", bound=Hashable | None)


def _table(words: "Mapping[_Of, str]") -> "dict[str, _Of]":
    return {word: section for section, line in words.items() for word in line.split()}


#: The types of conventional commits and similar habits. A type without a section decides nothing.
TYPES: Final[Mapping[str, Section | None]] = _table({
    Section.BREAKING: "breaking break bc",
    Section.SECURITY: "security sec vuln",
    Section.ADDED: """feat feature features fea enh new added add new-feature new-features neue-funktion
        nouvelle-fonctionnalité nueva-funcionalidad nouveauté""",
    Section.CHANGED: """imp improve improvement improvements enhance enhancement change changed tweak ux ui a11y i18n
        impr api""",
    Section.DEPRECATED: "deprecate deprecation deprecated depr",
    Section.REMOVED: "rem remove removed removal",
    Section.FIXED: "fix fixes fixed bug bugfix bugfixes hotfix bug-fix bug-fixes hot-fix regression regr corrección",
    Section.PERFORMANCE: "eff perf performance optimize optimization",
    Section.DOCUMENTATION: "docs doc documentation readme typo typos",
    Section.DEPENDENCIES: "deps dep dependencies dependency deps-dev depend upgrade vendor dev-deps bump",
    Section.INTERNAL: """nit nits ci cd test tests testing refactor refac refactoring style styles lint linting
        cleanup clean internal wip release tooling infra bench benchmark benchmarks dev devops format fmt types
        typing example examples meta misc codegen clippy tst cln mov ref sty bld typ rls""",
    None: "chore build chores maint maintenance mnt minor task update merge revert polish trivial",
})  # fmt: skip
#: Types that name a part of the product, too: ``ui: x`` has the scope ``ui``.
AREAS: Final = frozenset({"a11y", "api", "i18n", "ui", "ux"})
#: Vague types of upkeep: paths and words decide.
VAGUE_TYPES: Final = frozenset(
    {"build", "chore", "chores", "maint", "maintenance", "minor", "misc", "mnt", "polish", "task", "trivial", "update"}
)

GITMOJI: Final[Mapping[str, Section]] = _table({
    Section.BREAKING: "💥 ⚠",
    Section.SECURITY: "🔒 🔐 🛡",
    Section.ADDED: "✨ 🎉 🌱 🚩 🆕 ✈",
    Section.CHANGED: "💄 🚸 ♿ 🌐 💬 📱 🔊 🔇 🍱 🦺 📈 🏷 💫 🔍 👔 🛂 🩺 ⚗ 🔧 🧵",
    Section.DEPRECATED: "🗑",
    Section.FIXED: "🐛 🚑 🩹 🥅 👽",
    Section.PERFORMANCE: "⚡ 🐎",
    Section.REVERTED: "⏪",
    Section.DOCUMENTATION: "📝 📖 📚 ✏ 💡 🔤 🌍",
    Section.DEPENDENCIES: "⬆ ⬇ 📌 ➕ ➖",  # noqa: RUF001
    Section.INTERNAL: """
        📦 ♻ 👷 💚 ✅ 🎨 🚨 🚚 🔨 🧪 🤡 🙈 📸 ⚰ 🧱 🧑 🚧 🔀 📄 👥 🥚 🌿 🔥 🏗 🧹 🤖 🚀 👌 🔁 🍻 💩 🍎 🐧 🏁 🧐 🎲 🎓
        🗃 💸
    """,
})  # fmt: skip
#: Signs with different meanings in practice: words and paths decide.
VAGUE_SIGNS: Final = frozenset("♻🌐🌱🎨🏷📝📦🔥🔧🔨🚀🚚🚨")
#: The names of signs as code hosts spell them.
SHORTCODES: Final[Mapping[str, str]] = _table({
    "✨": "sparkles", "🎉": "tada", "🐛": "bug", "🚑": "ambulance", "🩹": "adhesive_bandage", "⚡": "zap",
    "💥": "boom", "⚠": "warning", "📖": "book", "🔒": "lock", "🔐": "closed_lock_with_key", "🔥": "fire",
    "🗑": "wastebasket", "⏪": "rewind", "📝": "memo pencil", "✏": "pencil2", "💡": "bulb", "📚": "books",
    "⬆": "arrow_up", "⬇": "arrow_down", "📌": "pushpin", "\u2795": "heavy_plus_sign",
    "\u2796": "heavy_minus_sign", "📦": "package", "🔖": "bookmark", "♻": "recycle", "🔧": "wrench", "🔨": "hammer",
    "👷": "construction_worker", "💚": "green_heart", "✅": "white_check_mark", "🎨": "art", "🚨": "rotating_light",
    "🚚": "truck", "🚧": "construction", "💄": "lipstick", "🚸": "children_crossing", "♿": "wheelchair",
    "🌐": "globe_with_meridians", "💬": "speech_balloon", "📱": "iphone", "🔊": "loud_sound", "🔇": "mute",
    "🍱": "bento", "🥅": "goal_net", "👽": "alien", "🧪": "test_tube", "📸": "camera_flash", "🙈": "see_no_evil",
    "⚰": "coffin", "🚀": "rocket", "🏷": "label", "🧑": "technologist", "🔀": "twisted_rightwards_arrows",
    "👥": "busts_in_silhouette", "🦺": "safety_vest", "📄": "page_facing_up", "🏗": "building_construction",
    "🌱": "seedling", "🚩": "triangular_flag_on_post", "🐎": "racehorse racing_car", "💫": "dizzy", "🔍": "mag",
    "🛂": "passport_control", "🧱": "bricks", "🗃": "card_file_box", "💸": "money_with_wings", "✈": "airplane",
})  # fmt: skip
#: The sign of a commit that only makes a release.
RELEASE_SIGN: Final = "🔖"

SCOPES: Final[Mapping[str, Section]] = _table({
    Section.DOCUMENTATION: """docs doc documentation readme changelog website site faq guide tutorial docstring
        docstrings license contributing authors wiki typo typos comment comments copyright manpage blog""",
    Section.DEPENDENCIES: """deps deps-dev dep dependencies dependency lockfile renovate dependabot cargo.lock go.mod
        go.sum dev-deps pre-commit""",
    Section.INTERNAL: """ci cd test tests testing spec specs lint linting style bench benches benchmark benchmarks
        fuzz fuzzing e2e github gha workflow workflows action actions github-actions release infra internal tooling dev
        fixtures agents examples example playground storybook codeowners makefile justfile eslint prettier clippy fmt
        rustfmt mypy devcontainer nix flake gitignore travis appveyor codecov coverage scripts hack sponsors chore
        build snapshots ecosystem contrib team maint refactor typings annotations codestyle pep8 flake8 isort nox pylint
        pyright ruff tox checkstyle ktlint shellcheck codespell translation translations l10n po selftests
        maintainers""",
})  # fmt: skip
#: Scopes of commits that only make a release.
RELEASE_SCOPES: Final = frozenset({"release", "releng", "maven-release-plugin", "gradle release plugin"})
#: The beginnings of names that look like tickets: ``UTF-8``, ``SHA-256``, ``CVE-2030-1``.
STANDARDS: Final = (
    r"(?:AES|BASE|BLAKE|COVID|CP|CVE|ECMA|ES|GHSA|GPT|HMAC|HTTP|IEEE|IPV|ISO|KOI8|MD|MP|MPEG|PEP|PKCS|RFC|RSA|RUSTSEC"
    r"|SHA|SHA3|TLS|UCS|USB|UTC|UTF|VT|WCAG|WIN)-"
)
SECURITY_SCOPES: Final = frozenset({"security", "sec", "vuln", "cve", "snyk"})

#: First words of subjects in other languages. No nouns of German, which keep their capital.
VERBS_ABROAD: Final[Mapping[str, Section]] = _table({
    Section.ADDED: """füge fügt hinzugefügt neue neuer neues erlaube erlaubt ermöglicht unterstützt ajoute ajouter
        ajout ajouté nouveau nouvelle permet autorise dodano dodaj aggiunge aggiungi aggiunto aggiunta nuovo nuova
        adiciona adicionar adicionado adicionada novo nova añade añadir añadido agrega agregar agregado nuevo nueva
        permite permitir добавить добавлен добавлена добавлено добавлены добавил""",
    Section.CHANGED: """ändere ändert geändert verbessere verbessert aktualisiere aktualisiert verwende verwendet
        modifie modifier améliore améliorer amélioration utilise remplace renomme migliora modifica aggiorna altera
        alterar melhora melhorar atualiza atualizar cambia cambiar mejora mejorar actualiza actualizar reemplaza
        изменить изменен изменена изменено обновлен обновлена обновлено обновить улучшен улучшено""",
    Section.REMOVED: """entferne entfernt lösche löscht supprime supprimer suppression retire enlève rimuove rimosso
        remover removido elimina eliminar eliminado usunięto quita quitar удален удалена удалено удалить убрать""",
    Section.PERFORMANCE: "beschleunige beschleunigt accélère accélérer acelera acelerar",
    Section.FIXED: """behebe behebt behoben korrigiere korrigiert verhindert repariert corrige corriger corrigé
        correction corrections répare évite empêche corregge corretto correzione risolve risolto corrigir corrigido
        naprawiono poprawiono correção conserta corregir corregido corrección arregla arreglar arreglado
        soluciona solucionar evita
        исправить исправлен исправлена исправлено исправлены исправил исправление""",
})  # fmt: skip
#: Words of languages without spaces between words, and of Korean. Of upkeep and speed the first row that is found
#: counts; of actions the first word, or the last one of Japanese and Korean, whose verbs come last.
WORDS_WITHOUT_SPACES: Final[Mapping[Section, str]] = {
    Section.DEPENDENCIES: "依赖|依賴|依存関係|의존성",
    Section.DOCUMENTATION: "文档|文檔|ドキュメント|문서|错别字",
    Section.INTERNAL: "重构|重構|リファクタ|리팩토링|不要な?コード|无用代码|불필요한 코드|测试|測試|テスト|테스트",
    Section.PERFORMANCE: "パフォーマンス|高速化|性能|성능",
    Section.FIXED: "修复|修復|修正|解决|解決|不具合|バグ|수정|버그",
    Section.ADDED: "新增|添加|增加|支持|支援|追加|対応|추가|지원",
    Section.REMOVED: """删除|刪除|移除|不再支持|停止支持|削除|廃止|サポートを?終了|삭제|제거|지원을? ?(?:종료|중단)""",
    Section.CHANGED: "更新|优化|優化|改进|改善|调整|調整|変更|修改|변경|개선",
}
VERBS_LAST: Final = late("[\u3040-\u30ff\uac00-\ud7af]")
#: Last words of subjects whose verb comes last: "Ton hinzugefügt", "Dark mode added".
LAST_WORDS: Final[Mapping[str, Section]] = _table({
    Section.ADDED: """added hinzugefügt ergänzt eingebaut eingeführt implementiert ajouté ajoutée añadido añadida
        aggiunto aggiunta toegevoegd""",
    Section.CHANGED: """aangepast verbeterd changed improved updated verbessert geändert aktualisiert angepasst
        überarbeitet erweitert
        umbenannt amélioré améliorée modifié modifiée mejorado mejorada migliorato migliorata""",
    Section.REMOVED: """removed entfernt gelöscht ausgebaut supprimé supprimée eliminado eliminada rimosso rimossa
        verwijderd""",
    Section.FIXED: """fixed resolved behoben korrigiert repariert gefixt verhindert corrigé corrigée corregido corregida
        corretto corretta opgelost verholpen""",
    Section.INTERNAL: "aufgeräumt refaktoriert refactored refactorisé",
    Section.PERFORMANCE: "optimiert beschleunigt optimisé optimisée",
})  # fmt: skip
#: The first word of a subject, in the forms that are written.
VERBS: Final[Mapping[str, Section]] = VERBS_ABROAD | _table({
    Section.ADDED: """add adds added adding introduce introduces introduced introducing implement implements implemented
        implementing support supports supported supporting allow allows allowed allowing enable enables enabled enabling
        expose exposes exposed provide provides provided accept accepts accepted offer permit permits create creates
        created new initial teach teaches export exports exported register ship publish announce predefine predefined
        gain include includes recognize recognise let lets opt-in impl""",
    Section.CHANGED: """change changes changed changing rename renames renamed renaming switch switches switched
        switching migrate migrated migrating update updates updated updating use uses used using improve improves
        improved improving improvements enhance enhances enhanced make makes made making replace replaces replaced
        replacing set sets increase increases increased reduce reduces reduced require requires required default
        defaults warn warns show shows move moves moved define prefer prefers disable disables disabled infer report
        reports return returns raise raises keep keeps extend extends extended hide hides limit limits lower lowers
        strip strips print prints display displays emit emits render renders convert converts expand expands relax
        relaxes tighten adjust adjusts adjusted apply applies unify unifies normalize normalise sort split splits
        merge merges turn turns ignore ignores bring log logs pass passes rework reworks reworked redesign refresh
        revamp overhaul tweak tweaks tweaked upgrade upgrades upgraded bump bumps bumped downgrade swap port ports
        propagate propagates reuse reuses align aligns clarify clarifies clarified standardize harmonize adopt adopts
        load loads store stores send sends open opens read reads write writes install installs run runs generate
        generates parse parses try tries start starts narrow narrows widen stabilize stabilise promote broaden
        separate inline wrap review polish revise rewrite rewrites rewrote mark marks copy force forces throw throws
        error errors trigger cancel match attempt translate select highlight prefix append compute support-only
        configure specialize isolate close disallow disallows disallowed forbid forbids follow sync better more nicer
        smarter tune localize""",
    Section.DEPRECATED: "deprecate deprecates deprecated deprecating sunset",
    Section.REMOVED: """remove removes removed removing delete deletes deleted drop drops dropped dropping
        discontinue unship kill eliminate eliminates""",
    Section.FIXED: """fix fixes fixed fixing fixup bugfix hotfix resolve resolves resolved correct corrects corrected
        prevent prevents prevented avoid avoids avoided handle handles handled handling ensure ensures ensured guard
        guards restore restores restored preserve preserves preserved respect respects respected honor honour escape
        escapes repair repairs don't dont do does doesn't not never skip skips skipped recover stop stops stopped
        treat treats exempt workaround patch patched address addresses addressed reject rejects protect protects
        properly correctly check checks checked validate validates validated sanitize detect detects detected unbreak
        mitigate catch catches closes closed tolerate account fallback retry retain quote encode decode
        actually suppress suppresses wait always only conserve conserves re-add re-adds readd reinstate reinstates""",
    Section.PERFORMANCE: """accelerate optimize optimise optimizes optimized optimised speed speeds speedup cache
        caches memoize""",
    Section.REVERTED: "revert reverts reverted reverting rollback backout unrevert",
})  # fmt: skip
#: Forms of verbs that begin subjects, by the imperative. Left out: forms that are often adjectives, such as
#: ``Supported``, and nouns in the plural, such as ``Changes``.
IMPERATIVES: Final[Mapping[str, str]] = _table({
    "accept": "accepts", "add": "added adds", "adjust": "adjusted adjusts", "align": "aligned aligns",
    "allow": "allowing allows", "avoid": "avoids", "bump": "bumped", "change": "changed",
    "clarify": "clarified clarifies", "clean up": "cleanup", "convert": "converted", "correct": "corrected corrects",
    "create": "creates", "document": "documented", "drop": "dropped drops", "enable": "enables",
    "enhance": "enhances", "ensure": "ensured ensures", "expose": "exposes", "fix": "fixed fixes fixup hotfix",
    "implement": "impl implemented implements", "improve": "improved improves", "introduce": "introduced introduces",
    "make": "made makes", "migrate": "migrated", "move": "moved", "optimize": "optimized optimizes",
    "prevent": "prevented prevents", "port": "ported", "refactor": "refactored", "remove": "removed removes",
    "rename": "renamed renames", "replace": "replaced replaces", "resolve": "resolved resolves",
    "restore": "restored restores", "rework": "reworked", "rewrite": "rewrote", "simplify": "simplified simplifies",
    "silence": "silenced", "speed": "sped", "stop": "stopped", "switch": "switched", "update": "updated",
    "tweak": "tweaked tweaks", "upgrade": "upgraded",
})  # fmt: skip
#: Verbs whose object may be a fault, which they do not mend: "improve errors about missing files".
IMPROVING_VERBS: Final = frozenset(_table({None: """
    emit emits enhance enhanced enhances improve improved improves improving report reports suggest suggests warn warns
"""}))  # fmt: skip
#: Verbs that are no parts of the code, where they are read as scopes: "chore(optimize): the lens".
VERBS_IN_SCOPES: Final = frozenset(IMPERATIVES.values()) - {"change", "document", "move", "port", "switch", "upgrade"}
INTERNAL_VERBS: Final = frozenset(_table({None: """
    appease bless bootstrap centralize clang-format clean cleaned cleaning cleans cleanup consolidate dedupe derive
    deduplicate delint durr format formatting gofmt hoist lint linting misc modernize oops pin pinned pins rebuild
    refactor refactored refactoring refactors reformat reformatted regen regenerate regenerated reorder pacify
    reorganise reorganize rerun restructure retrigger rustfmt scaffold silence simplified simplifies simplify sweep
    tidy unhack unpin vendor whoops wip
"""}))  # fmt: skip
#: Verbs of what users see, also of tools that others use for their upkeep: "support Makefiles", "show test results".
NOTICED_VERBS: Final = frozenset(_table({None: """
    detect detects display displays hide hides highlight highlights recognise recognize show shows support supports
"""}))  # fmt: skip
DOCUMENTATION_VERBS: Final = frozenset(_table({None: """
    document documented documenting documents mention mentions reword
"""}))  # fmt: skip
#: First words of actions. Those in the list decide no section.
FIRST_VERBS: Final = (VERBS.keys() - {"error"}) | INTERNAL_VERBS | DOCUMENTATION_VERBS | _table({None: """
    ask await bind bypass declare defer delay deny distinguish drain fail forbid forward give inject invoke isolate
    leave link map mask mount omit pad populate push query redirect refuse reload resize route say scan scope shorten
    specify substitute surface swallow tell touch trim truncate unescape unlock unset unwrap wake yield
"""}).keys()  # fmt: skip
#: The kinds in the names of news fragments: ``123.feature.md``, ``fix_a_thing.md``. A ``change`` is any news.
FRAGMENTS: Final[Mapping[str, Section]] = _table({
    Section.BREAKING: "break breaking breaking_change backward backwards incompat incompatible significant upgrade",
    Section.SECURITY: "security vulnerability",
    Section.ADDED: "feature features feat added add new enhancement enhance",
    Section.OTHER: "change changes",
    Section.CHANGED: "changed improvement improved improve update",
    Section.DEPRECATED: "deprecation deprecated deprecate",
    Section.REMOVED: "removal removed remove",
    Section.FIXED: "fix fixed bugfix bug bugfixes fixes",
    Section.PERFORMANCE: "performance perf",
    Section.DOCUMENTATION: "doc docs documentation improved_doc",
    Section.INTERNAL: "misc trivial internal contrib contributor packaging dev downstream vendor",
})  # fmt: skip


_WORD: Final = late(r"[^\W_]+")
#: Lower-case letters and digits, and spaces for other characters: for ASCII, this is the faster way.
_LETTERS: Final = bytes(
    ord(chr(code).lower()) if re.match(r"[^\W_]", chr(code), re.ASCII) else 32 for code in range(256)
)


def words_in(text: str) -> list[str]:
    """Return the words of a text, in lower case."""
    if text.isascii():
        return text.encode().translate(_LETTERS).decode().split()
    return _WORD.findall(text.casefold())


def names_section_abroad(section: Section, text: str) -> bool:
    """Check that a text names its section in another language: by its first or last word, or without spaces."""
    first, last = text.partition(" ")[0], text.rpartition(" ")[2]
    if VERBS_ABROAD.get(first.casefold()) is section or LAST_WORDS.get(last.rstrip(".!").casefold()) is section:
        return True
    row = None if text.isascii() else WORDS_WITHOUT_SPACES.get(section)
    return row is not None and re.search(row, text) is not None
