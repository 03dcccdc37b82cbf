import ast
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rewriteguard.errors import InputError
from rewriteguard.evaluation.mutants import mutants as module
from rewriteguard.evaluation.mutants.mutants import Edit, Mutant, MutantKind, controls_of, mutants_of

SOURCES = [Path(module.__file__), *sorted(Path(module.__file__).parent.glob("edits/*.py"))]

# A question, the kind and edit, and an edited question that must be among its mutants.
MADE = [
    ("What did Ella Moreno paint in 1931?", "date", "drop", "What did Ella Moreno paint?"),
    ("Who ran the mill before 1902?", "date", "alter", "Who ran the mill after 1902?"),
    ("Has the bridge been closed since 2015?", "date", "alter", "Has the bridge been closed before 2015?"),
    ("What were the sales last year?", "date", "alter", "What were the sales this year?"),
    ("Which firms pay over 300 people?", "bound", "alter", "Which firms pay under 300 people?"),
    ("Which plans allow at least 12 users?", "bound", "drop", "Which plans allow 12 users?"),
    ("Which plans allow up to 12 users?", "bound", "alter", "Which plans allow at least 12 users?"),
    ("Which towns are within 40 km of the coast?", "unit", "alter", "Which towns are within 40 miles of the coast?"),
    ("What does hosting cost per month?", "unit", "alter", "What does hosting cost per year?"),
    ("How do I log in with version 3.10?", "version", "alter", "How do I log in with version 3.1?"),
    ("How do I log in with version 3.10?", "version", "drop", "How do I log in?"),
    ("Which fixes are in Postgres 9.1?", "version", "alter", "Which fixes are in Postgres 9.10?"),
    ("What is the status of order KX-48213?", "identifier", "drop", "What is the status?"),
    ("Why did the choir not sing?", "negation", "drop", "Why did the choir sing?"),
    ("Why didn't the mayor resign?", "negation", "drop", "Why did the mayor resign?"),
    ("Why did Paul Mercer resign?", "negation", "invent", "Why did Paul Mercer not resign?"),
    ("Which drugs are allowed for pilots?", "negation", "invent", "Which drugs are not allowed for pilots?"),
    ("Can I travel without a visa?", "negation", "alter", "Can I travel with a visa?"),
    (
        "Which teas except green tea are grown there?",
        "negation",
        "alter",
        "Which teas including green tea are grown there?",
    ),
    ("What is the largest lake in Finland?", "comparison", "alter", "What is the smallest lake in Finland?"),
    ("What are the most common causes of rust?", "comparison", "alter", "What are the least common causes of rust?"),
    ("What are the most common causes of rust?", "comparison", "drop", "What are the common causes of rust?"),
    ("What did the poet do after the war?", "comparison", "alter", "What did the poet do before the war?"),
    ("What would reduce noise at night?", "comparison", "alter", "What would increase noise at night?"),
    ("What was her first novel about?", "quantifier", "alter", "What was her last novel about?"),
    ("What was her first novel about?", "quantifier", "drop", "What was her novel about?"),
    ("Did any of the climbers return?", "quantifier", "alter", "Did all of the climbers return?"),
    ("Did Paul Mercer play chess?", "quantifier", "invent", "Did Paul Mercer only play chess?"),
    ("What should I cook for a vegan?", "modality", "alter", "What can I cook for a vegan?"),
    ("Do I have to sign the form?", "modality", "alter", "Can I sign the form?"),
    ("Why did Paul Mercer have to leave?", "modality", "drop", "Why did Paul Mercer leave?"),
    ("Why did Paul Mercer leave?", "modality", "invent", "Why did Paul Mercer have to leave?"),
    ("When did Paul Mercer leave?", "answer_word", "alter", "Did Paul Mercer leave?"),
    ("How many islands does Fiji have?", "answer_word", "alter", "Which islands does Fiji have?"),
    ("What year did the mine close?", "answer_word", "alter", "Why did the mine close?"),
    ("What was the annual budget?", "qualifier", "drop", "What was the budget?"),
    ("What was the annual budget?", "qualifier", "alter", "What was the monthly budget?"),
    ("Is there a part-time course?", "qualifier", "alter", "Is there a full-time course?"),
    ("Is the ferry safe, and if so, why?", "question", "drop", "Is the ferry safe?"),
    ("Who built the dam? When was it opened?", "question", "drop", "Who built the dam?"),
    ("What did Paul Mercer study in Toronto?", "name", "drop", "What did Paul Mercer study?"),
]

