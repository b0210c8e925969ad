"""The HTTP driver, on Litestar."""
