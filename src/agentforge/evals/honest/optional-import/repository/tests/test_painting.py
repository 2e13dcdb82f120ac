import painting


def test_the_module_has_a_docstring():
    assert painting.__doc__ == "Texts for the terminal."
