"""Our side as a command: `python -m benchmarks.changelog.command FOLDER` prints the changelog of a git repository.

`contentsvc history` reads a repository and sends it to a server, whose runs write. This command joins both parts
without a server, since the other side has none. As in `contentsvc`, the garbage collector hardly runs, and the process
ends without a cleanup.
"""

import gc
import os
import sys
from pathlib import Path

from contentsvc_cli.__main__ import YOUNGEST


def changelog(folder: Path) -> str:
    """Read a repository's history and write its changelog."""
    from contentsvc_cli.develop.git import Checkout  # noqa: PLC0415  # the threshold must be set before
    from contentsvc_cli.develop.history import bodies, hosted_repository  # noqa: PLC0415  # as above
    from contentsvc_core.content.changelog import write_changelog  # noqa: PLC0415  # as above
    from contentsvc_core.content.writing import Brief, Chapter  # noqa: PLC0415  # as above
    from contentsvc_core.webhooks.providers.native import read_push, read_release  # noqa: PLC0415  # as above

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
