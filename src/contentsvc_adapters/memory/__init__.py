"""The stores in memory: for tests, demonstrations, and services without durable data."""

from contentsvc_adapters.memory.stores import MemoryStores, memory_stores

__all__ = ["MemoryStores", "memory_stores"]
