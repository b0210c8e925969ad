"""A page's metadata, and the proposed brand identity."""

from typing import Any
from unicodedata import category

import pytest
from attrs import evolve
from hypothesis import example, given
from hypothesis import strategies as st

from contentsvc_core.content.brand import NAME_LIMIT, TEXT_LIMIT, ToneProfile
from contentsvc_core.content.pages import SiteFacts, decode_page, site_facts
from contentsvc_core.content.site_brands import BrandProposal, propose_brand

PAGE = """<!DOCTYPE html>
<html lang='en-GB'><head>
<!-- <title>not this</title> -->
<title>
  Pricing &mdash; Acme
</title>
<META NAME=Description content="Lamps &amp; buoys,
 for engineering teams">
<meta property="og:site_name" content="Acme &#8217;s">
<meta content="before its name" property="og:description">
<meta name="description" content="the second one does not count">
<style>h1 { content: "<h1>no</h1>" }</style>
<script>document.write("<h1>no</h1>")</script>
<script type="application/ld+json">{"@context": "https://schema.org", "@graph": [
  {"@type": "WebSite", "name": "The site"},
  {"@type": ["Organization"], "name": "Acme Ltd", "description": "Lamps since 1880"}]}</script>
</head><body><svg><title>an icon</title></svg>
<h1 class="a>b">We <em>light</em>&nbsp;the&#0; way</h1><h2></h2><h3>Third</h3><h4>no</h4>
"""


def test_a_page_is_read() -> None:
    assert site_facts(PAGE) == SiteFacts(
        title="Pricing — Acme",
        description="Lamps & buoys, for engineering teams",
        site_name="Acme ’s",  # noqa: RUF001  # the site's
        shared_description="before its name",
        language="en-GB",
        headings=["We light the\ufffd way", "Third"],
        organization_name="Acme Ltd",
        organization_description="Lamps since 1880",
    )


@pytest.mark.parametrize(
    ("body", "content_type", "text"),
    [
        ("Ä".encode(), "text/html", "Ä"),
        ("Ä".encode("latin-1"), "text/html; charset=ISO-8859-1", "Ä"),
        (b'<meta charset="windows-1252">\x80', "text/html", '<meta charset="windows-1252">€'),
        ("Ä".encode("utf-16"), "text/html; charset=latin-1", "Ä"),
        ("\ufeffÄ".encode(), "text/html; charset=latin-1", "Ä"),
        ("灯".encode("shift_jis"), "text/html; charset=Shift_JIS", "灯"),
        (b"\xff", "text/html", "\ufffd"),
        # What Python calls codecs, and a page could ask for.
        (b"abc", "text/html; charset=rot13", "abc"),
        (b"abc", "text/html; charset=zlib", "abc"),
        (b"abc", "text/html; charset=unicode_escape", "abc"),
        (b"abc", "text/html; charset=punycode", "abc"),
        (b"abc", "text/html; charset=nonsense", "abc"),
        ("Ä".encode("utf-16-be"), "text/html; charset = 'UTF-16BE'", "Ä"),
        (b"\xfe\xff" + "Ä".encode("utf-16-be"), "", "Ä"),
        (b"\x80", "text/html; charset=ascii", "€"),
        (b" " * 1_008 + b"charset=koi8-r \xc1", "", " " * 1_008 + "charset=koi8-r а"),  # noqa: RUF001
        (b" " * 1_024 + b"charset=koi8-r \xc1", "", " " * 1_024 + "charset=koi8-r \ufffd"),
        ("Ä".encode(), "text/html; charset=utf-7", "Ä"),
    ],
)
def test_a_page_is_decoded_by_its_declared_charset(body: bytes, content_type: str, text: str) -> None:
    assert decode_page(body, content_type) == text


_PIECES = st.sampled_from(
    [
        *(
            "<",
            ">",
            "</",
            "<!--",
            "-->",
            "<title>",
            "</title>",
            "<h1>",
            "</h1 >",
            "<meta ",
            "<html lang=",
            '"',
            "'",
            "=",
        ),
        *("<script type=application/ld+json>", "</script>", '{"@type":"Organization","name":', '"x"}', "[" * 2_000),
        *("&#", "9" * 5_000, ";", "&#x110000;", "&#xD800;", "&amp", "\x00", "\ud800", " " * 50, "og:title", "content="),
        *("<svg>", "</svg>", "<textarea>", "\u202e", "name=description ", "<![CDATA["),
    ]
)


