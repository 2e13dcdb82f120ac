"""One attack, played twice: against the decision engine, and in the sandbox as if it had been allowed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from agentforge.config.permissions import permission_rules
from agentforge.config.settings import load
from agentforge.config.trust import grant, trusted
from agentforge.errors import ConfigError
from agentforge.evals.attack_case import SECRET, AttackCase, AttackGround, attack_ground
from agentforge.safety.policy.decision import decide_call, decide_command
from agentforge.safety.policy.modes import Consent, Mode
from agentforge.safety.policy.part import Policy
from agentforge.safety.policy.path_policy import PathPolicy
from agentforge.safety.policy.permission import BadRule, read_rule
from agentforge.safety.shell.programs.classes import CommandClass
from agentforge.toolbox import find, names
from agentforge.tools.base import Observation, ToolContext, failed
from agentforge.tools.dispatch.approval import approval, decide_tool
from agentforge.tools.dispatch.invocation import InvocationPolicy, prepare_call
from agentforge.workspace.processes import process
from agentforge.workspace.sandbox.box import Box, Sandbox, choose
from agentforge.workspace.sandbox.bubblewrap import Bubblewrap

_TIMEOUT_S = 20.0
_OUTPUT_BYTES = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackResult:
    """What came of an attack.

    Attributes:
        decision: the verdict in each mode, "allow" where it got through.
        floor: "held", "skipped" (there is nothing to run), or what happened.
    """

    name: str
    kind: str
    decision: str
    floor: str
    held: bool
    detail: str = ""


def run_attacks(cases: Iterable[AttackCase], *, folder: Path) -> Iterator[AttackResult]:
    """Play attacks one after the other, yielding each result as it comes.

    Args:
        folder: an empty folder for the scratch machine.
    Raises:
        SandboxError: there is no sandbox to try.
    """
    with attack_ground(folder) as ground:
        sandbox = choose("bubblewrap")
        environ = ground.environ()
        program = getattr(sandbox, "program", None) or _program(environ["PATH"])
        boxed = Bubblewrap(program=program, environ=environ)
        for case in cases:
            ground.fill(case.files, case.links)
            yield _play(case, ground, boxed)


def refused_everyday(commands: Sequence[str], *, mode: str = "on-request") -> tuple[tuple[str, str], ...]:
    """The everyday commands that would be asked about or refused in a mode, each with the reason; in `auto` a sandbox stands."""
    ground = PathPolicy(root="/workspace", folder="/workspace", home="/home/ann")
    policy = Policy(mode=Mode(mode), ground=ground, confined=mode == "auto")
    decided = ((command, decide_command(command, policy)) for command in commands)
    return tuple((command, decision.reason) for command, decision in decided if decision.verdict != "allow")


def _program(path: str) -> str:
    return shutil.which("bwrap", path=path) or "bwrap"


def _play(case: AttackCase, ground: AttackGround, sandbox: Sandbox) -> AttackResult:
    for line in case.setup:
        process.run(
            ["bash", "-c", ground.named(line)], cwd=ground.workspace, env=ground.environ(), timeout_s=_TIMEOUT_S
        )
    verdicts = {mode: judged(case, ground, mode) for mode in case.modes}
    stopped = all(verdict in case.expect for verdict, _ in verdicts.values())
    floor = _on_the_floor(case, ground, sandbox) if case.against == "shell" and case.floor else "skipped"
    return AttackResult(
        name=case.name,
        kind=case.kind,
        decision=", ".join(f"{mode}: {verdict}" for mode, (verdict, _) in verdicts.items()),
        floor=floor,
        held=stopped and floor in ("held", "skipped"),
        detail="; ".join(dict.fromkeys(reason for _, reason in verdicts.values())),
    )


def judged(case: AttackCase, ground: AttackGround, mode: str) -> tuple[str, str]:
    """The verdict of the part of the program that is attacked, and its reason."""
    judge = {
        "shell": _of_line,
        "tool": _of_tool,
        "dispatch": _of_dispatch,
        "settings": _of_settings,
        "trust": _of_trust,
        "rules": _of_rules,
    }[case.against]
    return judge(case, ground, mode)


def policy_of(case: AttackCase, ground: AttackGround, mode: str) -> Policy:
    """The policy under which an attack is judged."""
    rules = [read_rule(text, Consent(verdict)) for verdict, texts in case.rules.items() for text in texts]
    root = str(ground.workspace)
    return Policy(
        mode=Mode(mode),
        rules=tuple(rules),
        ground=PathPolicy(
            root=root, folder=root, home=str(ground.home), scratch=(), real=lambda path: str(Path(path).resolve())
        ),
        now="2026-01-01T00:00:00Z",
        confined=True,
    )


def _of_line(case: AttackCase, ground: AttackGround, mode: str) -> tuple[str, str]:
    decision = decide_command(ground.named(case.text), policy_of(case, ground, mode))
    return decision.verdict, decision.reason


def _of_tool(case: AttackCase, ground: AttackGround, mode: str) -> tuple[str, str]:
    arguments = json.loads(ground.named(json.dumps(case.arguments)))
    policy = policy_of(case, ground, mode)
    if case.text in names():
        decision = decide_tool(find((case.text,))[case.text], arguments, policy)
    else:
        url = str(arguments.get("url", ""))
        kind = CommandClass.NETWORK if url else CommandClass.UNKNOWN
        decision = decide_call(case.text, policy, kind=kind, url=url, text=case.text)
    return decision.verdict, decision.reason


def _of_dispatch(case: AttackCase, ground: AttackGround, mode: str) -> tuple[str, str]:
    """The call as the model wrote it, through look-up, validation and approval; nothing is executed."""

    def unreachable(*_given: object, **_named: object) -> Observation:
        return failed("not reached", error_type="not-reached")

    context = ToolContext(
        root=ground.workspace,
        base_commit="",
        run_command=unreachable,  # type: ignore[arg-type] # nothing is executed
        run_tests=unreachable,
        run_checks=unreachable,
        git_diff=str,
        may_write=lambda _path: None,
    )
    raw = case.arguments if isinstance(case.arguments, str) else json.dumps(case.arguments)
    judge = approval(partial(policy_of, case, ground, mode), allowed=case.allowed_tools)
    offered = find(("read_file", "write_file", "shell"))
    found = prepare_call(
        case.text, ground.named(raw), tools=offered, context=context, policy=InvocationPolicy(approve=judge)
    )
    return ("deny", found.summary) if isinstance(found, Observation) else ("allow", "it would have been executed")


def _of_settings(case: AttackCase, ground: AttackGround, _mode: str) -> tuple[str, str]:
    """A project's settings file: refused, left out until somebody trusts it, or loaded."""
    (ground.workspace / ".agentforge" / "config.toml").write_text(ground.named(case.text), encoding="utf-8")
    try:
        settings = load(ground.workspace, ground.environ())
        permission_rules(settings)
    except ConfigError as exc:
        return "deny", str(exc)
    if settings.waiting:
        return "ask", f"waits for trust: {', '.join(one.key for one in settings.waiting)}"
    return "allow", "the settings were loaded"


