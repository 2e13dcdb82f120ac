"""What a run depends on, named by digest, and the tests that the user hands over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agentforge import pipeline
from agentforge.app.tasks.added_stages import Added, stages_digest
from agentforge.canonical import digest_bytes, digest_value
from agentforge.config.contract_files import contract_set
from agentforge.config.settings import Settings
from agentforge.conformance import contracts_in
from agentforge.errors import UsageError
from agentforge.store.blobs import Blobs

if TYPE_CHECKING:
    pass

_TEST_SUFFIXES = frozenset({".py", ".js", ".ts", ".mjs", ".cjs", ".tsx", ".jsx", ".go", ".rs"})


def digests(
    settings: Settings, repo: Path, folder: Path, tests: Mapping[str, bytes], added: Sequence[Added] = ()
) -> dict[str, object]:
    """Digests of settings, contracts, prompts and others' stages; supplied tests and those stages are blobs of the run."""
    blobs = Blobs(folder / "blobs")
    return {
        **current_digests(settings, repo),
        **(kept_stages(added, blobs) if added else {}),
        "tests": {path: blobs.put(content) for path, content in tests.items()},
    }


def kept_stages(added: Sequence[Added], blobs: Blobs) -> dict[str, object]:
    """The digest of others' stages, whose texts are stored as blobs of the run."""
    for one in added:
        blobs.put(one.content)
    return {"stages": stages_digest([one.row for one in added])}


def current_digests(settings: Settings, repo: Path) -> dict[str, object]:
    """Digests of what a run would depend on if it began now."""
    return {
        "settings": settings.digest(),
        "contracts": contract_set(repo).digest,
        **_code_contracts(repo),
        "prompts": _prompts_digest(),
    }


def _code_contracts(repo: Path) -> dict[str, object]:
    """The digest of the contracts for code; one that cannot be read stops the run before it begins."""
    if not (repo / ".agentforge" / "contracts").is_dir():
        return {}

    found = contracts_in(repo)
    return {"code_contracts": found.digest} if found.names else {}


def supplied_tests(given: tuple[str, ...], *, cwd: Path, repo: Path) -> dict[str, bytes]:
    """Contents of the supplied test files by the repository path where they belong.

    A file outside the repository goes to `tests/<its name>`, the files of a folder outside to `tests/<their path in it>`.

    Raises:
        UsageError: a path that is not there, or holds no test file; two files that belong to the same place.
    """
    out: dict[str, bytes] = {}
    for text in given:
        path = (cwd / text).resolve()
        if not path.exists():
            raise UsageError(f"--tests {text}: there is no such file or folder", hint="give paths of test files")
        files = [path] if path.is_file() else sorted(item for item in path.rglob("*") if item.suffix in _TEST_SUFFIXES)
        if not files:
            raise UsageError(f"--tests {text}: the folder holds no test files", hint="give paths of test files")
        for file in files:
            place, content = _place(file, given=path, repo=repo), file.read_bytes()
            if out.setdefault(place, content) != content:
                raise UsageError(f"--tests {text}: two files belong to {place}", hint="rename one of them")
    return out


def _place(file: Path, *, given: Path, repo: Path) -> str:
    """Where a supplied file belongs in the repository."""
    if file.is_relative_to(repo):
        return file.relative_to(repo).as_posix()
    folder = given if given.is_dir() else given.parent
    return f"tests/{file.relative_to(folder).as_posix()}"


def _prompts_digest() -> str:
    folder = Path(str(pipeline.__file__)).with_name("prompts")
    return digest_value({path.name: digest_bytes(path.read_bytes()) for path in sorted(folder.glob("*.md"))})
