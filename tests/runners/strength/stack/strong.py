import pytest
from product import Stack


def test_newest_are_kept():
    stack = Stack()
    for item in "abcd":
        stack.push(item)
    assert stack.items == ["b", "c", "d"]
    small = Stack(most=1)
    small.push("a")
    small.push("b")
    assert small.items == ["b"]


def test_undo_and_redo():
    stack = Stack()
    stack.push(1)
    stack.push(2)
    assert stack.undo() == 2
    assert stack.items == [1]
    assert stack.redo() == 2
    assert stack.items == [1, 2]
    assert stack.undone == []


def test_push_forgets_what_was_undone():
    stack = Stack()
    stack.push(1)
    stack.undo()
    stack.push(2)
    with pytest.raises(IndexError):
        stack.redo()


def test_nothing_to_undo():
    with pytest.raises(IndexError, match="undo"):
        Stack().undo()
    with pytest.raises(IndexError, match="redo"):
        Stack().redo()
