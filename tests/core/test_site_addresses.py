"""The addresses at which a site may be read."""

import re
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.refusals import accepted, the_refusal

from contentsvc_core.content.site_addresses import SiteAddress, SiteHost, is_public, read_site_address, read_site_hosts
from contentsvc_core.refusals import Refusal

_NO_SPACES = "must not hold spaces, control characters or backslashes"
_PUBLIC = "must be the address of a public site"
#: The IANA's registries of special-purpose addresses, all that is not "globally reachable", and what else is no
#: site's: multicast, reserved, and addresses that carry other ones. Written here once more, by hand.
CLOSED = [
    *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24"),
    *("192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24"),
    *("224.0.0.0/4", "240.0.0.0/4", "255.255.255.255/32", "168.63.129.16/32"),
    *("::/128", "::1/128", "::/96", "::ffff:0:0/96", "64:ff9b:1::/48", "100::/64", "2001::/32", "2001:2::/48"),
    *("2001:10::/28", "2001:20::/28", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10"),
    *("fec0::/10", "ff00::/8", "4000::/2"),
]


def _within(network: str) -> st.SearchStrategy[IPv4Address | IPv6Address]:
    return st.ip_addresses(network=network)


@given(st.sampled_from(CLOSED).flatmap(_within))
@example(IPv4Address("169.254.169.254"))
@example(IPv4Address("100.100.100.200"))
@example(IPv6Address("fd00:ec2::254"))
def test_no_special_address_is_public(address: IPv4Address | IPv6Address) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("network", CLOSED)
def test_the_ends_of_a_special_range_are_not_public(network: str) -> None:
    parsed: IPv4Network | IPv6Network = ip_network(network)
    assert not is_public(parsed[0])
    assert not is_public(parsed[-1])


@given(st.ip_addresses())
def test_a_public_address_is_global_for_python_too(address: IPv4Address | IPv6Address) -> None:
    # Most examples are drawn from special ranges: an assumption would sometimes leave too few.
    if is_public(address):
        assert address.is_global
        assert not address.is_multicast
        assert not address.is_reserved or address in IPv6Network("64:ff9b::/96")


@given(st.ip_addresses(v=4))
def test_an_address_that_carries_another_one_is_as_good_as_that(address: IPv4Address) -> None:
    translated = IPv6Address(int(IPv6Address("64:ff9b::")) + int(address))

    assert is_public(translated) is is_public(address)
    assert not is_public(IPv6Address(f"::ffff:{address}"))
    assert not is_public(IPv6Address((0x2002 << 112) + (int(address) << 80)))


@pytest.mark.parametrize(
    "text", ["8.8.8.8", "93.184.216.34", "2606:4700::1111", "2a00:1450:4001::200e", "64:ff9b::808:808"]
)
def test_ordinary_addresses_are_public(text: str) -> None:
    assert is_public(ip_address(text))


#: Texts that are no address of a public site, by the beginning of the reason; with several, the parser chooses.
_INVALID: Final[dict[str, tuple[str, ...]]] = {
    "must be 1 to 2000 characters long": ("", "https://acme.example/" + "a" * 1_980),
    "must begin with http:// or https://": (
        *("acme.example", "//acme.example", "ftp://acme.example", "file:///etc/passwd", "gopher://acme.example"),
        *("javascript:alert(1)",),
    ),
    "must name a host": (
        *("https://", "https://[v1.acme.example]/", "https:///path", "https://a..example/", "https://%61cme.example/"),
        *("https://" + "a" * 64 + ".example/", "http://127.1/", "http://2130706433/", "http://0x7f000001/"),
        *("http://0x7f.1/", "http://0177.0.0.1/", "https://" + "a." * 126 + "aa"),
    ),
    "must not hold a user name or password": (
        *("https://user:secret@acme.example/", "https://acme.example@evil.example/"),
    ),
    _NO_SPACES: (
        *("https://acme.example\\@evil.example/", "https://acme.example/ a", "https://acme.example/\n"),
        *(" https://acme.example/", "https://acme.example\u3000/", "https://acme\u200b.example/"),
    ),
    "must not name a port other than 80 and 443": ("https://acme.example:22/", "https://acme.example:81/"),
    "is not an address": ("https://acme.example:99999/", "https://acme.example:x/", "https://[::1/"),
    "is not an address|must name a host": ("https://[acme.example]/",),
    _PUBLIC: (
        *("http://127.0.0.1/", "http://127.0.0.1./", "http://169.254.169.254/latest/meta-data", "http://[::1]/"),
        *("http://[::ffff:127.0.0.1]/", "http://localhost/", "http://intranet/", "https://10.0.0.1/"),
    ),
    f"is not an address|must name a host|{_PUBLIC}": ("http://[fe80::1%25eth0]/",),
}


@pytest.mark.parametrize(("text", "reason"), [(text, reason) for reason, texts in _INVALID.items() for text in texts])
def test_an_invalid_site_address_is_refused(text: str, reason: str) -> None:
    site = the_refusal(read_site_address(text))

    assert site.message("it").removeprefix("it ").startswith(tuple(reason.split("|")))


@pytest.mark.parametrize("zone", ["{setting:>9999}", "{0}", "{setting.__class__}", "{"])
def test_the_zone_of_an_address_is_quoted_and_never_a_template(zone: str) -> None:
    # With a width of some gigabytes, a template of one line takes all memory.
    site = the_refusal(read_site_address(f"http://[fe80::1%{zone}]/"))

    assert f"'fe80::1%{zone}' is not, unless CONTENTSVC_SITE_HOSTS has that host" in site.message("it")


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


@given(st.text() | st.text().map("https://".__add__) | st.text("[]:@/\\%.0x1a?#", max_size=12).map("http://".__add__))
def test_reading_an_address_never_raises_and_never_lets_a_private_number_pass(text: str) -> None:
    site = read_site_address(text)

    if isinstance(site, SiteAddress):
        assert site.scheme in {"http", "https"}
        assert site.port in {80, 443}
        assert "@" not in site.authority
        # Reading the result again does not change it.
        assert read_site_address(site.url) == site


def test_an_operator_opens_hosts_at_their_ports_alone() -> None:
    opened = read_site_hosts(" Intranet., 127.0.0.1:8080 ,,[::1]:81")

    assert opened == {
        SiteHost(host="intranet", port=80),
        SiteHost(host="intranet", port=443),
        SiteHost(host="127.0.0.1", port=8080),
        SiteHost(host="::1", port=81),
    }
    for url in ("http://intranet/", "https://INTRANET/", "http://127.0.0.1:8080/", "http://[::1]:81/"):
        site = accepted(read_site_address(url, opened))
        assert site.opened
    for url in ("http://127.0.0.1/", "http://127.0.0.1:8081/", "http://intranet:8080/", "http://localhost:8080/"):
        assert isinstance(read_site_address(url, opened), Refusal)
    assert read_site_hosts("") == frozenset()


@pytest.mark.parametrize("text", ["http://intranet", "a b", "user@host", "host:0", "host:x", "host/path", "*", "[::1"])
def test_an_invalid_host_cannot_be_allowed(text: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(repr(text))} is no host, and no host:port$"):
        read_site_hosts(f"fine.example,{text}")
