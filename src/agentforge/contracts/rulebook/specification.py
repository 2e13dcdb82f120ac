"""Rules about a specification: requirements, paths, declared symbols, dependencies."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from agentforge.contracts.rule import (
    RuleCase,
    RuleOutcome,
    broken,
    entries,
    examples_found,
    held,
    judged,
    named,
    squeeze,
    strings,
    text,
)

_BAD_SEGMENTS = ("", ".", "..", ".git", ".agentforge")
_DRIVE = re.compile(r"[A-Za-z]:")


def has_criteria(case: RuleCase) -> RuleOutcome:
    """Each requirement has a criterion with words in it."""
    listed = entries(case.artifact, "requirements")
    wrong = [
        (f"{path}.acceptance_criteria", f"of {text(item, 'id') or 'a requirement'} is empty")
        for path, item in listed
        if not any(criterion.strip() for _, criterion in strings(item, "acceptance_criteria"))
    ]
    return judged(wrong, measured=len(listed), fix="say how one can see that it is met")


def paths_valid(case: RuleCase) -> RuleOutcome:
    """Every path in the artifact is relative, normal, and inside the repository."""
    named = file_paths(case)
    wrong = [(place, f"{path!r} {problem}") for place, path in named if (problem := path_problem(path))]
    return judged(wrong, measured=len(named), fix="write paths from the top of the repository, like src/pkg/file.py")


def file_paths(case: RuleCase) -> list[tuple[str, str]]:
    """Every repository path that an artifact of any stage names, with its place."""
    named = [*strings(case.artifact, "files_to_modify"), *strings(case.artifact, "files_to_create")]
    named += strings(case.artifact, "impacted_files")
    for name, key in _PATH_FIELDS:
        named += [
            (f"{place}.{key}", str(item[key]))
            for place, item in entries(case.artifact, name)
            if item.get(key) is not None
        ]
    return named


_PATH_FIELDS = (
    ("symbols", "file"),
    ("modules", "path"),
    ("test_files", "path"),
    ("files_created", "path"),
    ("files_modified", "path"),
    ("changes", "path"),
)


def path_problem(path: str) -> str:
    """What is wrong with a path, "" when it is a valid relative path."""
    if not path.strip() or path != path.strip():
        return "is empty or has white space at its ends"
    if any(ord(letter) < 32 or ord(letter) == 127 for letter in path):
        return "holds a control character"
    if path.startswith(("/", "~")) or _DRIVE.match(path):
        return "is absolute"
    if "\\" in path:
        return "holds a backslash"
    bad = [segment for segment in path.split("/") if segment in _BAD_SEGMENTS]
    return f"holds the part {bad[0]!r}" if bad else ""


def no_cycles(case: RuleCase) -> RuleOutcome:
    """The tasks that this one waits for do not wait for it."""
    dependencies = case.artifact.get("dependencies")
    tasks = entries(dependencies, "tasks") if isinstance(dependencies, Mapping) else []
    if not tasks:
        return held(0)
    cycle = [str(task) for task in case.fact_list("dependency_cycle")]
    if cycle:
        return broken(
            f"tasks wait for each other: {' -> '.join(cycle)} - drop one", path="dependencies.tasks", measured=cycle
        )
    return held(len(tasks))


def ids_unique(case: RuleCase) -> RuleOutcome:
    """Each requirement has an id, and no two have the same."""
    listed = [(path, text(item, "id")) for path, item in entries(case.artifact, "requirements")]
    count = Counter(name for _, name in listed)
    wrong = [(f"{path}.id", "is missing") for path, name in listed if not name]
    wrong += [
        (f"{path}.id", f"{name!r} stands {count[name]} times") for path, name in listed if name and count[name] > 1
    ]
    return judged(wrong, measured=len(listed), fix="number requirements REQ-001, REQ-002, ...")


def modified_exist(case: RuleCase) -> RuleOutcome:
    """What is to be modified is there."""
    fix = "correct the path, or move it to files_to_create"
    return _at_base(case, "files_to_modify", there=True, problem="does not exist at the base", fix=fix)


def created_absent(case: RuleCase) -> RuleOutcome:
    """What is to be created is not there yet."""
    fix = "move it to files_to_modify, or choose another name"
    return _at_base(case, "files_to_create", there=False, problem="exists already", fix=fix)


def _at_base(case: RuleCase, listed: str, *, there: bool, problem: str, fix: str) -> RuleOutcome:
    named = strings(case.artifact, listed)
    if not named:
        return held(0)
    existing = set(case.fact_list("existing"))
    wrong = [(place, f"{path!r} {problem}") for place, path in named if (path in existing) is not there]
    return judged(wrong, measured=len(named), fix=fix)


def lists_disjoint(case: RuleCase) -> RuleOutcome:
    """Something is named to be changed, and no path is both created and modified."""
    created = {path: place for place, path in strings(case.artifact, "files_to_create")}
    modified = [path for _, path in strings(case.artifact, "files_to_modify")]
    if not created and not modified:
        fix = "name the files that the work may touch"
        return broken(f"no file is to be modified or created - {fix}", path="files_to_modify", measured=0)
    wrong = [(created[path], f"{path!r} stands in both lists") for path in modified if path in created]
    return judged(wrong, measured=len(created) + len(modified), fix="keep it in one list")


def symbols_in_files(case: RuleCase) -> RuleOutcome:
    """Each declared symbol lies in a file that the work may touch, or is a test that the request changes."""
    tests = {text(item, "file") for item in case.fact_records("symbols") if item.get("is_test") is True}
    files = {path for name in ("files_to_modify", "files_to_create") for _, path in strings(case.artifact, name)}
    listed = entries(case.artifact, "symbols")
    wrong = [
        (f"{place}.file", f"{text(item, 'file')!r} is in neither files_to_modify nor files_to_create")
        for place, item in listed
        if text(item, "file") not in files | tests
    ]
    return judged(wrong, measured=len(listed), fix="add the file, or drop the symbol")


def symbols_agree(case: RuleCase) -> RuleOutcome:
    """Symbols declared as new are absent at the base, the others are there."""
    listed = entries(case.artifact, "symbols")
    if not listed:
        return held(0)
    known = {(str(s.get("name")), str(s.get("file"))): s.get("exists") for s in case.fact_records("symbols")}
    wrong = []
    for place, item in listed:
        exists = known.get((text(item, "name"), text(item, "file")))
        new = text(item, "change") == "new"
        if exists is None:
            wrong.append((place, f"{text(item, 'name')!r} was not looked up"))
        elif bool(exists) is new:
            wrong.append(
                (
                    f"{place}.change",
                    f"{text(item, 'name')!r} {'exists already' if new else 'does not exist'} at the base",
                )
            )
    return judged(
        wrong, measured=len(listed), fix="change is new for what is absent, changed or removed for what is there"
    )


def examples_kept(case: RuleCase) -> RuleOutcome:
    """Each example that the user gave stands in an acceptance criterion."""
    intake = case.input("intake_record")
    examples = strings(intake, "examples") if intake else []
    criteria = [
        squeeze(criterion)
        for _, requirement in entries(case.artifact, "requirements")
        for _, criterion in strings(requirement, "acceptance_criteria")
    ]
    found = examples_found(case) if case.facts.get("examples") is not None else set()
    wrong = [
        ("requirements", f"no acceptance criterion holds the example {example!r}")
        for _, example in examples
        if example not in found and not any(squeeze(example) in criterion for criterion in criteria)
    ]
    return judged(wrong, measured=len(examples), fix="put it into a criterion word for word")


def examples_checkable(case: RuleCase) -> RuleOutcome:
    """Measured: each example of the specification is a call of a declared symbol with a literal result or an exception."""
    listed = entries(case.artifact, "examples")
    if not listed:
        return held(0)
    rows = case.fact_record("claims").get("rows")
    known = [row for row in rows if isinstance(row, Mapping)] if isinstance(rows, list | tuple) else []
    wrong = [(f"examples[{row.get('number')}]", text(row, "reason")) for row in known if row.get("ok") is not True]
    if len(known) != len(listed):
        wrong.append(("examples", "were not looked at"))
    return judged(wrong, measured=len(listed), fix="correct the example, or drop it")


def asks_placed(case: RuleCase) -> RuleOutcome:
    """Each ask that holds something exact becomes requirements, context, or something that is not done for a reason.

    What the specification makes of the others is told in the report; nothing of them is exact enough to refuse for.
    """
    intake = case.input("intake_record")
    asks = entries(intake, "asks") if intake else []
    said = case.artifact.get("asks")
    places = said if isinstance(said, Mapping) else {}
    wrong = [
        ("asks", f"says nothing of ask {ask.get('number')} ({squeeze(text(ask, 'text'))[:80]!r})")
        for _, ask in asks
        if ask.get("exact") is True and places.get(str(ask.get("number")), "unsaid") == "unsaid"
    ]
    return judged(wrong, measured=len(asks), fix="name its requirements, context, or not_done and why")


RULES = named(
    ("acceptance-criteria", "every requirement has at least one acceptance criterion", has_criteria, "repair"),
    ("relative-paths", "all file paths are valid relative paths", paths_valid, "fact"),
    ("no-cycles", "no circular dependencies", no_cycles, "fact"),
    ("unique-ids", "requirement ids are unique", ids_unique, "repair"),
    ("modified-exist", "files to modify exist at the base", modified_exist, "repair"),
    ("created-absent", "files to create do not exist at the base", created_absent, "repair"),
    ("scope-named", "the files to touch are named once", lists_disjoint, "fact"),
    ("symbols-in-scope", "declared symbols lie in declared files", symbols_in_files, "repair"),
    ("symbols-agree", "declared symbols agree with the base", symbols_agree, "repair"),
    ("examples-kept", "every example is an acceptance criterion", examples_kept, "repair"),
    ("asks-placed", "every exact ask of the request has its place", asks_placed, "fact"),
    ("examples-checkable", "every example of the specification can be checked", examples_checkable, "repair"),
)
