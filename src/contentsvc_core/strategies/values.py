"""Events and their parts."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, Final, TypeVar

from hypothesis import strategies as st
from msgspec.structs import replace

from contentsvc_core.events.normalized import RELEASE_ACTIONS, Author, Commit, Event, HeadCommit, Push, Release
from contentsvc_core.testing import address
from contentsvc_core.text import one_line
from contentsvc_core.timestamps import from_ms
from contentsvc_core.webhooks.delivery import Address
from contentsvc_core.webhooks.providers import PROVIDERS
from contentsvc_core.webhooks.providers.native import BRANCH

_Value = TypeVar("_Value")


@st.composite
def built(draw: st.DrawFn, make: Callable[..., _Value], /, **parts: st.SearchStrategy[Any]) -> _Value:
    """Return values of ``make``, as ``st.builds`` does.

    To explain a failing example, Hypothesis calls the test 100 times for each part of ``st.builds`` and ``st.tuples``:
    half a minute, for comments that are not printed inside of events.
    """
    return make(**{name: draw(part) for name, part in parts.items()})


_USUALLY: Final = st.sampled_from([True, False])  # shrinks to the usual value
#: The most characters of a delivery id, and its characters.
_LONGEST_ID: Final = 255
_VISIBLE: Final = st.characters(min_codepoint=0x21, max_codepoint=0x7E)
#: Texts that a writer or a page without escaping shows as something else.
_MARKUP: Final = (
    "<b>beam</b>",
    "<img src=x onerror=alert(1)>",
    "[beam](https://evil.example)",
    "![beam](https://evil.example/x.png)",
    "[beam](javascript:alert(1))",
    "*beam* _beam_ ~~beam~~ `beam`",
    "\n\n# beam\n- horn\n",
    "```\n<!--",
    "&lt;b&gt; \\<b>",
    "@ada #12 |beam|",
    "https://evil.example",
    "\u202emaeb",
    "lamp\u200d\u200b",
    " \t ",
    f"{'beam ' * 39}beam",
)


def foreign_text(*, max_size: int = 200) -> st.SearchStrategy[str]:
    """Return texts as a sanitizer leaves them: no U+0000, no surrogates; some are markup or have ``max_size``."""
    text = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=max_size)
    return text | text | st.sampled_from([each for each in (*_MARKUP, "灯" * max_size) if len(each) <= max_size])


def repository_ids() -> st.SearchStrategy[int]:
    """Return repository ids: 1 to 2^63 - 1."""
    return st.integers(1, 2**63 - 1)


def delivery_ids() -> st.SearchStrategy[str]:
    """Return delivery ids: any valid ones, some of them of 255 characters, and UUIDs. Two may be equal."""
    token = st.text(_VISIBLE, min_size=1, max_size=_LONGEST_ID)
    return token | st.uuids().map(str) | token.map(lambda text: (text * _LONGEST_ID)[:_LONGEST_ID])


def different_ids() -> st.SearchStrategy[str]:
    """Return delivery ids of which no two are equal: each ends with a UUID."""
    start = st.sampled_from(["", "!" * (_LONGEST_ID - 36)]) | st.text(_VISIBLE, max_size=_LONGEST_ID - 36)
    return built("{start}{id}".format, start=start, id=st.uuids())


def instants() -> st.SearchStrategy[datetime]:
    """Return points in time from 1970 to 2100: UTC, whole milliseconds."""
    return st.integers(0, 4_102_444_800_000).map(from_ms)


def addresses() -> st.SearchStrategy[Address]:
    """Return hook addresses of all providers."""
    ids = st.from_regex(r"[A-Za-z0-9_-]{1,20}", fullmatch=True)
    return st.builds(
        address,
        provider=st.sampled_from([provider.slug for provider in PROVIDERS]),
        organization_id=ids,
        integration_id=ids,
        repository_id=repository_ids(),
    )


def commits() -> st.SearchStrategy[Commit]:
    """Return commits: half of the texts as code hosts send them, the others of any characters."""
    return built(
        Commit,
        id=_hashes(),
        message=_messages() | foreign_text(),
        author=built(
            Author, name=foreign_text(max_size=40), email=foreign_text(max_size=40), username=st.none() | foreign_text()
        ),
        timestamp=_times(),
        url=_urls(),
        distinct=_USUALLY,
        added=_paths(),
        modified=_paths(),
        removed=_paths(),
        paths_cut=st.integers(0, 9),
    )


def _hashes() -> st.SearchStrategy[str]:
    """Return hashes: SHA-1, and SHA-256; some of them occur again, in another push or as another commit."""
    again = st.sampled_from(["72d3162ecc7811e381ab4c9367dc0958deadbeef", "0" * 40])
    return st.one_of(again, *(st.binary(min_size=size, max_size=size).map(bytes.hex) for size in (20, 32)))


def _messages() -> st.SearchStrategy[str]:
    kinds = ["", "feat: ", "fix(beam): ", "feat!: ", "chore(deps): ", "Revert ", "Merge pull request #3 from acme/"]
    ends = ["", " (#12)", "\n\nBREAKING CHANGE: it is gone", "\n\nCo-authored-by: Ada <ada@example.com>", "\r\n"]
    return built(
        "{kind}{text}{end}".format,
        kind=st.sampled_from(kinds),
        text=foreign_text(max_size=60),
        end=st.sampled_from(ends),
    )


def _times() -> st.SearchStrategy[str]:
    return instants().map(datetime.isoformat) | foreign_text(max_size=30)


def _urls() -> st.SearchStrategy[str]:
    return (
        st.just("")
        | _hashes().map("https://codehost.example/acme/lamp/commit/{}".format)
        | st.just("javascript:alert(1)")
        | foreign_text(max_size=80)
    )


def _paths() -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(foreign_text(max_size=20), max_size=2).map(tuple)


def _tags() -> st.SearchStrategy[str]:
    """Return tags: versions, versions before a release, versions of a package, and any other texts."""
    ends = st.sampled_from(["", "-rc.1", "-beta.2", "a1"])
    starts = st.sampled_from(["v", "", "lamp@", "lamp/v"])
    number = st.integers(0, 30)
    numbered = "{start}{major}.{minor}.{patch}{end}".format
    versions = built(numbered, start=starts, major=number, minor=number, patch=number, end=ends)
    return versions | foreign_text(max_size=40)


def _other_refs() -> st.SearchStrategy[str]:
    branches = st.sampled_from(["dev", "release/1.x", "feature/grün", "main/2"]) | foreign_text(max_size=40)
    return branches.map("refs/heads/{}".format) | _tags().map("refs/tags/{}".format)


def pushes() -> st.SearchStrategy[Push]:
    """Return pushes to branches and tags: new, moved, deleted and without commits; and pushes that are cut.

    Half of them are to the branch ``main``. Some have at most three commits, the others up to 30:
    :func:`.push_body` makes larger ones.
    """
    few = st.lists(commits(), max_size=3)
    more = st.just(list[str]()) | st.lists(_messages(), max_size=27)
    return built(
        _push,
        other_ref=_other_refs(),
        is_main=_USUALLY,
        commits=built(_like_the_last, few=few, more=more),
        other_head=st.none() | built(HeadCommit, id=_hashes(), message=_messages() | foreign_text()),
        is_last=st.booleans(),
        before=st.none() | st.just("") | _hashes(),
        off_default=st.booleans(),
    )


def _like_the_last(few: list[Commit], more: list[str]) -> tuple[Commit, ...]:
    """Return commits, and others with the messages ``more``, which cost less to shrink than different ones."""
    others = (replace(few[-1], id=f"{number:040x}", message=message) for number, message in enumerate(more))
    return (*few, *(others if few else ()))


def _push(
    *,
    other_ref: str,
    is_main: bool,
    commits: tuple[Commit, ...],
    other_head: HeadCommit | None,
    is_last: bool,
    before: str | None,
    off_default: bool,
) -> Push:
    """Return a push; ``before`` is ``None`` if it is not cut. Only pushes of commits are cut, or off the default."""
    ref = "refs/heads/main" if is_main else other_ref
    last = HeadCommit(id=commits[-1].id, message=commits[-1].message) if commits and is_last else None
    return Push(
        ref=ref,
        branch=ref.removeprefix(BRANCH),
        commits=commits,
        head_commit=last or other_head,
        is_cut=bool(commits) and before is not None,
        before=before or "" if commits else "",
        off_default=bool(commits) and off_default,
    )


def releases() -> st.SearchStrategy[Release]:
    """Return releases and changes of releases: drafts, pre-releases and all others, with and without notes."""
    actions = st.sampled_from([*RELEASE_ACTIONS, "created", "released", "edited", "unpublished", "deleted"])
    return built(
        Release,
        action=st.sampled_from(RELEASE_ACTIONS) | actions | foreign_text().map(lambda text: one_line(text, 64)),
        tag_name=_tags(),
        name=st.none() | foreign_text(),
        body=st.none() | foreign_text() | _notes(),
        prerelease=st.booleans(),
        draft=st.sampled_from([False, False, False, True]),
        published_at=st.none() | _times(),
        url=_urls(),
        commit=st.just("") | _hashes(),
    )


def _notes() -> st.SearchStrategy[str]:
    """Return release notes as code hosts propose them, and as people write them."""
    lines = built("{start} {text}".format, start=st.sampled_from(["##", "-", "*", "  -", ">", ""]), text=_messages())
    return st.lists(lines, max_size=4).map("\n".join)


def events() -> st.SearchStrategy[Event]:
    """Return :func:`pushes` and :func:`releases`."""
    return pushes() | releases()
