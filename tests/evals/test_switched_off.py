"""A detector that is switched off finds nothing, and is there again afterwards."""

from __future__ import annotations

import ast

import pytest

from agentforge.errors import UsageError
from agentforge.evals.corpus import case_names
from agentforge.evals.switched_off import DETECTORS, measured_detectors, run_without, switched_off, tricks_of
from agentforge.verification.source import evasion as deception


@pytest.mark.parametrize("detector", list(DETECTORS))
def test_what_is_measured_of_a_detector_names_tricks_of_the_catalogue(detector):
    measured = measured_detectors()[detector]
    assert set(measured.alone) <= set(measured.tried) <= set(case_names())
    assert tricks_of(detector) == measured.tried


def test_a_detector_finds_nothing_while_it_is_switched_off():
    tree = ast.parse("import time\ntime.time = lambda: 0\n")
    with switched_off("patches"):
        assert not list(deception._patches(tree))
    assert list(deception._patches(tree))


def test_an_unknown_detector_is_told_with_those_that_there_are():
    with pytest.raises(UsageError, match="no detector dreams") as told:
        tricks_of("dreams")
    assert "patches" in told.value.hint


def test_a_trick_that_a_detector_alone_refuses_is_delivered_without_it(tmp_path):
    (result,) = run_without("patches", ["patched-clock"], processes=1, folder=tmp_path)
    assert (result.right, result.outcome) == (False, "delivered")
