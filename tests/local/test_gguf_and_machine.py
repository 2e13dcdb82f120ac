"""Proves that a model's header is read, and that context, threads and memory follow from the machine as it is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agentforge.errors import LocalModelError, ModelFileError
from agentforge.local.gguf import Header, read_header
from agentforge.local.machine import Machine, look, plan
from tests.support.tiny_model import write_tiny

GB = 1_000_000_000
WEIGHTS = 1_117_320_768
CODER = Header(
    name="Coder", architecture="qwen2", licence="", kind="model", context=32_768, layers=28, heads=12, kv_heads=2,
    width=1536, tokenizer="gpt2/qwen2", vocabulary=151_936,
)  # fmt: skip
BOX = Machine(kind="x86_64", flags=frozenset({"avx2", "fma", "f16c", "bmi2"}), cores=2, idle=2.0, memory=8 * GB)


def test_the_header_says_what_a_model_is(tiny: Path) -> None:
    header = read_header(tiny)
    assert (header.name, header.architecture, header.licence) == ("Tiny", "llama", "mit")
    assert (header.context, header.vocabulary, header.tokenizer) == (8192, 260, "llama")
    assert header.context_bytes == 4 * 1 * 2 * 32


def test_a_file_that_is_no_language_model_is_refused(tmp_path: Path, tiny: Path) -> None:
    adapter = write_tiny(tmp_path / "adapter.gguf", kind="adapter")
    with pytest.raises(ModelFileError, match="not of a language model: it holds adapter"):
        read_header(adapter)
    whole = tiny.read_bytes()
    short = tmp_path / "short.gguf"
    for size in (3, 5, 20, 200, 1500):
        short.write_bytes(whole[:size])
        with pytest.raises(ModelFileError, match=r"short\.gguf"):
            read_header(short)
    short.write_bytes(b"GGUF" + (3).to_bytes(4, "little") + b"\xff" * 64)
    with pytest.raises(ModelFileError, match="more than any model has"):
        read_header(short)


def test_context_and_memory_follow_from_what_can_be_had() -> None:
    def chosen(memory: float, **wishes: int) -> tuple[int, bool]:
        found = plan(CODER, file_bytes=WEIGHTS, machine=replace(BOX, memory=int(memory * GB)), wishes=wishes)
        assert found.limit > found.memory
        return found.context, found.lean

    assert chosen(8) == (16_384, False)
    assert chosen(4) == (8_192, False)
    assert chosen(2) == (8_192, True)
    assert chosen(1.75) == (4_096, True)
    assert chosen(8, context=3000) == (3000, False)


def test_too_little_memory_is_said_with_the_smaller_model() -> None:
    with pytest.raises(LocalModelError, match=r"Coder needs 1\.5 GB of memory, and 1\.0 GB is available") as caught:
        plan(CODER, file_bytes=WEIGHTS, machine=replace(BOX, memory=GB), wishes={})
    assert "model pull qwen2.5-coder-0.5b" in caught.value.hint


def test_threads_are_the_cores_that_nobody_uses() -> None:
    def threads(cores: int, idle: float, **wishes: int) -> int:
        machine = replace(BOX, cores=cores, idle=idle)
        return plan(CODER, file_bytes=WEIGHTS, machine=machine, wishes=wishes).threads

    assert [threads(2, idle) for idle in (2.0, 1.6, 1.4, 0.0)] == [2, 2, 1, 1]
    assert threads(64, 60.0) == 8
    assert threads(2, 0.0, threads=2) == 2


def test_a_processor_without_avx2_is_refused_before_it_would_crash() -> None:
    old = replace(BOX, flags=frozenset({"sse4_2", "avx"}))
    with pytest.raises(LocalModelError, match="has no AVX2, BMI2, F16C, FMA"):
        plan(CODER, file_bytes=WEIGHTS, machine=old, wishes={})
    arm = replace(BOX, kind="aarch64", flags=frozenset())
    assert plan(CODER, file_bytes=WEIGHTS, machine=arm, wishes={}).threads == 2


def test_this_machine_can_be_looked_at() -> None:
    seen = look()
    assert seen.cores >= 1
    assert 0 <= seen.idle <= seen.cores
    assert seen.memory > 0
