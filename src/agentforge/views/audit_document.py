"""The audit as a document: what a reader meets, in which order. Pure; the formats are made elsewhere."""

from __future__ import annotations

from collections.abc import Mapping

from agentforge.events.kinds.dependencies import part_label
from agentforge.views.audit_blocks import AuditText, Bar, Block, Column, Heading, Plot, Quote, facts, table, visible
from agentforge.views.audit_verdicts import VERDICT, Audit, verdict_blocks


def audit_document(audit: Audit) -> list[Block]:
    """Lay the audit out, the most important things first."""
    return [
        *_front(audit),
        *_split(audit),
        *_settled(audit),
        *_specification(audit),
        *_trace(audit),
        *_measurements(audit),
        *verdict_blocks(audit),
        *_attempts(audit),
        *_escalations(audit),
        *_timeline(audit),
        *_steps(audit),
        *_environment(audit),
        *_digests(audit),
    ]


def _front(audit: Audit) -> list[Block]:
    delivery, totals = audit["delivery"] or {}, audit["totals"]
    done = audit["outcome"] in ("delivered", "analyzed")
    refused = sum(not verdict["passed"] for verdict in audit["verdicts"])
    again = f", {refused} of which refused a draft" if refused else ""
    count = len(audit["verdicts"])
    told = f"{audit['outcome']} after {count} {'verdict' if count == 1 else 'verdicts'}{again}"
    report = audit["report"].get("verification", {})
    signed = delivery.get("signed_by") or ("unsigned" if delivery else "")
    blocks: list[Block] = [
        Heading(level=1, text=visible(f"Audit of {audit['task_id']}")),
        AuditText(text=told, tone="good" if done else "bad"),
        Quote(text=visible(audit["request"])),
        facts(
            ("goal", audit["goal"]),
            ("part of plan", _plan(audit["plan"])),
            ("began", audit["started_at"]),
            ("last record", audit["ended_at"]),
            ("working time", f"{audit['active_s']} s"),
            ("branch", delivery.get("branch")),
            ("commit", delivery.get("commit")),
            ("on base", delivery.get("base_commit")),
            ("attestation", signed),
            ("tests run on the delivered tree", report.get("tests_run")),
            ("regressions", _none(report, "no_regressions")),
            ("model calls", totals["llm_calls"]),
            ("tokens", _tokens(totals)),
            ("cost", _money(totals["cost_usd"])),
        ),
    ]
    if audit["error"]:
        blocks.append(
            AuditText(text=visible(f"{audit['error'].get('slug')}: {audit['error'].get('message')}"), tone="bad")
        )
    limits = audit["report"].get("limits") or []
    if limits:
        blocks += [Heading(level=2, text="What the verification does not say")]
        blocks += [AuditText(text=visible(item)) for item in limits]
    return blocks


def _plan(plan: Audit) -> str:
    return f"the part of {part_label(plan)} in {plan['run_id']} ({plan['path']}), plan {plan['digest']}" if plan else ""


def _split(audit: Audit) -> list[Block]:
    """The plan over several repositories: what each part is asked, waits for and provides, and its task."""
    plan = audit["split"]
    if not plan:
        return []
    rows = []
    for part in plan.get("parts", []):
        started = plan["started"].get(part.get("name") or part["repo"], {})
        between = [
            f"needs {item.get('part') or item['repo']}: {item.get('required_stage') or 'deliver'}"
            for item in part.get("needs") or []
        ]
        between += [f"provides {item['artifact']} {item['version']}" for item in part.get("provides") or []]
        between += [f"uses {item['artifact']} {item['version']} of {item['repo']}" for item in part.get("uses") or []]
        rows.append((part_label(part), part["request"], "\n".join(between), started.get("task_id", "not started")))
    columns = (
        Column(title="repository", share=2), Column(title="what is asked of it", share=5),
        Column(title="between the parts", share=3), Column(title="task", kind="code", share=3),
    )  # fmt: skip
    return [
        Heading(level=2, text=visible(f"Plan {plan.get('plan_id')}")),
        AuditText(text=visible(str(plan.get("summary")))),
        table(columns, rows),
    ]