# A question and a kind that it must have no natural mutant of, because the edit would change nothing or break it.
LEFT_ALONE = [
    ("When did the First World War end?", "quantifier"),
    ("Are there any hotels near the pier?", "quantifier"),
    ("Can you tell me who wrote it?", "modality"),
    ("Didn't the team win the cup?", "negation"),
    ("How about rye bread?", "answer_word"),
    ('Who sang "The Last Waltz Before Dawn"?', "comparison"),
    ('Who sang "The Last Waltz Before Dawn"?', "quantifier"),
    ("Who won the 2006 World Championships?", "date"),
    ("How many tracks did Spacemen 3 record?", "number"),
    ("Was she an only child?", "quantifier"),
    ("How long did the war last?", "quantifier"),
    ("Besides the 1962 prize, what else did she get?", "date"),
    ("What was he best known for?", "comparison"),
    ("What did May Whitty do?", "modality"),
    ("What is the difference between heme and non-heme iron?", "negation"),
    ("That is not what I meant. Who wrote it?", "negation"),
]

# A question, the kind, and an edited question that must be among its controls.
KEPT = [
    ("Why were 1,200 trees cut?", "number_format", "Why were 1200 trees cut?"),
    ("Who are the three judges?", "number_format", "Who are the 3 judges?"),
    ("What was his second film?", "number_format", "What was his 2nd film?"),
    ("What happened on March 5, 2019?", "date_format", "What happened on 5 March 2019?"),
    ("What did people wear in the 1970s?", "date_format", "What did people wear in the seventies?"),
    ("Can a train go 300 mph?", "unit_format", "Can a train go 300 miles per hour?"),
    ("Who leads the United Nations?", "acronym", "Who leads the UN?"),
    ("Is it sold in the UK?", "acronym", "Is it sold in the United Kingdom?"),
    ("What is the biggest port?", "synonym", "What is the largest port?"),
    ("What is the biggest port?", "synonym", "What's the biggest port?"),
    ("Which firms pay over 300 people?", "synonym", "Which firms pay more than 300 people?"),
    ("Who wrote the anthem?", "filler", "Can you tell me who wrote the anthem?"),
    ("What year did the mine close?", "word_order", "In what year did the mine close?"),
    ("What did Ella Moreno paint in 1931?", "word_order", "In 1931, what did Ella Moreno paint?"),
    ("Besides tin, what else did they mine?", "word_order", "What else did they mine, besides tin?"),
]

NOTHING = ["", " ", "?", "Thanks!", "ok", "你好吗？", "Are there any other interesting aspects about this article?"]


def natural(text: str, context: str = "") -> list[Mutant]:
    """The mutants of the words of the text itself, without those of added constraints and questions."""
    return [m for m in mutants_of(text, context=context) if not m.seeded]


@pytest.mark.parametrize(("text", "kind", "edit", "expected"), MADE)
def test_makes_the_mutant(text, kind, edit, expected):
    assert expected in {m.text for m in natural(text) if m.kind == kind and m.edit == edit}


@pytest.mark.parametrize(("text", "kind"), LEFT_ALONE)
def test_leaves_alone_what_an_edit_would_not_change(text, kind):
    assert [m.text for m in natural(text) if m.kind == kind and m.edit is not Edit.INVENT] == []


@pytest.mark.parametrize(("text", "kind", "expected"), KEPT)
def test_makes_the_control(text, kind, expected):
    assert expected in {m.text for m in controls_of(text) if m.kind == kind}


@pytest.mark.parametrize("text", NOTHING)
def test_makes_nothing_where_nothing_can_be_edited(text):
    assert mutants_of(text) == ()


def test_every_kind_but_question_can_be_dropped_altered_and_invented():
    made = {(m.kind, m.edit) for seed in range(12) for m in mutants_of("What did the court decide?", seed=seed)}
    kinds = [k for k in MutantKind if k not in {m.kind for m in controls_of("What did the court decide?")}]
    seeded = [k for k in kinds if k not in (MutantKind.ANSWER_WORD, MutantKind.QUESTION)]
    edits = (Edit.DROP, Edit.ALTER, Edit.INVENT)
    assert [(k, e) for k in seeded for e in edits if (k, e) not in made] == []
    assert {e for k, e in made if k is MutantKind.QUESTION} == {Edit.DROP, Edit.INVENT}


