"""Fakes of stores and hosts: a test replaces some methods of a real one."""

from typing import Any


class Forwarding:
    """Forwards to the real part what a subclass does not have."""

    def __init__(self, real: object) -> None:
        self.real: Any = real

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)


class Failing(Forwarding):
    """Raises the exceptions that a test sets for some methods."""

    def __init__(self, real: object, **faults: Exception) -> None:
        super().__init__(real)
        self.faults = faults

    def __getattr__(self, name: str) -> Any:
        if name not in self.faults:
            return super().__getattr__(name)

        async def fail(*_: object, **__: object) -> None:
            raise self.faults[name]

        return fail
