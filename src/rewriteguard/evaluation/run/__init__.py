"""The arms over the cases: rewriters, searches, conditions and the journal of what came back."""
