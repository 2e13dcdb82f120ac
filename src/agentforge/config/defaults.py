"""What holds when nobody set anything. One table; settings.schema.json says what else is known."""

from __future__ import annotations

from collections.abc import Mapping

DEFAULTS: Mapping[str, object] = {
    "approval": "on-request",
    "max_turns": 100,
    "loop_limit": 5,
    "max_tool_output_tokens": 50_000,
    "output_hygiene_enabled": True,
    "redaction_enabled": True,
    "prompt_injection_protection_enabled": True,
    "hooks_enabled": False,
    "skills_enabled": True,
    "input_keys": "plain",
    "theme": "auto",
    "debug": False,
    "model": {
        "max_output_tokens": 4096,
        "context_window": 256_000,
        "read_timeout_s": 180,
        "reply_timeout_s": 3600,
        "samples": 5,
        "grade": "auto",
        "grade_s": 120,
        "fallbacks": [],
    },
    "context": {"budget_tokens": 128_000, "step_tokens": 8_000},
    "limits": {
        "max_steps": 200,
        "budget_tokens": 2_000_000,
        "budget_usd": "none",
        "deadline": "none",
        "attempts": 5,
        "stage_steps": 25,
        "usd_per_minute": "none",
        "tokens_per_minute": "none",
    },
    "verification": {
        "mutants": 20,
        "mutants_s": 60,
        "mutants_share": 0.25,
        "mutation_score": 0.8,
        "returns": 1,
        "survivors": "report",
        "untested": 0,
        "impact_s": 120,
        "examiner": "auto",
        "examiner_asks": False,
    },
    "attempts": {"parallel": 1},
    "sandbox": {"kind": "auto", "network": "off"},
    "deliver": {"apply": False},
    "shell_environment": {"ignore_default_excludes": False, "exclude_patterns": ["*KEY*", "*TOKEN*", "*SECRET*"]},
}
