"""The measurements of each stage: base line, RED, GREEN and the strength of the tests."""
