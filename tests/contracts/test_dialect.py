"""The dialect of contracts: what it translates to, and how every mistake of an author is named."""

from __future__ import annotations

import jsonschema_rs
import pytest

from agentforge.contracts.dialect import parse_contract, to_json_schema
from agentforge.errors import ContractInvalid


def contract(schema: str, tail: str = "") -> str:
    body = "\n".join(f"  {line}" for line in schema.strip("\n").splitlines())
    return f'contract: mine\nversion: "1.0"\ndescription: x\nschema:\n{body}\n{tail}'


def schema_of(schema: str) -> dict:
    return dict(to_json_schema(parse_contract(contract(schema), source="mine.yaml")))


def test_required_properties_are_gathered_on_their_object() -> None:
    schema = schema_of("""
a: {type: string, required: true, max_length: 3}
b:
  type: array
  items:
    type: object
    properties:
      c: {type: integer, required: true, minimum: 0}
      d: {type: string, required: false}
""")
    assert schema == {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "required": ["a"],
        "properties": {
            "a": {"type": "string", "maxLength": 3},
            "b": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["c"],
                    "properties": {"c": {"type": "integer", "minimum": 0}, "d": {"type": "string"}},
                },
            },
        },
    }


def test_a_whole_object_schema_means_the_same_as_its_properties() -> None:
    short = "a: {type: string, required: true}"
    whole = "type: object\nrequired: [a]\nproperties:\n  a: {type: string}"
    assert schema_of(short) == schema_of(whole)


def test_a_property_may_be_called_type() -> None:
    assert schema_of("type: {type: string}\nproperties: {type: string}")["properties"].keys() == {"type", "properties"}


@pytest.mark.parametrize(
    ("spec", "good", "bad"),
    [
        ("{type: string, min_length: 2, maxLength: 3}", ["ab", "abc"], ["a", "abcd", 3, None]),
        ("{type: string, enum: [on, off]}", ["on", "off"], ["ON", True]),
        ("{type: boolean, const: true}", [True], [False, 1, "true"]),
        ('{type: string, pattern: "^REQ-[0-9]{3}$"}', ["REQ-001"], ["REQ-1", "xREQ-001"]),
        (
            "{type: string, format: datetime}",
            ["2025-12-31T10:15:00Z", "2025-12-31T10:15:00+01:00"],
            ["2025", "2025-12-31 10:15"],
        ),
        ("{type: string, format: date}", ["2025-12-31"], ["31.12.2025"]),
        ("{type: string, format: uri}", ["https://x.example/y"], ["no uri"]),
        ("{type: string, nullable: true, enum: [a]}", ["a", None], ["b", 1]),
        ("{type: integer, minimum: 1, maximum: 3}", [1, 3], [0, 4, 1.5]),
        ("{type: number, exclusive_minimum: 0, multipleOf: 0.5}", [0.5, 1], [0, 0.3]),
        ("{type: array, min_items: 1, max_items: 2, unique_items: true}", [[1], [1, 2]], [[], [1, 1], [1, 2, 3]]),
        ("{type: object, additionalProperties: {type: array, items: {type: string}}}", [{"x": ["a"]}], [{"x": [1]}]),
        ("{type: object, additional_properties: false, properties: {a: {type: string}}}", [{"a": "x"}, {}], [{"b": 1}]),
        ("{any_of: [{type: string}, {type: array, items: {type: integer}}]}", ["x", [1]], [1, ["x"]]),
        ("{type: [string, integer]}", ["x", 1], [1.5, []]),
        ("{type: object, min_properties: 1}", [{"a": 1}], [{}]),
    ],
)
def test_keywords_mean_what_they_say_in_both_spellings(spec: str, good: list, bad: list) -> None:
    validator = jsonschema_rs.Draft202012Validator(schema_of(f"a: {spec}"), validate_formats=True)
    assert [value for value in good if not validator.is_valid({"a": value})] == []
    assert [value for value in bad if validator.is_valid({"a": value})] == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            contract("a: {type: string, max_lenght: 3}"),
            "schema.a has the unknown keyword 'max_lenght' - did you mean 'max",
        ),
        (contract("a: {type: strng}"), "schema.a.type is 'strng' - did you mean 'string'"),
        (contract("a: {type: string, min_length: two}"), "schema.a.min_length is 'two' - it must be a whole number"),
        (contract("a: {type: string, min_length: true}"), "schema.a.min_length is True"),
        (contract("a: {type: string, min_length: -1}"), "schema.a.min_length is -1"),
        (
            contract("a: {type: string, min_items: 1}"),
            "schema.a.min_items says nothing about type string - it is for array",
        ),
        (contract('a: {type: string, pattern: "("}'), "schema.a.pattern is not a regular expression"),
        (contract("a: {type: string, format: datetim}"), "schema.a.format is 'datetim' - did you mean 'datetime'"),
        (contract("a: {type: string, enum: []}"), "schema.a.enum is empty"),
        (contract("a: {type: string, enum: x}"), "schema.a.enum is 'x' - it must be a list"),
        (contract("a: string"), "schema.a is 'string' - it must be a mapping of keywords"),
        (contract("a: {type: string, required: 1}"), "schema.a.required is 1"),
        (
            contract("a: {type: array, items: {type: string, required: true}}"),
            "schema.a.items.required stands outside of a property",
        ),
        (
            contract("a: {type: array, items: {type: object, properties: {b: {typ: string}}}}"),
            "schema.a.items.properties.b has the unknown",
        ),
        (contract("a: {any_of: [{type: string}, {typ: x}]}"), "schema.a.any_of.1 has the unknown"),
        (contract("a: {any_of: []}"), "schema.a.any_of is []"),
        ("contract: mine\nschema: {type: array}\n", "schema describes 'array'"),
        ("contract: mine\nschema: []\n", "schema must be a mapping"),
        ("contract: mine\n", "no schema"),
        ("version: x\n", "no contract name"),
        ("contract: My Contract\n", "contract is 'My Contract'"),
        ("contract: mine\nshema: {}\n", "unknown key 'shema' - did you mean 'schema'"),
        ("contract: mine\nversion: 1.0\nschema: {a: {}}\n", 'version is 1.0 - put it in quotes: version: "1.0"'),
        ("- a\n", "is not a mapping"),
        ("contract: mine\nextends: specification\n", "extends needs the contract 'specification'"),
        (contract("a: {}", "validation: none\n"), "validation is not a list"),
        (contract("a: {}", "validation: [3]\n"), "validation[0] is 3"),
        (contract("a: {}", "validation: [{cle: x}]\n"), "validation[0] has the unknown key 'cle' - did you mean 'cel'"),
        (contract("a: {}", "validation: [{message: x}]\n"), "validation[0] needs exactly one of rule, cel, command"),
        (contract("a: {}", "validation: [{cel: a, command: b}]\n"), "validation[0] needs exactly one"),
        (contract("a: {}", "validation: [{cel: 'a +'}]\n"), "validation[0]: 'a +' is not CEL"),
        (contract("a: {}", "validation: [{cel: 'other.x'}]\n"), "is not CEL"),
        (
            contract("a: {}", "validation: [no circular dependency]\n"),
            "unknown rule 'no circular dependency' - did you mean 'no circular dependencies'",
        ),
    ],
)
def test_a_mistake_is_named_with_its_file_its_place_and_what_was_meant(text: str, told: str) -> None:
    with pytest.raises(ContractInvalid) as caught:
        parse_contract(text, source="mine.yaml")
    assert str(caught.value).startswith("mine.yaml")
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("contract: mine\nschema: {a: {}}\nschema: {}\n", "line 3: the key 'schema' stands twice"),
        ("contract: mine\nschema: &x {a: {}}\n", "line 2: anchors and aliases"),
        ("contract: mine\nschema: {a: *x}\n", "line 2: anchors and aliases"),
        ("contract: !!python/name:os.system x\n", "line 1: the tag"),
        ("contract: mine\n1: x\n", "line 2: the key 1 is not a string"),
        ("contract: mine\n  schema: {\n", "line 2"),
        ("a: " + "[" * 60, "nested deeper than 40"),
        ("contract: mine\x07\n", "unacceptable character"),
        ("contract: mine\n---\ncontract: other\n", "expected a single document"),
        ("#" * 300_000, "characters long"),
    ],
)
def test_yaml_beyond_the_subset_is_refused(text: str, told: str) -> None:
    with pytest.raises(ContractInvalid) as caught:
        parse_contract(text, source="mine.yaml")
    assert told in str(caught.value)


