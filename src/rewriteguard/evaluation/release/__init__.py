"""Scores to a release of each class, by rules that were written before."""
