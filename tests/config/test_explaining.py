"""What each setting means can be asked for, and no setting is without words."""

from __future__ import annotations

import pytest

from agentforge.cli.startup.entry import run
from agentforge.config.defaults import DEFAULTS
from agentforge.config.schema import explained, setting_words
from agentforge.errors import UsageError


def test_every_setting_has_words_and_no_words_are_left_over() -> None:
    assert {row.key for row in explained()} == set(setting_words())
    assert all(row.words.endswith(".") for row in explained())


def test_one_setting_is_explained_with_its_type_and_default() -> None:
    (row,) = explained("limits.budget_tokens")
    assert (row.type, row.default) == ('integer or "none"', DEFAULTS["limits"]["budget_tokens"])  # type: ignore[index]
    assert explained("notify.on")[0].type == "list of one of escalated, delivered, failed, limit"


def test_a_table_shows_all_of_it_and_any_stage_stands_for_all() -> None:
    assert {row.key.partition(".")[0] for row in explained("notify")} == {"notify"}
    assert len(explained("notify")) > 5
    assert [row.key for row in explained("stages.*.model")] == ["stages.*.model"]


def test_an_unknown_setting_names_the_nearest() -> None:
    with pytest.raises(UsageError) as caught:
        explained("limits.budget_use")
    assert "limits.budget_usd" in str(caught.value.hint)


def test_the_command_prints_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["config", "explain", "limits.attempts"]) == 0
    assert "before a human is asked" in capsys.readouterr().out
    assert run(["config", "explain", "limits.attempts", "--json"]) == 0
    assert '"default":5' in capsys.readouterr().out.replace(" ", "")
