"""Where the microseconds of a delivery go: ``python -m benchmarks.profile``."""
