"""A browser without scripts: it keeps cookies, reads pages, and sends their forms."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Self, final
from urllib.parse import urlencode, urljoin

import httpx
from attrs import frozen
from tests.api.world import ApiWorld
from tests.dashboard.tree import Node, parsed


@final
@frozen
class PageForm:
    """A form on a page."""

    action: str
    method: str
    #: The current fields.
    fields: dict[str, list[str]]
    buttons: list[str]

    @classmethod
    def of(cls, node: Node, path: str) -> Self:
        """Return a form of the page at ``path``."""
        fields: dict[str, list[str]] = {}
        for each in node.descendants():
            name, kind = each.attributes.get("name", ""), each.attributes.get("type")
            if each.tag == "textarea":
                fields[name] = [each.raw]
            elif each.tag == "select":
                options = each.all("option")
                chosen = [option for option in options if "selected" in option.attributes] or options[:1]
                fields[name] = [option.attributes.get("value", "") for option in chosen[-1:]]
            elif each.tag == "input" and name and (kind not in {"checkbox", "radio"} or "checked" in each.attributes):
                fields.setdefault(name, []).append(each.attributes.get("value", "on" if kind == "checkbox" else ""))
        return cls(
            action=node.attributes.get("action", path),
            method=node.attributes.get("method", "get"),
            fields=fields,
            buttons=[button.words for button in node.all("button")],
        )


@final
class Seen:
    """A page in a browser without scripts; its text is parsed when a test first needs a part of it."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self.status = response.status_code
        self.path = response.url.path

    @cached_property
    def tree(self) -> Node:
        return parsed(self.response.text)

    @property
    def links(self) -> dict[str, str]:
        # Of several links with the same words, the first one.
        return {link.words: link.attributes.get("href", "") for link in reversed(self.tree.all("a"))}

    @cached_property
    def forms(self) -> list[PageForm]:
        return [PageForm.of(form, self.path) for form in self.tree.all("form")]

    @property
    def elements(self) -> list[tuple[str, Mapping[str, str]]]:
        """Return every element, with its attributes."""
        return [(each.tag, each.attributes) for each in self.tree.descendants()]

    @property
    def rows(self) -> list[list[str]]:
        return [[cell.words for cell in row.descendants() if cell.tag in {"td", "th"}] for row in self.tree.all("tr")]

    @property
    def heading(self) -> str:
        return " ".join(each.words for each in self.tree.all("h1"))

    @property
    def text(self) -> str:
        return self.tree.words

    def form(self, action: str) -> PageForm:
        """Return the form with the given action."""
        return next(form for form in self.forms if form.action == action)


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
