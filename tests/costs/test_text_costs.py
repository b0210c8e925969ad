"""The cost of texts: each function that reads foreign text is linear in its length.

The tests measure processor time, never wall-clock time. A function is measured with a text and with one that is four
times as long: a quadratic function takes four times as long for each character of the longer one.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Final, TypeAlias

import msgspec
import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.builders import a_post, a_record, a_release
from tests.costs.adversarial import FAMILIES, UNITS, Family, seconds

from contentsvc_adapters.markup import SafeMarkdown
from contentsvc_adapters.writers.openai_compatible import inert
from contentsvc_core.content.changelog.bodies import explanation
from contentsvc_core.content.changelog.classify import Breaks, classify
from contentsvc_core.content.changelog.markdown import inline, masked_line, safe_url
from contentsvc_core.content.changelog.read import parse
from contentsvc_core.content.changelog.release_notes import clean
from contentsvc_core.content.changelog.select import breaks_of
from contentsvc_core.content.changelog.tenses import conjugated
from contentsvc_core.content.forms import social_posts, write_content
from contentsvc_core.content.packages import package_tag
from contentsvc_core.content.pages import decode_page, site_facts
from contentsvc_core.content.plain import text_of
from contentsvc_core.content.posts import ContentType, Post, PostStatus
from contentsvc_core.content.prompting import prompt_for, read_draft
from contentsvc_core.content.prompting.facts import unfounded
from contentsvc_core.content.public.atom import atom_document
from contentsvc_core.content.public.changelogs import PublicChangelog
from contentsvc_core.content.public.facets import facets_of
from contentsvc_core.content.public.feeds import feed_of
from contentsvc_core.content.public.folds import folded
from contentsvc_core.content.public.html import directed, nested
from contentsvc_core.content.public.links import ChangelogLinks
from contentsvc_core.content.public.trimming import trimmed
from contentsvc_core.content.site_brands import propose_brand
from contentsvc_core.content.writing import Brief, Chapter
from contentsvc_core.events.normalized import Author, Commit, Push, Release
from contentsvc_core.lists.terms import Term, read_terms
from contentsvc_core.lists.words import query_words, words_of
from contentsvc_core.outgoing.letters import plain
from contentsvc_core.search.documents import record_words
from contentsvc_core.search.excerpts import post_excerpts, record_excerpts
from contentsvc_core.testing import START
from contentsvc_core.text import compatible, one_line
from contentsvc_core.webhooks.providers import PROVIDERS
from contentsvc_core.webhooks.providers.native import Reading
from contentsvc_core.webhooks.providers.provider import Provider
from contentsvc_core.webhooks.providers.tags import is_prerelease, is_version
from contentsvc_http.dashboard.payloads import beginning, shown
from contentsvc_http.dashboard.search import marked
from contentsvc_http.words import first_line

_Work: TypeAlias = Callable[[str], Any]

_RENDERER: Final = SafeMarkdown()
_TERMS: Final[tuple[Term, ...]] = tuple(
    Term(words=(word,), is_prefix=prefix) for word, prefix in (("lamp", False), ("a", True), ("door", False))
)
#: A page of a code host.
_PAGE: Final = "https://codehost.example/acme/lighthouse"
#: The characters of one commit's message.
_MESSAGE: Final = 1_000


def _classified(subject: str) -> object:
    return classify(parse(subject), breaks=Breaks.MAJOR)


def _push(text: str) -> Push:
    messages = [text[at : at + _MESSAGE] for at in range(0, len(text), _MESSAGE)]
    commits = [
        Commit(
            id=f"{number:040x}",
            message=message,
            author=Author(name=message, email=message, username=None),
            timestamp="2026-01-01T12:00:00Z",
            url=f"{_PAGE}/commit/{number:040x}",
        )
        for number, message in enumerate(messages)
    ]
    return Push(ref="refs/heads/main", branch="main", commits=tuple(commits), head_commit=None)


def _release(text: str) -> Release:
    return a_release(text, name=text, body=text, url=f"{_PAGE}/releases/tag/v1")


def _read(provider: Provider, text: str) -> list[Reading]:
    """Write a push and a release of a text as a code host would, and read both."""
    author = Author(name=text, email=text, username=text)
    commit = Commit(id="1" * 40, message=text, author=author, timestamp=text, url=text)
    push = Push(ref=text, branch=text, commits=(commit,), head_commit=None)
    written = [
        provider.write(Reading(event=event, repository_id=1, repository=f"acme/lighthouse{text}"))
        for event in (push, _release(text))
    ]
    return [provider.readers[kind](msgspec.json.encode(body)) for kind, body in written]


def _post(text: str, content: str = "") -> Post:
    return a_post(title="News", content=content, markdown=text, source_metadata=None, status=PostStatus.PUBLISHED)


def _of_push(kind: ContentType, text: str) -> Brief:
    return Brief(content_type=kind, chapters=(Chapter(repository="acme/lighthouse", events=(_push(text),)),))


def _of_release(kind: ContentType, text: str) -> Brief:
    return evolve(_of_push(kind, text), release=_release(text), previous_tag="v0")


def _feed(text: str) -> bytes:
    changelog = PublicChangelog(
        organization_id="org_1", slug="acme", title="Acme", is_public=True, created_at=START, updated_at=START
    )
    content = nested(_RENDERER.html(text), under=2)
    links = ChangelogLinks(base_url="https://acme.example", slug="acme")
    return atom_document(feed_of(changelog, [_post(text, content)], links=links, updated_at=START))


#: Every function that reads texts of strangers and tenants; functions that only call some of these are left out.
FUNCTIONS: Final[dict[str, _Work]] = {
    **{f"read, {each.slug}": lambda text, provider=each: _read(provider, text) for each in PROVIDERS},
    "is_version": is_version,
    "is_prerelease": is_prerelease,
    "package_tag": package_tag,
    "compatible": compatible,
    "one_line": lambda text: one_line(text, 2 * len(text)),
    "words_of": lambda text: words_of([text]),
    "query_words": query_words,
    "read_terms": read_terms,
    "record_words": lambda text: record_words(a_record(_push(text))),
    "record_excerpts of a push": lambda text: record_excerpts(a_record(_push(text)), _TERMS),
    "post_excerpts": lambda text: post_excerpts(text, _TERMS),
    "inline": inline,
    "safe_url": safe_url,
    "masked_line": lambda text: masked_line(text, len(text)),
    "clean": lambda text: clean(text, len(text)),
    "explanation": explanation,
    "inert for plain text": social_posts.inert,
    "weight": social_posts.weight,
    "text_of": text_of,
    "conjugated": conjugated,
    "unfounded": lambda text: unfounded(text, text),
    **{
        f"write_content, {kind.value}": lambda text, kind=kind: write_content(_of_push(kind, text))
        for kind in ContentType
    },
    "write_content of a release": lambda text: write_content(_of_release(ContentType.CHANGELOG, text)),
    "write_content of a release with notes": lambda text: write_content(_of_release(ContentType.BLOG_POST, text)),
    "prompt_for": lambda text: prompt_for(_of_release(ContentType.BLOG_POST, text)),
    "read_draft": lambda text: read_draft(f"# a\n{text}", ContentType.TWITTER_POST),
    "site_facts": lambda text: propose_brand(site_facts(decode_page(text.encode(), "text/html")), "acme.example"),
    "payload": lambda text: shown({"a": text}),
    "first_line": first_line,
    "beginning": beginning,
}
#: Functions of some milliseconds for each 1,000 characters: they build a tree of tokens, or compare very short parts.
DEARER: Final[dict[str, _Work]] = {
    "render": _RENDERER.html,
    "inert Markdown": inert,
    "feed": _feed,
    "trimmed": lambda text: trimmed(_RENDERER.html(text)),
    "folded": lambda text: folded(_RENDERER.html(text)),
    "directed": lambda text: directed(f"<p>\u05d0</p>{_RENDERER.html(text)}"),
    "facets_of": lambda text: facets_of(_post(text, _RENDERER.html(text))),
    "plain": lambda text: plain(_RENDERER.html(text)),
    "marked": lambda text: marked(text, _TERMS),
    "record_excerpts of a release": lambda text: record_excerpts(a_record(_release(text)), _TERMS),
}
#: Texts of earlier faults, or of faults without a bound of this service.
_WORST: Final = (
    "two runs of marks",
    "one reference, many uses",
    "a table that lacks cells",
    "many tables that lack cells",
    "nested brackets",
    "many co-authors",
)

#: The length of the shorter text, in characters. The longer one is four times as long.
_SHORT: Final = 2_000
_SHORT_DEARER: Final = 500
_LONGER: Final = 4
#: In seconds for each 1,000 characters: what costs less needs no second look, and nothing may cost more. The most
#: expensive kilobyte takes 0.025 s. One of tables took 0.25 s when their cells had no bound.
_CHEAP: Final = 0.002
_CHEAP_DEARER: Final = 0.01
_MOST: Final = 0.15
#: The allowed growth of the cost of a character in the longer text: 1 is linear, 4 is quadratic.
_GROWTH: Final = 2.5
#: The number of measurements, of which the least counts: other load only makes them larger.
_MEASURES: Final = 12


def check(name: str, work: _Work, family: Family, *, short: int, cheap: float) -> None:
    """Check that a function is linear for a family of texts."""
    small, large = family(short), family(_LONGER * short)
    small_s = large_s = float("inf")
    for _ in range(_MEASURES):
        large_s = min(large_s, seconds(work, large) / len(large) * 1_000)
        if large_s <= cheap:
            return
        small_s = min(small_s, seconds(work, small) / len(small) * 1_000)
        if large_s <= _MOST and large_s <= _GROWTH * small_s:
            return
    message = f"{name}: {small_s * 1e3:.2f} ms, then {large_s * 1e3:.2f} ms for 1,000 characters of {small[:40]!r}"
    pytest.fail(message)


def check_all(family: Family) -> None:
    """Check that every function is linear for a family of texts."""
    for name, work in FUNCTIONS.items():
        check(name, work, family, short=_SHORT, cheap=_CHEAP)
    for name, work in DEARER.items():
        check(name, work, family, short=_SHORT_DEARER, cheap=_CHEAP_DEARER)


@pytest.mark.slow("measures processor time over long texts")
@pytest.mark.parametrize("name", _WORST)
def test_the_worst_texts_cost_in_proportion_to_their_length(name: str) -> None:
    check_all(FAMILIES[name])


@pytest.mark.slow("feeds every function with 150 families of texts")
@pytest.mark.parametrize("name", FAMILIES)
def test_a_text_costs_in_proportion_to_its_length(name: str) -> None:
    check_all(FAMILIES[name])


@pytest.mark.slow("measures processor time over long texts")
@settings(max_examples=6)
@given(
    before=st.sampled_from(["", *UNITS]),
    unit=st.lists(st.sampled_from(UNITS), min_size=2, max_size=4).map("".join),
    after=st.sampled_from(["", *UNITS]),
)
def test_mixtures_cost_in_proportion_to_their_length(before: str, unit: str, after: str) -> None:
    def family(size: int) -> str:
        return before + unit * (size // len(unit) + 1) + after

    check_all(family)


@pytest.mark.parametrize("subject", [f"drop {'python ' * 24}!", f"bump a to {'and ' * 32}!", f"{'and ' * 64}!"])
def test_a_subject_that_nearly_matches_is_read_at_once(subject: str) -> None:
    # With each word, a backtracking pattern or a recursion takes twice as long.
    assert min(seconds(_classified, subject) for _ in range(2)) < _MOST
    assert min(seconds(conjugated, subject) for _ in range(2)) < _MOST


def test_a_text_that_nearly_matches_is_read_at_once() -> None:
    # With each digit, a backtracking pattern takes twice as long.
    assert min(seconds(is_prerelease, f"v1.0-rc{'1' * 24}x") for _ in range(2)) < _MOST
    for provider in PROVIDERS:
        assert min(seconds(partial(_read, provider), f"a{' ' * 20_000}b") for _ in range(2)) < _MOST
    # No code host limits the tags of its deliveries: at 1 MB, the square of the length took minutes.
    assert min(seconds(breaks_of, "1." * 30_000) for _ in range(2)) < _MOST


@pytest.mark.slow("measures processor time over long texts")
def test_a_quadratic_function_is_found() -> None:
    def quadratic(text: str) -> int:
        return sum(text.count(char) for char in text)

    with pytest.raises(pytest.fail.Exception):
        check("quadratic", quadratic, lambda size: "a" * size, short=_SHORT, cheap=0)
