"""After the change."""


class Stack:
    def __init__(self, most=3):
        self.items = []
        self.undone = []
        self.most = most

    def push(self, item):
        """Keep the newest `most` items; what was undone is forgotten."""
        self.items.append(item)
        self.undone.clear()
        if len(self.items) > self.most:
            del self.items[0]

    def undo(self):
        if not self.items:
            raise IndexError("nothing to undo")
        item = self.items.pop()
        self.undone.append(item)
        return item

    def redo(self):
        if not self.undone:
            raise IndexError("nothing to redo")
        item = self.undone.pop()
        self.items.append(item)
        return item
