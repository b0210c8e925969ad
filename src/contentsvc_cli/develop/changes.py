from typing import final

from contentsvc_core.values import Value


@final
class Person(Value, frozen=True, kw_only=True):
    name: str
    email: str


@final
class LocalCommit(Value, frozen=True, kw_only=True):
    #: In hexadecimal; 40 digits, or 64 in a repository with SHA-256.
    id: str
    tree_id: str
    author: Person
    committer: Person
    #: ISO 8601 with the committer's offset.
    committed_at: str
    #: The whole message, without line feeds at its end. Undecodable bytes are U+FFFD.
    message: str
    #: The paths of the files that the commit added, changed and removed; none for a merge.
    added: tuple[str, ...] = ()
    modified: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


@final
class Tag(Value, frozen=True, kw_only=True):
    name: str
    commit_id: str
    #: The annotation without its signature; ``None`` for a lightweight tag.
    message: str | None
    #: The creation time in ISO 8601; for a lightweight tag, the time of its commit. ``""``: git has no time.
    created_at: str