def test_scalars_are_read_the_way_yaml_1_2_has_them() -> None:
    spec = "{enum: [yes, no, on, 2025-12-31, 010, 1e3, 0x10, 1_000, ~, true, 1.5, .5]}"
    found = schema_of(f"a: {spec}")["properties"]["a"]["enum"]
    assert found == ["yes", "no", "on", "2025-12-31", 10, 1000.0, "0x10", "1_000", None, True, 1.5, 0.5]


def test_rules_are_known_by_sentence_or_id_however_they_are_spaced() -> None:
    tail = "validation:\n  - No  circular dependencies.\n  - no-cycles\n  - {command: make lint, message: lint it}\n"
    rules = parse_contract(contract("a: {}", tail), source="mine.yaml").rules
    assert [(rule.kind, rule.text, rule.message) for rule in rules] == [
        ("named", "no circular dependencies", ""),
        ("named", "no circular dependencies", ""),
        ("command", "make lint", "lint it"),
    ]


def test_equal_contracts_have_equal_digests_whatever_their_file() -> None:
    text = contract("a: {type: string}")
    assert parse_contract(text, source="a").digest == parse_contract("# comment\n" + text, source="b").digest
    assert (
        parse_contract(text, source="a").digest != parse_contract(text.replace("string", "integer"), source="a").digest
    )


def test_a_cel_rule_without_the_extra_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    from agentforge.contracts.expression import compile_expression

    compile_expression.cache_clear()
    monkeypatch.setitem(sys.modules, "cel_expr_python", None)
    with pytest.raises(ContractInvalid, match="needs the extra `rules`"):
        parse_contract(contract("a: {}", "validation: [{cel: 'true'}]\n"), source="mine.yaml")
