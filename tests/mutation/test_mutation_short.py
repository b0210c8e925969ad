"""Mutants have their faults, and trials have both results. All mutants: ``make mutate``."""

import json
import subprocess
import sys
from types import FunctionType

import pytest
from tests.mutation.areas import AREAS, explained
from tests.mutation.mutants import ROOT, modules, mutants_of

pytestmark = pytest.mark.slow("runs tests in processes of their own")

#: Runs in a process of its own, which forks one for each mutant.
_SCRIPT = """
import json, sys
from tests.mutation import afresh, trials
from tests.mutation.mutants import mutants_of

names = json.loads(sys.argv[1])
tests = [f"tests/core/test_signature.py::{name}" for name in json.loads(sys.argv[2])]
found = {each.name: each for each in mutants_of("webhooks.signature")}
tried = [each for name in names for each in (found[name], found[name].without_its_fault())]
ends = {}
for each in tried:
    if each.function is None:
        ends[each.name] = afresh.tried_afresh(each, tests).value
told = lambda trial: ends.update({trial.mutant.name: trial.end.value})
trials.collect(tests, trials.Campaign([each for each in tried if each.function is not None], told))
print(json.dumps(ends))
"""


def changes_of(source: str) -> list[str]:
    return [mutant.name.partition(" | ")[2] for mutant in mutants_of("text", source)]


@pytest.mark.parametrize(
    ("statement", "changes"),
    [
        ("return a < b <= c", ["→ return None", "a < b <= c → a <= b <= c", "a < b <= c → a < b < c"]),
        ("return a and b or c", ["→ return None", "a and b or c → c", "a and b or c → a and b"]),
        ("if a: del b", ["a → not a", "→ pass"]),
        ("if not a: raise b", ["not a → a", "→ pass"]),
        ("x = a[1:] + 'b'", ["→ x = None", "a[1:] + 'b' → a[1:] - 'b'", "[1:] without its lower end", "1 → 2"]),
        ("x += 1", ["x += 1 → x -= 1", "1 → 2"]),
        ("f(a, b=c)", ["→ pass", "f(…) without b="]),
        ("return [a for a in b if c(a)]", ["→ return None", "without if c(a)"]),
        ("while True: break", ["True → False", "→ continue"]),
        ("return max(a.strip())", ["→ return None", "max(a.strip()) → min(a.strip())", "a.strip() → a"]),
        # Statements without effect, or only for the type checker.
        ("assert a, 'b'", []),
        ("'a docstring'", []),
        ("x: int", []),
        ("assert_never(a)", []),
        ("return None", []),
    ],
)
def test_a_statement_has_these_mutants(statement: str, changes: list[str]) -> None:
    made = changes_of(f"def f(a, b, c):\n    {statement}\n")

    assert [each for each in made if each in changes] == changes
    assert len(made) >= len(changes)
    assert bool(made) == bool(changes)


def test_every_mutant_of_the_core_compiles_to_another_module_and_has_a_name_of_its_own() -> None:
    for module in ("webhooks.signature", "access.window", "webhooks.outcomes"):
        made = mutants_of(module)
        (before,) = {mutant.without_its_fault().code() for mutant in made}
        assert len({mutant.name for mutant in made}) == len(made) > 15
        assert all(mutant.code() != before for mutant in made)
        # A mutant leaves no trace in the tree that all of them share.
        assert {mutant.without_its_fault().code() for mutant in made} == {before}


def test_the_name_of_a_mutant_does_not_depend_on_its_line_number() -> None:
    source = "def f(a):\n    return a + 1\n"

    assert [each.name for each in mutants_of("text", source)] == [
        each.name for each in mutants_of("text", f"\n{source}")
    ]


def test_functions_of_mutants_are_named_as_by_the_interpreter() -> None:
    source = "class A:\n    @b\n    def f(self):\n        def g():\n            return 1\n        return lambda: 2\n"
    (name,) = {mutant.function for mutant in mutants_of("text", source)}

    assert name == ("A.f", 2)
    namespace: dict[str, object] = {"b": staticmethod}
    exec(source, namespace)  # noqa: S102  # the test's own source
    function = vars(namespace["A"])["f"].__func__
    assert isinstance(function, FunctionType)
    assert (function.__code__.co_qualname, function.__code__.co_firstlineno) == name


def test_a_wrong_signature_check_is_killed_and_one_without_a_fault_survives() -> None:
    module = "webhooks.signature"
    fatal = [
        f"{module}:HmacSha256.is_signed: return verified | → return None",
        f"{module}:_keys: if secret: | secret → not secret",
        f"{module}:verify: return SPECIFIED.is_signed(_keys(secrets), body, signature) | → return None",
    ]
    tests = ["test_the_published_test_vector_holds", "TestSchemes::test_an_empty_secret_never_verifies"]
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT, json.dumps(fatal), json.dumps(tests)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    expected = dict.fromkeys(fatal, "killed") | {f"{name}, not": "survived" for name in fatal}
    assert json.loads(done.stdout.splitlines()[-1]) == expected


def test_explained_mutants_exist_and_areas_name_existing_files() -> None:
    explained_modules = {name.partition(":")[0] for name in explained()}
    made = {mutant.name for module in explained_modules for mutant in mutants_of(module)}

    assert set(explained()) <= made
    assert all(len(reason) > 20 for reason in explained().values())
    assert {module for area in AREAS for module in area.modules} <= set(modules())
    assert all((ROOT / path).is_file() for area in AREAS for path in area.tests)