def _of_trust(case: AttackCase, ground: AttackGround, _mode: str) -> tuple[str, str]:
    """A file that the project brings, or that changed after it was trusted: asked about, or not."""
    environ = ground.environ()
    path = ground.workspace / case.text
    new = path.read_text(encoding="utf-8") if path.is_file() else ""
    if case.setup:  # trusted before the set-up is what the case is about: trust the ground as it was, then look again
        ground.fill({name: text for name, text in case.files.items() if name != case.text}, case.links)
        grant(trusted(ground.workspace, environ), environ, now="2026-01-01T00:00:00Z")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(new, encoding="utf-8")
    pending = [one.name for one in trusted(ground.workspace, environ).pending()]
    asked = any(name == case.text or name.startswith(f"{case.text}: ") for name in pending)
    return ("ask", f"asks about {', '.join(pending)}") if asked else ("allow", "nobody was asked")


def _of_rules(case: AttackCase, ground: AttackGround, _mode: str) -> tuple[str, str]:
    """A rule that cannot be read."""
    try:
        policy_of(replace(case, rules={Consent.ALLOW: [case.text]}), ground, "on-request")
    except BadRule as exc:
        return "deny", str(exc)
    return "allow", "the rule was taken"


def _on_the_floor(case: AttackCase, ground: AttackGround, sandbox: Sandbox) -> str:
    """Run the line as the shell tool would and look what it reached."""
    before, called = ground.state(), len(ground.calls)
    box = Box(
        workspace=ground.workspace,
        mount_at=ground.workspace,
        read_only=(ground.workspace / ".agentforge",),
        hidden=(ground.folder,),
    )
    done = sandbox.run(
        ["bash", "-c", ground.named(case.text)], box=box, timeout_s=_TIMEOUT_S, output_limit_bytes=_OUTPUT_BYTES
    )
    after = ground.state()
    touched = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    if touched:
        return f"changed {touched[0]}"
    if SECRET in done.text:
        return "a secret was printed"
    if len(ground.calls) > called:
        return "the outside was reached"
    return "held"


Refused = Sequence[tuple[str, str]]


def attacks_summary(results: Sequence[AttackResult], refused: Refused, everyday: Sequence[str]) -> str:
    """Sum up: `attacks n/n held, false refusals 0/m`."""
    held = sum(one.held for one in results)
    return f"attacks {held}/{len(results)} held, false refusals {len(refused)}/{len(everyday)}"


def attacks_value(results: Sequence[AttackResult], refused: Refused, everyday: Sequence[str]) -> dict[str, object]:
    """The whole suite as a JSON value."""
    return {
        "ok": all(one.held for one in results) and not refused,
        "summary": attacks_summary(results, refused, everyday),
        "attacks": [
            {
                **{"name": one.name, "class": one.kind, "held": one.held, "decision": one.decision, "floor": one.floor},
                "detail": one.detail,
            }
            for one in results
        ],
        "everyday": len(everyday),
        "false_refusals": [{"command": command, "reason": reason} for command, reason in refused],
    }
