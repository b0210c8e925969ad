"""Our writer in a process of its own: `python -m benchmarks.changelog.ours PUSHES SEED TIMES`.

Prints JSON: the seconds of each run, the length of the page, and its number of changes. The measured part is that of
the other side: from commits in memory to Markdown, including the parsing of messages.
"""

import json
import sys
import time

from benchmarks.changelog.history import brief_of, history, releases_of
from contentsvc_core.content.changelog import write_changelog
from contentsvc_core.content.writing import Brief


def measure(pushes: int, seed: int, times: int) -> dict[str, object]:
    """Write the changelog repeatedly: as one brief, and with a brief for each release."""
    made_pushes = history(pushes=pushes, seed=seed)
    whole, pieces = [brief_of(made_pushes)], releases_of(made_pushes)
    seconds: list[float] = []
    in_pieces: list[float] = []
    for _ in range(times):
        seconds.append(_timed(whole))
        in_pieces.append(_timed(pieces))
    return {
        "seconds": seconds,
        "in_pieces": in_pieces,
        "shown": _written(whole).count("\n- "),
        "shown_in_pieces": _written(pieces).count("\n- "),
    }


def _timed(briefs: list[Brief]) -> float:
    began = time.perf_counter()
    _written(briefs)
    return time.perf_counter() - began


def _written(briefs: list[Brief]) -> str:
    drafts = [write_changelog(brief) for brief in briefs]
    return "\n\n".join(draft.markdown for draft in drafts if draft is not None)


if __name__ == "__main__":
    print(json.dumps(measure(*map(int, sys.argv[1:]))))  # noqa: T201  # a command prints
