"""Mutants: a module of the core with one small fault.

The core is not imported here: a module is read, its tree is changed in one place, and the tree is compiled.
"""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import CodeType
from typing import Final, Self, final

from attrs import evolve, field, frozen
from tests.mutation.faults import Position, changes

ROOT: Final = Path(__file__).parents[2]
CORE: Final = ROOT / "src" / "contentsvc_core"
#: Modules for tests have no rules; ``tests/contracts`` covers the ports.
_LEFT_OUT: Final = ("strategies", "testing", "ports")
_SHOWN: Final = 160


@final
@frozen(kw_only=True)
class Mutant:
    """One fault at one place."""

    #: Within the core, dotted: ``access.window``.
    module: str
    #: Its outermost function or method, by its qualified name and its first line; ``None``: it is in code that
    #: runs at the import of the module.
    function: tuple[str, int] | None
    #: Every test that can fail for it reaches one of these lines.
    lines: range
    #: Stable as long as the line and its function's name do not change, at any place of the file.
    name: str
    #: The tree of the module, which all its mutants share.
    tree: ast.Module = field(repr=False, eq=False)
    position: Position = field(repr=False, eq=False)
    #: The replacement.
    new: ast.AST = field(repr=False, eq=False)

    @property
    def path(self) -> Path:
        """Return the file of the fault."""
        return path_of(self.module)

    def without_its_fault(self) -> Self:
        """Return a mutant without a fault: a result "killed" for it is wrong."""
        return evolve(self, new=self.position.node, name=f"{self.name}, not")

    def code(self) -> CodeType:
        """Return the compiled module with the fault."""
        before = self.position.put(self.new)
        try:
            return compile(self.tree, str(self.path), "exec", dont_inherit=True)
        finally:
            self.position.put_back(before)


def path_of(module: str) -> Path:
    """Return a module's file."""
    base = CORE.joinpath(*module.split("."))
    return base / "__init__.py" if base.is_dir() else base.with_suffix(".py")


def modules() -> list[str]:
    """Return the core's modules with rules."""
    found = sorted(path.relative_to(CORE).with_suffix("").parts for path in CORE.rglob("*.py"))
    return [".".join(parts) for parts in found if parts[-1] != "__init__" and parts[0] not in _LEFT_OUT]


def mutants_of(module: str, source: str | None = None) -> list[Mutant]:
    """Create every mutant of a module, in the order of its lines."""
    text = path_of(module).read_text("utf-8") if source is None else source
    tree = ast.parse(text)
    lines = text.splitlines()
    names = Counter[str]()
    made: list[Mutant] = []
    for spot in _spots(tree):
        for new, change in changes(spot.position):
            position = f"{module}:{spot.function[0] if spot.function else ''}"
            name = f"{position}: {_short(lines[spot.line - 1].strip())} | {_short(change)}"
            names[name] += 1
            made.append(
                Mutant(
                    module=module,
                    function=spot.function,
                    lines=spot.lines,
                    # The same fault on the same line, or on an equal one.
                    name=name if names[name] == 1 else f"{name} ({names[name]})",
                    tree=tree,
                    position=spot.position,
                    new=new,
                )
            )
    return made


@final
@frozen(kw_only=True)
class _Spot:
    position: Position
    function: tuple[str, int] | None
    lines: range
    line: int


@final
@frozen(kw_only=True)
class _Around:
    """The context of a node."""

    names: tuple[str, ...] = ()
    function: tuple[str, int] | None = None
    lines: range = range(0)


_Definition = ast.FunctionDef | ast.AsyncFunctionDef
#: Statements without effect, or without influence on the behaviour.
_SILENT: Final = (ast.Import, ast.ImportFrom, ast.Assert, ast.Global, ast.Nonlocal)
_HEADED: Final = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.Match)


def _spots(tree: ast.Module) -> Iterator[_Spot]:
    yield from _inside(tree, _Around())


def _inside(owner: ast.AST, around: _Around) -> Iterator[_Spot]:
    for position in Position.all_of(owner):
        child = position.node
        if isinstance(child, _SILENT) or _is_for_the_type_checker(position):
            continue
        if isinstance(child, _Definition):
            yield from _defined(child, around)
        elif isinstance(child, ast.ClassDef):
            inner = _Around(names=(*around.names, child.name))
            for part in Position.all_of(child, "body"):
                yield from _at(part, inner)
        else:
            yield from _at(position, around)


def _defined(node: _Definition, around: _Around) -> Iterator[_Spot]:
    inner = around
    if around.function is None:
        names = (*around.names, node.name)
        # As the compiler counts: from the first decorator.
        first = node.decorator_list[0].lineno if node.decorator_list else node.lineno
        inner = _Around(names=names, function=(".".join(names), first))
        # Defaults of parameters are evaluated when the function is defined.
        for name in ("defaults", "kw_defaults"):
            for position in Position.all_of(node.args, name):
                yield from _at(position, around)
    for position in Position.all_of(node, "body"):
        yield from _at(position, inner)


def _at(position: Position, around: _Around) -> Iterator[_Spot]:
    node = position.node
    if isinstance(node, _SILENT) or _is_for_the_type_checker(position):
        return
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield from _inside(_Only(node), around)
        return
    lines = around.lines
    # The lines of a statement; of a compound statement, those of its head.
    if (isinstance(node, ast.stmt) and not isinstance(node, _HEADED)) or not len(lines):
        lines = _lines_of(node) or lines
    inner = _Around(names=around.names, function=around.function, lines=lines)
    if len(lines):
        yield _Spot(position=position, function=around.function, lines=lines, line=getattr(node, "lineno", lines[0]))
    # Parts in the head or the body of such a statement have lines of their own.
    yield from _inside(
        node, _Around(names=inner.names, function=inner.function) if isinstance(node, _HEADED) else inner
    )


def _lines_of(node: ast.AST) -> range | None:
    first = getattr(node, "lineno", None)
    return None if first is None else range(first, (getattr(node, "end_lineno", None) or first) + 1)


class _Only(ast.AST):
    """A parent of one node."""

    _fields = ("node",)

    def __init__(self, node: ast.AST) -> None:
        super().__init__()
        self.node = node


def _is_for_the_type_checker(position: Position) -> bool:
    node, owner = position.node, position.owner
    if isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) == "TypeAlias":
        return True
    if position.field in {"annotation", "returns", "decorator_list", "type_comment"}:
        return True
    if isinstance(node, ast.Expr):
        value = node.value
        # A docstring, an ellipsis; or the arm of a match that nothing reaches.
        return isinstance(value, ast.Constant) or _calls(value, "assert_never")
    return isinstance(owner, ast.Call) and _calls(owner, "cast") and position.position == 0


def _calls(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _SHOWN else f"{flat[: _SHOWN - 1]}…"
