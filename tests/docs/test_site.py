"""The documentation's site: every page is linked, every name is shown, and the built site is checked."""

import asyncio
import re
from collections import Counter
from pathlib import Path
from typing import Any, Final

import pytest
from docs.site.check import faults
from docs.site.markdown import prepared
from docs.site.navigation import LISTS, START, Entry, Group, groups, toctrees
from docs.site.operations import operations_page
from docs.site.public_names import directives, public_names
from tests.api.world import ApiWorld
from tests.docs.pages import PAGES, ROOT, anchors, name_of, read

#: The pages of the site: those of the project's documentation, and those in other folders.
SHOWN: Final = {*map(name_of, PAGES), "deploy/README.md", "benchmarks/README.md", "benchmarks/peers/README.md"}
_MARK: Final = re.compile(r"^<!-- site: ([\w-]+) ?(.*?) -->$", re.MULTILINE)
_PICTURES: Final = sorted((ROOT / "docs" / "pictures").glob("*.svg"))


def entries() -> list[Entry]:
    return [each for page in LISTS for group in groups(read(page), page) for each in group.entries]


def test_every_page_is_in_the_navigation_once() -> None:
    counted = Counter(each.page for each in entries())

    assert set(counted) | {START} == SHOWN
    assert set(counted.values()) == {1}


def test_a_list_becomes_a_navigation_with_its_headings() -> None:
    text = "# All\n\nSee [this](no.md).\n\n## First\n\n- [One](a.md): it.\n- [Two](../b.md)\n\n## Empty\n\n- [X](https://x.example/a.md)\n"

    found = groups(text, "docs/README.md")

    one, two = Entry(title="One", page="docs/a.md"), Entry(title="Two", page="b.md")
    assert found == [Group(caption="First", entries=(one, two))]
    assert toctrees(found, titled=True) == "```{toctree}\n:hidden:\n:caption: First\n\nOne </docs/a>\nTwo </b>\n```\n"


def marks(what: str) -> list[list[str]]:
    found = [mark for page in PAGES for mark in _MARK.findall(page.read_text("utf-8"))]
    return [rest.split() for kind, rest in found if kind == what]


def test_pages_use_only_known_placeholders() -> None:
    kinds = {kind for page in PAGES for kind, _ in _MARK.findall(page.read_text("utf-8"))}

    assert kinds == {"public-names", "operations"}


@pytest.mark.parametrize("package", ["contentsvc_core", "contentsvc_core.ports"])
def test_the_reference_shows_every_public_name_once(package: str) -> None:
    blocks = [directives(package, tuple(below)) for name, *below in marks("public-names") if name == package]
    shown = Counter(re.findall(r"^\.\. auto\w+:: (\S+)$", "\n".join(blocks), re.MULTILINE))

    assert shown == Counter(each.where for each in public_names(package))


def test_the_reference_has_the_names_for_tests_of_adapters() -> None:
    modules = {f"contentsvc_core.{name}" for name in ("testing", "testing.sequences", "strategies")}
    names = {each.name for module in modules for each in public_names(module)}

    assert {"ManualClock", "signed", "START", "check_post_sequences", "deliveries"} <= names
    assert {mark[0] for mark in marks("public-names") if len(mark) == 1} == modules


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return asyncio.run(ApiWorld().send("GET", "/schema/openapi.json")).json()


def test_the_page_of_operations_has_every_operation_and_every_body(document: dict[str, Any]) -> None:
    page = operations_page(document)

    operations = re.findall(r"^### `([A-Z]+) (\S+)`$", page, re.MULTILINE)
    assert sorted(operations) == sorted(
        (method.upper(), path) for path, item in document["paths"].items() for method in item
    )
    assert set(re.findall(r"\]\(#([^)]+)\)", page)) <= anchors(page)
    assert set(re.findall(r"^### (\w+)$", page, re.MULTILINE)) == set(document["components"]["schemas"])


def test_every_cell_of_the_page_of_operations_stays_in_its_row(document: dict[str, Any]) -> None:
    for table in re.findall(r"(?:^\|.*\|\n)+", operations_page(document), re.MULTILINE):
        columns = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
        assert len(columns) == 1, table


