"""What a model sees: sections, budgets and compression. Pure: texts come in, messages go out."""
