"""Our side as a command: `python -m benchmarks.changelog.command FOLDER` prints the changelog of a git repository.

The product reads a repository with `contentsvc history` and writes from what arrives over HTTP; here both ends are put
together without a server between them, since the other side has none either. The process is that of the product's
command: the garbage collector hardly runs, and nothing is cleaned up at the end.
"""

import gc
import os
import sys
from pathlib import Path

from contentsvc_cli.__main__ import YOUNGEST


def changelog(folder: Path) -> str:
    """Read a repository's history and write its changelog."""
    # Imported late, as the command does: the threshold must be set before.
    from contentsvc_cli.develop.git import Checkout  # noqa: PLC0415
    from contentsvc_cli.develop.history import bodies, hosted_repository  # noqa: PLC0415
    from contentsvc_core.content.changelog import write_changelog  # noqa: PLC0415
    from contentsvc_core.content.writing import Brief, Chapter  # noqa: PLC0415
    from contentsvc_core.webhooks.providers.native import read_push, read_release  # noqa: PLC0415

    repository = Checkout(folder)
    line = repository.line()
    hosted = hosted_repository(origin=repository.origin(), folder=folder.name, branch=line.branch)
    arrived = bodies(hosted, repository.pushes(line.tip), repository.tags(), repository.commits)
    events = tuple((read_push if event == "push" else read_release)(body).event for event, _, body in arrived)
    draft = write_changelog(Brief(chapters=(Chapter(repository=hosted.full_name, events=events),)))
    return "" if draft is None else draft.markdown


if __name__ == "__main__":
    gc.set_threshold(YOUNGEST)
    sys.stdout.write(changelog(Path(sys.argv[1])))
    sys.stdout.flush()
    os._exit(0)
