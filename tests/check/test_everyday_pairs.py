"""Everyday turns with good and bad rewrites: both errors side by side, by class of change."""

from __future__ import annotations

import pytest

from rewriteguard.guard.guard import Guard
from rewriteguard.model.rules import Verdict

History = tuple[tuple[str, str], ...]

TENTS: History = (
    ("user", "Tell me about the Tarn 2 and the Fell 3 tents."),
    ("assistant", "The Tarn 2 weighs 1.9 kg, the Fell 3 has room for three."),
)
MEDICINE: History = (("user", "Can I take loratadine for hay fever?"), ("assistant", "Yes, once a day."))
PEGS: History = (("user", "Are pegs in the tent bag?"), ("assistant", "Yes, pegs are in the tent bag."))
TICKETS: History = (("user", "day ticket price for adults?"), ("assistant", "Adults pay 12 euros."))
TREATY: History = (("user", "When was the treaty signed?"), ("assistant", "The treaty was signed in February."))
AQUARIUM: History = (("user", "How do I get to the aquarium?"), ("assistant", "Take bus 31."))
STOVES: History = (("user", "What is better, pellets or logs?"), ("assistant", "Pellets and logs both heat well."))
TARN: History = (("user", "What is the Tarn 2?"), ("assistant", "A tent for two."))
APP: History = (("user", "how do i export my notes in the app"), ("assistant", "Open the menu, then Export."))

GOOD: list[tuple[str, str, History]] = [
    ("Which crisps don't contain palm oil?", "Which crisps are palm oil-free?", ()),
    ("soups w/o cream", "soups without cream", ()),
    ("why can't i print from my tablet", "Why am I unable to print from my tablet?", ()),
    ("which tent is lighter, the tarn or the fell", "Which tent weighs less, the Tarn or the Fell?", ()),
    ("is the night bus cheaper than a taxi", "Is the night bus less expensive than a taxi?", ()),
    ("is the pool open at 7:30pm", "Is the pool open at 19:30?", ()),
    ("can i book a table for 6, sorry 7, on monday", "Can I book a table for seven on Monday?", ()),
    ("is the lighter one waterproof?", "Is the Tarn 2 tent waterproof?", TENTS),
    ("are both waterproof?", "Are the Tarn 2 and the Fell 3 both waterproof?", TENTS),
    ("is it safe during pregnancy?", "Is loratadine safe during pregnancy?", MEDICINE),
    ("not the app, the website", "How do I export my notes on the website?", APP),
    ("what else is in the bag?", "What is in the tent bag other than the pegs?", PEGS),
    ("and for children?", "How much is a day ticket for children?", TICKETS),
    ("Roosevelt's role in it", "President Roosevelt's role in the treaty", TREATY),
    (
        "changing the subject a bit, what are the fees of the night school?",
        "What are the fees of the night school?",
        APP,
    ),
    ("which is more difficult, algebra or geometry", "Is algebra or geometry more challenging?", ()),
    ("how many lifts are there", "How many lifts are there in total?", ()),
    ("whats the finnish word for it", "What is the Finnish term for loratadine?", MEDICINE),
    ("do i need a prescription for that", "Is a prescription required for loratadine?", MEDICINE),
    ("which of the two burns cleaner?", "Do pellets or logs burn cleaner?", STOVES),
    ("is that enough for one person tho", "Is a Tarn 2 enough for a single person?", TARN),
    ("nhs waiting lists", "National Health Service waiting lists", ()),
    ("does my kid, 1 kid only, travel free", "Does one kid only travel free?", ()),
    ("rooms free on friday", "Which rooms are available on Friday?", ()),
    ("I do not like how the chart looks", "How can I change how the chart looks?", APP),
    ("ok. different question, when does the library open", "When does the library open?", TENTS),
]
BAD: list[tuple[str, str, History]] = [
    ("guest houses in Bath that don't allow dogs", "guest houses in Bath that allow dogs", ()),
    ("nurses who never worked nights", "nurses who worked nights", ()),
    ("I need a campsite that only takes tents", "campsite that takes tents", ()),
    ("I need a campsite that only takes tents", "Which campsites take tents?", ()),
    ("Do I need a visa for Austria?", "Do I need a visa for Australia?", ()),
    ("is northgate university fee-free", "Is King Edward University fee-free?", ()),
    ("no i meant the planetarium", "How do I get to the aquarium?", AQUARIUM),
    ("the Covid-19 rules", "the Covid-18 rules", ()),
    ("what is at https://a.example/x1", "what is at https://a.example/x2", ()),
    ("what does permit HB-2207 cover", "what does permit HB-2208 cover", ()),
    ("a lamp that must be waterproof", "a lamp that is waterproof", ()),
    ("I can't open my mailbox", "open my mailbox", ()),
    ("can i cancel before paying", "can i cancel after paying", ()),
    ("trains from Leeds to York", "trains from York to Leeds", ()),
    ("is oak harder than pine", "is pine harder than oak", ()),
    ("am i eligible for the grant", "am i ineligible for the grant", ()),
    ("can i return opened games", "can i return unopened games", ()),
    ("which invoices were paid twice", "which invoices were paid", ()),
    ("Can tenants keep cats?", "Should tenants keep cats?", ()),
    ("do vegetarians need more iron", "do athletes need more iron", ()),
    ("is it safe during pregnancy?", "Is naproxen safe during pregnancy?", MEDICINE),
    ("is it waterproof?", "Is the Tarn 2 waterproof?", TENTS),
    ("what about the other one?", "Is the Tarn 2 waterproof?", TENTS),
    ("why not?", "Why should loratadine be taken?", MEDICINE),
    ("Is the museum open on Mondays?", "Is the museum closed on Mondays?", ()),
]


@pytest.mark.parametrize(("turn", "rewrite", "history"), GOOD, ids=[row[0] for row in GOOD])
def test_good_rewrites_are_preserved(guard: Guard, turn: str, rewrite: str, history: History) -> None:
    found = guard.check(turn, rewrite, history)
    assert found.verdict is Verdict.PRESERVED, found.explain()


@pytest.mark.parametrize(("turn", "rewrite", "history"), BAD, ids=[row[0] for row in BAD])
def test_changed_questions_are_not_preserved(guard: Guard, turn: str, rewrite: str, history: History) -> None:
    found = guard.check(turn, rewrite, history)
    assert found.verdict is not Verdict.PRESERVED, found.explain()


MISSES: list[tuple[str, str, History, str]] = [
    ("how do i sue my landlord", "Can I sue my landlord?", (), "yes/no and how are asked for in each other's words"),
    (
        "who does she report to?",
        "Who reports to Ms Lind?",
        (("user", "Is Ms Lind the head?"),),
        "no roles across verbs",
    ),
    ("does acme cover dentists", "Does insurance cover dentists?", TENTS, "a lower-cased name is a noun"),
]


@pytest.mark.parametrize(
    ("turn", "rewrite", "history"),
    [pytest.param(*row[:3], marks=pytest.mark.xfail(strict=True, reason=row[3])) for row in MISSES],
)
def test_known_misses(guard: Guard, turn: str, rewrite: str, history: History) -> None:
    assert guard.check(turn, rewrite, history).verdict is not Verdict.PRESERVED
