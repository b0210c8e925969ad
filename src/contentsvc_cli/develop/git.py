"""Reads a local repository by git: its first-parent line as pushes, their commits, and tags.

A few git processes read a whole history, and one more for every few thousand commits. Nothing is written or fetched,
and no command from the repository's configuration is run.
"""

import contextlib
import os
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryFile
from typing import Final, final

from attrs import frozen

from contentsvc_core.events.normalized import MAX_PATHS, Author, Commit
from contentsvc_core.text import storable
from contentsvc_core.values import Value

#: The number of commits per ``git log``, which holds all of them in memory.
_COMMITS_AT_ONCE: Final = 4096
_CHUNK: Final = 64 * 1024

_ENVIRONMENT: Final = {
    # English messages, and no interactive prompts.
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",
    # Take no locks, fetch no missing objects, and ignore replace refs.
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    # The same for git before 2.45, where the URL of a remote may be a command: no transport is allowed.
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_NO_REPLACE_OBJECTS": "1",
}
#: Variables of git hooks, which would override the user's path.
_ELSEWHERE: Final = frozenset(
    {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_COMMON_DIR",
        "GIT_DIR",
        "GIT_GRAFT_FILE",
        "GIT_INDEX_FILE",
        "GIT_NAMESPACE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_SHALLOW_FILE",
        "GIT_WORK_TREE",
    }
)

_NO_REPOSITORY: Final = "not a git repository"
#: The number of stored paths of a commit: one more than the service reads, so that the service sees that paths are
#: missing.
_PATHS_LIMIT: Final = MAX_PATHS + 1
_FILE_STATE: Final = re.compile(r"\n?([A-Z])\d*")

_COMMIT_FIELDS: Final = ("%H", "%an", "%ae", "%cI", "%B")
_TAG_FIELDS: Final = (
    "%(refname)",
    "%(objectname)",
    "%(objecttype)",
    "%(*objectname)",
    "%(*objecttype)",
    "%(creatordate:iso-strict)",
    "%(contents)",
)
_NO_TIME: Final = "1970-01-01T00:00:00+00:00"
_TAGS: Final = "refs/tags/"
_SIGNATURE: Final = re.compile(
    r"^-----BEGIN (?:PGP SIGNATURE|PGP MESSAGE|SSH SIGNATURE|SIGNED MESSAGE)-----", re.MULTILINE
)


#: Private e-mail addresses of code hosts: ``user@users.noreply.…``, ``1234+user@users.noreply.…``.
_NOREPLY: Final = re.compile(r"(?:\d+\+)?(?P<user>[A-Za-z0-9][A-Za-z0-9-]*(?:\[bot\])?)@users\.noreply\.[^@]+")


class GitFailed(Exception):
    """A git command failed; the message is for the user."""


class NoRepository(GitFailed):
    """A path that is not inside a git repository."""


@final
class Tag(Value, frozen=True, kw_only=True):
    name: str
    commit_id: str
    #: The annotation without its signature; ``None`` for a lightweight tag.
    message: str | None
    #: The creation time in ISO 8601; for a lightweight tag, the time of its commit. ``""``: git has no time.
    created_at: str


@final
@frozen(kw_only=True)
class Line:
    branch: str
    tip: str


