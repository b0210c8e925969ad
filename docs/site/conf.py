"""The configuration of Sphinx; ``make docs`` runs it."""

import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from docs.site.extension import linkcode_resolve  # noqa: E402, F401  # its path is set above
from docs.site.navigation import START  # noqa: E402  # as above

project = "contentsvc"
version = release = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
root_doc = START.removesuffix(".md")
# Pages are read from the whole project, so that links have the same targets as on a code host.
include_patterns = ["*.md", "docs/**.md", "deploy/*.md", "benchmarks/*.md", "benchmarks/peers/*.md"]
exclude_patterns = [
    ".*",
    "**/.*",
    "build",
    "dist",
    "src",
    "tests",
    "campaigns",
    "docs/site",
    "**/node_modules",
    "**/*_peer",
]
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.linkcode",
    "docs.site.extension",
]

myst_heading_anchors = 4
myst_url_schemes = {"http": None, "https": None, "mailto": None, "source": None}
# Texts in fences are often cut, with an ellipsis.
suppress_warnings = ["misc.highlighting_failure"]

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
add_module_names = False
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 160
napoleon_numpy_docstring = False
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = f"{project} {version}"
html_static_path = ["static"]
html_extra_path = ["extra"]
html_css_files = ["site.css"]
html_copy_source = False
# Summaries of hits are fetched, which browsers refuse for sites that are opened as files.
html_show_search_summary = False
html_show_sourcelink = False
html_show_copyright = False
html_theme_options = {
    "footer_icons": [],
    "light_css_variables": {
        "color-brand-primary": "#0b7285",
        "color-brand-content": "#0b6779",
        "font-stack": "Manrope, ui-sans-serif, system-ui, -apple-system, sans-serif",
        "font-stack--monospace": "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace",
    },
    "dark_css_variables": {"color-brand-primary": "#56c7d6", "color-brand-content": "#56c7d6"},
}
