from typing import Final

#: The maximum number of hits of a search: each one is decoded completely.
HITS_LIMIT: Final = 100
#: The number of hits unless the request names one: a page on a screen.
HITS_DEFAULT: Final = 20
