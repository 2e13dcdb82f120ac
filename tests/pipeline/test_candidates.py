"""What the first contexts show of the likely files: bodies first, over all files, then what is around them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from agentforge.context.packer import PackedPage, fill
from agentforge.pipeline.context.candidates import candidate_text, likely_views
from agentforge.workspace.code.bodies import bodies
from agentforge.workspace.code.relevance import rank

IMPORTS = "".join(f"import module_of_some_length_{number}\n" for number in range(40))
LONG = "def render_table(rows):\n" + "".join(f"    step_{number} = rows[{number}]\n" for number in range(300))
LONG = LONG.replace("step_200 = rows[200]", "paragraph = split(rows)")


@pytest.fixture
def shown(tmp_path: Path) -> Callable[..., PackedPage]:
    def page(request: str, files: dict[str, str], *, room: int) -> PackedPage:
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(text)
        found = [one for one in rank(tmp_path, [], text=request) if not one.is_test]
        return fill(likely_views(tmp_path, found, bodies(tmp_path, found)), room=room)

    return page


def lines(page: PackedPage, path: str) -> str:
    return "\n".join(page.shown.get(path, {}).values())


def test_the_bodies_of_all_files_come_before_imports_and_documents(shown: Callable[..., PackedPage]) -> None:
    first = f"{IMPORTS}\n\ndef paint_border(width):\n    return width + 1\n"
    second = f"{IMPORTS}\n\ndef paint_corner(width):\n    return width + 2\n"
    document = "How to paint a border and its corners\n" * 200
    page = shown("paint_border and paint_corner", {"one.py": first, "two.py": second, "README.md": document}, room=200)
    assert "return width + 1" in lines(page, "one.py")
    assert "return width + 2" in lines(page, "two.py")
    assert "length_39" not in lines(page, "one.py") + lines(page, "two.py")
    assert lines(page, "README.md") == ""


def test_a_table_that_a_body_names_stands_beside_it(shown: Callable[..., PackedPage]) -> None:
    table = "COLOURS = {\n    'red': 1,\n}\n\n" + "# filling\n" * 200
    source = f"{table}\n\ndef paint_border(name):\n    return COLOURS[name]\n"
    page = shown("paint_border", {"one.py": source}, room=130)
    assert "'red': 1," in lines(page, "one.py")


def test_of_a_long_function_the_lines_that_speak_of_the_request_are_shown(shown: Callable[..., PackedPage]) -> None:
    page = shown("render_table splits a paragraph", {"one.py": LONG}, room=400)
    assert "def render_table(rows):" in lines(page, "one.py")
    assert "paragraph = split(rows)" in lines(page, "one.py")
    assert "step_100 " not in lines(page, "one.py")


def test_the_words_of_a_long_class_or_function_take_no_room_of_its_code(shown: Callable[..., PackedPage]) -> None:
    words = '    """Renders tables.\n\n' + "    A table is rendered by its rows.\n" * 60 + '    """\n'
    function = LONG.replace("(rows):\n", f"(rows):\n{words}")
    members = "".join(f"    def other_{number}(self):\n        return {number}\n\n" for number in range(40))
    source = f"class Table:\n{words}    kind = 7\n\n{members}\n{function}"
    page = shown("render_table splits a paragraph of a `Table`", {"one.py": source}, room=500)
    assert "    kind = 7" in page.shown["one.py"].values()
    assert "paragraph = split(rows)" in lines(page, "one.py")
    assert lines(page, "one.py").count("A table is rendered") <= 2


def test_a_list_of_exported_names_that_holds_a_spelled_one_is_whole(shown: Callable[..., PackedPage]) -> None:
    exported = "__all__ = [\n    'a_first',\n    'b_second',\n    'c_third',\n    'is_emoji',\n    'z_last',\n]\n"
    source = "def is_emoji(text):\n    return True\n\n\n" + "# filling\n" * 300
    files = {"kit/core.py": source, "kit/__init__.py": exported + "# filling\n" * 300}
    page = shown("Add is_flag(), exported like `is_emoji`", files, room=300)
    assert "'a_first'" in lines(page, "kit/__init__.py")
    assert "def is_emoji" in lines(page, "kit/core.py")


def test_of_a_document_that_the_request_names_the_head_is_shown(shown: Callable[..., PackedPage]) -> None:
    changes = "Changes\n\n1.2\n" + "".join(f"- change number {number}\n" for number in range(400))
    page = shown("An entry in CHANGES.md for paint_border", {"CHANGES.md": changes, "one.py": LONG}, room=900)
    assert page.shown["CHANGES.md"].keys() == set(range(1, 41))


def test_a_small_file_is_whole_once_the_bodies_are_shown(shown: Callable[..., PackedPage]) -> None:
    source = "import re\n\n\ndef paint_border(name):\n    return name\n\n\ndef other():\n    return 1\n"
    page = shown("paint_border", {"one.py": source}, room=400)
    assert len(page.shown["one.py"]) == 9


def test_a_candidate_is_told_with_its_best_definitions(tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text("def test_paint_border():\n    pass\n\n\ndef test_other():\n    pass\n")
    (found,) = rank(tmp_path, [], text="paint_border")
    assert candidate_text(found, symbols=1) == "test_one.py (tests)\n  1-2 def test_paint_border()"


def test_lines_of_tests_that_the_request_quotes_come_behind_the_product(tmp_path: Path) -> None:
    quoted = "void of every thing"
    painters = [f"def paint_{number}(width):\n    return width + {number}\n\n\n" for number in range(6)]
    (tmp_path / "paint.py").write_text("".join(painters))
    (tmp_path / "test_paint.py").write_text("".join(f"    row_{number} = '{quoted}'\n" for number in range(9)))
    found = rank(tmp_path, [], text=f"paint should write '{quoted}'")
    sources, tests = ([one for one in found if one.is_test is told] for told in (False, True))
    views = [*likely_views(tmp_path, tests, [], behind=50), *likely_views(tmp_path, sources, bodies(tmp_path, sources))]
    page = fill(views, room=200)
    assert "return width + 5" in lines(page, "paint.py")


@pytest.mark.parametrize("heading", ["## Borders", "Borders\n======="], ids=["markdown", "rst"])
def test_of_a_readme_that_the_request_names_the_section_that_fits_is_shown(
    shown: Callable[..., PackedPage], heading: str
) -> None:
    part = "\n".join(f"Filling {number} of a section that nobody asked for." for number in range(60))
    text = f"# Kit\n\n{part}\n\n{heading}\n\n`paint_border` paints a border.\n\n## Other\n\n{part}\n"
    files = {"README.md": text, "paint.py": "def paint_border(width):\n    return width\n"}
    page = shown("`paint_border` takes a colour. The README should say so.", files, room=300)
    assert "paints a border" in lines(page, "README.md")
    assert "Borders" in lines(page, "README.md")
    assert "Filling" not in lines(page, "README.md")


def test_imports_and_documents_that_nobody_named_take_no_room_of_code(shown: Callable[..., PackedPage]) -> None:
    source = f"{IMPORTS}\n\ndef paint_border(width):\n    return width + 1\n" + "# filling\n" * 300
    others = {f"kit_{number}.py": f"def paint_border_{number}(width):\n    return 1\n" for number in range(4)}
    page = shown("paint_border", {"one.py": source, **others, "GUIDE.md": "Paint.\n" * 400}, room=3000)
    assert "return width + 1" in lines(page, "one.py")
    assert "length_39" not in lines(page, "one.py")
    assert lines(page, "GUIDE.md") == ""


def test_a_short_file_that_the_request_names_is_shown_whole_before_what_only_fits(
    shown: Callable[..., PackedPage],
) -> None:
    named = "function first() {}\n" + "".join(f"exports.part_{number} = 'p{number}';\n" for number in range(40))
    body = "  parts = divided(patterns, parts);\n" * 8
    fitting = "".join(f"function patterns_{number}(parts) {{\n{body}}}\n\n" for number in range(12))
    files = {"lib/url_parts.js": named, "index.js": fitting, "lib/other_parts.js": named}
    page = shown("The patterns of lib/url_parts.js may be divided", files, room=900)
    assert "exports.part_0 " in lines(page, "lib/url_parts.js") and "exports.part_39" in lines(page, "lib/url_parts.js")
    assert "exports.part_39" not in lines(page, "lib/other_parts.js")
