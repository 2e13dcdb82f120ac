"""Which IP addresses a tool may talk to: only public ones, whatever a name or another notation makes of them."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

_NAT64 = ip_network("64:ff9b::/96")
_CARRIER = ip_network("100.64.0.0/10")
_PUBLIC_V6 = ip_network("2000::/3")
_COMPATIBLE = ip_network("::/96")
_TRANSLATED = ip_network("::ffff:0:0:0/96")
_SPECIAL = tuple(
    ip_network(one) for one in ("168.63.129.16/32", "192.0.0.0/24", "192.88.99.0/24", "3fff::/20", "2001:db8::/32")
)
"""Public by their numbers and served by the machine's own surroundings (a cloud's agent), by a relay, or by nobody."""


def refusal(address: str) -> str:
    """Say why an address is not public, "" when it is.

    Args:
        address: as the resolver gives it; a zone behind `%` is dropped.
    """
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return "no IP address"
    inner = _carried(found)
    if inner is not None:
        return refusal(str(inner))
    checks = {
        "this machine itself": found.is_loopback or found.is_unspecified,
        "link-local, where machines keep their metadata": found.is_link_local,
        "a multicast address": found.is_multicast,
        "inside a private network": found.is_private or not found.is_global or _is_inner(found),
    }
    return next((why for why, holds in checks.items() if holds), "")


def _carried(found: IPv4Address | IPv6Address) -> IPv4Address | None:
    """The IPv4 address that an IPv6 address stands for."""
    if isinstance(found, IPv4Address):
        return None
    if found in _NAT64 or found in _TRANSLATED or (found in _COMPATIBLE and int(found) > 1):
        return IPv4Address(int(found) & 0xFFFFFFFF)
    return found.ipv4_mapped or found.sixtofour or (found.teredo[1] if found.teredo else None)


def _is_inner(found: IPv4Address | IPv6Address) -> bool:
    """Whether an address leads nowhere in the public network although the standard library takes it for global."""
    if any(found in network for network in _SPECIAL):
        return True
    return found in _CARRIER if isinstance(found, IPv4Address) else found not in _PUBLIC_V6
