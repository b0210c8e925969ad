"""Whom a changelog thanks: authors and co-authors, once each, without bots and without a single e-mail address."""

import re
from collections.abc import Iterable
from typing import Final

from contentsvc_core.content.changelog.conventional import Message
from contentsvc_core.content.changelog.markdown import inline
from contentsvc_core.content.changelog.wording import HIDDEN_ADDRESS, masked_line
from contentsvc_core.webhooks.events import Author, Commit

_NAME_LIMIT: Final = 60
_CO_AUTHORS_LIMIT: Final = 50

_BOTS: Final = frozenset({
    "allcontributors", "codehost-actions", "codecov", "dependabot", "dependabot-preview", "forgejo-actions",
    "gitea-actions", "github-actions", "gitlab-bot", "greenkeeper", "imgbot", "mergify", "pre-commit-ci", "pyup-bot",
    "renovate", "semantic-release", "snyk", "weblate", "web-flow",
})  # fmt: skip
_BOT_ENDINGS: Final = ("[bot]", "-bot", "_bot", " bot")

_CO_AUTHOR: Final = re.compile(r"([^<\n]*)(?:<([^>\n]*)>?)?")
# The address that code hosts give to people who keep theirs private: `12345+name@users.noreply.<host>`.
_NO_REPLY: Final = re.compile(r"[0-9]+\+([A-Za-z0-9_.\[\]-]+)@users\.noreply\.[^@\s]+", re.IGNORECASE)


def authors(commit: Commit, message: Message) -> tuple[Author, ...]:
    """Give everybody who wrote a commit: its author, then its ``Co-authored-by:`` trailers."""
    credits_ = [footer.value for footer in message.footers if footer.token.casefold() == "co-authored-by"]
    return (commit.author, *map(_co_author, credits_[:_CO_AUTHORS_LIMIT]))


def contributors(everybody: Iterable[Author], bots: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """Give each person's name as Markdown, in the order of first appearance.

    One account is one person, and so is one address; a person is shown by account as soon as one is known.

    Args:
        everybody: The authors of the changes, in the order of the changes.
        bots: Further accounts and names that are no persons, casefolded.
    """
    shown: list[str] = []
    known: dict[tuple[str, str], int] = {}
    # Who comes again in the same words changes nothing: most changes are by few people.
    for author in dict.fromkeys(everybody):
        if _is_bot(author, bots):
            continue
        username = _username(author)
        name = masked_line(author.name, _NAME_LIMIT).removesuffix(HIDDEN_ADDRESS).strip()
        if not (username or name):
            continue
        keys = _keys(author, username, name)
        at = next((known[key] for key in keys if key in known), len(shown))
        for key in keys:
            known.setdefault(key, at)
        text = inline(f"@{username}" if username else name)
        if at == len(shown):
            shown.append(text)
        elif username and not shown[at].startswith("@"):
            shown[at] = text
    return tuple(dict.fromkeys(shown))


def _co_author(value: str) -> Author:
    found = _CO_AUTHOR.match(value)
    name, email = (found[1].strip(), (found[2] or "").strip()) if found else (value, "")
    return Author(name=name, email=email)


def _username(author: Author) -> str:
    private = _NO_REPLY.fullmatch(author.email)
    username = masked_line(author.username or (private[1] if private else ""), _NAME_LIMIT).lstrip("@")
    return "" if HIDDEN_ADDRESS in username else username


def _keys(author: Author, username: str, name: str) -> list[tuple[str, str]]:
    keys = [("username", username.casefold())] if username else []
    if author.email:
        keys.append(("email", author.email.casefold()))
    return keys or [("name", name.casefold())]


def _is_bot(author: Author, bots: frozenset[str]) -> bool:
    names = (author.name.strip().casefold(), _username(author).casefold())
    return any(name.endswith(_BOT_ENDINGS) or name in _BOTS or name in bots for name in names)
