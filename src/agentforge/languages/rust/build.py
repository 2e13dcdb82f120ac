"""What cargo makes test programs of, and how they are built."""

from __future__ import annotations

import json
import os
import posixpath
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agentforge.errors import ToolchainError
from agentforge.testing.launch import TestSandbox, box
from agentforge.testing.plan import TestPlan
from agentforge.workspace.processes.process import Completed

OUTPUT_LIMIT_BYTES = 64_000_000
_CHOSEN = frozenset({"--no-fail-fast", "--no-run", "--lib", "--bins", "--tests", "--all-targets"})
_TOO_OLD = "`--keep-going` flag is unstable"  # cargo before 1.74, such as Debian's


@dataclass(frozen=True, slots=True, kw_only=True)
class CargoTarget:
    """What cargo makes one test program of: its root file, its package's folder, how to choose it alone; is it linked?"""

    root: str
    package: str
    harness: bool
    manifest: Mapping[str, str]
    choice: tuple[str, ...] = ()
    linked: bool = False


def targets_of(plan: TestPlan, ground: TestSandbox, env: Mapping[str, str]) -> list[CargoTarget]:
    """What cargo would make test programs of.

    Raises:
        ToolchainError: cargo cannot read the manifest.
    """
    argv = [plan.command[0], "metadata", "--no-deps", "--offline", "--format-version", "1"]
    done = ground.sandbox.run(
        argv, box=box(plan, ground, env=env), timeout_s=120, output_limit_bytes=OUTPUT_LIMIT_BYTES, merge_stderr=False
    )
    if done.exit_code != 0:
        raise ToolchainError(f"cargo metadata failed: {done.stderr.decode('utf-8', 'replace')[-400:]}")
    found: dict[str, CargoTarget] = {}
    for package in json.loads(done.text)["packages"]:
        folder = posixpath.dirname(str(package["manifest_path"]))
        bare = _without_harness(ground.checkout / os.path.relpath(folder, ground.root) / "Cargo.toml")
        for target in package["targets"]:
            if target.get("test") and not {"bench", "example", "custom-build"} & set(target["kind"]):
                root = os.path.relpath(str(target["src_path"]), ground.root)
                manifest = {
                    "CARGO_MANIFEST_DIR": folder,
                    "CARGO_PKG_NAME": package["name"],
                    "CARGO_PKG_VERSION": package["version"],
                }
                found[root] = CargoTarget(
                    root=root, package=folder, harness=target["name"] not in bare, manifest=manifest,
                    choice=("--package", str(package["name"]), *_choice(target)),
                    linked=bool({"cdylib", "dylib", "staticlib"} & set(target["kind"])),
                )  # fmt: skip
    return list(found.values())


def _choice(target: Mapping[str, Any]) -> tuple[str, ...]:
    """The options by which cargo builds this target alone."""
    kind = next((one for one in ("bin", "test") if one in target["kind"]), "")
    return (f"--{kind}", str(target["name"])) if kind else ("--lib",)


def _without_harness(manifest: Path) -> frozenset[str]:
    """Names of the targets that bring their own main function instead of libtest's."""
    value = tomllib.loads(manifest.read_text("utf-8", "replace"))
    rows = [row for kind in ("test", "bin") for row in value.get(kind, ())] + [value.get("lib", {})]
    return frozenset(str(row.get("name", "")) for row in rows if row.get("harness") is False)


def is_used_by_nothing_else(targets: Sequence[CargoTarget]) -> bool:
    """Whether a library is built for its own tests alone, and nothing shows that users can build it; linking may need more."""
    packages = [one.choice[:2] for one in targets]
    return not any(one.linked for one in targets) and any(
        one.choice[2:] == ("--lib",) and packages.count(one.choice[:2]) == 1 for one in targets
    )


def build_tests(
    plan: TestPlan,
    ground: TestSandbox,
    env: Mapping[str, str],
    timeout_s: float,
    targets: Sequence[CargoTarget],
    *,
    plainly: bool,
) -> Completed:
    """Build what `cargo test` would run, and libraries `plainly`, as users have them; what does not compile stays alone."""
    given = list(plan.command[2:])
    kept = [word for word in given[: given.index("--") if "--" in given else len(given)] if word not in _CHOSEN]

    def build(*words: str) -> Completed:
        argv = [plan.command[0], *words, "--message-format=json", *kept]
        space = box(plan, ground, env=env)
        if ground.built is not None:
            space = replace(space, writable_paths=(*space.writable_paths, ground.built))
        return ground.sandbox.run(argv, box=space, timeout_s=timeout_s, output_limit_bytes=OUTPUT_LIMIT_BYTES)

    words = ("build", "--profile=test", "--tests", *(("--lib",) if plainly else ()))
    done = build(*words, "--keep-going")
    if done.exit_code == 0 or _TOO_OLD not in done.text:
        return done
    done = build(*words)
    if done.exit_code == 0:
        return done
    alone = [("test", "--no-run", *one.choice) for one in targets]  # `build --lib` would make no test program
    return _joined([build(*one) for one in (*alone, *((("build", "--profile=test", "--lib"),) if plainly else ()))])


def _joined(parts: Sequence[Completed]) -> Completed:
    """Several builds as one."""
    return Completed(
        exit_code=max((one.exit_code for one in parts), default=0),
        output=b"\n".join(one.output for one in parts),
        omitted_bytes=sum(one.omitted_bytes for one in parts),
        timed_out=any(one.timed_out for one in parts),
        duration_s=sum(one.duration_s for one in parts),
    )