@given(st.lists(_PIECES | st.text(max_size=8), max_size=60).map("".join))
@example("<h1>&#" + "9" * 5_000 + ";</h1>")
def test_no_page_makes_its_reader_fail(html: str) -> None:
    facts = site_facts(html)
    proposal = propose_brand(facts, "acme.example")

    texts = [*facts.headings, facts.title, facts.description, facts.language, proposal.audience, proposal.company_name]
    for text in (*texts, proposal.name, proposal.company_description):
        if text is not None:
            assert 1 <= len(text) <= TEXT_LIMIT
            # One line that every store can hold.
            assert not {category(char) for char in text} & {"Cc", "Cs", "Zl", "Zp"}
    assert len(proposal.name) <= NAME_LIMIT


def proposed(html: str, host: str = "www.acme.example", name: str | None = None) -> BrandProposal:
    return propose_brand(site_facts(html), host, name=name)


@pytest.mark.parametrize(
    ("title", "company"),
    [
        ("Acme | Lamps", "Acme"),
        ("Lamps for the sea - ACME", "ACME"),
        ("Acme: lamps", "Acme"),
        ("Lamps and buoys", None),
        ("Zenith | Lamps", None),
    ],
)
def test_a_part_of_the_title_that_matches_the_host_is_the_name(title: str, company: str | None) -> None:
    brand = proposed(f"<title>{title}</title>")

    assert brand.company_name == company
    assert brand.name == (company or "acme.example")


@pytest.mark.parametrize(
    ("html", "tone"),
    [
        ("<h1>Ship it! Now!</h1>", ToneProfile.CASUAL),
        ("<h1>Lamps 🎉🚀</h1>", ToneProfile.CASUAL),
        ("<h1>You’ll love it</h1><h2>We don't sleep</h2>", ToneProfile.CONVERSATIONAL),  # noqa: RUF001
        ("<h1>You'll love it</h1>", ToneProfile.PROFESSIONAL),
        ("<html lang=de><h1>Los! Los!</h1>", ToneProfile.PROFESSIONAL),
    ],
)
def test_a_tone_needs_evidence(html: str, tone: ToneProfile) -> None:
    assert proposed(html).tone_profile is tone


@pytest.mark.parametrize(
    ("html", "language"),
    [
        ("<html lang=de-AT>", "German"),
        ("<html lang='zh_Hans'>", "Chinese"),
        ("<meta property=og:locale content=pt_BR>", "Portuguese"),
        ("<html lang=x-klingon><meta property=og:locale content=fr_FR>", "French"),
        ("<html lang=''>", None),
    ],
)
def test_a_language_is_known_by_its_tag(html: str, language: str | None) -> None:
    assert proposed(html).language == language


def test_an_audience_is_in_the_sites_own_words() -> None:
    assert proposed("<h1>The lamp for busy harbour operators</h1>").audience == "busy harbour operators"
    assert proposed("<h1>Built for the sea by operators</h1>").audience is None


def _json(text: str) -> str:
    return f'<script type="application/ld+json">{text}</script>'


def _acme(inner: str = "") -> str:
    return f'{{"@type": "Organization", "name": "Acme"{inner}}}'


