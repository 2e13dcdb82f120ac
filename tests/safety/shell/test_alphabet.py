"""Proves safety/shell/alphabet.py: no sign reaches the grammar that it cannot look up, and none is lost."""

from __future__ import annotations

from agentforge.safety.shell.grammar.command_reader import narrowed, read_line

CRASHED = "<(\u6846${\U000dc3ee{ x\U00075cb50\u2452 `\u78f1$|"


def test_the_grammar_is_given_no_sign_beyond_latin_1() -> None:
    found = narrowed(CRASHED)
    assert found is not None
    line, back = found
    assert max(line) <= "\xff"
    assert (len(line), line.translate(back)) == (len(CRASHED), CRASHED)
    assert read_line(CRASHED).opaque


def test_words_are_what_was_written() -> None:
    commands = read_line("cat 'a \U0001f680' \u65e5/\u672c \xf6 > \u65e5.txt").commands
    (words,) = [command.words for command in commands if command.words]
    assert [word.value for word in words] == ["cat", "a \U0001f680", "\u65e5/\u672c", "\xf6"]
    assert [one.target.value for command in commands for one in command.redirects] == ["\u65e5.txt"]
    moved = read_line("cd \u65e5 && ls").commands[1]
    assert moved.folders == ("\u65e5",)


def test_a_line_of_too_many_different_signs_is_not_read() -> None:
    assert read_line("echo " + "".join(chr(0x4E00 + number) for number in range(200))).opaque
    assert not read_line("echo " + "\u65e5" * 500).opaque
