"""The faults of mutants: a replacement at one place of a syntax tree."""

import ast
import copy
from collections.abc import Iterator
from typing import Any, Final, Self, TypeVar, cast, final

from attrs import frozen


@final
@frozen(kw_only=True)
class Position:
    """A field of a node, or a position in it, and its value."""

    owner: ast.AST
    field: str
    position: int | None
    node: ast.AST

    @classmethod
    def all_of(cls, owner: ast.AST, *fields: str) -> Iterator[Self]:
        """Return the places of a node, or those of some of its fields, in their order."""
        for name, value in ast.iter_fields(owner):
            if fields and name not in fields:
                continue
            several = isinstance(value, list)
            nodes: list[object] = cast("list[object]", value) if several else [value]
            for position, node in enumerate(nodes):
                if isinstance(node, ast.AST):
                    yield cls(owner=owner, field=name, position=position if several else None, node=node)

    def put(self, new: ast.AST) -> Any:
        """Replace the value, and return a function that restores it."""
        before = getattr(self.owner, self.field)
        value: Any = new
        if self.position is not None:
            value = [*before[: self.position], new, *before[self.position + 1 :]]
        setattr(self.owner, self.field, value)
        return before

    def put_back(self, before: Any) -> None:
        """Restore the value that :meth:`put` has replaced."""
        setattr(self.owner, self.field, before)


Node = TypeVar("Node", bound=ast.AST)
#: A replacement, and its description.
Changes = Iterator[tuple[ast.AST, str]]

#: Comparisons with a limit moved by one, and negated ones.
_COMPARED: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_RECKONED: Final[dict[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
_SWAPPED: Final = {
    name: other
    for one, two in (
        ("min", "max"),
        ("any", "all"),
        ("startswith", "endswith"),
        ("removeprefix", "removesuffix"),
        ("partition", "rpartition"),
        ("rstrip", "lstrip"),
        ("lower", "upper"),
        ("union", "intersection"),
    )
    for name, other in ((one, two), (two, one))
}
#: Functions of one argument, and methods, that return their argument in another form.
_FITTING: Final = frozenset({"sorted", "reversed", "abs"})
_FITTING_METHODS: Final = frozenset({"strip", "casefold", "rstrip", "lstrip"})
_ASKED: Final = frozenset({"test", "guard"})


def changes(position: Position) -> Changes:
    """Return every fault at a node."""
    node = position.node
    for new, description in _all(node, position):
        fitted = ast.fix_missing_locations(ast.copy_location(new, node) if hasattr(node, "lineno") else new)
        yield fitted, description


def _all(node: ast.AST, target: Position) -> Changes:  # noqa: C901, PLR0912  # an arm for each kind of node
    match node:
        case ast.Compare():
            yield from _compared(node)
        case ast.BoolOp():
            yield from _operands(node)
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield _described(node, operand)
        case ast.BinOp(op=operator) if (other := _RECKONED.get(type(operator))) is not None:
            yield _described(node, _with(node, op=other()))
        case ast.AugAssign(op=operator) if (other := _RECKONED.get(type(operator))) is not None:
            yield _described(node, _with(node, op=other()))
        case ast.Constant() if not _is_check(target.owner):
            yield from _constant(node)
        case ast.Call():
            yield from _called(node)
        case ast.Slice():
            yield from _sliced(node)
        case ast.comprehension():
            for position, condition in enumerate(node.ifs):
                rest = [each for index, each in enumerate(node.ifs) if index != position]
                yield _with(node, ifs=rest), f"without if {ast.unparse(condition)}"
        case ast.stmt():
            yield from _stated(node)
        case _:
            pass
    if target.field in _ASKED and not isinstance(node, ast.Compare | ast.BoolOp | ast.UnaryOp | ast.Constant):
        assert isinstance(node, ast.expr)
        yield _described(node, ast.UnaryOp(op=ast.Not(), operand=node))


def _compared(node: ast.Compare) -> Changes:
    for position, operator in enumerate(node.ops):
        other = _COMPARED[type(operator)]()
        yield _described(node, _with(node, ops=[*node.ops[:position], other, *node.ops[position + 1 :]]))


def _operands(node: ast.BoolOp) -> Changes:
    for position in range(len(node.values)):
        rest = [*node.values[:position], *node.values[position + 1 :]]
        yield _described(node, rest[0] if len(rest) == 1 else _with(node, values=rest))


def _constant(node: ast.Constant) -> Changes:
    new: Any
    match node.value:
        case bool():
            new = not node.value
        case int() | float():
            new = node.value + 1
        case str():
            new = f"XX{node.value}XX"
        case bytes():
            new = b"XX" + node.value + b"XX"
        case _:
            return
    yield _described(node, ast.Constant(value=new))


def _called(node: ast.Call) -> Changes:
    for position, keyword in enumerate(node.keywords):
        if keyword.arg is not None and not _is_check(keyword):
            rest = [*node.keywords[:position], *node.keywords[position + 1 :]]
            yield _with(node, keywords=rest), f"{ast.unparse(node.func)}(…) without {keyword.arg}="
    match node.func:
        case ast.Name(id=name) if name in _SWAPPED:
            yield _described(node, _with(node, func=_with(node.func, id=_SWAPPED[name])))
        case ast.Name(id=name) if name in _FITTING and node.args:
            yield _described(node, node.args[0])
        case ast.Attribute(attr=name, value=value):
            if name in _SWAPPED:
                yield _described(node, _with(node, func=_with(node.func, attr=_SWAPPED[name])))
            if name in _FITTING_METHODS:
                yield _described(node, value)
        case _:
            pass


def _is_check(node: ast.AST) -> bool:
    # `zip(…, strict=True)` asserts what its callers ensure: no input makes it fail.
    match node:
        case ast.keyword(arg="strict", value=ast.Constant(value=True)):
            return True
        case _:
            return False


def _sliced(node: ast.Slice) -> Changes:
    for name in ("lower", "upper"):
        if getattr(node, name) is not None:
            yield _with(node, **{name: None}), f"[{ast.unparse(node)}] without its {name} end"


def _stated(node: ast.stmt) -> Changes:
    match node:
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            yield _instead(ast.Return(value=ast.Constant(value=None)))
        case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            yield _instead(_with(node, value=ast.Constant(value=None)))
        case ast.Expr() | ast.Delete() | ast.Raise():
            yield _instead(ast.Pass())
        case ast.Continue():
            yield _instead(ast.Break())
        case ast.Break():
            yield _instead(ast.Continue())
        case _:
            pass


def _with(node: Node, **fields: Any) -> Node:
    made = copy.copy(node)
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def _described(old: ast.AST, new: ast.AST) -> tuple[ast.AST, str]:
    return new, f"{ast.unparse(old)} → {ast.unparse(new)}"


def _instead(new: ast.AST) -> tuple[ast.AST, str]:
    # The line itself is already shown.
    return new, f"→ {ast.unparse(new)}"
