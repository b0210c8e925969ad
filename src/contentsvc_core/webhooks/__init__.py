"""From raw bytes to an outcome and its settlement."""
