"""Seven faults that rewriters are known for, each caught by name and with the right fault."""

from __future__ import annotations

from rewriteguard.guard.guard import Guard
from rewriteguard.model.assessment import Assessment
from rewriteguard.model.rules import Fault, Severity, Verdict
from rewriteguard.model.tokens import Kind


def _critical(assessment: Assessment) -> set[tuple[Fault, Kind | None]]:
    return {(v.fault, v.kind) for v in assessment.violations if v.severity is Severity.CRITICAL}


def test_year_and_not_lost_in_shortening(guard: Guard) -> None:
    found = guard.check(
        "Which pumps recalled in 2021 are not covered by the warranty of the Osprey series?",
        "pumps covered by Osprey series warranty",
    )
    assert found.verdict is Verdict.CHANGED
    assert {(Fault.DROPPED, Kind.TIME), (Fault.DROPPED, Kind.NEGATION)} <= _critical(found)


def test_complete_turn_polluted_by_a_phrase_of_the_assistant(guard: Guard) -> None:
    history = [
        ("user", "My coffee grinder is very loud, what can I do?"),
        ("assistant", "Often the burr carrier is loose, tighten it."),
    ]
    found = guard.check(
        "Why does the water tank leak after I refill it?",
        "Why does the burr carrier leak after I refill it?",
        history,
    )
    assert found.verdict is Verdict.CHANGED
    assert (Fault.ALTERED, Kind.TOPIC) in _critical(found)


def test_invented_cabin_class(guard: Guard) -> None:
    found = guard.check(
        "Are there direct trains from Porto to Vigo on Friday?",
        "Are there direct first-class trains from Porto to Vigo on Friday?",
    )
    assert found.verdict is not Verdict.PRESERVED
    assert (Fault.INVENTED, Kind.QUALIFIER) in _critical(found)


def test_identifier_dropped(guard: Guard) -> None:
    found = guard.check("Why was booking KX-48213 cancelled?", "Why was the booking cancelled?")
    assert found.verdict is Verdict.CHANGED
    assert (Fault.DROPPED, Kind.IDENTIFIER) in _critical(found)


def test_name_of_a_topic_left_three_turns_ago(guard: Guard) -> None:
    history = [
        ("user", "Does Villa Cormorant have a sauna?"),
        ("assistant", "Yes, on the ground floor."),
        ("user", "Do you also offer sailing lessons?"),
        ("assistant", "Yes, at the marina."),
        ("user", "Are wetsuits provided?"),
        ("assistant", "Yes, in all sizes."),
    ]
    found = guard.check("how long does one last?", "How long does Villa Cormorant last?", history)
    assert found.verdict is not Verdict.PRESERVED
    assert (Fault.DRIFTED, Kind.ENTITY) in _critical(found)
    kept = guard.check("how long does one last?", "How long does a sailing lesson last?", history)
    assert kept.verdict is Verdict.PRESERVED, kept.explain()


def test_dependent_turn_without_a_protected_token(guard: Guard) -> None:
    """The report says what was checked and what not; two equal antecedents make it UNCERTAIN."""
    history = [
        ("user", "Compare the Falster lamp and the Lolland lamp."),
        ("assistant", "Both are made of oak and both can be dimmed."),
    ]
    one = guard.check("is it suitable for a nursery?", "Is the Falster lamp suitable for a nursery?", history)
    assert one.dependent
    assert one.verdict is Verdict.UNCERTAIN
    assert (Fault.AMBIGUOUS, None) in _critical(one)
    assert one.candidates == ("Falster lamp", "Lolland lamp")
    assert [(fill.reference, fill.text, fill.turn) for fill in one.checked.fills] == [("it", "Falster lamp", 0)]

    nothing = guard.check("and that?", "and that?", history)
    assert nothing.verdict is Verdict.UNCERTAIN
    assert "reference" in nothing.checked.gaps
    assert "Not checked" in nothing.explain()


def test_modal_or_answer_word_changed(guard: Guard) -> None:
    modal = guard.check("Must contractors wear a helmet on site?", "May contractors wear a helmet on site?")
    assert modal.verdict is Verdict.CHANGED
    assert (Fault.ALTERED, Kind.MODALITY) in _critical(modal)
    word = guard.check("Who painted the mural in the station?", "When was the mural in the station painted?")
    assert word.verdict is Verdict.CHANGED
    assert (Fault.ALTERED, Kind.ANSWER_TYPE) in _critical(word)
