"""The guided profile for small models: the same stages, cut down until a step is one choice or one function."""
