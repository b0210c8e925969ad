"""Builders for briefs, and the two renderers with which the Markdown is tested."""

from hashlib import sha1
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

from contentsvc_core.content.changelog import ChangelogOptions, write_changelog
from contentsvc_core.content.options import DEFAULT_OPTIONS
from contentsvc_core.content.writing import Brief, Chapter, Draft
from contentsvc_core.events.normalized import Author, Commit, Event, Push, Release

HOST: Final = "https://codehost.example/acme/kettle"
ADA: Final = Author(name="Ada Byron", email="ada@mail.example", username="ada")

#: The project's renderer, and one with the extensions of other renderers.
RENDERERS: Final = (
    MarkdownIt("commonmark", {"html": False}),
    MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]),
)


def sha_of(seed: str) -> str:
    return sha1(seed.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()


def commit(
    message: str, *, sha: str | None = None, author: Author = ADA, url: str | None = None, distinct: bool = True
) -> Commit:
    sha = sha_of(message) if sha is None else sha
    return Commit(
        id=sha,
        message=message,
        author=author,
        timestamp="2030-01-02T03:04:05+00:00",
        url=f"{HOST}/commit/{sha}" if url is None else url,
        distinct=distinct,
    )


def push(*commits: Commit | str) -> Push:
    """Return a push; a plain text becomes a commit with this message, each with an id of its own."""
    made = tuple(
        commit(each, sha=sha_of(f"{index} {each}")) if isinstance(each, str) else each
        for index, each in enumerate(commits)
    )
    return Push(ref="refs/heads/main", branch="main", commits=made, head_commit=None)


def release(
    tag: str = "v1.2.0",
    *,
    name: str | None = None,
    body: str | None = None,
    prerelease: bool = False,
    draft: bool = False,
    action: str = "published",
    url: str | None = None,
) -> Release:
    return Release(
        action=action,
        tag_name=tag,
        name=name,
        body=body,
        prerelease=prerelease,
        draft=draft,
        published_at=None,
        url=f"{HOST}/releases/tag/{tag}" if url is None else url,
    )


def written(*events: Event, options: ChangelogOptions | None = None) -> Draft | None:
    brief = Brief(chapters=[Chapter(repository="acme/kettle", events=events)])
    return write_changelog(brief) if options is None else write_changelog(brief, options)


def draft_of(*messages: Commit | str) -> Draft:
    draft = written(push(*messages))
    assert draft is not None
    return draft


def announced(
    of: Release, *pushes: Push, previous_tag: str | None = None, options: ChangelogOptions = DEFAULT_OPTIONS
) -> Draft:
    brief = Brief(chapters=[Chapter(repository="acme/kettle", events=pushes)], release=of, previous_tag=previous_tag)
    draft = write_changelog(brief, options)
    assert draft is not None
    return draft


def entries(markdown: str) -> list[str]:
    """Return the lines of the list, without the links at their end."""
    return [line[2:].split(" ([")[0] for line in markdown.splitlines() if line.startswith("- ")]


def headings(markdown: str) -> list[str]:
    return [line[3:] for line in markdown.splitlines() if line.startswith("## ")]


def section(markdown: str, heading: str) -> list[str]:
    _, _, after = markdown.partition(f"## {heading}\n")
    return entries(after.partition("\n## ")[0])


def tokens(markdown: str, renderer: MarkdownIt = RENDERERS[0]) -> list[Token]:
    """Return all tokens of the rendered text, including inline ones."""
    found: list[Token] = []
    for token in renderer.parse(markdown):
        found += [token, *(token.children or [])]
    return found


def text_of(markdown: str, renderer: MarkdownIt = RENDERERS[0]) -> str:
    """Return the visible text, without structure."""
    kinds = {"text", "text_special", "code_inline", "fence", "code_block", "html_inline", "html_block"}
    return "".join(token.content if token.type in kinds else " " for token in tokens(markdown, renderer))
