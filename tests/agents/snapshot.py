"""A file with the tools as agents see them; ``python -m tests.agents.snapshot`` writes it again."""

import json
from pathlib import Path
from typing import Any, Final

from contentsvc_mcp.server import described
from contentsvc_mcp.tools import TOOLS

SNAPSHOT: Final = Path(__file__).with_name("tools.json")


def tools_now() -> list[dict[str, Any]]:
    return [described(tool).model_dump(mode="json", by_alias=True, exclude_none=True) for tool in TOOLS]


if __name__ == "__main__":
    SNAPSHOT.write_text(f"{json.dumps(tools_now(), indent=2, ensure_ascii=False)}\n", "utf-8")
