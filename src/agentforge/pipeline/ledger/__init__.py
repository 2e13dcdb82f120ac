"""The request's ledger: its asks, numbered by the harness, and what becomes of each. No model writes into it."""
