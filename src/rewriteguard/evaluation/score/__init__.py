"""Outcomes to scores, intervals and tests."""
