"""Ruby: minitest's classes and specs are found and run, failures are told by their reason, wrong code is made by the grammar."""

from __future__ import annotations

import pytest

from agentforge.languages.catalogue import named_tests, of_path, of_runner
from agentforge.languages.ruby.counterexamples import null_implementation, ruby_mutants, ruby_variants
from agentforge.languages.ruby.runner import failure_of
from agentforge.languages.stub_values import NullWay
from agentforge.languages.symbols import Symbol

RAISING = NullWay(seed="1", raising=True)
KIT = """module Kit
  def self.shout(text)
    return "" if text.empty? && true
    text.upcase
  end

  class Cart
    def initialize(items) = @items = items

    def total = @items.sum + 1
  end
end
"""
TESTS = """require "minitest/autorun"
require "kit"

class KitTest < Minitest::Test
  def test_shout
    assert_equal "A", Kit.shout("a")
  end

  def test_wrong
    assert_equal "b", Kit.shout("a")
  end

  def test_missing
    Kit.slug("a")
  end
end

describe "cart" do
  it "adds up" do
    _(Kit::Cart.new([1, 2]).total).must_equal 4
  end

  describe "later" do
    it "waits" do
      skip
    end
  end
end
"""


@pytest.mark.needs("ruby")
def test_results_are_told_by_file_class_and_title_with_their_reasons(project):
    run = project({"lib/kit.rb": KIT, "test/kit_test.rb": TESTS}, env={}).run()
    told = {name.removeprefix("test/kit_test.rb::"): one.outcome for name, one in run.outcomes.items()}
    assert told == {
        "KitTest::test_shout": "passed", "KitTest::test_wrong": "failed", "KitTest::test_missing": "failed",
        "cart::adds up": "passed", "cart::later::waits": "skipped",
    }  # fmt: skip
    assert (run.complete, run.canary, run.problems) == (True, "held", ())
    wrong, missing = (
        run.outcomes[f"test/kit_test.rb::KitTest::{name}"].failure for name in ("test_wrong", "test_missing")
    )
    assert (wrong.exc_type, wrong.in_test) == ("AssertionError", True)
    assert (missing.exc_type, missing.names, missing.line) == ("AttributeError", ("slug",), 14)


@pytest.mark.needs("ruby")
def test_a_file_that_cannot_be_loaded_is_an_error_and_the_others_run(project):
    broken = 'require "minitest/autorun"\nrequire "kit/slug"\n'
    run = project({"lib/kit.rb": KIT, "test/kit_test.rb": TESTS, "test/slug_test.rb": broken}, env={}).run()
    (error,) = run.collection_errors
    assert (error.id, error.failure.exc_type, error.failure.names) == (
        "test/slug_test.rb",
        "ModuleNotFoundError",
        ("kit.slug",),
    )
    assert run.outcomes["test/kit_test.rb::KitTest::test_shout"].passed


@pytest.mark.needs("ruby")
@pytest.mark.parametrize(
    "code",
    ["exit!(0)", "class Minitest::Test; def self.run_one_method(*) = Minitest::Result.from(new('x')); end"],
    ids=["ends early", "runs nothing"],
)
def test_a_suite_that_tampers_with_its_runner_is_no_evidence(project, code):
    run = project({"lib/kit.rb": KIT, "test/kit_test.rb": f"{TESTS}\n{code}\n"}, env={}).run()
    assert not run.complete or run.canary != "held"


def test_the_source_names_the_tests_as_the_runner_does():
    names = [name for name, _ in named_tests("test/kit_test.rb", TESTS.encode())]
    assert names == [
        "KitTest::test_shout",
        "KitTest::test_wrong",
        "KitTest::test_missing",
        "cart::adds up",
        "cart::later::waits",
    ]


@pytest.mark.parametrize(
    ("name", "message", "kind", "names"),
    [
        ("NameError", "uninitialized constant Kit::Bag", "ImportError", ("Bag",)),
        ("NameError", "undefined local variable or method `x' for main:Object", "NameError", ("x",)),
        ("NoMethodError", "undefined method 'total' for an instance of Kit::Cart", "AttributeError", ("total",)),
        ("LoadError", "cannot load such file -- kit/bag", "ModuleNotFoundError", ("kit.bag",)),
        ("ArgumentError", "unknown keyword: :sep", "TypeError", ("slug",)),
        ("Minitest::Assertion", "Expected: 1", "AssertionError", ()),
        ("KeyError", "key not found", "KeyError", ()),
    ],
)
def test_an_exception_is_told_by_the_kinds_that_judge_everywhere(name, message, kind, names):
    trace = "/r/lib/kit.rb:3:in `slug'\n/r/test/kit_test.rb:9:in `test_a'"
    failure = failure_of({"name": name, "message": message, "trace": trace}, root="/r", test_file="test/kit_test.rb")
    assert (failure.exc_type, failure.names) == (kind, names)
    assert (failure.file, failure.line, failure.in_test) == ("lib/kit.rb", 3, False)


def test_stubs_stand_in_for_new_and_changed_methods_and_new_classes():
    symbols = [
        Symbol(name="Kit.shout", file="lib/kit.rb", kind="method", change="changed"),
        Symbol(name="Kit.slug", file="lib/kit.rb", kind="method"),
        Symbol(name="Kit.Bag", file="lib/kit.rb", kind="class"),
    ]
    made = ruby_variants(symbols, source=lambda _: KIT, seed="1")
    assert [(one.name, one.hard) for one in made] == [
        ("raises", True), ("wrong", True), ("none", False), ("empty", False), ("other", False),
    ]  # fmt: skip
    text = made[0].files["lib/kit.rb"]
    assert text.count("raise NotImplementedError") == 3 and "class Bag" in text
    assert ruby_variants([Symbol(name="f", file="a.py", kind="function")], source=lambda _: "", seed="1") == ()


def test_changed_methods_are_made_wrong_and_changed_data_tells_nothing():
    changed = KIT.replace("text.upcase", "text.upcase.strip")
    made = null_implementation("lib/kit.rb", KIT.encode(), changed.encode(), way=RAISING)
    assert made is not None and made.count(b"raise NotImplementedError") == 1
    assert null_implementation("lib/kit.rb", KIT.encode(), KIT.encode(), way=RAISING) == b""
    assert null_implementation("lib/kit.rb", KIT.encode(), f"LIMIT = 3\n{KIT}".encode(), way=RAISING) is None


def test_mutants_turn_operators_constants_and_methods_of_the_changed_lines():
    found = {(one.line, one.before, one.after, one.owner) for one in ruby_mutants("lib/kit.rb", KIT.encode(), lines=-1)}
    assert (4, "upcase", "downcase", "Kit.shout") in found
    assert (3, "&&", "||", "Kit.shout") in found and (10, "+", "-", "Kit.Cart.total") in found
    assert ruby_mutants("lib/kit.rb", KIT.encode(), lines=1 << 1) == ()


def test_the_folder_alone_makes_the_language_known():
    assert of_runner("minitest") is of_path("lib/kit.rb")
    assert of_runner("junit") is None and of_path("a.txt") is None
