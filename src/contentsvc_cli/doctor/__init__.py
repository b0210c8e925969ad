"""``doctor``: what is wrong here, and what to do about it."""
