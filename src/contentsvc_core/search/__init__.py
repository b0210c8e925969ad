"""Full-text search over context records and posts, with the same matches in every store."""

from typing import Final

#: How many hits a search returns at most: each is decoded and excerpted whole.
HITS_LIMIT: Final = 100
#: The number of hits unless the request names one: a page on a screen.
HITS_DEFAULT: Final = 20
