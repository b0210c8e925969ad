"""The addresses at which a site may be read: protects against requests to internal networks (SSRF)."""

import re
from collections.abc import Collection
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final, final
from urllib.parse import urlsplit

from attrs import frozen

from contentsvc_core.content.brand import TEXT_LIMIT
from contentsvc_core.refusals import Refusal, invalid

IPAddress = IPv4Address | IPv6Address

_PORTS: Final = {"http": 80, "https": 443}
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
#: Spaces and controls, and characters that some readers treat as a slash.
_UNSAFE: Final = re.compile(
    "[\x00-\x20\x7f-\xa0\u1680\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff\ud800-\udfff\\\\]"
)
_NAME: Final = re.compile(r"[\w-]{1,63}(?:\.[\w-]{1,63})*")
_NAME_LIMIT: Final = 253
#: A last label of digits alone: some resolvers read "127.1", "0x7f.1" and "2130706433" as IP addresses.
_NUMERIC: Final = re.compile(r"(?:[0-9]+|0[xX][0-9a-fA-F]*)")

# The IANA's registries of special-purpose addresses (RFC 6890 and its successors), as of 2026. The table in the module
# ipaddress differs between the Python versions that we support.
_V4_CLOSED: Final = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this network (RFC 791)
        "10.0.0.0/8",  # private (RFC 1918)
        "100.64.0.0/10",  # shared by carriers (RFC 6598); some clouds keep their metadata there
        "127.0.0.0/8",  # loopback (RFC 1122)
        "168.63.129.16/32",  # public by its number; a large cloud answers its own machines there
        "169.254.0.0/16",  # link-local (RFC 3927); most clouds keep their metadata there
        "172.16.0.0/12",  # private (RFC 1918)
        "192.0.0.0/24",  # protocol assignments (RFC 6890)
        "192.0.2.0/24",  # documentation (RFC 5737)
        "192.88.99.0/24",  # relays for 6to4 (RFC 7526)
        "192.168.0.0/16",  # private (RFC 1918)
        "198.18.0.0/15",  # benchmarks (RFC 2544)
        "198.51.100.0/24",  # documentation (RFC 5737)
        "203.0.113.0/24",  # documentation (RFC 5737)
        "224.0.0.0/4",  # multicast (RFC 5771)
        "240.0.0.0/4",  # reserved (RFC 1112), and broadcast
    )
)
#: The only allocated unicast range (RFC 4291, section 2.4). Loopback, link-local, unique local, IPv4-mapped and
#: multicast addresses are outside.
_V6_OPEN: Final = IPv6Network("2000::/3")
_V6_CLOSED: Final = tuple(
    IPv6Network(network)
    for network in (
        "2001::/23",  # protocol assignments (RFC 2928), Teredo among them, which carries an IPv4 address
        "2001:db8::/32",  # documentation (RFC 3849)
        "2002::/16",  # 6to4 (RFC 3056), which carries an IPv4 address
        "3fff::/20",  # documentation (RFC 9637)
    )
)
#: Networks without IPv4 reach a public IPv4 address here (RFC 6052): the embedded address is checked.
_V6_TRANSLATED: Final = IPv6Network("64:ff9b::/96")


@final
@frozen(kw_only=True)
class SiteHost:
    """A host and port that an operator has allowed, whatever its IP addresses."""

    host: str
    port: int


@final
@frozen(kw_only=True)
class SiteAddress:
    scheme: str
    #: A name in lower case, or an IP address; IPv6 without brackets.
    host: str
    port: int
    target: str
    #: An operator has allowed the host: its IP addresses need not be public.
    opened: bool = False

    @property
    def authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.authority}{self.target}"


def is_public(address: IPAddress) -> bool:
    """Check whether an address is globally reachable, by the IANA's registries."""
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _V4_CLOSED)
    if address in _V6_TRANSLATED:
        return is_public(IPv4Address(int(address) & 0xFFFFFFFF))
    if address.scope_id is not None:
        return False
    return address in _V6_OPEN and not any(address in network for network in _V6_CLOSED)


def with_scheme(text: str) -> str:
    """Return a website as an address; without a scheme, ``https`` is added."""
    return text if not text or _SCHEME.match(text) else f"https://{text}"


def read_site_address(
    text: str, opened: Collection[SiteHost] = (), setting: str = "CONTENTSVC_SITE_HOSTS"
) -> SiteAddress | Refusal:
    """Read the address of a page, with all checks without name resolution; only ``opened`` hosts have other ports.

    ``setting`` opens hosts; refusals name it.
    """
    if not text or len(text) > TEXT_LIMIT:
        return invalid(None, f"must be 1 to {TEXT_LIMIT} characters long")
    if _UNSAFE.search(text):
        return invalid(None, "must not hold spaces, control characters or backslashes")
    try:
        parts = urlsplit(text)
        scheme, host, port = parts.scheme, parts.hostname or "", parts.port
    except ValueError:
        return invalid(None, "is not an address such as https://acme.example: check its host and port")
    if scheme not in _PORTS:
        return invalid(None, "must begin with http:// or https://")
    if "@" in parts.netloc:
        return invalid(None, "must not hold a user name or password: remove what stands before '@'")
    host = host.lower().removesuffix(".")
    target = f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}"
    port = _PORTS[scheme] if port is None else port
    is_opened = SiteHost(host=host, port=port) in opened
    refused = None if is_opened else _refused(host, port, setting, in_brackets="[" in parts.netloc)
    if refused is not None:
        return invalid(None, refused)
    return SiteAddress(scheme=scheme, host=host, port=port, target=target, opened=is_opened)


def read_site_hosts(text: str) -> frozenset[SiteHost]:
    """Read an operator's list of allowed hosts: ``host`` (its ports 80 and 443) or ``host:port``, separated by commas.

    Raises:
            ValueError: An entry is invalid; the message quotes it.
    """
    hosts: set[SiteHost] = set()
    for entry in filter(None, (part.strip() for part in text.split(","))):
        read = _host_and_port(entry)
        if read is None:
            message = f"'{entry}' is no host, and no host:port"
            raise ValueError(message)
        host, port = read
        hosts |= {SiteHost(host=host, port=each) for each in ((port,) if port else _PORTS.values())}
    return frozenset(hosts)


def _host_and_port(entry: str) -> tuple[str, int | None] | None:
    try:
        parts = urlsplit(f"//{entry}")
        host, port = (parts.hostname or "").lower().removesuffix("."), parts.port
    except ValueError:
        return None
    usable = _number(host) is not None or _NAME.fullmatch(host) is not None
    return (host, port) if usable and port != 0 and parts.netloc == entry and "@" not in entry else None


def _refused(host: str, port: int, setting: str, *, in_brackets: bool) -> str | None:
    number = _number(host)
    if number is not None:
        if not is_public(number):
            return _not_public(host, setting)
    elif (
        in_brackets
        or len(host) > _NAME_LIMIT
        or _NAME.fullmatch(host) is None
        or _NUMERIC.fullmatch(host.rpartition(".")[2])
    ):
        return "must name a host"
    elif "." not in host:
        # A single label names a machine of the local network.
        return _not_public(host, setting)
    if port not in _PORTS.values():
        return f"must not name a port other than 80 and 443, unless {setting} has {host}:{port}"
    return None


def _not_public(host: str, setting: str) -> str:
    return f"must be the address of a public site, which '{host}' is not, unless {setting} has that host"


def _number(host: str) -> IPAddress | None:
    try:
        return ip_address(host)
    except ValueError:
        return None
