"""Wrong implementations that good tests must notice: stubs, null implementations and mutants."""
