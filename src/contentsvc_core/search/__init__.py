"""Searching what happened and what was written about it: the same words everywhere, whatever the store."""
