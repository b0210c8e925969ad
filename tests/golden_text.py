"""Golden texts: files that a test compares with what the code writes; ``make golden`` writes them anew."""

import os
from pathlib import Path


def check_text(path: Path, text: str) -> None:
    """Compare a text with a file, or write the file."""
    if os.environ.get("GOLDEN") == "write":
        path.write_text(text, "utf-8")
    # Compared by lines: pytest shows the different ones.
    assert text.splitlines() == path.read_text("utf-8").splitlines()
