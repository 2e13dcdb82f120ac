"""Tasks of AgentForge for Inspect: `inspect eval tasks.py --model PROVIDER/NAME`.

-T agent=react (the default: a model with a shell), agent=agentforge (the program, which must be in the sandbox), or
agent=reference (the answers that came with the tasks; asks no model). -T sandbox=local runs without Docker, unconfined.
"""

import json
from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.agent import as_solver, react
from inspect_ai.dataset import json_dataset
from inspect_ai.scorer import Score, accuracy, scorer, stderr
from inspect_ai.solver import solver
from inspect_ai.tool import bash
from inspect_ai.util import sandbox as box

HERE = Path(__file__).parent
RULES = (
    "You work in the git repository in the current folder. Make the change in the files. If the request cannot be carried out "
    "without knowing more, change nothing and write your question into QUESTION.md. If only a report is asked for, change "
    "nothing and write it into REPORT.md."
)


@task
def agentforge(agent="react", sandbox="docker", model="", limit=30):
    agents = {
        "react": lambda: as_solver(react(prompt=RULES, tools=[bash(timeout=120)])),
        "agentforge": lambda: program(model),
        "reference": reference,
    }
    return Task(
        dataset=json_dataset(str(HERE / "dataset.jsonl")),
        solver=agents[agent](),
        scorer=hidden_tests(),
        sandbox="local" if sandbox == "local" else (sandbox, str(HERE / "compose.yaml")),
        message_limit=limit,
    )


@solver
def program(model):
    """`agentforge start`; its question or its report becomes the paper that is judged."""

    async def solve(state, generate):
        chosen = ["--model", model] if model else []
        done = await box().exec(["agentforge", "start", state.input_text, "--apply", "--json", *chosen], timeout=3600)
        try:
            result = json.loads(done.stdout)
        except ValueError:
            state.output.completion = (done.stdout + done.stderr)[-2000:]
            return state
        state.output.completion = result["outcome"]
        asked = [one["question"] for one in result["escalations"] if one["status"] == "pending"]
        if result["outcome"] == "escalated" and asked:
            await box().write_file("QUESTION.md", "\n".join(asked))
        if result["outcome"] == "analyzed":
            report = Path(result["folder"], "artifacts/phases/analyze/analysis.yaml")
            await box().write_file("REPORT.md", await box().read_file(str(report)))
        return state

    return solve


@solver
def reference():
    async def solve(state, generate):
        folder = HERE / "tasks" / str(state.sample_id) / "reference"
        for path in folder.rglob("*"):
            if path.is_file():
                await box().write_file(path.relative_to(folder).as_posix(), path.read_text("utf-8"))
        return state

    return solve


@scorer(metrics=[accuracy(), stderr()])
def hidden_tests():
    async def score(state, target):
        folder = HERE / "tasks" / str(state.sample_id)
        place = "../judge" if (await box().exec(["test", "-w", ".."])).success else "/tmp/judge"
        place = f"{place}-{state.sample_id}"
        await box().write_file(f"{place}/judge.py", (HERE / "judge.py").read_text("utf-8"))
        for path in [folder / "task.json", *(folder / "hidden").rglob("*")]:
            if path.is_file():
                await box().write_file(f"{place}/{path.relative_to(folder).as_posix()}", path.read_text("utf-8"))
        done = await box().exec(["python3", f"{place}/judge.py", place, "."], timeout=600)
        return Score(value="C" if done.success else "I", explanation=(done.stdout + done.stderr)[-1500:])

    return score
