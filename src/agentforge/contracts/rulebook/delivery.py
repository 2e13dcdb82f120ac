"""Rules about a delivery report: it names what was verified, and says everything that a reader must know."""

from __future__ import annotations

from agentforge.contracts.rule import (
    RuleCase,
    RuleOutcome,
    broken,
    entries,
    held,
    judged,
    named,
    squeeze,
    strings,
    text,
)


def verified_tree(case: RuleCase) -> RuleOutcome:
    """Measured: the branch holds the very tree that was verified."""
    tree, verified = case.fact("tree"), case.fact("verified_tree")
    if case.fact("tree_matches") is True and tree == verified:
        return held(tree)
    return broken(f"the branch holds tree {tree}, verified was {verified} - deliver the verified tree", measured=tree)


def names_delivery(case: RuleCase) -> RuleOutcome:
    """The report names the branch and the commit that there are."""
    branch, commit = case.fact("branch"), case.fact("commit")
    commits = [name for _, name in strings(case.artifact, "commits")]
    commits += [text(item, "id") for _, item in entries(case.artifact, "commits")]
    wrong = []
    if case.artifact.get("branch") != branch:
        wrong.append(("branch", f"is {case.artifact.get('branch')!r}, delivered was {branch!r}"))
    if commit not in commits:
        wrong.append(("commits", f"do not hold the delivered commit {commit}"))
    return judged(wrong, measured=commit, fix="name what was delivered")


def requirements_traced(case: RuleCase) -> RuleOutcome:
    """Each requirement of the specification (but `wont`, and what is inspected) stands in the report with its tests."""
    listed = entries(case.needed_input("specification"), "requirements")
    needed = [
        text(item, "id")
        for _, item in listed
        if text(item, "priority") != "wont" and text(item, "verification_method") != "inspection"
    ]
    traced = {text(item, "id"): strings(item, "tests") for _, item in entries(case.artifact, "requirements")}
    wrong = [("requirements", f"{name} has no test in the report") for name in needed if not traced.get(name)]
    return judged(wrong, measured=len(needed), fix="name the tests that show it")


def assumptions_reported(case: RuleCase) -> RuleOutcome:
    """Each assumption of the clarification stands in the report: a rule of older contracts, kept for their runs."""
    clarification = case.input("clarification") or {}
    taken = [text(q, "question") for _, q in entries(clarification, "questions") if text(q, "source") == "assumption"]
    told = {squeeze(text(item, "question")) for _, item in entries(case.artifact, "assumptions")}
    wrong = [("assumptions", f"{question!r} is missing") for question in taken if squeeze(question) not in told]
    return judged(wrong, measured=len(taken), fix="list every assumption that was taken")


RULES = named(
    ("verified-tree", "the branch holds the verified tree", verified_tree, "fact"),
    ("delivery-named", "the report names branch and commit", names_delivery, "note"),
    ("requirements-traced", "every requirement is traced to tests", requirements_traced, "note"),
    ("assumptions-reported", "every assumption is reported", assumptions_reported, "note"),
)
