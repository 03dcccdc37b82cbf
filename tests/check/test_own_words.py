"""A rewrite that edits the user's sentence, and one that words it anew: which rule speaks, on sentences of our own."""

from __future__ import annotations

import pytest

from rewriteguard.guard.guard import Guard

SHOP = (("user", "Do you sell garden benches?"), ("assistant", "Yes, oak and teak benches, and the Hartwell table."))
LENT = (("user", "Where is the Arndale library?"), ("assistant", "The Arndale library is on Mill Street."))

BAND = (
    ("user", "Who are the Larkhill Singers?"),
    ("assistant", "A choir founded by Ada Venn, with records of 1974 and 1976."),
)

RULES: list[tuple[str, str, tuple[tuple[str, str], ...], str, str]] = [
    # Small words put into, or exchanged in, the user's own sentence.
    ("Which halls have a stage?", "Which halls must have a stage?", (), "invented.modality", "changed"),
    ("Which halls have a stage?", "Which halls have the longest stage?", (), "invented.comparison", "changed"),
    ("Who wrote the report?", "Who wrote the first report?", (), "invented.quantifier", "changed"),
    ("Do all of the buses stop here?", "Do some of the buses stop here?", (), "altered.quantifier", "changed"),
    ("Do most of the buses stop here?", "Do a few of the buses stop here?", (), "altered.quantifier", "changed"),
    ("What can I bring to the museum?", "What must I bring to the museum?", (), "altered.modality", "changed"),
    # The same words in a sentence that says the question anew.
    (
        "How would you clean the floor without bleach?",
        "Which cleaning agents are recommended for wooden parquet?",
        (),
        "dropped.unsaid",
        "uncertain",
    ),
    # What restricts a thing, taken from it or turned round while a reference is filled.
    ("What was their first record?", "What was the Larkhill Singers' record?", BAND, "dropped.quantifier", "changed"),
    (
        "What is on their last record?",
        "What is on the Larkhill Singers' record?",
        BAND,
        "dropped.quantifier",
        "changed",
    ),
    ("Did their early songs sell?", "Did the Larkhill Singers' songs sell?", BAND, "dropped.qualifier", "changed"),
    (
        "Did their early songs sell?",
        "Did the Larkhill Singers' later songs sell?",
        BAND,
        "altered.qualifier",
        "changed",
    ),
    (
        "Did they win a bigger crowd?",
        "Did the Larkhill Singers win a smaller crowd?",
        BAND,
        "altered.comparison",
        "changed",
    ),
    ("What did she teach?", "Where did Ada Venn teach?", BAND, "altered.answer_type", "changed"),
    ("How long did she teach?", "When did Ada Venn teach?", BAND, "altered.answer_type", "changed"),
    ("Did they tour in Wales?", "How did they tour in Wales?", BAND, "altered.answer_type", "changed"),
    ("How does it work?", "Does the Hartwell table work?", SHOP, "altered.answer_type", "changed"),
    ("what can the user export", "The user wants to know what to export", (), "not_a_query", "changed"),
    # Whole questions.
    ("What is the fee?", "What is the fee? Can it be waived?", (), "invented.question", "changed"),
    ("What is pewter? And how do we know that?", "What is pewter?", (), "question_lost", "changed"),
    (
        "How did Bede shape Ely?",
        "How did Bede shape Ely? And what were the effects?",
        (),
        "invented.question",
        "changed",
    ),
    (
        "When does the fair open?",
        "When does the fair open? Who sponsors fireworks?",
        (),
        "invented.question",
        "changed",
    ),
    ("Who runs the mill? Which tram stops nearby?", "Who runs the mill?", (), "question_lost", "changed"),
    # One thing for several.
    ("Can any be left outside?", "Can the Hartwell table be left outside?", SHOP, "ambiguous.set", "changed"),
    # Names: a slip is in doubt, another country is not.
    ("When did Massachussets ban it?", "When did Massachusetts ban it?", (), "altered.doubtful", "uncertain"),
    ("Do I need a visa for Iceland?", "Do I need a visa for Ireland?", (), "altered.entity", "changed"),
    # Names: the rest of one that the history began is in doubt, one that shares a word with another is not.
    ("Where does she live?", "Where does Ada Venn Moore live?", BAND, "invented.completed", "uncertain"),
    ("Where does she live?", "Where does Ada Moore live?", BAND, "invented.entity", "changed"),
    ("Where does she live?", "Where does Ida Moore live?", BAND, "invented.entity", "changed"),
    # Self-corrections.
    ("Trains to Bath, no sorry, Bristol?", "Trains to Bath?", (), "correction_lost", "changed"),
    ("Trains to Bath, no sorry, Bristol?", "Trains to Bath and Bristol?", (), "correction_lost.half", "uncertain"),
    ("Who built, I mean when was the mill built?", "Who built the mill?", (), "correction_lost", "changed"),
    ("Which rooms have no in-room safe?", "Which rooms have in-room safe?", (), "dropped.negation", "changed"),
    ("Which cards have no annual fee?", "Which cards have annual fee?", (), "dropped.negation", "changed"),
    ("Was it bought no built in 1860?", "Was it bought in 1860?", (), "correction_lost", "changed"),
    ("When ill in May what do I file?", "What do I file?", (), "dropped.time", "changed"),
    ("Who can see what is posted?", "What is posted?", (), "altered.answer_type", "changed"),
    ("Is it run by Oslo or actually Bergen?", "Is it run by Bergen?", (), "dropped.entity", "changed"),
    ("What are halls no dogs may enter?", "What are halls dogs may enter?", (), "dropped.negation", "changed"),
    ("Which drinks have sugar no milk?", "Which drinks have milk?", (), "dropped.doubtful", "uncertain"),
    # "no" between two things of which the second was kept: perhaps a self-correction.
    ("Is there a warm no cold spring?", "Is there a cold spring?", (), "dropped.doubtful", "uncertain"),
    ("Which ER nurses work nights?", "Which nurses work nights?", (), "dropped.entity", "changed"),
    # A word left out of a complete question, or another in its place.
    ("When does the college bookshop open?", "When does the bookshop open?", (), "dropped.cut", "uncertain"),
    ("What is the vernal feast called?", "What is the autumnal feast called?", (), "altered.word", "uncertain"),
]

