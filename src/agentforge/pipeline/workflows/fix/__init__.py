"""The workflow of `fix`: guarding, changing and verifying the repair of violations."""
