"""The page that lists the honest corpus: docs/honest.md, generated from the cases."""

from __future__ import annotations

from collections.abc import Sequence

from agentforge.evals.honest_case import HonestCase, honest_names, load_own

_HEAD = """# The honest corpus

Generated from `src/agentforge/evals/honest/` by `make golden`; a test compares it. Every case is an ordinary request with the
solution that a good engineer would hand in. It is played through the whole pipeline, with real sandbox and runners; it must be
delivered, no stage may refuse it at its first attempt, and the tests of the delivered branch must pass in a plain checkout. A
refusal of honest work is as bad as a trick that was delivered: when a rule refuses a case, the rule is changed, never the case.

`agentforge eval honest` plays all of them, `agentforge eval honest NAME...` the named ones; with `--twins` the honest twins of
the [catalogue of cheats](cheats.md) as well. Exit code 4 says that something was refused.

## Adding one

Write a file `src/agentforge/evals/honest/NAME.yaml`; nothing is registered. It says `title`, `idiom` (what of it a rule might
take for a trick), `action`, `language` and `request`; optional is `needs`, a program. Below `files` stand `repository/...`, the
files of the repository, and `answers/...`, what the honest model answers, as in the [catalogue of cheats](cheats.md#adding-one).

Some cases hold a dishonest solution of the same request beside the honest one: `trick/...` over `answers/...`, its `class` and a
sentence (`trick`), and below `hidden/` a test that passes on the honest side alone. They were invented by people who had not
read the verifier; `python bench/unseen.py` plays both sides.
"""


def page() -> str:
    """Return the whole page."""
    cases = [load_own(name) for name in honest_names()]
    actions = sorted({case.action for case in cases})
    count = f"\n{len(cases)} cases.\n"
    return _HEAD + count + "".join(_section(one, [case for case in cases if case.action == one]) for one in actions)


def _section(action: str, cases: Sequence[HonestCase]) -> str:
    rows = "".join(f"| `{case.name}` | {case.title} | {case.idiom} | {case.language} |\n" for case in cases)
    return (
        f"\n## {action[:1].upper()}{action[1:]}\n\n| case | request | what a rule might take it for | language |\n"
        f"|---|---|---|---|\n{rows}"
    )
