from greet import main


def test_it_greets(capsys):
    assert main(["Bob"]) == 0
    assert capsys.readouterr().out == "Hello Bob\n"
