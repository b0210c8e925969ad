"""Foreign text has no effect in the service's HTML, in each content type."""

import re
from typing import Final

import pytest
from attrs import evolve
from hypothesis import example, given, settings
from hypothesis import strategies as st
from writing_samples import brand, brief, commit, push, release, rendered, written

from contentsvc_core.content.brand import ToneProfile
from contentsvc_core.content.forms import write_content
from contentsvc_core.content.forms.social_posts import inactive, inert, plain_url
from contentsvc_core.content.plain import text_of
from contentsvc_core.content.posts import PLAIN_TYPES, ContentType
from contentsvc_core.content.writing import Chapter, Silence
from contentsvc_core.events.normalized import Author, Event
from contentsvc_core.text import one_line

_HOSTILE: Final = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<a href='javascript:alert(1)' onclick=alert(1)>x</a>",
    "[click](javascript:alert(1))",
    "[click](data:text/html;base64,PHNjcmlwdD4=)",
    "![pixel](https://evil.example/p.png)",
    "[ref]: https://evil.example",
    "<https://evil.example> www.evil.example https://evil.example/a_b_c",
    "\u202eevil\u2066 `code` ``double`` `open",
    "# heading\n===\n- item\n| a | b |\n|---|---|",
    "*bold* **strong** __strong__ _em_ ~~gone~~ ***",
    "&lt;b&gt; &#60;script&#62; &#x3c; \\<b>",
    "<!-- hidden --> <![CDATA[x]]> <?php ?> <!doctype html>",
    ") ](x) [y](z) ]( javascript:x",
    "{0} {text} {n!r} %s",
)
_PIECES: Final = st.sampled_from(
    [*"`*_[]()<>!#|~\\&;:=+-.1 a\"'@{}$^/\n\té\u202e", *_HOSTILE, "javascript:", "data:", "http://"]
)
_TEXTS: Final = st.lists(_PIECES, max_size=12).map("".join)
_TAGS: Final = frozenset(
    {
        *("a", "blockquote", "br", "code", "em", "h2", "h3", "h4", "li", "p", "strong", "ul"),
        *("table", "tbody", "td", "th", "thead", "tr"),
    }
)
_ATTRIBUTES: Final = frozenset({("a", "href"), ("a", "rel")})
_SERVICE_LINKS: Final = re.compile(r"https://(?:codehost\.example/acme/(?:kettle|lid)(?:/.*)?|acme\.example/?)")


@pytest.mark.slow("a short campaign over generated examples")
@pytest.mark.parametrize("content_type", ContentType)
@given(subject=_TEXTS, body=_TEXTS, name=_TEXTS, text=_TEXTS, tone=st.sampled_from(ToneProfile))
@settings(max_examples=40)
@example(subject="1", body="1", name="", text="", tone=ToneProfile.CONVERSATIONAL)
@example(
    subject=" ".join(_HOSTILE), body="\n\n".join(_HOSTILE), name=_HOSTILE[1], text=_HOSTILE[3], tone=ToneProfile.CASUAL
)
def test_no_foreign_text_becomes_a_tag_an_attribute_or_an_address(
    content_type: ContentType, subject: str, body: str, name: str, text: str, tone: ToneProfile
) -> None:
    author = Author(name=name, email="")
    pushed = push(
        commit(f"feat({text}): {subject}\n\n{body}", author=author, sha="a1" * 20),
        commit(f"fix!: {subject}\n\nBREAKING CHANGE: {body}", author=author, sha="b2" * 20),
        commit(f"{subject}\n\nAdds {body}.", author=author, sha="c3" * 20),
    )
    language = "English" if content_type in PLAIN_TYPES else "French"
    voice = brand(company=text, description=body, audience=subject, language=language, tone=tone)
    events: dict[str, tuple[Event, ...]] = {
        "acme/kettle": (release(text, prerelease=True), pushed, release(subject), push(f"fix: {text} later")),
        f"acme/{text}": (push(f"security: {body}"),),
    }
    chapters = [Chapter(repository=name, events=each) for name, each in events.items()]
    draft = write_content(evolve(brief(content_type, brand=voice), chapters=chapters))
    if isinstance(draft, Silence):
        return
    seen = rendered(draft.markdown)
    assert seen.tags <= _TAGS
    assert {(tag, name) for tag, each in seen.seen for name in each} <= _ATTRIBUTES
    assert all(_SERVICE_LINKS.fullmatch(address) for address in seen.values("href", "src"))
    assert re.search("[\u202a-\u202e\u2066-\u2069]", draft.title + draft.markdown) is None


@pytest.mark.parametrize("content_type", ContentType)
@pytest.mark.parametrize("text", _HOSTILE)
def test_what_was_meant_is_what_is_read(content_type: ContentType, text: str) -> None:
    line = f"Ring {one_line(text, 400)} done"
    assert _letters(line) in _letters(rendered(written(content_type, f"feat: {line}").markdown).text)


def _letters(text: str) -> str:
    """Return a text without the signs of code, of addresses and of mentions, and spaces."""
    return re.sub(r"[\s`\[\]@#$\uff20\uff03]+", "", text)


@given(_TEXTS)
@settings(max_examples=100)
@example("*a _b_ [c](d) <e> `f` https://evil.example @ada #tag")
def test_plain_text_reads_the_same_with_and_without_a_renderer(text: str) -> None:
    line = one_line(text, 200)
    seen = rendered(f"• {inert(line)}")
    assert seen.tags == {"p"}
    assert _letters(seen.text) == _letters(f"• {line}")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("see https://evil.example/x.y", "see https[:]//evil[.]example/x[.]y"),
        ("www.evil.zz or evil.com/x", "www[.]evil[.]zz or evil[.]com/x"),
        ("good.com.evil.com or evil.com.Yes", "good[.]com[.]evil[.]com or evil[.]com[.]Yes"),
        ("caf\u0301.com, \u201cevil.com\u201d", "caf\u0301[.]com, \u201cevil[.]com\u201d"),
        ("update README.md and v1.5", "update README.md and v1.5"),
        ("ask @everyone, fix #12 of x@v4", "ask everyone, fix #12 of x@v4"),
        ("for #anything, A#b and $cash", "for anything, A#b and cash"),
        ("\uff20ada \uff03b", "ada b"),
        ("@\u200beveryone, #\u200db, evil.\u2060com", "everyone, b, evil[.]com"),
    ],
)
def test_places_that_look_for_addresses_and_names_find_none(text: str, shown: str) -> None:
    assert inactive(text) == shown
    assert rendered(inert(text)).text.strip() == shown
    assert text_of(inert(text)) == shown


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://h.example/a/_b_/*c*/~d~", "https://h.example/a/%5Fb%5F/%2Ac%2A/%7Ed%7E"),
        ("https://h.example/a?b=1&amp;copy=2", "https://h.example/a?b=1&copy=2"),
        ("https://h.example", "https://h.example"),
    ],
)
def test_an_address_in_plain_text_is_what_it_was_after_rendering(url: str, shown: str) -> None:
    assert plain_url(url) == shown
    assert rendered(plain_url(url)).text.strip() == shown
    assert rendered(plain_url(url)).tags == {"p"}