@pytest.mark.parametrize(
    ("html", "facts"),
    [
        ("<html lang=en><html lang=de>", {"language": "en"}),
        ("<html lang=''><html lang=de>", {}),
        ("<meta property=og:title content=A><meta name=og:title content=B>", {"shared_title": "A"}),
        ("<meta name=' OG:Locale ' content=de_DE>", {"locale": "de_DE"}),
        ("<meta property=og:site_name name=description content=A>", {"site_name": "A"}),
        ("<meta property='' name=description content=A>", {"description": "A"}),
        ("<meta name=description content=' '><meta name=description content=B>", {"description": "B"}),
        ("<meta name=author content=A><meta name=og:description content=B>", {"shared_description": "B"}),
        ("<title> </title><title>A</title><title>B</title>", {"title": "A"}),
        ("<title>a <b>bold</b>&amp;\n c</title>", {"title": "a bold & c"}),
        ("<TITLE >A</Title\n>", {"title": "A"}),
        ("<titles>A</titles><h1x>B</h1x>", {}),
        ("<!-- <h1>no</h1> --><h1>A</h1>", {"headings": ["A"]}),
        ("<h1>A</h1><!-- <h1>no</h1>", {"headings": ["A"]}),
        ("<h1>A<h1>B</h1>", {"headings": ["A B"]}),
        ("<h1>A</h2></h1><h2></h2><h3>C</h3>", {"headings": ["A", "C"]}),
        ('<h1 title="a>b" id=\'c>d\'>A</h1>', {"headings": ["A"]}),
        ('<meta name="description" name="og:title" content="A" content="B">', {"description": "A"}),
        ("<meta name=description content=a&quot;b>", {"description": 'a"b'}),
        ("<style><h1>no</h1></style><h1>A</h1>", {"headings": ["A"]}),
        ("<h1>A</h1><style><h1>no</h1>", {"headings": ["A"]}),
        ("<textarea><h1>no</h1></textarea><noscript><h1>no</h1></noscript><template><h1>no</h1></template>", {}),
        ("<svg><title>no</title></svg ><title>A</title>", {"title": "A"}),
        ("".join(f"<h2>{n}</h2>" for n in range(21)), {"headings": [str(n) for n in range(20)]}),
        (f"<h1>{'x' * 4_000}</h1>", {"headings": ["x" * 1_999 + "…"]}),
        (f"<h1>{'x' * 4_100}</h1><h2>B</h2>", {"headings": ["B"]}),
        (f"<h1 class={'x' * 8_100}>A</h1>", {"headings": ["A"]}),
        (f"<h1 class={'x' * 8_200}>A</h1><h2>B</h2>", {"headings": ["B"]}),
        (_json(_acme()), {"organization_name": "Acme"}),
        (_json(_acme(', "description": "Lamps &amp; more"')), {
            "organization_name": "Acme", "organization_description": "Lamps & more",
        }),
        (_json('[{"@type": "NGO", "name": " "}, {"@type": ["x", "PROJECT"], "name": "B"}]'), {
            "organization_name": "B",
        }),
        (_json(f'{{"publisher": {_acme()}}}'), {"organization_name": "Acme"}),
        (_json(f'{{"mainEntity": {_acme()}}}'), {"organization_name": "Acme"}),
        (_json(f'{{"author": {_acme()}}}'), {}),
        (_json('{"@type": "Organization", "name": 7}') + _json(_acme()), {"organization_name": "Acme"}),
        (_json(_acme()) + _json('{"@type": "NGO", "name": "B", "description": "C"}'), {"organization_name": "Acme"}),
        (_json('{"@type": "Person", "name": "Ada"}'), {}),
        (_json(f"[[[[{_acme()}]]]]"), {"organization_name": "Acme"}),
        (_json(f"[[[[[{_acme()}]]]]]"), {}),
        (_json(f"[{'1,' * 198}{_acme()}]"), {"organization_name": "Acme"}),
        (_json(f"[{'1,' * 199}{_acme()}]"), {}),
        (_json("no json") * 4 + _json(_acme()), {"organization_name": "Acme"}),
        (_json("no json") * 5 + _json(_acme()), {}),
        (f'<script type=" Application/LD+json ">{_acme()}</script>', {"organization_name": "Acme"}),
        (f"<script>{_acme()}</script>", {}),
    ],
)  # fmt: skip
def test_the_facts_of_a_page_are_read(html: str, facts: dict[str, Any]) -> None:
    assert site_facts(html) == SiteFacts(**facts)


_PROPOSED = BrandProposal(
    name="acme.example",
    company_name=None,
    company_description=None,
    tone_profile=ToneProfile.PROFESSIONAL,
    audience=None,
    language=None,
)


@pytest.mark.parametrize(
    ("facts", "name", "proposed"),
    [
        (
            SiteFacts(
                title="The lamp for small teams",
                description="You'll see. It isn't dark.",
                site_name="Lamps",
                organization_name="Acme",
                shared_description="no",
                headings=["One", "Two"],
                language="en_GB",
            ),
            None,
            BrandProposal(
                name="Acme",
                company_name="Acme",
                company_description="You'll see. It isn't dark.",
                tone_profile=ToneProfile.CONVERSATIONAL,
                audience="small teams",
                language="English",
            ),
        ),
        (
            SiteFacts(shared_title="Acme Lamps \u2014 lights", headings=["Hey folks", "Two"], locale="de_DE"),
            "Mine",
            evolve(_PROPOSED, name="Mine", company_description="Hey folks", language="German"),
        ),
        (
            SiteFacts(title="Home: acme", site_name=None, shared_description="Shared", language="xx"),
            None,
            evolve(_PROPOSED, name="acme", company_name="acme", company_description="Shared"),
        ),
        (
            SiteFacts(organization_description="By data", headings=["Hello"]),
            None,
            evolve(_PROPOSED, company_description="By data"),
        ),
    ],
)
def test_an_identity_is_proposed_field_by_field(facts: SiteFacts, name: str | None, proposed: BrandProposal) -> None:
    assert propose_brand(facts, "www.acme.example", name=name) == proposed
