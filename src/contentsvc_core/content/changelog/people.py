"""The contributors of a changelog: authors and co-authors, once each, without bots and e-mail addresses."""

import re
from collections.abc import Collection, Iterable
from typing import Final

from contentsvc_core.content.changelog.markdown import HIDDEN_ADDRESS, inline, masked_line
from contentsvc_core.content.changelog.read import CommitMessage
from contentsvc_core.events.normalized import Author, Commit
from contentsvc_core.on_demand import late

_NAME_LIMIT: Final = 60
_CO_AUTHORS_LIMIT: Final = 50

_BOTS: Final = frozenset({
    "allcontributors", "codehost-actions", "codecov", "dependabot", "dependabot-preview", "forgejo-actions",
    "gitea-actions", "github-actions", "gitlab-bot", "greenkeeper", "imgbot", "mergify", "pre-commit-ci", "pyup-bot",
    "renovate", "semantic-release", "snyk", "weblate", "web-flow", "crowdin", "depfu", "whitesource", "transifex",
    "pull", "autofix-ci", "styleci", "scrutinizer", "deepsource-autofix", "stainless-app", "release-please",
    "claude", "copilot", "github copilot", "codex", "cursor", "cursor agent", "cursoragent", "devin", "devin ai",
    "devin-ai-integration", "gemini", "gemini-code-assist", "google-labs-jules", "chatgpt", "openai codex", "aider",
    "amp", "windsurf", "opencode", "openhands", "sweep", "sweep ai", "coderabbitai", "sourcery-ai", "jules", "warp",
})  # fmt: skip
_BOT_ACCOUNT: Final = late(r".*bot\]?", re.IGNORECASE)
_BOT_NAME: Final = late(
    r"(?:.*[\W_]|.*[a-z](?=B)|)(?:[Bb]ot|BOT)\]?|(?i:claude (?:code|opus|sonnet|haiku)\b.*|.*\[bot\].*|aider \(.*)"
)
_PROGRAM_ADDRESS: Final = late(
    r"noreply@(?:anthropic|cursor|openai|github-copilot|aider|devin|opencode|factory)\.\w+|(?:cursoragent|codex|devin|amp)@[\w.]+",
    re.IGNORECASE,
)
#: Surnames that end like accounts of bots.
_SURNAMES: Final = ("talbot", "abbot", "cabot", "chabot", "rabot", "barbot", "corbot", "herbot", "turbot", "jobot")

_CO_AUTHOR: Final = late(r"([^<\n]*)(?:<([^>\n]*)>?)?")
# The address that code hosts give to people who keep theirs private: `12345+name@users.noreply.<host>`.
_NO_REPLY: Final = late(r"[0-9]+\+([A-Za-z0-9_.\[\]-]+)@users\.noreply\.[^@\s]+", re.IGNORECASE)


def authors(commit: Commit, message: CommitMessage) -> tuple[Author, ...]:
    if not message.body or "authored-by" not in message.source.casefold():
        return (commit.author,)
    credits_ = [footer.value for footer in message.footers if footer.token.casefold() == "co-authored-by"]
    return (commit.author, *map(_co_author, credits_[:_CO_AUTHORS_LIMIT]))


def contributors(
    people: Iterable[Author],
    bots: frozenset[str] = frozenset(),
    *,
    newcomers: Collection[str] = (),
    newcomer: str = "{name}",
) -> tuple[str, ...]:
    """Return each person's name as Markdown, in the order of first appearance.

    An account is one person, and so is an address. A known account replaces the name. ``bots`` are further accounts and
    names, casefolded. ``newcomer`` marks ``newcomers``, the accounts whose first contribution is among the changes.
    """
    shown: list[str] = []
    index_by_key: dict[tuple[str, str], int] = {}
    for author in dict.fromkeys(people):
        username = _username(author)
        if _is_bot(author, username, bots):
            continue
        name = masked_line(author.name, _NAME_LIMIT).removesuffix(HIDDEN_ADDRESS).strip()
        if not (username or name):
            continue
        keys = _keys(author, username, name)
        at = next((index_by_key[key] for key in keys if key in index_by_key), len(shown))
        for key in keys:
            index_by_key.setdefault(key, at)
        text = inline(f"@{username}" if username else name)
        if at == len(shown):
            shown.append(text)
        elif username and not shown[at].startswith("@"):
            shown[at] = text
    marked = {inline(f"@{masked_line(account, _NAME_LIMIT)}").casefold() for account in newcomers if account}
    return tuple(newcomer.format(name=name) if name.casefold() in marked else name for name in dict.fromkeys(shown))


def _co_author(value: str) -> Author:
    match = _CO_AUTHOR.match(value)
    name, email = (match[1].strip(), (match[2] or "").strip()) if match else (value, "")
    return Author(name=name, email=email)


def _username(author: Author) -> str:
    private = _NO_REPLY.fullmatch(author.email)
    username = masked_line(author.username or (private[1] if private else ""), _NAME_LIMIT).lstrip("@")
    return "" if HIDDEN_ADDRESS in username else username


def _keys(author: Author, username: str, name: str) -> list[tuple[str, str]]:
    # An account and a name of the same letters are one person: `T-256` and `@T-256`.
    keys = [("name", each.casefold()) for each in dict.fromkeys((username, name)) if each]
    return [*keys, ("email", author.email.casefold())] if author.email else keys


def _is_bot(author: Author, username: str, bots: frozenset[str]) -> bool:
    name, account = author.name.strip(), username.casefold()
    names = {name.casefold(), account} - {""}
    return bool(
        _PROGRAM_ADDRESS.fullmatch(author.email)
        or not names.isdisjoint(_BOTS | bots)
        or _BOT_NAME.fullmatch(name)
        or (_BOT_ACCOUNT.fullmatch(account) and not account.endswith(_SURNAMES))
    )