PRESERVED: list[tuple[str, str, tuple[tuple[str, str], ...]]] = [
    ("Trains to Bath, no sorry, Bristol?", "Trains to Bristol?", ()),
    ("Who was or rather when was the mill built?", "When was the mill built?", ()),
    ("Do you rent scooters or, um, bicycles?", "Do you rent bicycles?", ()),
    ("How many halls where was the fair held?", "Where was the fair held?", ()),
    ("Was it bought no built in 1860?", "Was it built in 1860?", ()),
    ("Which trains go to Bath or actually Bristol?", "Which trains go to Bristol?", ()),
    ("What was their first record?", "What was the Larkhill Singers' 1974 record?", BAND),
    (
        "What was their first record?",
        "What was the Larkhill Singers' record The Tides?",
        (*BAND, ("user", "The Tides?")),
    ),
    ("What was their first record?", "Which record did the Larkhill Singers make first?", BAND),
    ("When pregnant what should I avoid eating?", "What should I avoid eating when pregnant?", ()),
    ("Who paid for the first?", "Who paid for the first record of the Larkhill Singers?", BAND),
    ("How long ago did they form?", "When did the Larkhill Singers form?", BAND),
    ("How long until the fair opens?", "When does the fair open?", ()),
    ("How long is the pass valid?", "Until when is the pass valid?", ()),
    ("Can I order it online?", "How can I order the Hartwell table online?", SHOP),
    ("Are there synthetic ropes?", "Are there artificial ropes?", ()),
    ("Which lake has the highest salt level?", "Which lake has the greatest salt level?", ()),
    ("Is there a limit on the height?", "What is the height limit?", ()),
    ("how do i reset a user's password", "How do I reset the user's password?", ()),
    ("is there a user manual", "the user manual for the Hartwell table", SHOP),
    ("Was Southern cotton shipped there?", "Was cotton of the South shipped there?", ()),
    (
        "Are there any other facts about this choir?",
        "Are there any other facts about this choir besides who founded it and how it made records?",
        BAND,
    ),
    ("Was the plan proposed that year?", "Was the plan proposed that year?", ()),
    ("Besides, when does it open?", "When does it open?", ()),
    ("Is the day ticket free?", "Is the day ticket complimentary?", ()),
    ("Rates of the BoE in May 2021", "Rates of the Bank of England in May 2021", ()),
    ("Does the WHO list it as a drug?", "Does the World Health Organization list it as a drug?", ()),
    ("Which plan costs $15 a month?", "Which plan costs $15 monthly?", ()),
    ("Is it in the most recent survey of ships?", "Is it in the latest survey of ships?", ()),
    ("Does Nodejs run there?", "Does Node.js run there?", ()),
    ("Opening hours of the Anrdale library", "Opening hours of the Arndale library", LENT),
    ("how offen does the tram run?", "How often does the tram run?", ()),
]


@pytest.mark.parametrize(("turn", "rewrite", "history", "rule", "verdict"), RULES, ids=[row[1] for row in RULES])
def test_the_rule_that_speaks(
    guard: Guard, turn: str, rewrite: str, history: tuple[tuple[str, str], ...], rule: str, verdict: str
) -> None:
    found = guard.check(turn, rewrite, history)
    assert rule in {violation.rule for violation in found.violations}, found.explain()
    assert found.verdict == verdict, found.explain()


@pytest.mark.parametrize(("turn", "rewrite", "history"), PRESERVED, ids=[row[1] for row in PRESERVED])
def test_nothing_is_said_of_a_good_one(
    guard: Guard, turn: str, rewrite: str, history: tuple[tuple[str, str], ...]
) -> None:
    found = guard.check(turn, rewrite, history)
    assert found.verdict == "preserved", found.explain()
