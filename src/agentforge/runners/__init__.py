"""Running test suites so that the code under test cannot lie about them, and measuring facts from such runs.

What a fact means (accept, reject) is decided elsewhere by pure rules.
"""
