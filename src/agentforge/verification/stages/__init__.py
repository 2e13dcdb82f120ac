"""The measurements of each stage: baseline, RED, GREEN and the strength of the tests."""
