"""JUnit reports of many writers, and files that are none."""

from __future__ import annotations

import pytest

from agentforge.errors import ToolchainError
from agentforge.testing.junit_xml import pytest_key, read_cases

REPORT = """<?xml version="1.0"?>
<testsuites><testsuite name="outer"><testsuite name="inner">
<testcase classname="pkg.T" name="a" time="1,000.5"/>
<testcase classname="pkg.T" name="b"><failure message="no">text</failure></testcase>
<testcase name="c" file="t.js"><error/></testcase>
<testcase name="d"><skipped/><failure message="later"/></testcase>
</testsuite></testsuite></testsuites>"""


def test_nested_suites_and_all_outcomes_are_read(tmp_path):
    report = tmp_path / "r.xml"
    report.write_text(REPORT)
    cases = read_cases(report)
    assert [(one.name, one.outcome, one.suite) for one in cases] == [
        ("a", "passed", "inner"), ("b", "failed", "inner"), ("c", "error", "inner"), ("d", "failed", "inner"),
    ]  # fmt: skip
    assert (cases[0].duration_s, cases[1].message, cases[1].text, cases[2].file) == (1000.5, "no", "text", "t.js")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "wrote no JUnit report"), ("", "is broken"), ("<html/>", "is not a JUnit report"), ("<testsuite><testcase", "is broken"),
        ('<!DOCTYPE x [<!ENTITY a "b">]><testsuite/>', "declares entities"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_report_is_refused_with_its_reason(tmp_path, content, message):
    report = tmp_path / "r.xml"
    if content is not None:
        report.write_text(content)
    with pytest.raises(ToolchainError, match=message):
        read_cases(report)


@pytest.mark.parametrize(
    ("nodeid", "key"),
    [
        ("tests/test_a.py::test_x", ("tests.test_a", "test_x")),
        ("tests/test_a.py::TestB::test_x[a::b/c.py]", ("tests.test_a.TestB", "test_x[a::b/c.py]")),
        ("test_a.py::test_x[\x07]", ("test_a", "test_x[#x07]")),
    ],
)
def test_a_node_id_has_the_name_that_pytest_writes(nodeid, key):
    assert pytest_key(nodeid) == key
