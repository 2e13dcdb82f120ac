"""What runs inside the target's interpreter: Python 3.8 and later, standard library and the target's own pytest (6 to 9).

Nothing in this folder imports agentforge: the files are started by path and load each other by path.
"""
