"""A loader's input and output. Both travel as JSON between processes."""

from collections.abc import Sequence
from typing import Any, Self, final

from attrs import asdict, field, frozen

from benchmarks.material import Signed


@final
@frozen(kw_only=True)
class Load:
    """The deliveries of a loader, and their target."""

    port: int
    #: The bodies, each for the same number of deliveries, in random order.
    path: str
    bodies: Sequence[Signed]
    connections: int
    seconds: float
    #: The seed of the delivery ids.
    seed: int
    #: Deliveries a second, independent of earlier answers; ``None``: each connection sends the next one
    #: after its answer.
    rate: float | None = None
    #: ``%d`` in the path is replaced by a random number below this.
    places: int = 1

    def to_json(self) -> dict[str, Any]:
        """Return the input of :meth:`from_json`."""
        values = asdict(self, recurse=False)
        values["bodies"] = [[body.body.decode(), body.signature] for body in self.bodies]
        return values

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Self:
        """Read the output of :meth:`to_json`."""
        bodies = [Signed(body=body.encode(), signature=signature) for body, signature in values["bodies"]]
        fields: dict[str, Any] = values | {"bodies": bodies}
        return cls(**fields)


@final
@frozen(kw_only=True)
class Answers:
    """The answers to a load."""

    #: The numbers of 200s, of other answers, and of failed connections.
    ok: int
    other: int
    failed: int
    #: The time from the first request to the last answer, in seconds.
    seconds: float
    #: Latencies in ms, by percentile: ``{"50": 1.2, "99": 3.4}``. At a fixed rate, from the intended time of sending.
    percentiles: dict[str, float] = field(factory=dict[str, float])
    #: The due deliveries without an answer, at a fixed rate.
    unanswered: int = 0

    @property
    def per_second(self) -> float:
        """Return the throughput of good answers."""
        return self.ok / self.seconds if self.seconds else 0.0

    @property
    def p99(self) -> float:
        """Return the 99th percentile of the latencies, in ms."""
        return self.percentiles["99"]
