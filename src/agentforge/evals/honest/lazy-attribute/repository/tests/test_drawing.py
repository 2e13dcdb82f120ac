from drawing import render


def test_render():
    assert render("b") == "<b>"
