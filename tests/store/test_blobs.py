from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from agentforge.canonical import digest_bytes
from agentforge.errors import IntegrityError
from agentforge.store.blobs import Blobs


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.one_of(st.binary(max_size=700), st.binary(min_size=1).map(lambda piece: piece * 600)))
def test_content_comes_back_by_its_digest(tmp_path, content):
    blobs = Blobs(tmp_path)
    digest = blobs.put(content)
    assert digest == digest_bytes(content)
    assert blobs.get(digest) == content


def test_small_content_is_kept_as_it_is_and_large_content_deflated(tmp_path):
    blobs = Blobs(tmp_path)
    small, large = blobs.put(b"x" * 512), blobs.put(b"x" * 513)
    assert (tmp_path / small[:2] / small[2:]).read_bytes() == b"x" * 512
    assert (tmp_path / large[:2] / f"{large[2:]}.z").stat().st_size < 100


def test_content_that_is_there_is_not_written_again(tmp_path):
    blobs = Blobs(tmp_path)
    digest = blobs.put(b"same")
    path = tmp_path / digest[:2] / digest[2:]
    before = path.stat()
    assert blobs.put(b"same") == digest
    after = path.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert len([name for _, _, files in os.walk(tmp_path) for name in files]) == 1


@pytest.mark.parametrize("content", [b"small", b"large" * 1000])
def test_missing_or_altered_content_is_a_failure(tmp_path, content):
    blobs = Blobs(tmp_path)
    digest = blobs.put(content)
    (path,) = (tmp_path / digest[:2]).iterdir()
    data = path.read_bytes()
    for damaged in (data[: len(data) // 2], b"", bytes(4) + data[4:], data[:-1][::-1]):
        path.write_bytes(damaged)
        with pytest.raises(IntegrityError, match="altered"):
            blobs.get(digest)
    path.unlink()
    with pytest.raises(IntegrityError, match="missing"):
        blobs.get(digest)


@pytest.mark.parametrize("name", ["", "../../etc/passwd", "ab", "A" * 64])
def test_what_is_no_digest_names_no_blob(tmp_path, name):
    with pytest.raises(IntegrityError, match="missing"):
        Blobs(tmp_path).get(name)


def test_what_a_killed_writer_left_half_written_does_not_get_into_the_pack(tmp_path):
    blobs = Blobs(tmp_path)
    digest = blobs.put(b"kept")
    half = tmp_path / digest[:2] / f".{digest[2:]}.z.3495.140688054684544.tmp"
    half.write_bytes(b"hal")
    assert blobs.pack() == 1
    assert blobs.get(digest) == b"kept"
    assert not half.exists() and [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["pack"]
