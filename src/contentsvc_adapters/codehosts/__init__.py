"""Code hosts' APIs."""
