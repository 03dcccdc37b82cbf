"""Finds words in a text where they stand as words."""

from __future__ import annotations

import re


def find_words(words: str, text: str) -> tuple[int, int] | None:
    """Start and end of the first place where `words` stand as they are, else in any case; never within longer ones."""
    if not words:
        return None
    # A border is asked for only where the words themselves begin or end with a letter or digit.
    before, after = (r"(?<!\w)" if words[:1].isalnum() else "", r"(?!\w)" if words[-1:].isalnum() else "")
    pattern = before + re.escape(words) + after
    found = re.search(pattern, text) or re.search(pattern, text, re.IGNORECASE)
    return None if found is None else found.span()
