"""Content: posts, the lists of them, and what writes them."""
