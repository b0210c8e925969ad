import os
from contextlib import suppress
from pathlib import Path
from zoneinfo import ZoneInfo

from contentsvc_core.zones import DEFAULT_ZONE, read_zone


def machine_zone(etc: Path = Path("/etc")) -> str:
    """Return the name of this machine's time zone, by ``TZ``, ``/etc/timezone`` or ``/etc/localtime``; else UTC."""
    named = [os.environ.get("TZ", "").removeprefix(":")]
    with suppress(OSError, UnicodeDecodeError):
        named.append((etc / "timezone").read_text(encoding="utf-8").strip())
    named.append(str((etc / "localtime").resolve()).rpartition("zoneinfo/")[2])
    found = next((name for name in named if name and isinstance(read_zone(name), ZoneInfo)), DEFAULT_ZONE.key)
    # Debian's name of UTC, which pages would show.
    return DEFAULT_ZONE.key if found == "Etc/UTC" else found
