"""Where a request comes from: the address of the connection, or what a proxy that is trusted says of it."""

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final, Self, final

from attrs import field, frozen

_FORWARDED_FOR: Final = b"x-forwarded-for"
#: What a household or a server is given at least: its 2^64 addresses are one client.
_IPV6_PREFIX: Final = 64
_IPV6_BITS: Final = 128
#: Headers that a proxy adds, if it adds any.
_BY_PROXIES: Final = frozenset(
    {b"forwarded", b"via", b"x-forwarded-for", b"x-forwarded-host", b"x-forwarded-proto", b"x-real-ip"}
)
#: A connection that has no address, such as one through a Unix socket.
_NOWHERE: Final = "unknown"


@final
@frozen
class Proxies:
    """The proxies whose word counts. There are none unless the operator names them."""

    networks: tuple[IPv4Network | IPv6Network, ...] = field(default=(), converter=tuple)

    @classmethod
    def read(cls, text: str) -> Self:
        """Read addresses and networks, separated by commas.

        Raises:
            ValueError: One of them is none; the message names it.
        """
        return cls([ip_network(part) for each in text.split(",") if (part := each.strip())])

    def client(self, connected: str | None, headers: Iterable[tuple[bytes, bytes]]) -> str:
        """Give the address that a request's sender is counted under: IPv4 in full, IPv6 by its first 64 bits.

        Each proxy adds to ``X-Forwarded-For`` the address that it was called from. Read from the right, the first one
        that is no proxy of ours is the client; what stands to its left the client may have written itself.

        Args:
            connected: The address of the connection; ``None``: it has none.
            headers: The request's, their names in lower case.
        """
        address = None if connected is None else _address(connected)
        if address is None:
            return _NOWHERE
        for text in reversed(_forwarded(headers)):
            if not self._trusts(address):
                break
            said = _address(text)
            if said is None:
                # Whatever it is, it was the last proxy that let it through.
                break
            address = said
        return _counted(address)

    def _trusts(self, address: IPv4Address | IPv6Address) -> bool:
        return any(address in network for network in self.networks)


def is_local(connected: str | None, headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Check whether a request comes from a client on this machine that no proxy speaks for, as far as that shows.

    A proxy on this machine is local as well, and its clients are not; a proxy that adds no header is not noticed.

    Args:
        connected: The address of the connection; ``None``: it has none.
        headers: The request's, their names in lower case.
    """
    address = None if connected is None else _address(connected)
    return address is not None and address.is_loopback and not any(name in _BY_PROXIES for name, _ in headers)


def asks_for_this_machine(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Check whether a request names this machine as a browser on it does: ``localhost`` or a loopback address.

    Another host is named by a site whose name was pointed at this machine (DNS rebinding), and by a proxy that passes
    its clients' ``Host`` on.
    """
    hosts = [value.decode("latin-1") for name, value in headers if name == b"host"]
    if len(hosts) != 1:
        return False
    host = hosts[0].lower()
    if host.partition(":")[0] == "localhost":
        return True
    address = _address(host)
    return address is not None and address.is_loopback


def _forwarded(headers: Iterable[tuple[bytes, bytes]]) -> list[str]:
    """Give the addresses of all such headers: several are one list (RFC 9110, section 5.3)."""
    said = (value.decode("latin-1") for name, value in headers if name == _FORWARDED_FOR)
    return [part.strip() for each in said for part in each.split(",")]


def _address(text: str) -> IPv4Address | IPv6Address | None:
    """Read an address; some proxies write its port behind it."""
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ip_address(text)
    except ValueError:
        return None
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        # What a socket for both families calls an IPv4 client.
        return address.ipv4_mapped
    return address


def _counted(address: IPv4Address | IPv6Address) -> str:
    if isinstance(address, IPv4Address):
        return str(address)
    rest = _IPV6_BITS - _IPV6_PREFIX
    return f"{IPv6Address(int(address) >> rest << rest)}/{_IPV6_PREFIX}"
