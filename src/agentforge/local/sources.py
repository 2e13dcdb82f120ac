"""Where a model's file can come from: an address that resumes, a file, or a folder of parts that are joined in order."""

from __future__ import annotations

import re
import socket
import ssl
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from agentforge.errors import ModelFileError, ModelUnavailable
from agentforge.frozen import dataclass

if TYPE_CHECKING:
    from http.client import HTTPResponse

_BLOCK = 1024 * 1024
_TRIES = 5
"""How often a connection that broke is opened again without a byte having come."""
_CONNECT_S = 5.0
"""Seconds within which a server must take the connection; another source may be waiting for its turn."""
_TIMEOUT_S = 15.0
_NUMBER = re.compile(r"(\d+)")


class Source(Protocol):
    """A place that holds a model's file."""

    @property
    def name(self) -> str:
        """For people."""

    def blocks(self, start: int, size: int) -> Iterator[bytes | None]:
        """The file from a byte on, in blocks; None first where it begins at its beginning instead.

        Args:
            size: bytes that the whole file should have.
        Raises:
            ModelUnavailable: an address cannot be reached, or broke off again and again.
            ModelFileError: a part is missing or cannot be read.
        """


def source_of(place: str) -> Source:
    """The source that a user's word means: an http(s) address, a file, or a folder of parts.

    Raises:
        ModelFileError: there is no such file or folder, or the folder holds no parts.
    """
    if place.startswith(("http://", "https://")):
        return Address(name=place)
    path = Path(place.removeprefix("file://")).expanduser()
    if path.is_dir():
        return SourceParts(name=str(path), parts=_parts_of(path))
    if not path.is_file():
        raise ModelFileError(
            f"there is no file or folder {path}", hint="--from takes an http(s) URL, a file, or a folder"
        )
    return SourceParts(name=str(path), parts=(path,))


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A file behind http(s). Redirections and the proxies of the environment are followed.

    Attributes:
        sleep: waits a number of seconds before another try.
    """

    name: str
    sleep: Callable[[float], None] = time.sleep

    def blocks(self, start: int, size: int) -> Iterator[bytes | None]:
        """The file from a byte on; a connection that breaks is opened again where it stopped."""
        from http.client import HTTPException

        have, tries, came = start, 0, False
        while have < size:
            tries += 1
            try:
                if not came:
                    _knock(self.name)
                for block in self._once(have, size):
                    have = 0 if block is None else have + len(block)
                    tries, came = (0, True) if block else (tries, came)
                    yield block
                if have < size:
                    raise OSError(f"it ended after {have} of {size} bytes")
            except (OSError, HTTPException) as exc:
                if not came or tries >= _TRIES or _is_final(exc):
                    raise _unreachable(self.name, exc) from exc
                self.sleep(float(2**tries))

    def _once(self, start: int, size: int) -> Iterator[bytes | None]:
        with _opened(self.name, start) as response:
            whole = response.status != 206
            length = response.headers.get("Content-Length")
            if length is not None and length.isdigit() and int(length) != size - (0 if whole else start):
                raise ModelFileError(
                    f"{self.name} holds another file: {int(length) + (0 if whole else start)} bytes instead of {size}",
                    hint="is the address right?",
                )
            if whole and start:
                yield None
            while block := response.read1(_BLOCK):
                yield block


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceParts:
    """Files that make up the model when they are joined: plain ones, or wheels that each hold `data/*.bin`."""

    name: str
    parts: tuple[Path, ...]

    def blocks(self, start: int, size: int) -> Iterator[bytes | None]:
        """The joined files from a byte on."""
        del size
        left = start
        for part in self.parts:
            for block in read_part(part):
                if left >= len(block):
                    left -= len(block)
                    continue
                yield block[left:]
                left = 0


def _opened(url: str, start: int) -> HTTPResponse:
    from urllib.request import Request, urlopen

    headers = {"User-Agent": "agentforge", **({"Range": f"bytes={start}-"} if start else {})}
    response: HTTPResponse = urlopen(Request(url, headers=headers), timeout=_TIMEOUT_S)
    return response


def _is_final(exc: Exception) -> bool:
    """Whether another try would hear the same."""
    code = getattr(exc, "code", 0)
    return isinstance(code, int) and 400 <= code < 500 and code not in (408, 429)


def _knock(url: str) -> None:
    """See that the server of an address takes a connection soon, whatever number of addresses its name has.

    A proxy of the environment is knocked at instead.
    Raises:
        OSError: it does not; the name is unknown; or there is no network.
    """
    from urllib.request import getproxies, proxy_bypass

    asked = urlsplit(url)
    proxy = "" if proxy_bypass(asked.hostname or "") else getproxies().get(asked.scheme, "")
    door = urlsplit(proxy if "://" in proxy else f"http://{proxy}") if proxy else asked
    port = door.port or (443 if door.scheme == "https" else 80)
    until, failure = time.monotonic() + _CONNECT_S, OSError("it has no address")
    for *_, place in socket.getaddrinfo(door.hostname, port, type=socket.SOCK_STREAM):
        left = until - time.monotonic()
        try:
            socket.create_connection((str(place[0]), port), timeout=max(0.1, left)).close()
            return
        except OSError as exc:
            failure = exc
    raise failure


def _unreachable(url: str, exc: Exception) -> ModelUnavailable:
    host = urlsplit(url).netloc
    reason = getattr(exc, "reason", None) or exc
    code = getattr(exc, "code", None)
    if isinstance(reason, ssl.SSLCertVerificationError):
        return ModelUnavailable(
            f"the certificate of {host} is not trusted here: {reason.verify_message}",
            hint="if a proxy of your network signs it, name the proxy's certificate: export SSL_CERT_FILE=/path/to/proxy.pem",
        )
    said = f"{code} {reason}" if code else getattr(reason, "strerror", None) or str(reason)
    return ModelUnavailable(
        f"could not reach {host}: {said}",
        hint="run the command again to resume, or name another place: --from URL, a file, or a folder of parts",
    )


def _parts_of(folder: Path) -> tuple[Path, ...]:
    """The parts of a folder in the order of the numbers in their names."""
    files = [path for path in folder.iterdir() if path.is_file() and not path.name.startswith(".")]
    wheels = [path for path in files if path.suffix == ".whl"]
    found = wheels or [path for path in files if re.search(r"\.(bin|gguf|part)[-_.]?\d*$|part[-_.]?\d+", path.name)]
    if not found:
        raise ModelFileError(
            f"{folder} holds no parts of a model", hint="parts are *.whl with data/*.bin inside, *.bin, or *.partNN"
        )
    return tuple(sorted(found, key=_order))


def _order(path: Path) -> list[Any]:
    return [(0, int(word), "") if word.isdigit() else (1, 0, word) for word in _NUMBER.split(path.name)]


def read_part(part: Path) -> Iterator[bytes]:
    """The bytes of one part: of a plain file, or of the `*.bin` inside a wheel.

    Raises:
        ModelFileError: it cannot be read, or a wheel holds none.
    """
    try:
        if part.suffix == ".whl":
            yield from _read_wheel(part)
            return
        with part.open("rb") as file:
            while block := file.read(_BLOCK):
                yield block
    except (OSError, zipfile.BadZipFile) as exc:
        raise ModelFileError(f"part {part} cannot be read: {exc}", hint="get this part again") from exc


def _read_wheel(part: Path) -> Iterator[bytes]:
    with zipfile.ZipFile(part) as wheel:
        names = sorted(name for name in wheel.namelist() if name.endswith(".bin"))
        if not names:
            raise ModelFileError(f"part {part} holds no data", hint="get this part again")
        for name in names:
            with wheel.open(name) as file:
                while block := file.read(_BLOCK):
                    yield block
