"""One script of operations has the same results on memory, SQLite and PostgreSQL as on a plain model.

How to read a failure: the last lines are the script, shrunk, one call for each step; copy it into a test to run it
again (``reproduce_failure`` does the same). Above it is the disagreement: the store, the operation, the model's result
(``expected``, ``missing``) and the store's result (``found``, ``strange``). Decide by the text, not by the code: the
specification, the decisions, the port's docstring. ``acme/a/1`` is repository 1 of integration ``int_a`` of
organization ``org_acme``; a delivery's label names a body of ``material.BODIES``. An id shows its origin:
``00000017-0002-…`` was created in step 17, by the operation at position 2 of the concurrent ones. "No order gives the
answers" means that the results of concurrent operations match no order of them.

More scripts: ``make model COUNT=1000 SEED=7``.
"""

import pytest
from campaigns.model.bench import Bench
from campaigns.model.broken import BUGS, Bug, broken
from campaigns.model.machine import machine_on
from campaigns.model.sides import Disagreement
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

pytestmark = pytest.mark.slow("a short campaign over all stores")

_SCRIPTS = settings(max_examples=12, stateful_step_count=30)
#: Deterministic examples; the first failure ends the test.
_UNTIL_CAUGHT = settings(
    max_examples=600,
    stateful_step_count=30,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    report_multiple_bugs=False,
)


# A failure is shrunk before it is reported.
@pytest.mark.timeout(600)
def test_every_store_behaves_as_the_model() -> None:
    with Bench() as bench:
        run_state_machine_as_test(machine_on(bench), settings=_SCRIPTS)


@pytest.mark.parametrize("bug", BUGS.values(), ids=BUGS)
def test_a_broken_store_is_caught(bug: Bug) -> None:
    with Bench({"broken": broken(bug)}) as bench, pytest.raises(Disagreement):
        run_state_machine_as_test(machine_on(bench), settings=_UNTIL_CAUGHT)
