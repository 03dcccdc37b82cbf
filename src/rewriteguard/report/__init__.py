"""The page of `rewriteguard audit --html`: what was found in a log, for a person to read (extra `report`)."""
