"""Changes that cannot alter behaviour: documents, annotations, comments and configuration nobody reads."""
