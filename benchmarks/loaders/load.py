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
    #: Each with the same number of deliveries, in random order, when there are several.
    path: str
    bodies: Sequence[Signed]
    connections: int
    seconds: float
    #: Delivery ids of different seeds differ.
    seed: int
    #: Deliveries a second, whether the earlier ones are answered or not; ``None``: each connection sends the next one
    #: as soon as it has its answer.
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
        """Read what :meth:`to_json` has given."""
        bodies = [Signed(body=body.encode(), signature=signature) for body, signature in values["bodies"]]
        fields: dict[str, Any] = values | {"bodies": bodies}
        return cls(**fields)


@final
@frozen(kw_only=True)
class Answers:
    """The answers to a load."""

    #: How many answers were 200, how many anything else, and how often a connection failed.
    ok: int
    other: int
    failed: int
    #: How long it took, from the first to the last, in seconds.
    seconds: float
    #: In ms, by percentile: ``{"50": 1.2, "99": 3.4}``. At a fixed rate: since each was meant to be sent.
    percentiles: dict[str, float] = field(factory=dict[str, float])
    #: How many deliveries that were meant to be sent were not answered in the end; at a fixed rate only.
    unanswered: int = 0

    @property
    def per_second(self) -> float:
        """Return the throughput of good answers."""
        return self.ok / self.seconds if self.seconds else 0.0

    @property
    def p99(self) -> float:
        """Return the latency that one of a hundred exceeds, in ms."""
        return self.percentiles["99"]
