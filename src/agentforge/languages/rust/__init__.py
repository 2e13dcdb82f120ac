"""Rust: cargo as test runner, and its failure messages."""
