"""The offline protocol: proof, on a team's own questions, that a rewriter may be used.

All that needs more than a case is loaded when it is first used: most of it stands on the extra `evaluation`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from rewriteguard.evaluation.cases.case import Case, Constraint, Contract
from rewriteguard.evaluation.errors import CaseError, ConditionsError, CorpusError, JournalError, RulesError

if TYPE_CHECKING:
    from rewriteguard.evaluation.cases.agreement import Agreement, Choices, Disagreement, agreement
    from rewriteguard.evaluation.cases.draft import Lock, check_frozen, draft, freeze
    from rewriteguard.evaluation.cases.files import read_cases, write_cases
    from rewriteguard.evaluation.comparing import Compared, Loss, compare
    from rewriteguard.evaluation.evaluating import Evaluation, evaluate
    from rewriteguard.evaluation.figure import Figure
    from rewriteguard.evaluation.mutants.mutant import Edit, Mutant, MutantKind
    from rewriteguard.evaluation.mutants.mutants import controls_of, mutants_of
    from rewriteguard.evaluation.release.checks import Check
    from rewriteguard.evaluation.release.policy_file import policy_file, policy_for, policy_text
    from rewriteguard.evaluation.release.release import ReleaseDecision, is_accepted, releases
    from rewriteguard.evaluation.release.rules import Bounds, ClassRule, Measure, Rules, SliceRule, shipped_rules
    from rewriteguard.evaluation.run.conditions import Conditions
    from rewriteguard.evaluation.run.outcome import ArmName, Ended, Outcome
    from rewriteguard.evaluation.run.rewriters import Rewriter
    from rewriteguard.evaluation.run.search import Corpus, Passage
    from rewriteguard.evaluation.run.setup import Setup
    from rewriteguard.evaluation.score.results import (
        ArmResult,
        ConstraintRow,
        Group,
        GroupResult,
        KindRow,
        Ranked,
        Regression,
        Results,
        TurnRow,
    )
    from rewriteguard.evaluation.score.scores import Clarification, EvidenceScore, Leak, Paired, Scores
    from rewriteguard.evaluation.twins import Family, Judged, Variant, judge_pair, judge_pairs, twins_of

# Where a name is looked for, the lightest first, so that what reads a case does not ask for the extra.
_PLACES = ["figure", "mutants.mutant", "mutants.mutants", "cases.files", "cases.agreement", "cases.draft", "twins"]
_PLACES += ["release.rules", "run.outcome", "run.search", "run.rewriters", "run.conditions", "run.setup"]
_PLACES += ["score.scores", "score.results", "release.checks", "release.release"]
_PLACES += ["release.policy_file", "evaluating", "comparing"]
__all__ = ["Case", "Constraint", "Contract", "read_cases", "write_cases"]
__all__ += ["Agreement", "Choices", "Disagreement", "Lock", "agreement", "check_frozen", "draft", "freeze"]
__all__ += ["Edit", "Mutant", "MutantKind", "controls_of", "mutants_of"]
__all__ += ["Family", "Judged", "Variant", "judge_pair", "judge_pairs", "twins_of"]
__all__ += ["Compared", "Conditions", "Corpus", "Evaluation", "Loss", "Passage", "Rewriter", "Setup"]
__all__ += ["ArmName", "Ended", "Outcome", "compare", "evaluate"]
__all__ += ["ArmResult", "Clarification", "EvidenceScore", "Figure", "Group", "GroupResult", "Leak", "Paired"]
__all__ += ["ConstraintRow", "KindRow", "Ranked", "Regression", "Results", "Scores", "TurnRow"]
__all__ += ["Bounds", "Check", "ClassRule", "Measure", "ReleaseDecision", "Rules", "SliceRule", "is_accepted"]
__all__ += ["policy_file", "policy_for", "policy_text", "releases", "shipped_rules"]
__all__ += ["CaseError", "ConditionsError", "CorpusError", "JournalError", "RulesError"]


def __getattr__(name: str) -> Any:
    for place in _PLACES if name in __all__ else ():
        module = importlib.import_module(f"rewriteguard.evaluation.{place}")
        if getattr(value := getattr(module, name, None), "__module__", None) == module.__name__:
            return globals().setdefault(name, value)
    raise AttributeError(f"module 'rewriteguard.evaluation' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
