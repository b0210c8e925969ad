"""A browser without scripts: it keeps cookies, reads pages, and sends their forms."""

import re
from collections.abc import Mapping
from functools import cached_property
from html import unescape
from typing import Any, Final, final
from urllib.parse import urlencode, urljoin

import httpx
from attrs import define, field
from tests.api.world import ApiWorld

_VOID: Final = frozenset({"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"})
_SHUT: Final = frozenset({"script", "style", "title", "svg"})
#: A part of a page. The pages are well-formed, and quote the values of attributes. The standard library's parser needs
#: more time to read a page than the service needs to render it.
_PART: Final = re.compile(
    r"<!--.*?-->|<![^>]*>"
    r"|<(?P<end>/?)(?P<tag>[a-z][a-z0-9-]*)(?P<attributes>(?:[^<>\"']|\"[^\"]*\"|'[^']*')*)>"
    r"|(?P<text>[^<]+)",
    re.DOTALL | re.IGNORECASE,
)
_ATTRIBUTE: Final = re.compile(r"""([^\s=/"']+)(?:="([^"]*)"|='([^']*)')?""")


@final
@define
class PageForm:
    """A form on a page."""

    action: str
    method: str
    #: The current fields.
    fields: dict[str, list[str]] = field(factory=dict[str, list[str]])
    buttons: list[str] = field(factory=list[str])


