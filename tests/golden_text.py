"""Golden texts: files with the expected output of a test; ``make golden`` writes them again."""

import os
from pathlib import Path


def check_text(path: Path, text: str) -> None:
    """Compare a text with a file, or write the file."""
    if os.environ.get("GOLDEN") == "write":
        path.write_text(text, "utf-8")
    # Compared by lines, so that pytest shows the different lines.
    assert text.splitlines() == path.read_text("utf-8").splitlines()
