"""Rules about RED's test suite: what it covers, and what was measured when it ran at the base."""

from __future__ import annotations

import re

from agentforge.contracts.contract import Json
from agentforge.contracts.early_end import proves_nothing, unshown, without_result
from agentforge.contracts.inspection import by_inspection_alone, guards_suffice
from agentforge.contracts.rule import (
    RuleCase,
    RuleOutcome,
    broken,
    empty,
    entries,
    examples_found,
    held,
    judged,
    named,
    none_of,
    squeeze,
    strings,
    text,
)

_CRITERION_NUMBER = re.compile(r"\b(REQ-[0-9]{3})\.([0-9]+)\b")


def requirements_tested(case: RuleCase) -> RuleOutcome:
    """Each requirement of the specification (but `wont`, and what is verified by inspection) is named by a test.

    A test may cover several: it names one as its requirement, and criteria of others.
    """
    named = {text(test, "requirement_ref") for _, test in _tests(case.artifact)}
    named |= {
        ref
        for _, test in _tests(case.artifact)
        for ref, _ in _CRITERION_NUMBER.findall(text(test, "acceptance_criterion"))
    }
    required = _requirements(case)
    wrong = [
        ("test_files", f"no test shows {text(item, 'id')} ({text(item, 'description')[:80]!r})")
        for item in required
        if text(item, "id") not in named
    ]
    return judged(
        wrong,
        measured=len(required),
        fix="write a test for it, or name it in requirement_ref of the test that shows it",
    )


def criteria_mapped(case: RuleCase) -> RuleOutcome:
    """Each acceptance criterion is named by a test of its requirement: by its words or its number (REQ-001.2).

    A test that was found to do nothing but import, and to pass whatever is imported, shows only criteria that speak of that.
    """
    only_import = {name.partition("::")[2] for _, name in strings(case.facts, "only_imports")}
    claims = [
        (text(test, "requirement_ref"), text(test, "acceptance_criterion"), text(test, "name") in only_import)
        for _, test in _tests(case.artifact)
    ]
    wrong, total = [], 0
    for requirement in _requirements(case):
        name = text(requirement, "id")
        for number, (_, criterion) in enumerate(strings(requirement, "acceptance_criteria"), start=1):
            total += 1
            if not any(
                _claims(claim, name=name, number=number, criterion=criterion, own=ref == name)
                for ref, claim, imports in claims
                if not imports or "import" in criterion.casefold()
            ):
                wrong.append(("test_files", f"no test asserts the values of {name}.{number} ({criterion[:80]!r})"))
    return judged(wrong, measured=total, fix="write a test that asserts them, and name it by that number")


def _claims(claim: str, *, name: str, number: int, criterion: str, own: bool) -> bool:
    """Whether a test's words claim this criterion."""
    if (name, str(number)) in _CRITERION_NUMBER.findall(claim):
        return True
    if not own or not claim:
        return False
    return claim == str(number) or squeeze(criterion) in squeeze(claim)


def refs_known(case: RuleCase) -> RuleOutcome:
    """Tests and mapping name requirements and tests that there are."""
    ids = {text(item, "id") for item in _met(case)}
    tests = _tests(case.artifact)
    names = {text(test, "name").split("[")[0].split("::")[-1] for _, test in tests}
    wrong = [
        (f"{path}.requirement_ref", f"{ref!r} is not in the specification")
        for path, test in tests
        if (ref := text(test, "requirement_ref")) and ref not in ids
    ]
    mapping = case.artifact.get("coverage_mapping")
    for ref in mapping if isinstance(mapping, dict) else ():
        if ref and ref not in ids:
            wrong.append((f"coverage_mapping.{ref}", "is not in the specification"))
        wrong += [
            (f"coverage_mapping.{place}", f"{name!r} is not among test_files")
            for place, name in strings(mapping, ref)
            if name.split("[")[0].split("::")[-1] not in names
        ]
    return judged(wrong, measured=len(tests), fix="correct the reference")


def targets_fail(case: RuleCase) -> RuleOutcome:
    """Executed: every target fails at the base, and the counts say so test by test."""
    targets = _targets(case)
    passing = [test for test in targets if test.get("outcome") not in ("failed", "error")]
    if case.fact("all_tests_fail") is True and not passing:
        return held(len(targets))
    if not passing and proves_nothing(case):
        return unshown(len(targets))
    if not targets:
        return broken("no test fails at the base - assert what the base lacks", measured=0)
    told = _few([str(test.get("id")) for test in passing]) or "see the other findings"
    return broken(f"not failing at the base: {told} - assert what the base lacks", measured=len(targets))


