"""For tests of services that use the core: signed deliveries, a clock, repeatable ids, and a check of stores."""

from contentsvc_core.testing.limits import check_rate_limits as check_rate_limits
from contentsvc_core.testing.parts import START as START
from contentsvc_core.testing.parts import CountingIds as CountingIds
from contentsvc_core.testing.parts import ManualClock as ManualClock
from contentsvc_core.testing.parts import PlainSteps as PlainSteps
from contentsvc_core.testing.parts import address as address
from contentsvc_core.testing.parts import push_body as push_body
from contentsvc_core.testing.parts import release_body as release_body
from contentsvc_core.testing.parts import signed as signed
from contentsvc_core.testing.parts import switched as switched
from contentsvc_core.testing.stores import check_store as check_store
