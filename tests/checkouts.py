"""Real git repositories for tests, created by git."""

import os
import shutil
import subprocess
from copy import copy
from pathlib import Path
from typing import Self, final


@final
class Work:
    """A repository under construction; each commit is a minute later than the one before."""

    def __init__(self, path: Path, *options: str) -> None:
        """Create the repository, with the branch ``main``."""
        self.path = path
        self._minute = 0
        path.mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=main", *options)

    def copied(self, path: Path) -> Self:
        """Copy the repository to a path. Creating a repository takes a dozen processes."""
        shutil.copytree(self.path, path)
        created = copy(self)
        created.path = path
        return created

    def git(self, *command: str, stdin: bytes = b"", **environment: str) -> str:
        date = f"2025-03-10T10:{self._minute:02}:00+01:00"
        ran = subprocess.run(
            ["git", "-C", str(self.path), "-c", "commit.gpgSign=false", *command],
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(self.path),
                "GIT_CONFIG_NOSYSTEM": "1",
                "GIT_AUTHOR_NAME": "Ada",
                "GIT_AUTHOR_EMAIL": "12+ada-l@users.noreply.codehost.example",
                "GIT_AUTHOR_DATE": date,
                "GIT_COMMITTER_NAME": "Grace",
                "GIT_COMMITTER_EMAIL": "grace@example.org",
                "GIT_COMMITTER_DATE": date,
                **environment,
            },
            input=stdin,
            capture_output=True,
            check=True,
        )
        return ran.stdout.decode().strip()

    def write(self, name: str, text: str) -> None:
        """Write a file and add it to the next commit."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        self.git("add", name)

    def commit(self, message: bytes | str, *options: str, **environment: str) -> str:
        self._minute += 1
        text = message.encode() if isinstance(message, str) else message
        self.git(*options, "commit", "--quiet", "--allow-empty", "--file=-", stdin=text, **environment)
        return self.git("rev-parse", "HEAD")

    def merge(self, *branches: str) -> str:
        self._minute += 1
        self.git("merge", "--quiet", "--no-ff", "--strategy=ours", f"--message=Merge {' '.join(branches)}", *branches)
        return self.git("rev-parse", "HEAD")
