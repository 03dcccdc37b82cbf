"""Turn, rewrite and history to an assessment."""
