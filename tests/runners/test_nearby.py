"""Which test files lie near a change where no run tells what a test executes."""

from __future__ import annotations

import pytest

from agentforge.verification.counterexamples.nearest_tests import tests_near as near

FILES = {
    "kit/kit.go": b"", "kit/kit_test.go": b"", "kit/more_test.go": b"", "other/other_test.go": b"",
    "src/lib.rs": b"#[cfg(test)]\nmod tests {\n    #[test]\n    fn it() {}\n}\n", "src/plain.rs": b"pub fn a() {}\n",
    "src/main/java/a/Kit.java": b"", "src/test/java/a/KitTest.java": b"", "src/test/java/a/OtherTest.java": b"",
    "lib/kit.ts": b"", "lib/index.js": b"",
    "test/kit.test.ts": b"import { a } from '../lib/kit.js'\n", "test/all.test.js": b"const k = require('../lib')\n",
    "test/far.test.js": b"import fs from 'node:fs'\n",
}  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ("kit/kit.go", ("kit/kit_test.go", "kit/more_test.go")),
        ("src/lib.rs", ("src/lib.rs",)),
        ("src/plain.rs", ()),
        ("src/main/java/a/Kit.java", ("src/test/java/a/KitTest.java",)),
        ("lib/kit.ts", ("test/kit.test.ts",)),
        ("lib/index.js", ("test/all.test.js",)),
        ("README.md", ()),
    ],
)
def test_tests_of_the_package_and_tests_that_import_the_file_are_near(changed: str, found: tuple[str, ...]) -> None:
    assert near([changed], present=FILES, read=FILES.get) == found
