from search import matches


def test_accents_and_case_are_folded():
    from search import fold

    assert fold("Café") == "cafe"
    assert fold("Ångström") == "angstrom"
    assert fold("Cafe\u0301") == "cafe"


def test_sharp_s():
    from search import fold

    assert fold("STRASSE") == fold("Straße") == "strasse"


def test_matches_compares_folded_texts():
    assert matches("creme", "Crème brûlée") is True
    assert matches("tarte", "Crème brûlée") is False
