"""The public names of a package, which its ``__init__`` lists, as directives for their docstrings."""

import ast
from functools import cache
from pathlib import Path
from typing import Final, final

from attrs import frozen

SOURCES: Final = Path(__file__).parents[2] / "src"

_CLASS: Final = ("   :members:", "   :undoc-members:")
#: Bases that the reference leaves out.
_PLAIN: Final = {"Protocol", "Generic"}


@final
@frozen(kw_only=True)
class PublicName:
    """A name, and the module that defines it."""

    name: str
    module: str
    #: The directive for the docstring, with its options.
    directive: tuple[str, ...]

    @property
    def where(self) -> str:
        """Return the full name."""
        return f"{self.module}.{self.name}"


def public_names(package: str) -> list[PublicName]:
    """Return the names of ``__all__``; without ``__all__``, the exported names, or else the defined ones.

    They have the order of the imports, which is by subject, and in each module the order of its lines.
    """
    listed = _listed(package)
    places = {name: _place(package, name) for name in listed}
    order = list(dict.fromkeys(module for module, _ in sorted(places.values(), key=lambda place: place[0])))
    found = [_named(name, *place) for name, place in places.items()]
    return sorted(found, key=lambda each: (order.index(each.module), _line(each)))


def directives(package: str, below: tuple[str, ...] = ()) -> str:
    """Return the directives for a package's public names, or only for those defined in the modules ``below``."""
    names = [each for each in public_names(package) if not below or _is_below(each.module, below)]
    texts = [f".. {each.directive[0]}:: {each.where}\n" + "\n".join(each.directive[1:]) + "\n" for each in names]
    return "```{eval-rst}\n" + "\n".join(texts) + "```\n"


def _is_below(module: str, below: tuple[str, ...]) -> bool:
    return any(module == place or module.startswith(f"{place}.") for place in below)


def _file(module: str) -> Path:
    plain = SOURCES / f"{module.replace('.', '/')}.py"
    return plain if plain.is_file() else SOURCES / module.replace(".", "/") / "__init__.py"


@cache
def _body(module: str) -> list[ast.stmt]:
    body = ast.parse(_file(module).read_text("utf-8")).body
    # Names that are imported on demand are imported for type checkers.
    checked = [node for node in body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    return [*body, *(node for each in checked for node in each.body)]


def _listed(module: str) -> list[str]:
    for node in _body(module):
        if isinstance(node, ast.Assign) and any(isinstance(to, ast.Name) and to.id == "__all__" for to in node.targets):
            listed: list[str] = ast.literal_eval(node.value)
            return listed
    if exported := [name for node in _body(module) for name in _exported(node)]:
        return exported
    return [name for node in _body(module) for name in _defined(node) if not name.startswith("_")]


def _exported(node: ast.stmt) -> list[str]:
    """Return the names that a statement exports: it imports each as itself."""
    return [each.name for each in node.names if each.name == each.asname] if isinstance(node, ast.ImportFrom) else []


def _defined(node: ast.stmt) -> list[str]:
    match node:
        case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
            return [node.name]
        case ast.Assign():
            return [to.id for to in node.targets if isinstance(to, ast.Name)]
        case ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
        case _:
            return []


def _place(module: str, name: str) -> tuple[str, ast.stmt]:
    """Return the module and the statement that define a name, through all imports of it."""
    for node in _body(module):
        if name in _defined(node):
            return module, node
        if isinstance(node, ast.ImportFrom) and node.module and any(each.name == name for each in node.names):
            return _place(node.module, name)
    message = f"{module} has no {name}"
    raise LookupError(message)


def _named(name: str, module: str, node: ast.stmt) -> PublicName:
    match node:
        case ast.ClassDef(bases=bases):
            kind = "autoexception" if module == "contentsvc_core.errors" else "autoclass"
            says = any(isinstance(base, ast.Name) and base.id not in _PLAIN for base in bases)
            directive = (kind, *_CLASS, *(["   :show-inheritance:"] if says else []))
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            directive = ("autofunction",)
        case ast.Assign(value=value) | ast.AnnAssign(value=value):
            # The values of numbers, texts and unions are shown; calls are not.
            says = isinstance(value, ast.Constant | ast.BinOp)
            directive = ("autodata",) if says else ("autodata", "   :no-value:")
        case _:
            raise TypeError(name)
    return PublicName(name=name, module=module, directive=directive)


def _line(each: PublicName) -> int:
    return _place(each.module, each.name)[1].lineno