@final
class Seen:
    """A page in a browser without scripts; its text is parsed when a test first needs a part of it."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self.status = response.status_code
        self.path = response.url.path

    @cached_property
    def _read(self) -> "_Reader":
        return _Reader(self.path, self.response.text)

    @property
    def links(self) -> dict[str, str]:
        return self._read.links

    @property
    def forms(self) -> list[PageForm]:
        return self._read.forms

    @property
    def elements(self) -> list[tuple[str, Mapping[str, str]]]:
        """Return every element, with its attributes."""
        return self._read.elements

    @property
    def rows(self) -> list[list[str]]:
        return self._read.rows

    @property
    def heading(self) -> str:
        return self._read.heading

    @property
    def text(self) -> str:
        return " ".join(" ".join(self._read.words).split())

    def form(self, action: str) -> PageForm:
        """Return the form with the given action."""
        return next(form for form in self.forms if form.action == action)


@final
class _Reader:
    def __init__(self, path: str, text: str) -> None:
        self._path = path
        self.links: dict[str, str] = {}
        self.forms: list[PageForm] = []
        self.elements: list[tuple[str, Mapping[str, str]]] = []
        self.rows: list[list[str]] = []
        self.heading = ""
        self.words: list[str] = []
        self._open: list[str] = []
        self._link: tuple[str, list[str]] | None = None
        self._form: PageForm | None = None
        self._select: str | None = None
        self._area: str | None = None
        self._button: list[str] | None = None
        end = 0
        for part in _PART.finditer(text):
            assert part.start() == end, f"not well-formed: {text[end : end + 80]}"
            end = part.end()
            if part["text"] is not None:
                self._data(unescape(part["text"]))
            elif part["end"]:
                self._end(part["tag"])
            elif part["tag"]:
                self._start(part["tag"], part["attributes"])
                if part["attributes"].endswith("/"):
                    self._end(part["tag"])
        assert end == len(text)

    def _start(self, tag: str, attributes: str) -> None:
        attrs = {name.lower(): unescape(double or single) for name, double, single in _ATTRIBUTE.findall(attributes)}
        self.elements.append((tag, attrs))
        if tag not in _VOID:
            self._open.append(tag)
        match tag:
            case "a":
                self._link = (attrs.get("href", ""), [])
            case "form":
                self._form = PageForm(attrs.get("action", self._path), attrs.get("method", "get"))
                self.forms.append(self._form)
            case "button":
                self._button = []
            case "tr":
                self.rows.append([])
            case "td" | "th" if self.rows:
                self.rows[-1].append("")
            case "select":
                self._select = attrs.get("name", "")
            case _ if self._form is not None:
                self._field(tag, attrs, self._form.fields)
            case _:
                pass

    def _field(self, tag: str, attrs: Mapping[str, str], fields: dict[str, list[str]]) -> None:
        name = attrs.get("name", "")
        if tag == "textarea":
            self._area = name
            fields[name] = [""]
        elif tag == "option" and self._select:
            if "selected" in attrs or self._select not in fields:
                fields[self._select] = [attrs.get("value", "")]
        elif tag == "input" and name and (attrs.get("type") not in {"checkbox", "radio"} or "checked" in attrs):
            fields.setdefault(name, []).append(attrs.get("value", "on" if attrs.get("type") == "checkbox" else ""))

    def _end(self, tag: str) -> None:
        while self._open:
            if self._open.pop() == tag:
                break
        match tag:
            case "a" if self._link is not None:
                href, words = self._link
                self.links.setdefault(" ".join(" ".join(words).split()), href)
                self._link = None
            case "form":
                self._form = None
            case "textarea":
                self._area = None
            case "select":
                self._select = None
            case "button" if self._button is not None:
                if self._form is not None:
                    self._form.buttons.append(" ".join(" ".join(self._button).split()))
                self._button = None
            case _:
                pass

    def _data(self, data: str) -> None:
        if self._area is not None and self._form is not None:
            written = self._form.fields[self._area][-1]
            # The first line end belongs to the tag (HTML, 4.10.11).
            self._form.fields[self._area][-1] = written + data if written else data.removeprefix("\n")
        if _SHUT.intersection(self._open):
            return
        self.words.append(data)
        if "h1" in self._open:
            self.heading = f"{self.heading} {data}".strip()
        if self._link is not None:
            self._link[1].append(data)
        if self._button is not None:
            self._button.append(data)
        if self.rows and self.rows[-1] and {"td", "th"}.intersection(self._open):
            self.rows[-1][-1] = f"{self.rows[-1][-1]} {data}".strip()


@final
class Browsing:
    """A browser and its user."""

    def __init__(self, world: ApiWorld) -> None:
        self.world = world
        self.cookies: dict[str, str] = {}

    async def open(self, path: str, **request: Any) -> Seen:
        """Open a page, and follow redirects."""
        return await self._ask("GET", path, **request)

    async def sign_in(self, key: str) -> Seen:
        page = await self.open("/dashboard/sign-in")
        return await self.send(page.form("/dashboard/sign-in"), key=key)

    async def send(self, form: PageForm, **changes: str | list[str]) -> Seen:
        """Fill in a form, and submit it."""
        fields = form.fields | {name: [value] if isinstance(value, str) else value for name, value in changes.items()}
        if form.method == "get":
            return await self.open(f"{form.action}?{urlencode(fields, doseq=True)}")
        return await self.post(form.action, fields)

    async def post(self, path: str, fields: Mapping[str, Any], **request: Any) -> Seen:
        """Send fields."""
        headers = {"Content-Type": "application/x-www-form-urlencoded", **request.pop("headers", {})}
        return await self._ask("POST", path, content=urlencode(fields, doseq=True), headers=headers, **request)

    async def upload(
        self, path: str, fields: Mapping[str, str], files: Mapping[str, Any] | None, **request: Any
    ) -> Seen:
        # As files, so that the client sends a multipart form without a file, too.
        parts = {name: (None, value) for name, value in fields.items()} | dict(files or {})
        return await self._ask("POST", path, files=parts, **request)

    async def _ask(self, method: str, path: str, **request: Any) -> Seen:
        headers = dict(request.pop("headers", {}))
        for _ in range(5):
            if self.cookies:
                headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
            answer = await self.world.send(method, path, headers=headers, **request)
            for name, value in answer.cookies.items():
                self.cookies[name] = value
            for cookie in answer.headers.get_list("set-cookie"):
                if "Max-Age=0" in cookie:
                    self.cookies.pop(cookie.partition("=")[0], None)
            if answer.status_code != httpx.codes.SEE_OTHER.value:
                return Seen(answer)
            method, path, request = "GET", urljoin(path, answer.headers["location"]), {}
            headers = {name: value for name, value in headers.items() if name != "Content-Type"}
        message = f"sent around in circles: {path}"
        raise AssertionError(message)
