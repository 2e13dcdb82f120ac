from text_tools import everything


def test_the_old_import_keeps_working():
    assert everything.slug(" Hello, World ") == "hello-world"


def test_it_lives_in_a_module_of_its_own():
    from text_tools import slugs

    assert slugs.slug("A b") == "a-b"
    assert everything.slug is slugs.slug
    assert slugs.slug.__module__ == "text_tools.slugs"
