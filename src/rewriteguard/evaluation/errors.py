"""The errors of an evaluation; each leaf also is the built-in error that a caller would expect."""

from __future__ import annotations

from rewriteguard.errors import RewriteGuardError


class RulesError(RewriteGuardError, ValueError):
    """Release rules say something that cannot be held; the message names the file, the table and the key."""


class CaseError(RewriteGuardError, ValueError):
    """A case cannot be read or used; the message names file, line and field."""


class ConditionsError(RewriteGuardError, ValueError):
    """What an evaluation stands on is not what was fixed before it; the message names what changed."""


class CorpusError(RewriteGuardError, ValueError):
    """A corpus cannot be read; the message names the file, the line and the field."""


class JournalError(RewriteGuardError, ValueError):
    """A file is no journal of a run, or a journal that cannot be read, or another process has it open."""
