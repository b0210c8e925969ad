from collections.abc import Callable, Sequence
from datetime import datetime
from html import escape
from typing import Final

from contentsvc_cli.develop.native_bodies import HostedRepository
from contentsvc_cli.start.previewing import Preview, range_line, text, title
from contentsvc_core.content.public.html import nested

#: Light colours, then dark ones; all pairs meet WCAG 2.2 AA.
_STYLE: Final = """\
:root { color-scheme: light dark; --ground: #fdfdfc; --line: #e3e3de; --text: #1c1f23; --faint: #5d6269;
  --accent: #0b6b63; --raised: #f1f4f3; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #121416; --line: #2d3135; --text: #e6e8ea; --faint: #9aa2aa; --accent: #6fd0c3; --raised: #1c2224; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 46rem; padding: 0 1.5rem 4rem; background: var(--ground); color: var(--text);
  font: 1.0625rem/1.65 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", sans-serif;
  overflow-wrap: break-word; }
header { padding: 3.5rem 0 2rem; }
h1 { font-size: clamp(1.9rem, 1.45rem + 1.9vw, 2.5rem); line-height: 1.15; letter-spacing: -.02em; margin: 0; }
h2 { font-size: 1.4rem; line-height: 1.3; letter-spacing: -.015em; margin: .35rem 0 .9rem; }
h3, h4, h5, h6 { font-size: 1.05rem; margin: 1.7rem 0 .5rem; }
article { border-top: 1px solid var(--line); padding: 2.4rem 0 1rem; }
p, ul, ol { margin: .6rem 0; }
ul, ol { padding-left: 1.25rem; }
li + li { margin-top: .4rem; }
li::marker, .faint { color: var(--faint); }
.faint { font-size: .92rem; margin: 0; }
.tag { background: var(--raised); color: var(--accent); border-radius: 99px; padding: .1rem .6rem; font-weight: 600;
  margin-right: .5rem; }
a { color: var(--accent); text-underline-offset: .18em; }
a:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; }
code { font: .86em ui-monospace, Menlo, Consolas, monospace; background: var(--raised); border-radius: 4px;
  padding: .1em .35em; }
pre { background: var(--raised); border-radius: 8px; padding: .9rem 1.1rem; white-space: pre-wrap; }
pre code { padding: 0; }
blockquote { border-left: 3px solid var(--line); color: var(--faint); margin: .8rem 0; padding-left: 1rem; }
"""
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'"


def page_of(hosted: HostedRepository, shown: Sequence[Preview], render: Callable[[str], str]) -> str:
    """Return the page. Text from the repository is escaped or sanitized; ``render`` returns Markdown as safe HTML."""
    name = escape(hosted.full_name)
    articles = "".join(
        f"<article>\n<p class=faint>{_tag(preview)}{_date(preview.at)}</p>\n<h2>{escape(title(preview))}</h2>\n"
        f"{nested(render(text(preview)), under=2)}<p class=faint>{escape(range_line(preview))}</p>\n</article>\n"
        for preview in shown
    )
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f"<title>Changelog of {name}</title>\n<style>\n{_STYLE}</style>\n</head>\n<body>\n"
        f"<header><h1>{name}</h1><p class=faint>A preview of the changelog, by contentsvc</p></header>\n"
        f"<main>\n{articles}</main>\n</body>\n</html>\n"
    )


def _tag(preview: Preview) -> str:
    return "" if preview.stretch.tag is None else f"<span class=tag>{escape(preview.stretch.tag.name)}</span>"


def _date(at: str) -> str:
    try:
        read = datetime.fromisoformat(at)
    except ValueError:
        return ""
    return f'<time datetime="{escape(at)}">{read.day} {read:%B %Y}</time>'
