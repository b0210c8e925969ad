"""Installed peers that do the measured work completely."""

from functools import cache

from benchmarks.bench import Bench
from benchmarks.peer_files import PeerMissing, load_peers
from benchmarks.peers.work import check
from benchmarks.sides import Side, start


@cache
def checked_peer(bench: Bench, name: str) -> Side:
    """Install and check a peer once in a run, and return it.

    Raises:
        PeerMissing: The peer is unknown, cannot be installed, or is incomplete; the message says which.
    """
    side = load_peers(name, note=bench.note)
    bench.note(f"checking {name}")
    running = start(bench, side)
    try:
        faults = check(running)
    finally:
        running.stop()
    if faults:
        message = f"{name} does not do the work: {'; '.join(faults)}"
        raise PeerMissing(message)
    return side
