"""Several rewrites of one turn, judged together."""
