"""One request: the rewriter is asked, what was decided is searched, the lists are fused."""
