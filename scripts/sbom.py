"""Write a software bill of materials in CycloneDX 1.6 from uv.lock: `python scripts/sbom.py [FILE]`; without FILE, on stdout.

The same lock gives the same bytes: no time, no random number.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

sys.path.insert(0, str(Path(__file__).parent))

from locked import OURS, Locked, direct, locked

from agentforge import __version__


def document() -> dict[str, Any]:
    """The whole bill."""
    packages = locked()
    digest = json.dumps([(one.name, one.version, one.hashes) for one in packages])
    ours = _reference(OURS, __version__)
    known = {one.name: _reference(one.name, one.version) for one in packages}
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid5(NAMESPACE_URL, f'{ours} {digest}')}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": ours,
                "name": OURS,
                "version": __version__,
                "purl": ours,
                "licenses": [{"license": {"id": "MIT"}}],
            }
        },
        "components": [_component(one) for one in packages],
        "dependencies": [
            {"ref": ours, "dependsOn": [known[name] for name in direct()]},
            *({"ref": known[one.name], "dependsOn": [known[name] for name in one.needs]} for one in packages),
        ],
    }


def _component(one: Locked) -> dict[str, Any]:
    reference = _reference(one.name, one.version)
    return {
        "type": "library",
        "bom-ref": reference,
        "name": one.name,
        "version": one.version,
        "purl": reference,
        "scope": "required" if "" in one.by else "optional",
        "properties": [{"name": "agentforge:extra", "value": extra} for extra in one.by if extra],
        "externalReferences": [
            {
                "type": "distribution",
                "url": f"https://pypi.org/project/{one.name}/{one.version}/",
                "hashes": [{"alg": "SHA-256", "content": value} for value in one.hashes],
            }
        ],
    }


def _reference(name: str, version: str) -> str:
    return f"pkg:pypi/{name}@{version}"


if __name__ == "__main__":
    text = json.dumps(document(), indent=1) + "\n"
    if sys.argv[1:]:
        Path(sys.argv[1]).parent.mkdir(parents=True, exist_ok=True)
        Path(sys.argv[1]).write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
