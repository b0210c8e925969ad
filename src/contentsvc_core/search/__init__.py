"""Searching what happened and what was written about it: the same words everywhere, whatever the store."""

from typing import Final

#: How many hits a search returns at most: each is decoded and excerpted whole.
HITS_LIMIT: Final = 100
#: How many it returns unless a number is given: a page on a screen.
HITS_DEFAULT: Final = 20
