"""The project's benchmarks: ``python -m benchmarks``."""
