"""The set of contracts of a run: builtin, extended, overridden, and the compiled form that saves parsing YAML."""

from __future__ import annotations

import json

import pytest

from agentforge.contracts.catalogue import build, compile_builtin
from agentforge.contracts.contract import FIX_STAGE_OF, SPLIT_STAGE_OF
from agentforge.errors import ContractInvalid

ORDER = (
    "intake_record",
    "clarification",
    "analysis",
    "specification",
    "test_suite",
    "implementation",
    "deliverable",
    "delivery_report",
)
EXTENSION = """
contract: specification
extends: specification
schema:
  owner: {type: string, required: true}
  title: {max_length: 50}
validation:
  - {command: make lint, message: lint}
  - no circular dependencies
"""


def test_the_builtin_contracts_stand_in_the_order_of_the_stages(builtin_texts: dict[str, str]) -> None:
    contracts = build(builtin_texts, {})
    assert contracts.names == (*ORDER, *FIX_STAGE_OF, *SPLIT_STAGE_OF)
    assert set(contracts.origins.values()) == {"builtin"}
    assert all(contract.version == "1.0" and contract.description for contract in contracts.contracts.values())


def test_an_extension_adds_to_a_builtin_contract(builtin_texts: dict[str, str]) -> None:
    plain = build(builtin_texts, {}).get("specification")
    contracts = build(builtin_texts, {"strict.yaml": EXTENSION})
    schema = contracts.get("specification").json_schema
    assert schema["properties"]["title"] == {"type": "string", "maxLength": 50}  # type: ignore[index]
    assert schema["required"] == ["spec_id", "title", "description", "requirements", "owner"]
    assert contracts.origins["specification"] == "builtin + strict.yaml"
    assert [rule.text for rule in contracts.get("specification").rules] == [
        *(rule.text for rule in plain.rules),
        "make lint",
    ]
    assert contracts.get("specification").version == "1.0"


def test_a_contract_without_extends_replaces_one_or_joins(builtin_texts: dict[str, str]) -> None:
    own = "contract: {}\nschema:\n  a: {{type: string}}\n"
    contracts = build(builtin_texts, {"a.yaml": own.format("analysis"), "b.yaml": own.format("release_note")})
    assert contracts.names == (*ORDER, *FIX_STAGE_OF, *SPLIT_STAGE_OF, "release_note")
    assert contracts.get("analysis").rules == ()
    assert contracts.origins["analysis"] == "a.yaml"


@pytest.mark.parametrize(
    ("project", "told"),
    [
        (
            {"a.yaml": "contract: x\nextends: specfication\n"},
            "a.yaml: extends the unknown 'specfication' - did you mean 'specification'",
        ),
        (
            {"a.yaml": "contract: x\nschema: {a: {}}\n", "b.yaml": "contract: x\nschema: {a: {}}\n"},
            "b.yaml: 'x' is in a.yaml as well",
        ),
        (
            {"a.yaml": "contract: x\nschema: {a: {}}\nvalidation: [nobody knows]\n"},
            "a.yaml: unknown rule 'nobody knows'",
        ),
        (
            {"a.yaml": "contract: spec\nextends: specification\nschema: {title: {maxx: 1}}\n"},
            "a.yaml: schema.title has the unknown",
        ),
    ],
)
def test_a_wrong_project_contract_is_refused_when_the_set_is_built(
    project: dict[str, str], told: str, builtin_texts: dict[str, str]
) -> None:
    with pytest.raises(ContractInvalid) as caught:
        build(builtin_texts, project)
    assert told in str(caught.value)


def test_an_unknown_contract_is_named_with_the_nearest(builtin_texts: dict[str, str]) -> None:
    with pytest.raises(ContractInvalid, match="did you mean 'test_suite'"):
        build(builtin_texts, {}).get("testsuite")


def test_the_digest_of_the_set_changes_with_any_text(builtin_texts: dict[str, str]) -> None:
    plain = build(builtin_texts, {})
    assert build(dict(reversed(builtin_texts.items())), {}).digest == plain.digest
    changed = build(builtin_texts, {"strict.yaml": EXTENSION})
    assert changed.digest != plain.digest
    assert changed.digest_of("specification") != plain.digest_of("specification")
    assert changed.digest_of("analysis") == plain.digest_of("analysis")


def test_compiled_contracts_are_those_of_the_texts(builtin_texts: dict[str, str]) -> None:
    fast, slow = build(builtin_texts, {}, compiled=compile_builtin(builtin_texts)), build(builtin_texts, {})
    assert fast.digest == slow.digest
    assert [fast.digest_of(name) for name in ORDER] == [slow.digest_of(name) for name in ORDER]
    assert fast.contracts == slow.contracts


def test_a_compiled_entry_that_belongs_to_another_text_is_not_used(builtin_texts: dict[str, str]) -> None:
    entries = json.loads(compile_builtin(builtin_texts))
    entries["analysis"]["document"]["description"] = "forged"
    texts = builtin_texts | {"analysis": builtin_texts["analysis"] + "# edited\n"}
    assert build(texts, {}, compiled=json.dumps(entries)).get("analysis").description != "forged"


def test_compiled_contracts_load_without_yaml(builtin_texts: dict[str, str]) -> None:
    import subprocess
    import sys

    program = (
        "import json, sys\n"
        "from agentforge.contracts.catalogue import build\n"
        "from agentforge.contracts.draft import draft_schema\n"
        "texts, compiled = json.load(sys.stdin)\n"
        "draft_schema(build(texts, {}, compiled=compiled).get('intake_record'))\n"
        "sys.exit(any(name in sys.modules for name in ('yaml', 'jsonschema_rs', 'cel_expr_python', 'difflib')))\n"
    )
    feed = json.dumps([builtin_texts, compile_builtin(builtin_texts)])
    assert subprocess.run([sys.executable, "-c", program], input=feed, text=True, timeout=30).returncode == 0


def test_the_digest_is_that_of_the_texts_wherever_the_checkout_lies(builtin_texts: dict[str, str]) -> None:
    here = build(builtin_texts, {"/here/.agentforge/contracts/mine.yaml": EXTENSION}).digest
    assert build(builtin_texts, {"/there/.agentforge/contracts/mine.yaml": EXTENSION}).digest == here
    assert build(builtin_texts, {"/there/.agentforge/contracts/mine.yaml": EXTENSION + "\n"}).digest != here
    assert build(builtin_texts, {}).digest != here
