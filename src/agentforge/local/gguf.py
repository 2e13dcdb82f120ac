"""Reads the header of a GGUF file: what a model is, before anything is made of it.

Source: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import IO

from agentforge.errors import ModelFileError
from agentforge.frozen import dataclass

_MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_FORMATS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
_MOST_KEYS = 65_536
_MOST_ITEMS = 4_000_000
_MOST_TEXT = 16 * 1024 * 1024

Value = str | int | float | bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What the header says; "" and 0 where it says nothing.

    Attributes:
        context: tokens that the model was trained for.
        layers, heads, kv_heads, width: its shape; from them follows what a token of context costs.
        vocabulary: number of tokens.
        kind: `model`, or what else such a file may hold: an adapter, a projector.
    """

    name: str
    architecture: str
    licence: str
    kind: str
    context: int
    layers: int
    heads: int
    kv_heads: int
    width: int
    tokenizer: str
    vocabulary: int

    @property
    def context_bytes(self) -> int:
        """Bytes of memory for one token of context: keys and values of every layer, two bytes each number."""
        head = self.width // self.heads if self.heads else 0
        return 4 * self.layers * (self.kv_heads or self.heads) * head


def read_header(path: Path) -> Header:
    """Read the header of a model's file.

    Raises:
        ModelFileError: there is no such file, or it is not a GGUF file with one language model in it.
    """
    try:
        with path.open("rb") as file:
            found, sizes = _read(file, path)
    except OSError as exc:
        raise ModelFileError(f"{path} cannot be read: {exc.strerror}", hint="agentforge model pull") from exc
    except (struct.error, UnicodeDecodeError) as exc:
        raise ModelFileError(
            f"the header of {path} cannot be read: {exc}", hint="the file was cut short or damaged: get it again"
        ) from exc
    return _header(found, sizes, path)


def _read(file: IO[bytes], path: Path) -> tuple[dict[str, Value], dict[str, int]]:
    """All plain values, and the number of items of each array."""
    magic = file.read(4)
    if magic != _MAGIC:
        raise ModelFileError(
            f"{path} is not a GGUF file: it begins with {magic!r}", hint="llama.cpp needs models in GGUF form"
        )
    (version,) = struct.unpack("<I", file.read(4))
    if version not in _VERSIONS:
        raise ModelFileError(f"{path} is GGUF version {version}", hint="versions 2 and 3, little-endian, can be read")
    _, keys = struct.unpack("<QQ", file.read(16))
    values: dict[str, Value] = {}
    sizes: dict[str, int] = {}
    for _ in range(_bounded(keys, _MOST_KEYS)):
        key = _text(file)
        (kind,) = struct.unpack("<I", file.read(4))
        if kind == _ARRAY:
            sizes[key] = _skip_array(file)
        else:
            values[key] = _text(file) if kind == _STRING else _number(file, kind)
    return values, sizes


def _bounded(number: int, most: int) -> int:
    if number > most:
        raise struct.error(f"{number} is more than any model has")
    return number


def _text(file: IO[bytes]) -> str:
    (length,) = struct.unpack("<Q", file.read(8))
    data = file.read(_bounded(length, _MOST_TEXT))
    if len(data) != length:
        raise struct.error("it ends too early")
    return data.decode("utf-8")


def _number(file: IO[bytes], kind: int) -> Value:
    form = _FORMATS.get(kind)
    if form is None:
        raise struct.error(f"a value of unknown kind {kind}")
    (value,) = struct.unpack(f"<{form}", file.read(struct.calcsize(f"<{form}")))
    return value  # type: ignore[no-any-return]  # struct knows no types


def _skip_array(file: IO[bytes]) -> int:
    """Read over an array; a tokenizer's holds some 150,000 texts, of which only the number matters."""
    kind, items = struct.unpack("<IQ", file.read(12))
    _bounded(items, _MOST_ITEMS)
    if kind in _FORMATS:
        file.seek(items * struct.calcsize(f"<{_FORMATS[kind]}"), 1)
    elif kind == _STRING:
        lengths = struct.Struct("<Q")
        for _ in range(items):
            (length,) = lengths.unpack(file.read(8))
            file.seek(_bounded(length, _MOST_TEXT), 1)
    elif kind == _ARRAY:
        for _ in range(items):
            _skip_array(file)
    else:
        raise struct.error(f"an array of unknown kind {kind}")
    return int(items)


def _header(values: dict[str, Value], sizes: dict[str, int], path: Path) -> Header:
    architecture = str(values.get("general.architecture", ""))
    header = Header(
        name=str(values.get("general.name", "")),
        architecture=architecture,
        licence=str(values.get("general.license", "")),
        kind=str(values.get("general.type", "model")),
        context=_count(values, f"{architecture}.context_length"),
        layers=_count(values, f"{architecture}.block_count"),
        heads=_count(values, f"{architecture}.attention.head_count"),
        kv_heads=_count(values, f"{architecture}.attention.head_count_kv"),
        width=_count(values, f"{architecture}.embedding_length"),
        tokenizer="/".join(
            str(values[key]) for key in ("tokenizer.ggml.model", "tokenizer.ggml.pre") if values.get(key)
        ),
        vocabulary=sizes.get("tokenizer.ggml.tokens", 0),
    )
    if header.kind != "model" or not (header.architecture and header.context and header.vocabulary):
        what = header.kind if header.kind != "model" else header.architecture or "nothing that is named"
        raise ModelFileError(
            f"{path} is a GGUF file, but not of a language model: it holds {what}", hint="name the file of the model"
        )
    return header


def _count(values: dict[str, Value], key: str) -> int:
    value = values.get(key, 0)
    return int(value) if isinstance(value, (int, float)) else 0
