"""Events and texts that a store may cut or change."""

from typing import Final

from attrs import evolve

from contentsvc_core.events.normalized import Author, Commit, HeadCommit, Push, Release


def a_push(message: str, commit_id: str = "72d3162", commits: tuple[Commit, ...] = ()) -> Push:
    head = HeadCommit(id=commit_id, message=message)
    return Push(ref="refs/heads/main", branch="main", commits=commits, head_commit=head)


#: Longer than texts of some databases (65,535 bytes), with characters of four bytes, quotes and spaces at the ends.
LONG_TEXT: Final = f" feat: 'turn' the 🔦 \\\r\n\r\n\t{'it turns; ' * 7_000}\n "
_ADA: Final = Author(name='Ada "O\'Lamp"', email="ada@example.com", username="ada")
_COMMIT: Final = Commit(
    id="81ab4c9",
    message=LONG_TEXT,
    author=_ADA,
    timestamp="2026-01-01T12:00:00+02:00",
    url="",
    added=("a.py", "b c.py"),
)
LONG_PUSH: Final = a_push(LONG_TEXT, commits=(_COMMIT, evolve(_COMMIT, id="367dc09", distinct=False)))
RELEASE: Final = Release(
    action="published",
    tag_name="v1.0.0",
    name=None,
    body=LONG_TEXT,
    prerelease=False,
    draft=False,
    published_at="2026-01-01T12:00:00Z",
    url="https://codehost.example/acme/a/releases/tag/v1.0.0",
)
