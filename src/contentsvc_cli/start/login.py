import sys
import webbrowser

import click

from contentsvc_cli.servers import (
    KEY_VARIABLE,
    Server,
    checked_key,
    checked_url,
    environment_key,
    logins_file,
    part,
    read_logins,
    write_logins,
)
from contentsvc_cli.terminal.output import JSON, ORGANIZATION, fail, hint, misused, say, show, wants_json
from contentsvc_cli.wiring import Api, organization_named, owned, with_app
from contentsvc_core.application import Application
from contentsvc_core.content.public.links import ChangelogLinks


@click.command()
@click.argument("url", metavar="URL")
@click.option("--delete", is_flag=True, help="Delete the key of this server from the file.")
@JSON
def login(url: str, *, delete: bool) -> None:
    """Store the API key of a server in a file that only you may read.

    The key is read from CONTENTSVC_API_KEY, or else from standard input: your typing is not shown. Later commands use
    this server in each folder without a database of its own.
    """
    url = checked_url(url)
    others = {other_url: key for other_url, key in read_logins().items() if other_url != url}
    if delete:
        write_logins(others)
        show({"server": url, "deleted": True})
        return
    key = checked_key(environment_key(url) or _read_key())
    from contentsvc_cli.remote import Api  # noqa: PLC0415  # deleting needs no requests

    with Api(Server(url, key)) as api:
        organization = api.get("/v1/organization")
    write_logins({**others, url: key})
    body = {
        "server": url,
        "organization": organization["organization"]["slug"],
        "key": organization["key"]["prefix"],
        "scopes": organization["key"]["scopes"],
        "file": str(logins_file()),
    }
    show(body)
    hint("contentsvc post list")


def _read_key() -> str:
    if sys.stdin.isatty():
        key: str = click.prompt("API key", hide_input=True, err=True)
    else:
        key = sys.stdin.readline()
    if not key.strip():
        fail(f"there is no API key on standard input: write it there, or set {KEY_VARIABLE}")
    return key.strip()


@click.command("open")
@click.argument("what", type=click.Choice(["dashboard", "changelog", "post"]))
@click.argument("post_id", metavar="[ID]", required=False)
@ORGANIZATION
@JSON
def open_page(what: str, post_id: str | None, organization: str) -> None:
    """Open the dashboard, your public changelog or a post in your browser, and print the URL.

    In a pipe and without a browser, the URL is only printed.
    """
    if (post_id is None) is (what == "post"):
        misused("name the post: contentsvc open post ID" if what == "post" else f"'open {what}' takes no id")

    async def work(app: Application) -> str:
        if what == "changelog":
            owner = await organization_named(app, organization)
            changelog = (await app.changelog_editor.all_of(owner))[0]
            return ChangelogLinks(base_url=app.base_url, slug=changelog.slug).home
        if post_id is not None:
            await owned(app, "post", post_id, app.stores.posts.post)
        return f"{app.base_url}{_path(post_id)}"

    def remote(api: Api) -> str:
        if what == "changelog":
            at: str = api.all("/v1/changelogs", "changelogs")[0]["url"]
            if not at.startswith(("http://", "https://")):
                # A browser takes other texts for options, files and scripts.
                fail(f"{api.url} names a changelog whose URL is not http or https: is this the URL of contentsvc?")
            return at
        if post_id is not None:
            api.get(f"/v1/posts/{part(post_id)}")
        return f"{api.url}{_path(post_id)}"

    url = with_app(work, remote=remote)
    show({"url": url}) if wants_json() else say(url)
    if not wants_json() and sys.stdout.isatty():
        webbrowser.open(url)


def _path(post_id: str | None) -> str:
    return "/dashboard" if post_id is None else f"/dashboard/posts/{part(post_id)}"