def _settled(audit: Audit) -> list[Block]:
    """Assumptions first, then the answers with their evidence."""
    assumed = [item for item in audit["questions"] if item.get("source") == "assumption"]
    answered = [item for item in audit["questions"] if item.get("source") != "assumption"]
    blocks: list[Block] = [Heading(level=2, text="Assumptions")]
    if assumed:
        pair = (Column(title="question", share=3), Column(title="assumed", share=3))
        blocks.append(table(pair, [(item.get("question"), item.get("answer")) for item in assumed]))
    else:
        blocks.append(AuditText(text="None: nothing had to be assumed.", tone="muted"))
    if answered:
        columns = (
            Column(title="question", share=3), Column(title="answer", share=3), Column(title="from", share=2),
            Column(title="evidence, as it stands at the base", kind="code", share=4),
        )  # fmt: skip
        rows = [
            (item.get("question"), item.get("answer"), item.get("resolved_by") or item.get("source"), _evidence(item))
            for item in answered
        ]
        blocks += [Heading(level=2, text="Answers"), table(columns, rows)]
    return blocks


def _evidence(item: Audit) -> str:
    found = item.get("evidence") or []
    return "\n".join(f"{one.get('file')}:{one.get('line', '')} {one.get('snippet', '')}" for one in found)


def _specification(audit: Audit) -> list[Block]:
    spec = audit["specification"]
    if not spec:
        return []
    symbols = "\n".join(
        f"{item.get('change')} {item.get('kind', '')} {item.get('name')}{item.get('signature', '')} in {item.get('file')}"
        for item in spec.get("symbols", [])
    )
    rows = [(item.get("id"), item.get("description"), _criteria(item)) for item in spec.get("requirements", [])]
    columns = (
        Column(title="id", share=1), Column(title="requirement", share=4),
        Column(title="acceptance criteria", kind="code", share=5),
    )  # fmt: skip
    return [
        Heading(level=2, text="Specification"),
        facts(
            ("title", spec.get("title")),
            ("description", spec.get("description")),
            ("symbols", symbols),
            ("files to modify", "\n".join(map(str, spec.get("files_to_modify", [])))),
            ("files to create", "\n".join(map(str, spec.get("files_to_create", [])))),
            ("constraints", "\n".join(_described(item) for item in spec.get("constraints", []) or [])),
        ),
        table(columns, rows),
    ]


def _criteria(requirement: Audit) -> str:
    """One line for each, by the number under which tests name it."""
    listed = enumerate(requirement.get("acceptance_criteria", []), start=1)
    return "\n".join(f".{number} {criterion}" for number, criterion in listed)


def _described(item: object) -> str:
    return str(item.get("description", item)) if isinstance(item, Mapping) else str(item)


def _trace(audit: Audit) -> list[Block]:
    if not audit["trace"]:
        return []
    columns = (
        Column(title="requirement", share=3), Column(title="test", kind="code", share=5),
        Column(title="kind", share=1), Column(title="before the change", share=3),
        Column(title="after", kind="verdict", share=2), Column(title="changed lines", kind="code", share=3),
    )  # fmt: skip
    rows: list[tuple[object, ...]] = []
    for item in audit["trace"]:
        lines = "\n".join(f"{one.get('path')}:{one.get('lines')}" for one in item["changes"])
        name = f"{item['id']} {item['description']}"
        tests = item["tests"] or [{"id": "no test", "kind": "", "before": "", "reason": "", "after": "missing"}]
        for number, test in enumerate(tests):
            before = f"{test['before']}: {test['reason']}" if test["reason"] else test["before"]
            rows.append((name if not number else "", test["id"], test["kind"], before, test["after"],
                         lines if not number else ""))  # fmt: skip
    return [Heading(level=2, text="Requirement, test, changed lines"), table(columns, rows)]


def _measurements(audit: Audit) -> list[Block]:
    rows = []
    for item in audit["measurements"]:
        if not item["tree"] or item["name"] == "deliver":
            continue
        told = item["facts"].get("controls")
        controls = told if isinstance(told, Mapping) else {}
        rows.append((f"{item['name']} {item['attempt']}", item["tree"], _counted(item["facts"]), _controls(controls),
                     f"{item['duration_ms'] / 1000:.1f}"))  # fmt: skip
    if not rows:
        return []
    columns = (
        Column(title="measured", share=2), Column(title="git tree", kind="code", share=4),
        Column(title="tests", share=4), Column(title="controls", share=5), Column(title="s", kind="number", share=1),
    )  # fmt: skip
    note = (
        "Every row is an execution in a fresh checkout of the named tree. A verdict rests on its controls: the canary is a "
        "test that must fail, stub controls are wrong implementations that the new tests must refuse."
    )
    return [Heading(level=2, text="What was measured"), AuditText(text=note, tone="muted"), table(columns, rows)]


