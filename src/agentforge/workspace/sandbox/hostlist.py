"""Which hosts commands may reach: exact names, `*.name`, addresses and ranges. Pure; nothing is resolved here."""

from __future__ import annotations

import ipaddress
import re

from agentforge.errors import ConfigError
from agentforge.frozen import dataclass

PORTS = (80, 443)
"""Ports of an entry that names none."""

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_NAME = re.compile(r"(?:\*\.)?(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


@dataclass(frozen=True, slots=True, kw_only=True)
class HostEntry:
    """One allowed host.

    Attributes:
        name: lower case, without a dot at the end; "" for an address.
        below: whether `*.` stood before it: every name below, not the name itself.
        network: the address or range; None for a name.
    """

    name: str = ""
    below: bool = False
    network: ipaddress.IPv4Network | ipaddress.IPv6Network | None = None
    ports: tuple[int, ...] = PORTS


@dataclass(frozen=True, slots=True, kw_only=True)
class HostList:
    """The entries of `sandbox.network`."""

    entries: tuple[HostEntry, ...]

    def refusal(self, host: str, port: int) -> str | None:
        """Say why a host may not be asked for, or None; a name is compared whole, never by how it begins or ends."""
        address = _address(host)
        name = normal(host)
        for entry in self.entries:
            if port in entry.ports and (_lists(entry, address) if address else _names(entry, name)):
                return None
        return f"{host}:{port} is not in sandbox.network"

    def address_refusal(self, address: str, port: int) -> str | None:
        """Say why the address that a name resolved to may not be connected to, or None.

        An address that is not public must be listed itself, or by its range.
        """
        asked = ipaddress.ip_address(address.partition("%")[0])
        if any(port in entry.ports and _lists(entry, asked) for entry in self.entries):
            return None
        found = _embedded(asked)
        if not found.is_global or found.is_multicast or found.is_reserved or found.is_loopback or found.is_link_local:
            return f"{address} is no public address and is not listed itself"
        return None


def parse(entries: tuple[str, ...]) -> HostList:
    """Read the entries of a setting.

    Raises:
        ConfigError: an entry is no host, address or range.
    """
    return HostList(entries=tuple(_entry(text) for text in entries))


def normal(host: str) -> str:
    """A host name as it is compared: lower case, no dot at the end, other scripts in their ASCII form; "" for no name."""
    try:
        plain = host.rstrip(".").encode("idna").decode("ascii").lower() if not host.isascii() else host.lower()
    except UnicodeError:
        return ""
    plain = plain.removesuffix(".")
    return plain if _NAME.fullmatch(plain) and not plain.startswith("*") else ""


def _entry(text: str) -> HostEntry:
    wrong = ConfigError(
        f"sandbox.network: {text!r} is not a host",
        hint='write "example.org", "*.example.org", "host:8080" or "10.0.0.0/8"',
    )
    host = text.strip()
    ports: tuple[int, ...] = PORTS
    name, colon, port = host.rpartition(":")
    if colon and port.isdigit() and (":" not in name or name.endswith("]")):
        if not 0 < int(port) < 65_536:
            raise wrong
        host, ports = name, (int(port),)
    try:
        return HostEntry(network=ipaddress.ip_network(host.strip("[]"), strict=False), ports=ports)
    except ValueError:
        below = host.startswith("*.")
        name = normal(host.removeprefix("*."))
        if not name or (below and "." not in name):
            raise wrong from None
        return HostEntry(name=name, below=below, ports=ports)


def _address(host: str) -> Address | None:
    try:
        return ipaddress.ip_address(host.strip("[]").partition("%")[0])
    except ValueError:
        return None


def _embedded(address: Address) -> Address:
    """The IPv4 address that an IPv6 address stands for, else the address itself."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None) or address


def _lists(entry: HostEntry, address: Address | None) -> bool:
    if address is None or entry.network is None:
        return False
    return address in entry.network or _embedded(address) in entry.network


def _names(entry: HostEntry, name: str) -> bool:
    if not name or not entry.name:
        return False
    return name.endswith("." + entry.name) if entry.below else name == entry.name
