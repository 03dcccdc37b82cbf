"""Minimal edits of one question, one module per family; none of them knows how the guard reads a text."""
