"""Our side as a command: `python -m benchmarks.changelog.command FOLDER` prints the changelog of a git repository.

The product reads a repository with `contentsvc history` and writes from what arrives over HTTP; here both ends are put
together without a server between them, since the other side has none either.
"""

import sys
from pathlib import Path

from contentsvc_cli.develop.git import Checkout
from contentsvc_cli.develop.history import deliveries, hosted_repository
from contentsvc_core.content.changelog import write_changelog
from contentsvc_core.content.writing import Brief, Chapter
from contentsvc_core.webhooks.providers.github import GITHUB


def changelog(folder: Path) -> str:
    """Read a repository's history and write its changelog."""
    repository = Checkout(folder)
    line = repository.line()
    hosted = hosted_repository(origin=repository.origin(), folder=folder.name, branch=line.branch)
    recorded = deliveries(hosted, repository.pushes(line.tip), repository.tags(), repository.commits)
    events = tuple(GITHUB.readers[delivery.event](delivery.body).event for delivery in recorded)
    draft = write_changelog(Brief(chapters=(Chapter(repository=hosted.full_name, events=events),)))
    return "" if draft is None else draft.markdown


if __name__ == "__main__":
    sys.stdout.write(changelog(Path(sys.argv[1])))
