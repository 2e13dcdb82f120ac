"""Task sets played through the whole pipeline and judged by tests that no run has seen."""
