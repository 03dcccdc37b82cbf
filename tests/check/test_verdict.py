from __future__ import annotations

import ast
from pathlib import Path

import pytest

from rewriteguard.check.assess import judge
from rewriteguard.model.assessment import KIND_NAMES, Profile, Violation
from rewriteguard.model.rules import Fault, Gap, Rule, Severity, Verdict
from rewriteguard.model.tokens import Evidence, Kind

SOURCE = Path(__file__).resolve().parents[2] / "src" / "rewriteguard"
TABLE = SOURCE / "model" / "rules.py"
WORDS = (Evidence("turn", "2020", 4, 8),)


def _violation(rule: Rule, kind: Kind | None = None) -> Violation:
    return Violation(rule, kind, WORDS)


def test_nothing_wrong_is_preserved() -> None:
    assert judge([]) == (Verdict.PRESERVED, ())


def test_a_minor_violation_alone_changes_nothing_but_is_reported() -> None:
    verdict, violations = judge([_violation(Rule.DROPPED_TOPIC, Kind.TOPIC)])
    assert verdict is Verdict.PRESERVED
    assert [v.code for v in violations] == ["dropped.topic"]


def test_the_gravest_violation_decides_and_stands_first() -> None:
    found = [
        _violation(Rule.DROPPED_SCENE, Kind.TIME),
        _violation(Rule.UNRESOLVED),
        _violation(Rule.DROPPED_TIME, Kind.TIME),
    ]
    verdict, violations = judge(found)
    assert verdict is Verdict.CHANGED
    assert [v.rule for v in violations] == [Rule.DROPPED_TIME, Rule.UNRESOLVED, Rule.DROPPED_SCENE]
    assert judge(found[:2])[0] is Verdict.UNCERTAIN


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind is not Kind.TOPIC])
@pytest.mark.parametrize("fault", [Fault.DROPPED, Fault.ALTERED, Fault.INVENTED])
def test_every_kind_but_topic_is_critical_when_lost_altered_or_invented(fault: Fault, kind: Kind) -> None:
    rule = Rule.of(fault, kind)
    assert rule.value == f"{fault.value}.{kind.value}"
    assert (rule.fault, rule.severity, rule.alone) == (fault, Severity.CRITICAL, Verdict.CHANGED)


def test_what_is_minor_gives_no_verdict_and_the_rest_does() -> None:
    assert all((rule.severity is Severity.MINOR) is (rule.alone is Verdict.PRESERVED) for rule in Rule)
    assert {rule.severity for rule in Rule} == set(Severity)


def test_only_named_faults_reject() -> None:
    rejecting = {rule.fault for rule in Rule if rule.alone is Verdict.CHANGED}
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
    dropped = [_violation(Rule.DROPPED_TIME, Kind.TIME)]
    assert judge(dropped, Profile.STEP_BACK) == (Verdict.PRESERVED, ())
    assert judge(dropped, Profile.EXPAND)[0] is Verdict.CHANGED


@pytest.mark.parametrize("rule", list(Rule))
def test_every_rule_has_a_sentence(rule: Rule) -> None:
    text = Violation(rule, Kind.TIME, (*WORDS, Evidence("rewrite", "2021", 0, 4))).sentence
    assert text.endswith(".")
    assert "{" not in text


@pytest.mark.parametrize("gap", list(Gap))
def test_every_gap_has_a_sentence(gap: Gap) -> None:
    assert gap.sentence.startswith("Not checked: ")
    assert gap.sentence.endswith(".")


def test_a_fault_and_a_rule_are_found_by_their_values() -> None:
    assert all(Fault(fault.value) is fault for fault in Fault)
    assert all(Rule(rule.value) is rule and rule.value.partition(".")[0] == rule.fault for rule in Rule)


def _spells_a_rule(text: str, path: Path) -> bool:
    """True for the name of a rule, or its start as an f-string builds it; a fault alone may be spelt as a code."""
    starts = tuple(f"{fault.value}." for fault in Fault)
    judging = path.relative_to(SOURCE).parts[0] in ("check", "filters")
    return (text.startswith(starts) and " " not in text) or (judging and text in set(Rule))


def test_no_rule_is_spelt_as_a_string_outside_its_table() -> None:
    spelt = [
        f"{path.relative_to(SOURCE)}:{node.lineno} {node.value}"
        for path in sorted(SOURCE.rglob("*.py"))
        if path != TABLE
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _spells_a_rule(node.value, path)
    ]
    assert not spelt


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_can_be_lost_changed_and_made_up(kind: Kind) -> None:
    rules = [Rule.of(fault, kind) for fault in (Fault.DROPPED, Fault.ALTERED, Fault.INVENTED)]
    assert [rule.fault for rule in rules] == [Fault.DROPPED, Fault.ALTERED, Fault.INVENTED]
    assert kind.value in KIND_NAMES
