def test_main_prints_the_number_of_words(capsys):
    from counting import main

    assert main(["a b"]) == 0
    assert capsys.readouterr().out == "2\n"


def test_main_without_a_text_tells_the_usage(capsys):
    from counting import main

    assert main([]) == 2
    assert capsys.readouterr().err == "usage: counting.py TEXT\n"
