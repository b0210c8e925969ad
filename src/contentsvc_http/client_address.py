"""The client address of a request: the address of the connection, or the one that a trusted proxy forwards."""

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final, Self, final

from attrs import field, frozen

_FORWARDED_FOR: Final = b"x-forwarded-for"
#: A household or a server gets at least this prefix: its 2^64 addresses count as one client.
_IPV6_PREFIX: Final = 64
_IPV6_BITS: Final = 128
_BY_PROXIES: Final = frozenset(
    {b"forwarded", b"via", b"x-forwarded-for", b"x-forwarded-host", b"x-forwarded-proto", b"x-real-ip"}
)
#: The address of a connection without one, such as a Unix socket.
_NOWHERE: Final = "unknown"


@final
@frozen
class Proxies:
    networks: tuple[IPv4Network | IPv6Network, ...] = field(default=(), converter=tuple)

    @classmethod
    def read(cls, text: str) -> Self:
        """Read addresses and networks, separated by commas; the message of the ``ValueError`` names an invalid one."""
        return cls([ip_network(part) for item in text.split(",") if (part := item.strip())])

    def client(self, connected: str | None, headers: Iterable[tuple[bytes, bytes]]) -> str:
        """Return the address for counting a request's sender: IPv4 in full, IPv6 by its first 64 bits.

        In ``X-Forwarded-For``, the first address from the right that is not a trusted proxy is the client.
        """
        address = None if connected is None else _address(connected)
        if address is None:
            return _NOWHERE
        for text in reversed(_forwarded(headers)):
            if not self._trusts(address):
                break
            forwarded = _address(text)
            if forwarded is None:
                break
            address = forwarded
        return _counted(address)

    def _trusts(self, address: IPv4Address | IPv6Address) -> bool:
        return any(address in network for network in self.networks)


def is_local(connected: str | None, headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Check whether a request comes from this machine, and its ``Host`` is a loopback address.

    Another host is DNS rebinding, or comes from a proxy. A proxy on this machine that adds no header and changes the
    host is not detected.
    """
    headers = tuple(headers)
    address = None if connected is None else _address(connected)
    if address is None or not address.is_loopback or any(name in _BY_PROXIES for name, _ in headers):
        return False
    hosts = [value.decode("latin-1") for name, value in headers if name == b"host"]
    if len(hosts) != 1:
        return False
    host = hosts[0].lower()
    if host.partition(":")[0] == "localhost":
        return True
    address = _address(host)
    return address is not None and address.is_loopback


def _forwarded(headers: Iterable[tuple[bytes, bytes]]) -> list[str]:
    """Return the addresses of all such headers: several headers are one list (RFC 9110, section 5.3)."""
    values = (value.decode("latin-1") for name, value in headers if name == _FORWARDED_FOR)
    return [part.strip() for value in values for part in value.split(",")]


def _address(text: str) -> IPv4Address | IPv6Address | None:
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ip_address(text)
    except ValueError:
        return None
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        # A socket for both families reports an IPv4 client in this form.
        return address.ipv4_mapped
    return address


def _counted(address: IPv4Address | IPv6Address) -> str:
    if isinstance(address, IPv4Address):
        return str(address)
    rest = _IPV6_BITS - _IPV6_PREFIX
    return f"{IPv6Address(int(address) >> rest << rest)}/{_IPV6_PREFIX}"