def kinds_measured(case: RuleCase) -> RuleOutcome:
    """Executed: no test that was declared as a target passes at the base; one that does is kept as a guard."""
    turned = [str(one) for one in case.fact_list("turned_guard")]
    if not turned:
        return held(0)
    return broken(f"declared as targets, but they pass at the base and count as guards: {_few(turned)}", measured=0)


def right_reason(case: RuleCase) -> RuleOutcome:
    """Executed: every target fails because the behaviour is missing, not because the test is broken."""
    by_reason: dict[str, list[str]] = {}
    for test in _targets(case):
        if test.get("right_reason") is not True:
            reason = str(test.get("reason") or "fails for another reason")
            by_reason.setdefault(reason, []).append(str(test.get("id")))
    wrong = [("test_files", f"{_few(ids)}: {reason}") for reason, ids in by_reason.items()]
    return judged(wrong, measured=len(_targets(case)), fix="correct these tests")


def _few(ids: list[str], *, limit: int = 8) -> str:
    return ", ".join(ids[:limit]) + (f" and {len(ids) - limit} more" if len(ids) > limit else "")


def guards_pass(case: RuleCase) -> RuleOutcome:
    """Executed: what must survive passes at the base."""
    guards = [test for test in case.fact_records("tests") if test.get("kind") == "guard"]
    failing = [test for test in guards if test.get("outcome") not in ("passed", "skipped")]
    if case.fact("guards_pass") is True and not failing:
        return held(len(guards))
    if not failing and proves_nothing(case):
        return unshown(len(guards))
    return none_of(
        failing or ["a guard"], what="guards that do not pass at the base", fix="a guard asserts what is there"
    )


def has_target(case: RuleCase) -> RuleOutcome:
    """At least one target, unless the behaviour is to stay (refactor, delete, analyze, measured speed).

    Where every requirement is verified by inspection there need be no test: GREEN then has to show that nothing runs otherwise. A
    fix whose request shows what calls give is none of these: what is wrong today can fail today.
    """
    intake = case.input("intake_record") or {}
    specification = case.input("specification") or {}
    targets, tests = len(_targets(case)), len(case.fact_records("tests"))
    intent = intake.get("extracted_intent")
    action = text(intent, "action") if isinstance(intent, dict) else ""
    shown = action == "fix" and any(entries(ask, "examples") for _, ask in entries(intake, "asks"))
    untested = by_inspection_alone(specification) or (tests and guards_suffice(specification, intake))
    if targets or (untested and not shown):
        return held(targets)
    if without_result(case):
        return unshown(targets)
    return broken("no test asserts behaviour that the base lacks - add a target", path="test_files", measured=targets)


def nothing_implemented(case: RuleCase) -> RuleOutcome:
    """Executed: no declared new symbol exists at the tree of RED."""
    if case.fact("no_implementation_exists") is True:
        return held(True)
    return broken("part of the implementation exists already - RED writes tests only", measured=False)


def all_collected(case: RuleCase) -> RuleOutcome:
    """Executed: the runner collected every declared test."""
    fix = "declare tests by the names that the runner reports"
    missing, lost = case.fact_list("declared_missing"), without_result(case)
    left = [name for name in missing if name not in lost]
    if missing and not left:
        return unshown(len(missing))
    return none_of(left, what="declared but not collected", fix=fix)


def collected_cleanly(case: RuleCase) -> RuleOutcome:
    """Executed: no test file broke while it was collected, but for the want of what the specification declares."""
    errors = case.fact_list("collection_errors")
    wrong = [item for item in errors if not (isinstance(item, dict) and item.get("right_reason") is True)]
    return none_of(wrong, what="collection failed", fix="correct these files")


def stubs_red(case: RuleCase) -> RuleOutcome:
    """Executed: against stubs of the declared symbols every target still fails."""
    survivors = case.fact_list("stub_survivors")
    if survivors:
        return none_of(
            survivors,
            what="pass against a stub that does nothing",
            fix="assert the value that is expected, and where it is yes or no a case for each",
        )
    run = case.fact("stubs_run")
    expected = [name for name in _stubbed_symbols(case) if _targets(case)]
    if run == 0 and expected:
        return broken(
            f"no stub control ran for {', '.join(expected)}: the tests are not shown to test anything", measured=0
        )
    return held(run)


