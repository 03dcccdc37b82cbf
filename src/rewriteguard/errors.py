"""The errors that rewriteguard raises on purpose.

Each leaf also subclasses the built-in error that a caller would expect, so that `except ValueError` keeps working.
A rejected rewrite is a result, never an error.
"""

from __future__ import annotations


class RewriteGuardError(Exception):
    """Base of every error that rewriteguard raises on purpose."""


class InputError(RewriteGuardError, TypeError):
    """An argument has a type that cannot be read; the message names the argument and what was expected."""


class HistoryError(RewriteGuardError, ValueError):
    """The history has a shape that cannot be read; the message names the item and what was expected."""


class PolicyError(RewriteGuardError, ValueError):
    """A policy was given a value that cannot be used; one of a file names the file, the table and the key."""


class PipelineNotFoundError(RewriteGuardError, OSError):
    """No English spaCy pipeline is installed; the message names the two commands that install one."""


class ScopeError(RewriteGuardError, PermissionError):
    """The scope of a search could not be decided, so nothing was searched."""


class UnsupportedChainError(RewriteGuardError, TypeError):
    """A chain has a shape that cannot be taken apart; the message says how to pass its parts instead."""


class ClarificationNeeded(RewriteGuardError):  # noqa: N818 - a question to the user, not a failure
    """The turn has several readings and the policy asks the user instead of guessing.

    Attributes:
        candidates: The readings, in the order in which the conversation named them.
    """

    def __init__(self, candidates: tuple[str, ...]) -> None:
        self.candidates = candidates
        # Tracing records the text of errors, whatever is said about the users' words.
        super().__init__("the turn can be read in several ways; see `candidates`")
