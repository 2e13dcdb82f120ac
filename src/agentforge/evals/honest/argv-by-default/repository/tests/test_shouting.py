from shouting import main


def test_main(capsys):
    main(["a"])
    assert capsys.readouterr().out == "A\n"