def _counted(measured: Audit) -> str:
    if "all_tests_fail" in measured:
        new = measured.get("tests", [])
        targets = sum(1 for item in new if item.get("kind") == "target")
        return f"{len(new)} new, {targets} targets; all targets fail: {_yes(measured['all_tests_fail'])}"
    if "tests_run" in measured:
        regressions = len(measured.get("regressions", [])) + len(measured.get("missing", []))
        return f"{measured.get('passed')} of {measured['tests_run']} passed; {regressions} regressions or missing"
    return (
        f"{measured.get('passed', 0)} of {measured.get('tests', 0)} passed, {measured.get('failing_count', 0)} failing"
    )


def _controls(controls: Audit) -> str:
    names = {
        "held": "all held", "canary": "canary", "complete": "run complete", "agree": "both channels agree",
        "stubs": "stubs refused", "repeats": "repeats in random order",
    }  # fmt: skip
    told = [f"{text}: {_yes(controls[key])}" for key, text in names.items() if controls.get(key) is not None]
    return ", ".join(told) or "none recorded"


def _attempts(audit: Audit) -> list[Block]:
    """Independent attempts, the losers too; nothing where there were none."""
    told = audit.get("attempts")
    if not told:
        return []
    columns = (
        Column(title="attempt", share=1), Column(title="run", share=4), Column(title="result", share=3),
        Column(title="mutation score", kind="number"), Column(title="changed lines", kind="number"),
    )  # fmt: skip
    rows = [
        (row["number"], row["child"],
         f"chosen: {told['reason']}" if row["chosen"] else "passes all rules" if row["passed"] else row["reason"],
         "" if row["score"] is None else f"{row['score']:.2f}", row["lines"])
        for row in told["rows"]
    ]  # fmt: skip
    return [Heading(level=2, text=f"Independent attempts from {told['stage']} on"), table(columns, rows)]


def _escalations(audit: Audit) -> list[Block]:
    blocks: list[Block] = [Heading(level=2, text="Escalations")]
    if not audit["escalations"]:
        return [*blocks, AuditText(text="None: no human was asked.", tone="muted")]
    columns = (
        Column(title="id", share=1), Column(title="asked", share=2), Column(title="question", share=4),
        Column(title="answer", share=3), Column(title="by", share=2),
    )  # fmt: skip
    rows = [
        (item["id"], f"{item['raised_at']}\n{item['stage']}, {item['kind']}", f"{item['reason']}\n{item['question']}",
         f"{item['decision']} {item['answer']}".strip() or "open", f"{item['by']}\n{item['resolved_at'] or ''}".strip())
        for item in audit["escalations"]
    ]  # fmt: skip
    return [*blocks, table(columns, rows)]


def _timeline(audit: Audit) -> list[Block]:
    stages = [
        (name, item["status"], item["attempt"], item["steps"], item["prompt_tokens"], item["completion_tokens"],
         _stage_cost(item, priced=audit["totals"]["cost_usd"] is not None))
        for name, item in audit["stages"].items()
    ]  # fmt: skip
    columns = (
        Column(title="stage"), Column(title="status"), Column(title="attempts", kind="number"),
        Column(title="steps", kind="number"), Column(title="prompt tokens", kind="number"),
        Column(title="completion tokens", kind="number"), Column(title="cost", kind="number"),
    )  # fmt: skip
    bars, total = [], 0.0
    priced = audit["totals"]["cost_usd"] is not None
    for step in audit["steps"]:
        call = step["llm_call"]
        if not call:
            continue
        tokens = int(call["prompt_tokens"] or 0) + int(call["completion_tokens"] or 0)
        total += float(call["cost_usd"] or 0) if priced else tokens
        bars.append(Bar(label=str(step["step"]), group=visible(step["phase"]), value=tokens, total=total))
    blocks: list[Block] = [Heading(level=2, text="Timeline")]
    if bars:
        unit = "USD" if priced else "tokens"
        title = f"Tokens of each model call (bars) and {unit} so far (line)"
        blocks.append(Plot(title=title, bars=tuple(bars), unit="tokens", total_unit=unit))
    blocks.append(table(columns, stages))
    if audit["interruptions"]:
        rows = [(item["at"], item["event"], item.get("reason") or item.get("quarantine") or "")
                for item in audit["interruptions"]]  # fmt: skip
        blocks += [Heading(level=3, text="Interruptions"),
                   table((Column(title="at"), Column(title="what"), Column(title="why", share=5)), rows)]  # fmt: skip
    return blocks


