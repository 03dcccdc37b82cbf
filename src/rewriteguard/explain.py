"""Findings in plain sentences, for a person who has not read about kinds and faults."""

from __future__ import annotations

from collections.abc import Sequence

from rewriteguard.tokens import Evidence

KIND_NAMES = {
    "time": "date or period", "entity": "name", "quantity": "number", "version": "version", "identifier": "identifier",
    "negation": "negation", "comparison": "comparison", "quantifier": "quantifier", "modality": "modal word",
    "answer_type": "kind of answer", "qualifier": "qualifier", "topic": "word",
}  # fmt: skip
"""What a person calls each kind."""
_SENTENCES = {
    "dropped": "The user's {kind} {turn} is missing from the rewrite.",
    "altered": "The user's {kind} {turn} became {rewrite}.",
    "invented": "The rewrite adds the {kind} {rewrite}, which nobody mentioned.",
    "drifted": "The rewrite brings in {rewrite} from earlier in the conversation, which this turn did not ask for.",
    "unresolved": "The words {any} still point to something that the rewrite does not name.",
    "ambiguous": "The words {turn} can mean several things, and the rewrite picked one of them: {rewrite}.",
    "malformed": "The rewriter gave no usable query.",
    "not_a_query": "The rewriter's output is not a search query: {rewrite}.",
    "question_lost": "Nothing of the question {turn} is left in the rewrite.",
    "correction_lost": "The user's correction {turn} is missing from the rewrite.",
    "language": "The rewrite is in another language than the turn.",
    "low_trust": "The rewrite brings in {rewrite}, which no user has said.",
    "not_checked": "This rewrite could not be fully checked.",
}


def sentence(fault: str, kind: str | None, evidence: Sequence[Evidence]) -> str:
    """One sentence that says what happened, with the words that show it."""
    words = {
        where: ", ".join(f'"{item.text}"' for item in evidence if item.where == where and item.text) or "(nothing)"
        for where in ("turn", "rewrite")
    }
    anything = next((f'"{item.text}"' for item in evidence if item.text), "(nothing)")
    template = _SENTENCES[fault]
    if fault == "altered" and not any(item.where == "turn" for item in evidence):
        template = "The {kind} {rewrite} is not what the user said."
    return template.format(kind=KIND_NAMES.get(kind or "", "word"), any=anything, **words)