def test_a_constraint_that_was_added_is_the_base_of_its_drop():
    made = mutants_of("What did the court decide?")
    drops = [m for m in made if m.edit is Edit.DROP and m.kind is MutantKind.VERSION]
    assert [m.text for m in drops] == ["What did the court decide?"]
    assert drops[0].base != drops[0].text
    assert drops[0].seeded
    assert drops[0].trigger in drops[0].base


def test_an_invented_year_is_new_and_near_the_years_of_the_context():
    context = "The mill burnt in 1902. It was rebuilt in 1904."
    years = [m.trigger for m in natural("What did Ella Moreno paint?", context) if m.kind is MutantKind.DATE]
    assert len(years) == 1
    assert years[0] not in context
    assert abs(int(years[0]) - 1903) < 20


def test_one_alteration_takes_its_value_from_the_context():
    context = "Paul Mercer met Helen Ward in 1902."
    made = mutants_of("What did Paul Mercer say in 1910?", context=context)
    altered = {m.kind: set() for m in made}
    for m in made:
        if m.edit is Edit.ALTER and m.base == "What did Paul Mercer say in 1910?":
            altered[m.kind].add(m.after)
    assert "Helen Ward" in altered[MutantKind.NAME]
    assert "1902" in altered[MutantKind.DATE]


def test_another_name_of_the_same_person_is_no_alteration():
    context = "Helen Ward, known as Paul Mercer, was a spy."
    assert "Helen Ward" not in {m.after for m in mutants_of("What did Paul Mercer say?", context=context)}


def test_an_acronym_is_learnt_from_the_context():
    context = "The Northern Canal Trust (NCT) owns the locks."
    texts = {m.text for m in controls_of("Who leads the Northern Canal Trust?", context=context)}
    assert "Who leads the NCT?" in texts


def test_the_same_arguments_give_the_same_mutants_and_seeds_differ():
    text = "What did Paul Mercer study in 1931?"
    assert mutants_of(text, seed=3) == mutants_of(text, seed=3)
    assert controls_of(text, seed=3) == controls_of(text, seed=3)
    assert len({mutants_of(text, seed=seed) for seed in range(5)}) > 1


def test_controls_keep_and_mutants_do_not():
    text = "What did Paul Mercer study in 1931?"
    assert {m.edit for m in controls_of(text)} == {Edit.KEEP}
    assert Edit.KEEP not in {m.edit for m in mutants_of(text)}
    assert not {m.kind for m in controls_of(text)} & {m.kind for m in mutants_of(text)}


@pytest.mark.parametrize("make", [mutants_of, controls_of])
def test_what_is_no_text_is_an_input_error(make):
    with pytest.raises(InputError, match="text"):
        make(7)
    with pytest.raises(InputError, match="context"):
        make("Who?", context=None)


def test_the_guard_is_not_known():
    allowed = ("rewriteguard.errors", "rewriteguard.tokens", "rewriteguard.evaluation.")
    for path in SOURCES:
        imports = [n.module or "" for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.ImportFrom)]
        guard = [name for name in imports if name.startswith("rewriteguard") and not name.startswith(allowed)]
        assert guard == [], path.name


VOCABULARY = """
What did does Why When who the a Paul Mercer Toronto in 1931 after before not never only all first last must can
largest most common at least over 12 three km version 3.10 KX-48213 annual except besides and if so how , ? . " '
( ) - – U.S. didn't May 5 1,200 per month twelve NFL Besides
"""
WORDS = st.sampled_from(VOCABULARY.split())
QUESTIONS = st.one_of(
    st.text(max_size=60),
    st.lists(WORDS, max_size=14).map(" ".join),
    st.lists(WORDS, min_size=2, max_size=12).map(lambda words: " ".join(words) + "?"),
)


@given(text=QUESTIONS, context=QUESTIONS, seed=st.integers(0, 3))
def test_every_edit_is_one_replacement_that_changes_the_text(text, context, seed):
    for m in (*mutants_of(text, context=context, seed=seed), *controls_of(text, context=context, seed=seed)):
        assert m.base[: m.start] + m.after + m.base[m.end :] == m.text
        assert m.base[m.start : m.end] == m.before
        assert m.text != m.base
        assert m.trigger
