from shouting import main


def test_without_words_those_of_the_command_line_are_taken(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["shouting", "a", "b"])
    main()
    assert capsys.readouterr().out == "A B\n"


def test_words_that_are_given_come_first(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["shouting", "a", "b"])
    main(["c"])
    assert capsys.readouterr().out == "C\n"
    main([])
    assert capsys.readouterr().out == "\n"
