"""The record of a test run: its plan, how it is launched, what its programs report, and its outcome."""
