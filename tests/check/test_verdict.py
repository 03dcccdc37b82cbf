from __future__ import annotations

import pytest

from rewriteguard.check.rules.table import RULES, judge
from rewriteguard.model.assessment import Fault, Profile, Severity, Verdict, sentence
from rewriteguard.model.tokens import Evidence, Finding, Kind

WORDS = (Evidence("turn", "2020", 4, 8),)


def _finding(rule: str, kind: Kind | None = None) -> Finding:
    return Finding(rule, kind, WORDS)


def test_no_finding_is_preserved() -> None:
    assert judge([]) == (Verdict.PRESERVED, ())


def test_a_minor_finding_alone_changes_nothing_but_is_reported() -> None:
    verdict, violations = judge([_finding("dropped.topic", Kind.TOPIC)])
    assert verdict is Verdict.PRESERVED
    assert [v.code for v in violations] == ["dropped.topic"]


def test_the_gravest_finding_decides_and_stands_first() -> None:
    findings = [_finding("dropped.scene", Kind.TIME), _finding("unresolved"), _finding("dropped.time", Kind.TIME)]
    verdict, violations = judge(findings)
    assert verdict is Verdict.CHANGED
    assert [v.rule for v in violations] == ["dropped.time", "unresolved", "dropped.scene"]
    assert judge(findings[:2])[0] is Verdict.UNCERTAIN


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind is not Kind.TOPIC])
@pytest.mark.parametrize("fault", [Fault.DROPPED, Fault.ALTERED, Fault.INVENTED])
def test_every_kind_but_topic_is_critical_when_lost_altered_or_invented(fault: Fault, kind: Kind) -> None:
    rule = RULES[f"{fault}.{kind}"]
    assert (rule.fault, rule.severity, rule.alone) == (fault, Severity.CRITICAL, Verdict.CHANGED)


def test_only_named_faults_reject() -> None:
    rejecting = {rule.fault for rule in RULES.values() if rule.alone is Verdict.CHANGED}
    assert rejecting == {
        Fault.DROPPED,
        Fault.ALTERED,
        Fault.INVENTED,
        Fault.AMBIGUOUS,
        Fault.MALFORMED,
        Fault.NOT_A_QUERY,
        Fault.QUESTION_LOST,
        Fault.CORRECTION_LOST,
        Fault.LANGUAGE,
    }


def test_a_profile_waives_what_its_rewriter_may_do() -> None:
    dropped = [_finding("dropped.time", Kind.TIME)]
    assert judge(dropped, Profile.STEP_BACK) == (Verdict.PRESERVED, ())
    assert judge(dropped, Profile.EXPAND)[0] is Verdict.CHANGED


@pytest.mark.parametrize("fault", list(Fault))
def test_every_fault_has_a_sentence(fault: Fault) -> None:
    text = sentence(fault.value, "time", (*WORDS, Evidence("rewrite", "2021", 0, 4)))
    assert text.endswith(".")
    assert "{" not in text
