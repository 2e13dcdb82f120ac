"""All contracts of a run: the builtin ones, and those of the project that extend, override or join them.

A contract is parsed when it is asked for the first time; a project's contracts, which may be wrong, at once.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from agentforge.canonical import Digest, digest_bytes, digest_value
from agentforge.contracts.contract import FIX_STAGE_OF, SPLIT_STAGE_OF, STAGE_OF, Contract
from agentforge.contracts.dialect import contract_of, merge, read_document
from agentforge.contracts.nearest import near_hint
from agentforge.errors import ContractInvalid

Document = Mapping[str, object]


class ContractSet:
    """Contracts by name. Immutable from outside; what it parses it keeps.

    Attributes:
        origins: name -> "builtin", the project file that replaces it, or "builtin + FILE" for one that is extended.
        digest: of all contract texts; changes when any of them does, and is the same in another checkout.
    """

    def __init__(self, documents: Mapping[str, Document | str], *, origins: Mapping[str, str], digest: Digest) -> None:
        """Take documents, or texts of them that are not parsed yet, by contract name."""
        self.origins = dict(origins)
        self.digest = digest
        self._documents = dict(documents)
        self._contracts: dict[str, Contract] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """Every contract's name, builtin ones in the order of the stages first."""
        return tuple(self._documents)

    @property
    def contracts(self) -> Mapping[str, Contract]:
        """Every contract by name, all of them parsed."""
        return {name: self.get(name) for name in self.names}

    def get(self, name: str) -> Contract:
        """Give one contract.

        Raises:
            ContractInvalid: there is none of that name; or its text cannot be read.
        """
        if name not in self._documents:
            raise ContractInvalid(f"there is no contract {name!r}", hint=near_hint(name, self.names))
        if name not in self._contracts:
            builtin = self.origins[name] == "builtin"
            source = f"builtin {name}.yaml" if builtin else self.origins[name]
            document = self._documents[name]
            if isinstance(document, str):
                document = read_document(document, source=source)
            self._contracts[name] = contract_of(document, source=source, proved=builtin)
        return self._contracts[name]

    def digest_of(self, name: str) -> Digest:
        """Give the digest of one contract: equal for equal contracts, whatever file they stand in."""
        return self.get(name).digest


def build(builtin: Mapping[str, str], project: Mapping[str, str], *, compiled: str = "") -> ContractSet:
    """Put the contracts of a run together.

    Args:
        builtin: contract name -> YAML text.
        project: file name -> YAML text; `extends: NAME` lays it over a builtin contract, otherwise it replaces one
            of the same name or is a new one.
        compiled: what `compile_builtin` gave for the same texts, to save parsing YAML; entries that do not
            belong to the very text are not used.
    Raises:
        ContractInvalid: a project contract that cannot be read, two of one name, `extends` of an unknown one.
    """
    documents: dict[str, Document | str] = _precompiled(builtin, compiled)
    origins = dict.fromkeys(documents, "builtin")
    seen: dict[str, str] = {}
    for file_name, text in sorted(project.items()):
        document = read_document(text, source=file_name)
        name = str(document["contract"])
        if name in seen:
            raise ContractInvalid(f"{file_name}: {name!r} is in {seen[name]} as well", hint="keep one of them")
        seen[name] = file_name
        origins[name] = file_name if "extends" not in document else f"builtin + {file_name}"
        documents[name] = _resolved(document, builtin, source=file_name)
    digest = digest_value({"builtin": dict(builtin), "project": _without_folders(project) or {}})
    result = ContractSet(documents, origins=origins, digest=digest)
    for name in seen:
        result.get(name)
    return result


def _without_folders(project: Mapping[str, str]) -> list[list[str]]:
    """Names and texts of files, whatever checkout they lie in."""
    return sorted([file_name.rpartition("/")[2], text] for file_name, text in project.items())


def compile_builtin(builtin: Mapping[str, str]) -> str:
    """Give the parsed documents of contract texts as JSON, bound to the texts by digest. YAML costs 50 ms to import."""
    entries = {
        name: {
            "digest": digest_bytes(builtin[name].encode()),
            "document": read_document(builtin[name], source=f"builtin {name}.yaml"),
        }
        for name in _in_stage_order(builtin)
    }
    return json.dumps(entries, indent=1, ensure_ascii=False) + "\n"


def _precompiled(builtin: Mapping[str, str], compiled: str) -> dict[str, Document | str]:
    """The document where the compiled form belongs to this very text, else the text."""
    entries = _entries(compiled)
    documents: dict[str, Document | str] = {}
    for name in _in_stage_order(builtin):
        text, entry = builtin[name], entries.get(name)
        if entry is not None and entry["digest"] == digest_bytes(text.encode()):
            documents[name] = entry["document"]
        else:
            documents[name] = text
    return documents


@lru_cache(maxsize=1)
def _entries(compiled: str) -> Mapping[str, dict[str, Any]]:
    """The compiled form read: it is asked for by everything that asks for contracts, and nobody writes into documents."""
    read: dict[str, dict[str, Any]] = json.loads(compiled) if compiled else {}
    return read


def _in_stage_order(names: Iterable[str]) -> list[str]:
    """Names as the stages produce them, others behind in alphabetical order."""
    order = [*STAGE_OF, *FIX_STAGE_OF, *SPLIT_STAGE_OF]
    return sorted(names, key=lambda name: (order.index(name) if name in order else len(order), name))


def _resolved(document: Document, builtin: Mapping[str, str], *, source: str) -> Document:
    """The document with its `extends` merged in."""
    if "extends" not in document:
        return document
    base_name = str(document["extends"])
    if base_name not in builtin:
        raise ContractInvalid(f"{source}: extends the unknown {base_name!r}", hint=near_hint(base_name, builtin))
    base = read_document(builtin[base_name], source=f"builtin {base_name}.yaml")
    rest = {key: value for key, value in document.items() if key != "extends"}
    return merge(base, rest)
