"""Logs: what a line holds, and the findings about all of them."""
