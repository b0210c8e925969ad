"""Lists: pages, cursors, and the reading of query parameters."""