def _stage_cost(stage: Audit, *, priced: bool) -> str:
    if not stage["prompt_tokens"] + stage["completion_tokens"]:
        return "no model"
    return _money(stage["cost_usd"]) if priced else "unknown"


def _steps(audit: Audit) -> list[Block]:
    columns = (
        Column(title="step", kind="number", share=1), Column(title="at", share=2), Column(title="stage", share=2),
        Column(title="what was done", share=8), VERDICT, Column(title="tokens", kind="number", share=2),
        Column(title="input", kind="code", share=3),
    )  # fmt: skip
    rows = [
        (step["step"] if step["llm_call"] else "-", str(step["timestamp"] or "")[11:19],
         f"{step['phase']} {step['attempt']}", _done(step), step["result"]["status"], _spent(step),
         str(step["action"]["input_hash"])[:12])
        for step in audit["steps"]
    ]  # fmt: skip
    note = (
        "Input is the beginning of the SHA-256 of the exact request (or draft), stored with the run; "
        "what was done without a model has no step (-); "
        "`agentforge inspect ID --step N --show context` shows it."
    )
    return [Heading(level=2, text="Every step"), AuditText(text=note, tone="muted"), table(columns, rows)]


def _done(step: Audit) -> str:
    tools = [f"{tool['name']}: {tool['status']}: {tool['summary']}" for tool in step["tools"]]
    lines = tools or [f"{step['action']['type']} by {step['by']}", *([step["summary"]] if step["summary"] else [])]
    if step["verification"]["passed"] is not None:
        lines.append(
            f"{step['verification']['contract']}: {'verified' if step['verification']['passed'] else 'refused'}"
        )
    return "\n".join(lines)


def _spent(step: Audit) -> object:
    call = step["llm_call"]
    return int(call["prompt_tokens"] or 0) + int(call["completion_tokens"] or 0) if call else ""


def _environment(audit: Audit) -> list[Block]:
    environment = audit["environment"]
    limits = ", ".join(f"{name} {value}" for name, value in environment["limits"].items() if value is not None)
    return [
        Heading(level=2, text="Environment"),
        facts(
            ("model", environment["model"]),
            ("mode", environment["mode"]),
            ("approval wanted", ", ".join(environment["approve"])),
            ("versions", ", ".join(f"{name} {value}" for name, value in environment["versions"].items())),
            ("sandbox", environment["sandbox"]),
            ("test runner", environment["runner"]),
            ("command", environment["command"]),
            ("limits", limits),
            ("uncommitted changes left out", ", ".join(environment["left_out"])),
        ),
    ]


def _digests(audit: Audit) -> list[Block]:
    trail = audit["trail"]
    named = list(audit["digests"].items())
    delivery = audit["delivery"] or {}
    rows = [*named, ("attestation", delivery.get("attestation")), ("trail head", trail["head"])]
    note = (
        f"The trail has {trail['records']} records. `agentforge verify {audit['task_id']}` checks the chain, every digest, "
        "every verdict and the anchors from the files alone."
    )
    return [Heading(level=2, text="Digests"), AuditText(text=visible(note), tone="muted"), facts(*rows, code=True)]


def _none(report: Audit, key: str) -> str:
    return "" if key not in report else ("none" if report[key] else "yes")


def _tokens(totals: Audit) -> str:
    return (
        f"{totals['prompt_tokens']} prompt ({totals['cached_tokens']} cached), {totals['completion_tokens']} completion"
    )


def _money(value: object) -> str:
    return "unknown" if value is None else f"{value} USD"


def _yes(value: object) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)
