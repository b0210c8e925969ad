"""Content: posts, their lists, and writers."""