def ready(text: str) -> str:
    return prepared(text, "docs/a.md", {"docs/a.md", "docs/b.md", "README.md"}, lambda what, rest: f"{what}({rest})")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[b](b.md#part) and [up](../README.md)", "[b](b.md#part) and [up](../README.md)"),
        ("[code](../src/x.py)", "[code](source:src/x.py)"),
        ("`tests/core/test_x.py::TestA::test_b`", "[`test_b`](source:tests/core/test_x.py)"),
        ("[out](https://x.example/a) [here](#part)", "[out](https://x.example/a) [here](#part)"),
        ("![drawn](pictures/a.svg)", "![drawn](pictures/a.svg)"),
        ("```text\n[code](../src/x.py)\n```", "```text\n[code](../src/x.py)\n```"),
        ("```python title=src/x.py\nx = 1\n```", "```{code-block} python\n:caption: src/x.py\n\nx = 1\n```"),
        ("```text output\nyes\n```", "```{code-block} text\n:caption: prints\n\nyes\n```"),
        ("```console until=done\n$ x\n```", "```console\n$ x\n```"),
        ("a\n\n<!-- site: public-names x y -->\n", "a\n\npublic-names(x y)\n"),
    ],
)
def test_a_page_is_given_to_the_site_in_its_own_words(text: str, expected: str) -> None:
    assert ready(text) == expected


GOOD: Final = """<!doctype html><html><head><link rel="stylesheet" href="own.css"><link rel="canonical" href="https://x.example/"></head>
<body><h1 id="top">One</h1><a href="#top">up</a><a href="https://x.example/">out</a>
<img src="data:image/png;base64,AA"></body></html>"""


def built(folder: Path, page: str, **files: str) -> list[str]:
    folder = folder.resolve()
    (folder / "a.html").write_text(page, "utf-8")
    (folder / "own.css").write_text(files.get("css", "body { color: red }"), "utf-8")
    (folder / "own.js").write_text(files.get("js", "let one = 1;"), "utf-8")
    return faults(folder)


def test_a_site_that_is_whole_has_no_faults(tmp_path: Path) -> None:
    assert built(tmp_path, GOOD) == []


@pytest.mark.parametrize(
    "part",
    [
        '<script src="https://x.example/a.js"></script>',
        '<script src="//x.example/a.js"></script>',
        '<link rel="stylesheet" href="https://x.example/a.css">',
        '<link rel="preconnect" href="https://x.example">',
        '<img src="https://x.example/a.png">',
        '<img srcset="own.png 1x, https://x.example/a.png 2x">',
        '<p style="background: url(https://x.example/a.png)">',
        "<style>@import 'https://x.example/a.css';</style>",
        '<iframe src="https://x.example/"></iframe>',
        '<form action="https://x.example/"></form>',
        '<svg><use href="https://x.example/a.svg#b"/></svg>',
        "<script>fetch('https://x.example/a')</script>",
        '<img src="gone.png">',
        '<a href="gone.html">x</a>',
        '<a href="#gone">x</a>',
        '<a href="../outside.html">x</a>',
    ],
)
def test_foreign_resources_and_dead_links_are_found(part: str, tmp_path: Path) -> None:
    (tmp_path / "own.png").touch()

    assert len(built(tmp_path, GOOD.replace("</body>", f"{part}</body>"))) == 1


def test_style_sheets_and_scripts_are_looked_through(tmp_path: Path) -> None:
    assert len(built(tmp_path, GOOD, css="@font-face { src: url('https://x.example/a.woff2') }")) == 1
    assert len(built(tmp_path, GOOD, js='one.src = "https://x.example/a.js"')) == 1


@pytest.mark.parametrize("picture", _PICTURES, ids=lambda path: path.name)
def test_every_picture_has_a_description_and_dark_colours(picture: Path) -> None:
    text = picture.read_text("utf-8")
    (name,) = re.findall(r'aria-labelledby="(\S+)-title \1-desc"', text)

    assert re.search(rf'<title id="{name}-title">.+</title>', text)
    assert re.search(rf'<desc id="{name}-desc">.{{80,}}</desc>', text)
    assert "@media (prefers-color-scheme:dark)" in text
    assert set(re.findall(r"https?://[^\"\s]+", text)) == {"http://www.w3.org/2000/svg"}
    assert any(f"pictures/{picture.name})" in page.read_text("utf-8") for page in PAGES)


def test_docstrings_are_read_with_the_packages_that_the_project_has() -> None:
    own_value, sites = (
        dict(re.findall(r"^([a-z0-9-]+)==(\S+)", read(lock), re.MULTILINE))
        for lock in ("requirements.lock", "docs/site/requirements.lock")
    )

    assert {"attrs", "cattrs", "hypothesis", "msgspec"} <= sites.keys()
    assert {name: version for name, version in sites.items() if own_value.get(name, version) != version} == {}
