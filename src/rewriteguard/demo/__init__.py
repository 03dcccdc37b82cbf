"""A conversation with a help desk, its documents, and a rewriter that makes the mistakes of the field."""
