"""A tiny model, a folder for its servers, and the end of every server that a test started."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agentforge.local.machine import look
from agentforge.local.shared_server import Wanted, stop_all
from tests.support.tiny_model import write_tiny


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model's file."""
    return write_tiny(tmp_path_factory.mktemp("tiny") / "tiny.gguf")


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[Path]:
    """The folder of servers; those that live in it end with the test."""
    folder = tmp_path / "local" / "serving"
    yield folder
    stop_all(folder)


@pytest.fixture
def wanted(tiny: Path, serving: Path) -> Callable[..., Wanted]:
    """Builds what is to be served: `wanted(context=512)`."""
    flags = look().flags
    if importlib.util.find_spec("xllamacpp") is None or (flags and "avx2" not in flags):
        pytest.skip("llama.cpp's wheel is not installed, or does not run on this processor")

    def build(file: Path = tiny, **wishes: int) -> Wanted:
        return Wanted(folder=serving, file=file, wishes={"context": 1024, "threads": 1, **wishes})

    return build
