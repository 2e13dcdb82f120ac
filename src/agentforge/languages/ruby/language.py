"""Ruby, as the rest of the program asks for it."""

from __future__ import annotations

from agentforge.languages.language import Language, RunOptions
from agentforge.languages.ruby.mutants import ruby_mutants
from agentforge.languages.ruby.project import find_ruby, plan_of_ruby_words
from agentforge.languages.ruby.runner import run_minitest
from agentforge.languages.ruby.stubs import null_implementation, ruby_variants
from agentforge.languages.ruby.tests import ruby_tests
from agentforge.testing.launch import TestSandbox
from agentforge.testing.outcome import SuiteRun
from agentforge.testing.plan import TestPlan


def _run(plan: TestPlan, ground: TestSandbox, ask: RunOptions) -> SuiteRun:
    return run_minitest(plan, ground, tests=ask.tests, seed=ask.seed, timeout_s=ask.timeout_s)


LANGUAGE = Language(
    name="ruby",
    rank=60,
    runners=("minitest",),
    grammars=("ruby",),
    manifests=("Gemfile", "Rakefile"),
    find=find_ruby,
    plan_of_command=plan_of_ruby_words,
    run=_run,
    named_tests=ruby_tests,
    stubs=ruby_variants,
    null_implementation=null_implementation,
    mutants=ruby_mutants,
    steering=("Rakefile", "Gemfile", "Gemfile.lock", ".ruby-version", ".minitest.rb"),
    examined_test="test/examined_test.rb",
)
