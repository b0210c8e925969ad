"""Garbage in a serving process is collected when memory has grown, and not before."""

import gc
import resource
import subprocess
import sys
import weakref
from collections.abc import Generator
from pathlib import Path

import pytest

from contentsvc_http.server import Collector

MIB = 1024 * 1024


class Cyclic:
    """Refers to itself, as objects of a framework may after a request."""

    def __init__(self) -> None:
        self.itself = self
        # Written, so that it is resident.
        self.large = b"x" * MIB


def resident() -> int:
    return int(Path("/proc/self/statm").read_bytes().split()[1]) * resource.getpagesize()


@pytest.fixture
def unfrozen() -> Generator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)
    gc.unfreeze()


@pytest.mark.usefixtures("unfrozen")
def test_everything_is_collected_when_the_process_has_grown_and_not_before() -> None:
    collector = Collector(growth=16 * MIB)
    collector.begin()
    first = weakref.ref(Cyclic())
    collector.collect_if_grown()
    assert first() is not None

    references: list[weakref.ref[Cyclic]] = []
    # Memory that the process has already freed does not make it grow.
    begun = resident()
    while resident() < begun + 20 * MIB:
        references.append(weakref.ref(Cyclic()))
    collector.collect_if_grown()

    assert first() is None
    assert [each() for each in references] == [None] * len(references)


@pytest.mark.usefixtures("unfrozen")
def test_nothing_is_collected_while_the_application_is_loaded() -> None:
    collector = Collector(growth=16 * MIB)
    collector.begin()
    references: list[weakref.ref[Cyclic]] = []
    begun = resident()
    with collector.loading():
        while resident() < begun + 20 * MIB:
            references.append(weakref.ref(Cyclic()))
        collector.collect_if_grown()
        is_automatic = gc.isenabled()
    collector.collect_if_grown()

    assert (is_automatic, gc.isenabled()) == (False, True)
    assert None not in [each() for each in references]
    gc.unfreeze()
    gc.collect()


# Prints the resident bytes before and after the large half of 128 texts is freed. It runs in a process of its own: the
# heap of a test process has free chunks, and malloc uses them before it maps memory.
_FREEING = """
import sys
from contentsvc_http.server import Collector
from tests.drivers.test_collecting import MIB, resident

if sys.argv[1] == "collector":
    Collector().begin()
# By default, glibc keeps memory for texts up to the size of the largest freed one.
largest = b"x" * (8 * MIB)
del largest
texts = [(b"x" * MIB, b"x" * 60_000) for _ in range(64)]
full = resident()
small = [text for _, text in texts]
texts.clear()
print(full, resident())
"""


@pytest.mark.parametrize(("collector", "is_freed"), [("collector", True), ("none", False)])
def test_large_texts_leave_no_memory_behind_between_small_ones(collector: str, is_freed: bool) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _FREEING, collector], check=True, capture_output=True, text=True, timeout=600
    )
    full, after = map(int, done.stdout.split())

    assert (full - after > 48 * MIB) is is_freed


@pytest.mark.slow("starts a process and fills its memory")
@pytest.mark.usefixtures("unfrozen")
def test_growth_is_measured_from_the_smallest_size() -> None:
    collector = Collector(growth=16 * MIB)
    collector.begin()
    alive = b"x" * (256 * MIB)
    collector.collect_if_grown()
    del alive
    collector.collect_if_grown()

    references: list[weakref.ref[Cyclic]] = []
    begun = resident()
    while resident() < begun + 40 * MIB:
        references.append(weakref.ref(Cyclic()))
    collector.collect_if_grown()

    assert [each() for each in references] == [None] * len(references)


@pytest.mark.slow("starts a process and fills its memory")
@pytest.mark.usefixtures("unfrozen")
def test_a_process_without_the_collector_keeps_its_garbage() -> None:
    """Without it, the test above could not fail."""
    gc.collect()
    gc.set_threshold(50_000, 20, 50)
    references = [weakref.ref(Cyclic()) for _ in range(48)]

    assert None not in [each() for each in references]
    gc.collect()
