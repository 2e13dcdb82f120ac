import subprocess
import sys

import pytest

import drawing


def test_the_heavy_part_is_not_imported_at_once():
    code = "import sys, drawing; print('drawing.heavy' in sys.modules); drawing.render; print('drawing.heavy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


def test_render_works():
    assert drawing.render("a") == "<a>"
    with pytest.raises(AttributeError):
        drawing.nothing
