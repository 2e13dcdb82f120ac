"""Before the change."""


class Stack:
    def __init__(self):
        self.items = []
