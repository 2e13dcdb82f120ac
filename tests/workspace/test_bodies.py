"""Which definitions a request is about: what fits its words, and what those definitions speak of."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from agentforge.workspace.code.bodies import Body, bodies
from agentforge.workspace.code.relevance import rank

PARSER = '''"""Reads dates."""

MONTHS = {
    "jan": 1,
}
_HEAD = r"[a-z]+"
_WHOLE = rf"{_HEAD}-[0-9]+"
# A zone: an offset or a name in brackets
_Z = r"[+-][0-9]+"


def parse_date(text):
    found = re.match(_WHOLE, text)
    return _settle(found)


def _settle(found):
    return found


def unrelated(text):
    return text
'''


@pytest.fixture
def likely(tmp_path: Path) -> Callable[..., list[Body]]:
    def found(request: str, **files: str) -> list[Body]:
        for name, text in {"dates": PARSER, **files}.items():
            path = tmp_path / f"{name.replace('__', '/')}.py"
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        return bodies(tmp_path, rank(tmp_path, [], text=request))

    return found


def names(found: list[Body]) -> list[str]:
    return [body.symbol.name for body in found]


def test_what_a_fitting_definition_speaks_of_is_likely_though_no_word_of_the_request_fits_it(
    likely: Callable[..., list[Body]],
) -> None:
    found = names(likely("`parse_date` fails for dates without a year"))
    assert found[0] == "parse_date"
    assert "_settle" in found
    assert "unrelated" not in found


def test_a_body_knows_the_constants_that_it_names_and_those_that_these_name(likely: Callable[..., list[Body]]) -> None:
    (body,) = [one for one in likely("`parse_date` fails") if one.symbol.name == "parse_date"]
    assert [one.name for one in body.speaks_of] == ["_WHOLE", "_HEAD"]


def test_the_comment_right_above_a_definition_belongs_to_it(likely: Callable[..., list[Body]]) -> None:
    assert names(likely("Names of zones stand between brackets"))[0] == "_Z"


def test_lines_that_speak_of_the_request_are_told_with_their_body(likely: Callable[..., list[Body]]) -> None:
    (body,) = [one for one in likely("settle what parse_date found") if one.symbol.name == "parse_date"]
    assert 14 in body.spots


def test_an_example_counts_less_than_the_product(likely: Callable[..., list[Body]]) -> None:
    found = likely("parse_date of a date", examples__show=PARSER)
    assert [body.symbol.path for body in found if body.symbol.name == "parse_date"] == ["dates.py", "examples/show.py"]


def test_nothing_is_likely_where_nothing_fits(likely: Callable[..., list[Body]]) -> None:
    assert likely("xylophone") == []


def test_tests_inside_of_a_file_of_the_product_are_no_bodies(tmp_path: Path) -> None:
    source = (
        "pub fn widen(x: u8) -> u8 { x }\n#[cfg(test)]\n// of widen\nmod checks { fn widen_is_wide() { widen(1); } }\n"
    )
    (tmp_path / "lib.rs").write_text(source)
    assert names(bodies(tmp_path, rank(tmp_path, [], text="`widen` is not wide"))) == ["widen"]


def test_a_definition_that_bears_a_built_in_name_is_found_where_the_request_spells_it(
    likely: Callable[..., list[Body]],
) -> None:
    show = "def format(entry):\n    return entry\n\n\ndef entry_of(entry):\n    return entry\n"
    assert names(likely("`format(entry)` should quote", show=show))[0] == "format"
