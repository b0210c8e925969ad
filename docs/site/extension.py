"""A Sphinx extension: navigation, generated parts, and the project's files as pages."""

import ast
import json
from enum import Enum
from importlib import import_module
from inspect import getsourcelines
from pathlib import Path, PurePosixPath
from string import Template
from typing import Any, Final

from docs.site.markdown import SOURCE, prepared
from docs.site.navigation import LISTS, START, groups, toctrees
from docs.site.operations import operations_page
from docs.site.public_names import directives
from docutils import nodes
from pygments.lexers import get_lexer_for_filename
from pygments.util import ClassNotFound
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.nodes import make_refnode

ROOT: Final = Path(__file__).parents[2]
_OURS: Final = "contentsvc_"
#: The files and folders that some page links to.
_shown: set[str] = set()
#: The docstrings of values, by their names.
_said: dict[str, list[str]] = {}


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the functions of this module to the events of Sphinx."""
    app.add_config_value("openapi_document", "", "env")
    app.connect("source-read", _read)
    app.connect("autodoc-process-signature", _signature)
    # Before and after napoleon, which connects at 500.
    app.connect("autodoc-process-docstring", _keep, priority=400)
    app.connect("autodoc-process-docstring", _give_back, priority=600)
    app.connect("missing-reference", _elsewhere)
    app.connect("doctree-resolved", _link)
    app.connect("html-collect-pages", _files)
    return {"parallel_read_safe": False, "parallel_write_safe": False}


def linkcode_resolve(domain: str, info: dict[str, str]) -> str | None:
    """Return the address of a documented object's source; all pages of the reference are in one folder."""
    found = _object(f"{info['module']}.{info['fullname']}") if domain == "py" else None
    module = getattr(found, "__module__", None)
    if module is None or not module.startswith(_OURS):
        return None
    try:
        line = getsourcelines(found)[1]
    except (TypeError, OSError):
        return None
    return f"../../{_page_of(_file_of(module))}.html#L-{line}"


def _read(app: Sphinx, docname: str, source: list[str]) -> None:
    page = f"{docname}.md"
    pages = {f"{each}.md" for each in app.project.docnames}

    def made(what: str, rest: str) -> str:
        match what:
            case "public-names":
                package, *below = rest.split()
                return directives(package, tuple(below))
            case "operations":
                return operations_page(json.loads(Path(app.config.openapi_document).read_text("utf-8")))
            case _:
                message = f"{page}: unknown marker '{what}'"
                raise ValueError(message)

    text = prepared(source[0], page, pages, made)
    if page in LISTS:
        text += "\n" + toctrees(groups(source[0], page), titled=page == START)
    source[0] = text


def _signature(_app: Sphinx, what: str, _name: str, found: object, *_: object) -> tuple[str, None] | None:
    """Return no signature for protocols, values and enumerations: their members are listed one by one."""
    is_spelled_out = getattr(found, "_is_protocol", False) or hasattr(found, "__attrs_attrs__")
    is_listed = isinstance(found, type) and issubclass(found, Enum)
    return ("", None) if what == "class" and (is_spelled_out or is_listed) else None


def _keep(_app: Sphinx, what: str, name: str, _found: object, _options: object, lines: list[str]) -> None:
    if what in {"attribute", "data", "property"}:
        _said[name] = list(lines)


def _give_back(_app: Sphinx, _what: str, name: str, _found: object, _options: object, lines: list[str]) -> None:
    """Restore the docstrings of values: napoleon interprets the words before a colon as a type."""
    if name in _said:
        lines[:] = _said.pop(name)


def _link(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Change links to files of the project into links to their pages."""
    for reference in doctree.findall(nodes.reference):
        target = reference.get("refuri", "")
        if target.startswith(SOURCE):
            reference["refuri"] = app.builder.get_relative_uri(docname, _page_of(target.removeprefix(SOURCE)))
            reference["internal"] = True


def _elsewhere(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, contnode: nodes.Element
) -> nodes.reference | None:
    """Return the reference to an object that is documented under another name, or only has its source."""
    target = node.get("reftarget", "")
    if node.get("refdomain") != "py" or not target.startswith(_OURS):
        return None
    found = _object(target)
    module = getattr(found, "__module__", None) or target.rpartition(".")[0]
    name = f"{module}.{getattr(found, '__qualname__', target.rpartition('.')[2])}"
    known = env.domains["py"].data["objects"].get(name)
    if known is not None:
        return make_refnode(app.builder, node["refdoc"], known.docname, known.node_id, contnode)
    file = _file_of(module)
    if not (ROOT / file).is_file():
        return None
    uri = app.builder.get_relative_uri(node["refdoc"], _page_of(file))
    return nodes.reference("", "", contnode, internal=True, refuri=uri)


def _object(name: str) -> object | None:
    parts = name.split(".")
    for length in range(len(parts) - 1, 0, -1):
        try:
            found: Any = import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            found = getattr(found, part, None)
        return found
    return None


def _file_of(module: str) -> str:
    path = f"src/{module.replace('.', '/')}"
    return f"{path}.py" if (ROOT / f"{path}.py").is_file() else f"{path}/__init__.py"


def _page_of(path: str) -> str:
    """Return the name of the page of a file or a folder, and note that the page is needed."""
    path = path.rstrip("/")
    _shown.add(path)
    return f"source/{path}/index" if (ROOT / path).is_dir() else f"source/{path}"


def _files(app: Sphinx) -> list[tuple[str, dict[str, Any], str]]:
    """Write the pages of files and folders. They are plain: the theme's navigation would take a minute."""
    written: set[str] = set()
    template = Template((Path(__file__).parent / "source.html").read_text("utf-8"))
    while waiting := sorted(_shown - written):
        for path in waiting:
            name = _page_of(path)
            body = _folder_body(app, path, name) if (ROOT / path).is_dir() else _file_body(app, path)
            file = Path(app.outdir) / f"{name}.html"
            file.parent.mkdir(parents=True, exist_ok=True)
            up = "../" * name.count("/")
            file.write_text(template.substitute(path=path, up=up, body=body), "utf-8")
            written.add(path)
    return []


def _folder_body(app: Sphinx, path: str, name: str) -> str:
    rows: list[str] = []
    for each in sorted((ROOT / path).iterdir()):
        inside = f"{path}/{each.name}"
        if each.suffix == ".py" or (each.is_dir() and any(each.glob("*.py"))):
            uri = app.builder.get_relative_uri(name, _page_of(inside))
            rows.append(f'<li><a href="{uri}"><code>{each.name}</code></a> {_first_line(each)}</li>')
    return f"<ul>{''.join(rows)}</ul>"


def _first_line(path: Path) -> str:
    file = path / "__init__.py" if path.is_dir() else path
    docstring = ast.get_docstring(ast.parse(file.read_text("utf-8"))) if file.is_file() else None
    return (docstring or "").partition("\n")[0].replace("``", "").replace("<", "&lt;")


def _file_body(app: Sphinx, path: str) -> str:
    try:
        language = get_lexer_for_filename(PurePosixPath(path).name).aliases[0]
    except ClassNotFound:
        language = "text"
    return app.builder.highlighter.highlight_block((ROOT / path).read_text("utf-8"), language, lineanchors="L")