def frozen_taken(case: RuleCase) -> RuleOutcome:
    """Measured: every test, or at least its file, has the hash by which later stages will know it unchanged."""
    frozen = {name.split("[")[0] for name in case.fact_record("frozen")}
    frozen |= {name.removesuffix("#tests") for name in case.fact_record("frozen_files")}
    ids = [str(test.get("id")) for test in case.fact_records("tests")]
    missing = [name for name in ids if not {name.split("[")[0], name.split("::")[0]} & frozen]
    return none_of(missing, what="tests without a hash", fix="define them in the declared test files")


def examples_asserted(case: RuleCase) -> RuleOutcome:
    """Measured: each example that the user gave is asserted by a test."""
    intake = case.input("intake_record")
    examples = [example for _, example in strings(intake, "examples")]
    if not examples:
        return held(0)
    asserted = examples_found(case)
    wrong = [
        ("test_files", f"no test asserts the example {example!r}") for example in examples if example not in asserted
    ]
    return judged(wrong, measured=len(examples), fix="assert it with its very values")


def _targets(case: RuleCase) -> list[Json]:
    return [test for test in case.fact_records("tests") if test.get("kind") != "guard"]


def _tests(suite: Json) -> list[tuple[str, Json]]:
    """All declared tests with their places."""
    return [
        (f"{place}.{inner}", test)
        for place, test_file in entries(suite, "test_files")
        for inner, test in entries(test_file, "tests")
    ]


def _requirements(case: RuleCase) -> list[Json]:
    """The requirements that tests must show to be met: what is verified by inspection has no test."""
    return [item for item in _met(case) if text(item, "verification_method") != "inspection"]


def _met(case: RuleCase) -> list[Json]:
    """The requirements that must be met."""
    listed = entries(case.needed_input("specification"), "requirements")
    return [item for _, item in listed if text(item, "priority") != "wont"]


def _stubbed_symbols(case: RuleCase) -> list[str]:
    """Names of declared Python functions and methods: what a stub can be made of."""
    return [
        text(item, "name")
        for _, item in entries(case.needed_input("specification"), "symbols")
        if text(item, "kind") in ("function", "method")
        and text(item, "change") != "removed"
        and text(item, "file").endswith(".py")
    ]


_PRODUCT = empty(
    "product_changed",
    what="product files were changed",
    fix="put these files back; RED writes tests only, and of a product file only the tests that stand inside of it",
)
_TWICE = empty("duplicates", what="one name defined twice", fix="rename one of the two")
_EXISTING = empty(
    "existing_changed",
    what="existing tests",
    fix="put them back; only the specification can end an existing test (its symbols, change changed or removed)",
)
"""Measured: no existing test was changed or deleted that the specification does not list; more rows are allowed."""
_VACUOUS = empty("vacuous", what="tests that prove nothing", fix="assert the exact result")
_HOOKS = empty(
    "runner_hooks",
    what="hooks of the test runner were added",
    fix="write a fixture instead; a hook decides what becomes of tests",
)
"""Measured, like what is vacuous, by older versions alone, whose contracts still name these rules."""

RULES = named(
    ("requirements-tested", "every requirement in spec has at least one test", requirements_tested, "fact"),
    ("all-tests-fail", "all tests currently fail (verified by execution)", targets_fail, "fact"),
    ("criteria-mapped", "every acceptance criterion is mapped to a test", criteria_mapped, "fact"),
    ("references-known", "every reference names a requirement or test that exists", refs_known, "repair"),
    ("has-target", "at least one test asserts new behaviour", has_target, "fact"),
    ("kinds-measured", "every test declared as a target fails at the base", kinds_measured, "note"),
    ("right-reason", "every test fails for the right reason", right_reason, "fact"),
    ("guards-pass", "every guard passes at the base", guards_pass, "fact"),
    ("not-implemented", "no implementation exists", nothing_implemented, "fact"),
    ("product-untouched", "no product file changed in RED", _PRODUCT, "fact"),
    ("all-collected", "every declared test was collected", all_collected, "fact"),
    ("collected-cleanly", "collection had no errors", collected_cleanly, "fact"),
    ("no-duplicates", "no test is defined twice", _TWICE, "fact"),
    ("existing-kept", "no existing test is changed that the specification does not list", _EXISTING, "fact"),
    ("none-vacuous", "every test has an assertion that can fail", _VACUOUS, "note"),
    ("no-runner-hooks", "no new hook of the test runner", _HOOKS, "fact"),
    ("stubs-red", "stub controls went red", stubs_red, "fact"),
    ("tests-frozen", "every test is frozen by its hash", frozen_taken, "fact"),
    ("examples-asserted", "every example is asserted by a test", examples_asserted, "fact"),
)
