from product import Stack


def test_stack():
    stack = Stack()
    for item in "abcd":
        stack.push(item)
    stack.undo()
    stack.redo()
    assert len(stack.items) > 0
