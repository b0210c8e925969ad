"""Web pages and addresses at their edges: broken, long and malicious pages."""

from typing import Any

import pytest

from contentsvc_core.content.brand import ToneProfile
from contentsvc_core.content.pages import SiteFacts, decode_page, site_facts
from contentsvc_core.content.site_addresses import SiteAddress, read_site_address, read_site_hosts
from contentsvc_core.content.site_brands import BrandProposal, propose_brand
from contentsvc_core.refusals import Refusal


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
def test_a_page_says_this_of_itself(html: str, facts: dict[str, Any]) -> None:
    assert site_facts(html) == SiteFacts(**facts)


@pytest.mark.parametrize(
    ("body", "content_type", "text"),
    [
        ("Ä".encode("utf-16-be"), "text/html; charset = 'UTF-16BE'", "Ä"),
        (b"\xfe\xff" + "Ä".encode("utf-16-be"), "", "Ä"),
        (b"\x80", "text/html; charset=ascii", "€"),
        (b" " * 1_008 + b"charset=koi8-r \xc1", "", " " * 1_008 + "charset=koi8-r а"),  # noqa: RUF001
        (b" " * 1_024 + b"charset=koi8-r \xc1", "", " " * 1_024 + "charset=koi8-r \ufffd"),
        ("Ä".encode(), "text/html; charset=utf-7", "Ä"),
    ],
)
def test_a_page_is_decoded_by_what_it_says_first(body: bytes, content_type: str, text: str) -> None:
    assert decode_page(body, content_type) == text


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
            BrandProposal(
                name="Mine",
                company_name=None,
                company_description="Hey folks",
                tone_profile=ToneProfile.PROFESSIONAL,
                audience=None,
                language="German",
            ),
        ),
        (
            SiteFacts(title="Home: acme", site_name=None, shared_description="Shared", language="xx"),
            None,
            BrandProposal(
                name="acme",
                company_name="acme",
                company_description="Shared",
                tone_profile=ToneProfile.PROFESSIONAL,
                audience=None,
                language=None,
            ),
        ),
        (
            SiteFacts(organization_description="By data", headings=["Hello"]),
            None,
            BrandProposal(
                name="acme.example",
                company_name=None,
                company_description="By data",
                tone_profile=ToneProfile.PROFESSIONAL,
                audience=None,
                language=None,
            ),
        ),
    ],
)
def test_an_identity_is_proposed_field_by_field(facts: SiteFacts, name: str | None, proposed: BrandProposal) -> None:
    assert propose_brand(facts, "www.acme.example", name=name) == proposed


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "must be 1 to 2000 characters long"),
        ("https://acme.example/" + "a" * 1_980, "must be 1 to 2000 characters long"),
        ("https://acme.example/ ", "must not hold spaces, control characters or backslashes"),
        ("https://acme.example:x/", "is not an address"),
        ("acme.example", "must begin with http:// or https://"),
        ("https://ada@acme.example", "must not hold a user name or password"),
        ("https://127.1/", "must name a host"),
        ("https://localhost/", "must be the address of a public site"),
        ("https://10.0.0.1/", "must be the address of a public site"),
        ("https://acme.example:81/", "must not name a port other than 80 and 443"),
        ("https://" + "a." * 126 + "aa", "must name a host"),
    ],
)
def test_an_address_is_refused_with_a_reason(text: str, reason: str) -> None:
    refused = read_site_address(text)
    assert isinstance(refused, Refusal)
    assert refused.message("it") == f"it {reason}"


@pytest.mark.parametrize(
    ("text", "site", "url"),
    [
        (
            "HTTP://Acme.Example.:443?a#b",
            SiteAddress(scheme="http", host="acme.example", port=443, target="/?a"),
            "http://acme.example:443/?a",
        ),
        (
            "https://[2606:4700::1111]:80/x?",
            SiteAddress(scheme="https", host="2606:4700::1111", port=80, target="/x"),
            "https://[2606:4700::1111]:80/x",
        ),
        (
            "https://" + "a." * 126 + "a",
            SiteAddress(scheme="https", host="a." * 126 + "a", port=443, target="/"),
            "https://" + "a." * 126 + "a/",
        ),
    ],
)
def test_an_address_is_read_part_by_part(text: str, site: SiteAddress, url: str) -> None:
    assert read_site_address(text) == site
    assert site.url == url
    assert isinstance(read_site_address("https://acme.example/" + "a" * 1_979), SiteAddress)


def test_what_cannot_be_opened_is_named() -> None:
    with pytest.raises(ValueError, match=r"^'host/path' is no host, and no host:port$"):
        read_site_hosts("fine, host/path")