@final
class Checkout:
    def __init__(self, path: Path) -> None:
        """Open the repository that contains ``path``; raise :class:`GitFailed` without one."""
        if not os.path.isdir(path):  # noqa: PTH112  # `Path.is_dir` raises an error for a name that is too long
            message = f"{path} is not a folder"
            raise GitFailed(message)
        self._path = path
        try:
            self._folder = Path(os.fsdecode(self._output("rev-parse", "--absolute-git-dir")))
        except GitFailed as exc:
            if _NO_REPOSITORY not in str(exc):
                raise
            message = f"{'the current folder' if path == Path() else path} is {_NO_REPOSITORY}"
            raise NoRepository(message) from exc
        common = Path(os.fsdecode(self._output("rev-parse", "--git-common-dir")))
        # An additional work tree has its own git folder; relative results are relative to the path.
        self._common = path / common

    @property
    def folder_name(self) -> str:
        if self._folder.name == ".git":
            return self._folder.parent.name
        return self._folder.name.removesuffix(".git")

    def origin(self) -> str | None:
        """Return the URL of the remote ``origin``, including any credentials in it."""
        return self._answer("config", "--get", "remote.origin.url")

    def line(self, branch: str | None = None) -> Line:
        """Return ``branch``, local or of the remote ``origin``; by default the checked-out branch.

        A detached HEAD goes by the name of the remote's default branch, or ``main``.
        """
        if branch is not None:
            for ref in (f"refs/heads/{branch}", f"refs/remotes/origin/{branch}"):
                # Accepts complete ref names only: no options and no revision syntax.
                if tip := self._answer("show-ref", "--verify", "--hash", "--", ref):
                    return Line(branch=storable(branch), tip=tip)
            message = f"{self._path} has no branch {branch!r}"
            raise GitFailed(message)
        head = self._answer("symbolic-ref", "--quiet", "HEAD")
        tip = self._answer("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        if tip is None:
            message = f"{self._path} has no commits yet"
            raise GitFailed(message)
        if head is None:
            default = self._answer("symbolic-ref", "--quiet", "refs/remotes/origin/HEAD") or "main"
            return Line(branch=default.removeprefix("refs/remotes/origin/"), tip=tip)
        return Line(branch=storable(head.removeprefix("refs/heads/")), tip=tip)

    def resolve(self, revision: str) -> str | None:
        if not revision or "\0" in revision:
            return None
        return self._answer("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")

    def shallow_ends(self) -> frozenset[str]:
        """Return the boundary commits of a shallow clone; empty for a complete history."""
        with contextlib.suppress(FileNotFoundError):
            return frozenset((self._common / "shallow").read_text("ascii").split())
        return frozenset()

    def committed_at(self, commit: str) -> int:
        """Return the time of a commit, in seconds since 1970; 0 without a time that git can read."""
        shown = ("show", "--no-patch", "--no-show-signature", "--format=%ct", "--end-of-options", commit)
        return int(self._output(*shown) or 0)

    def before(self, tip: str, at: int) -> str | None:
        """Return the newest commit on the line of ``tip`` that was made before ``at``, in seconds since 1970."""
        if at <= 0:
            return None
        command = ("rev-list", "--first-parent", "--max-count=1", f"--before={at}", "--end-of-options", tip)
        return self._answer(*command) or None

    def pushes(self, tip: str, *, without: Iterable[str] = ()) -> list[list[str]]:
        """Return the ids of the commits that each first-parent commit introduced, oldest first and itself last.

        Commits of ``without`` and their ancestors are excluded.
        """
        newest_first: list[list[str]] = []
        on_line = tip
        # A commit belongs to the oldest commit of the line that reaches it. Git lists children before parents, so a
        # commit's position is final when it is read, and only the frontier is stored.
        indexes: dict[str, int] = {}
        hidden = [f"^{revision}" for revision in without]
        command = ("rev-list", "--parents", "--date-order", "--end-of-options", tip, *hidden)
        for row in self._fields(b"\n", None, *command):
            commit, *parents = row.decode("ascii").split()
            index = indexes.pop(commit, 0)
            if commit == on_line:
                index = len(newest_first)
                newest_first.append([])
                on_line = parents[0] if parents else ""
            newest_first[index].append(commit)
            for parent in parents:
                indexes[parent] = max(indexes.get(parent, 0), index)
        return [push[::-1] for push in reversed(newest_first)]

    def commits(self, ids: Iterable[str]) -> Iterator[Commit]:
        waiting = iter(ids)
        while batch := list(islice(waiting, _COMMITS_AT_ONCE)):
            fields = self._fields(
                b"\0",
                "\n".join(batch).encode("ascii"),
                "log",
                "--stdin",
                "--no-walk=unsorted",
                "--no-show-signature",
                "--no-color",
                "--encoding=UTF-8",
                "-z",
                "--name-status",
                "--no-renames",
                f"--format=tformat:{'%x00'.join(_COMMIT_FIELDS)}",
            )
            texts = (field.decode("utf-8", "replace") for field in fields)
            following = next(texts, None)
            for _ in batch:
                # Git ends a message at its first NUL, so the number of fields is reliable.
                record = () if following is None else (following, *islice(texts, len(_COMMIT_FIELDS) - 1))
                if len(record) != len(_COMMIT_FIELDS):
                    message = f"git did not return all commits of {self._path}"
                    raise GitFailed(message)
                files, following = _files(texts)
                yield _commit(record, files)
            if following is not None:
                message = f"git returned unexpected commits of {self._path}"
                raise GitFailed(message)

    def tags(self, *, merged: str | None = None) -> list[Tag]:
        """Return all tags that point to commits, by date and version; with ``merged``, only those of its history.

        The latter are in the order of history: an older commit may be tagged last. Tags of one commit stay by date.
        """
        fields = self._fields(
            b"\0",
            None,
            "for-each-ref",
            # The last order counts first. Scripts make several tags within a second.
            "--sort=version:refname",
            "--sort=creatordate",
            f"--format={'%00'.join(_TAG_FIELDS)}%00",
            *(() if merged is None else (f"--merged={merged}",)),
            "--end-of-options",
            _TAGS,
        )
        texts = (field.decode("utf-8", "replace") for field in fields)
        tags: list[Tag] = []
        while len(record := tuple(islice(texts, len(_TAG_FIELDS)))) == len(_TAG_FIELDS):
            ref, target, kind, peeled, peeled_kind, created_at, message = record
            commit_id = {"commit": target, "tag": peeled}.get(kind) if peeled_kind != "tag" else self._peel(target)
            if commit_id and peeled_kind in ("", "commit", "tag"):
                name = ref.lstrip("\n").removeprefix(_TAGS)
                annotation = _unsigned(message) if kind == "tag" else None
                tags.append(Tag(name=name, commit_id=commit_id, message=annotation, created_at=created_at))
        return tags if merged is None else self._by_history(tags, merged)

    def _by_history(self, tags: Iterable[Tag], tip: str) -> list[Tag]:
        waiting = defaultdict[bytes, list[Tag]](list)
        for tag in tags:
            waiting[tag.commit_id.encode("ascii")].append(tag)
        newest_first: list[list[Tag]] = []
        # Unrelated commits, such as those of merged branches, are by their dates.
        commits = self._fields(b"\n", None, "rev-list", "--date-order", "--end-of-options", tip) if waiting else ()
        for commit in commits:
            if of_commit := waiting.pop(commit, None):
                newest_first.append(of_commit)
                if not waiting:
                    break
        return list(chain.from_iterable(reversed(newest_first)))

    def _peel(self, tag: str) -> str | None:
        # A tag of a tag: versions of git differ in how `*objectname` resolves it.
        return self._answer("rev-parse", "--verify", "--quiet", f"{tag}^{{commit}}")

    def _answer(self, *command: str) -> str | None:
        try:
            return os.fsdecode(self._output(*command))
        except GitFailed:
            return None

    def _output(self, *command: str) -> bytes:
        return b"\n".join(self._fields(b"\n", None, *command))

    def _fields(self, end: bytes, input_: bytes | None, *command: str) -> Iterator[bytes]:
        environment = {name: value for name, value in os.environ.items() if name not in _ELSEWHERE} | _ENVIRONMENT
        # Files instead of pipes, so that git never blocks on a full pipe.
        with TemporaryFile() as stdin, TemporaryFile() as stderr:
            stdin.write(input_ or b"")
            stdin.seek(0)
            try:
                process = subprocess.Popen(  # noqa: S603  # a list, no shell; untrusted text is never an option
                    ["git", "-C", str(self._path), *command],  # noqa: S607  # the git of the user's PATH is meant
                    env=environment,
                    stdin=stdin,
                    stdout=subprocess.PIPE,
                    stderr=stderr,
                )
            except FileNotFoundError as exc:
                message = "git is not installed, or not in PATH"
                raise GitFailed(message) from exc
            with process:
                assert process.stdout is not None
                rest = b""
                while chunk := os.read(process.stdout.fileno(), _CHUNK):
                    *complete, rest = (rest + chunk).split(end)
                    yield from complete
                if rest:
                    yield rest
            if process.returncode:
                stderr.seek(0)
                complaint = stderr.read().decode("utf-8", "replace").strip().removeprefix("fatal: ")
                message = f"git cannot read {self._path}: {complaint or f'exit code {process.returncode}'}"
                raise GitFailed(message)


def _files(texts: Iterator[str]) -> tuple[dict[str, list[str]], str | None]:
    files: dict[str, list[str]] = {"A": [], "M": [], "D": []}
    kept = 0
    for text in texts:
        # The next record begins with a commit's id, never with a capital letter.
        if (state := _FILE_STATE.fullmatch(text)) is None:
            return files, text
        path = next(texts, "")
        if kept < _PATHS_LIMIT:
            files[state[1] if state[1] in files else "M"].append(path)
            kept += 1
    return files, None


def _commit(record: tuple[str, ...], files: Mapping[str, Sequence[str]]) -> Commit:
    commit_id, name, email, committed_at, message = record
    return Commit(
        id=commit_id,
        message=message.rstrip("\n"),
        author=Author(name=name, email=email, username=username(email)),
        # Git leaves the placeholder where a time cannot be read, and writes 1970 for one that is too large.
        timestamp=_NO_TIME if committed_at == "%cI" else committed_at,
        url="",
        added=tuple(files["A"]),
        modified=tuple(files["M"]),
        removed=tuple(files["D"]),
    )


def username(email: str) -> str | None:
    match = _NOREPLY.fullmatch(email)
    return match["user"] if match else None


def _unsigned(message: str) -> str:
    matches = list(_SIGNATURE.finditer(message))
    return (message[: matches[-1].start()] if matches else message).strip("\n")
