"""Policies with classes of requests: which class a turn is in, what is done for it, and the file that says so."""

import asyncio
import copy
import pickle
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fakes import probe
from rewriteguard import (
    Action,
    Conversation,
    Guard,
    GuardedSearch,
    Kind,
    Policy,
    PolicyError,
    Predicate,
    Profile,
    Release,
    RequestClass,
    Verdict,
    asafe_rewrite,
    safe_rewrite,
)
from rewriteguard.evaluation.errors import RulesError
from rewriteguard.evaluation.release.policy_file import policy_text
from rewriteguard.evaluation.release.rules import Rules
from rewriteguard.model.decision import Origin, Reason
from rewriteguard.policy.classes import Traits, first_class
from rewriteguard.policy.weights import Weights

HISTORY = [("user", "How do I renew a parking permit?"), ("assistant", "You renew a permit at the town desk.")]
DATED, DATED_REWRITE = "What did it cost in 2023?", "What did a parking permit cost in 2023?"
LOSSY = "What did a parking permit cost?"
PLAIN, PLAIN_REWRITE = "And how long does it take?", "How long does it take to renew a parking permit?"
DATES = Predicate(kinds=(Kind.TIME,))


def policy(release: Release, when: Predicate = DATES, **settings) -> Policy:
    return Policy(classes=(RequestClass("dates", when, release),), **settings)


def origins(decision) -> list[str]:
    return [query.origin.value for query in decision.queries]


class Rewriter:
    def __init__(self, answers):
        self.answers = answers
        self.calls = []

    def __call__(self, turn, history):
        self.calls.append(turn)
        return self.answers[turn]


@pytest.fixture
def rewriter():
    return Rewriter({DATED: DATED_REWRITE, PLAIN: PLAIN_REWRITE})


@pytest.fixture
def searched():
    return []


@pytest.fixture
def search(searched):
    def find(query):
        searched.append(query)
        return [query.lower()]

    return find


# Which class


@pytest.mark.parametrize(
    ("turn", "history", "traits"),
    [
        ("Which routes did not run in winter 2023?", (), {"kinds": {"negation", "time", "topic"}, "dependent": False}),
        (DATED, HISTORY, {"kinds": {"time"}, "dependent": True}),
        ("Wie lange war der Parkausweis am 3. Mai 2023 gültig?", HISTORY, {"kinds": {"time"}, "language": "de"}),
        ("In Paris 2023, no sorry, Lyon. Which routes run there?", (), {"language": "en", "words": 10}),
        ("", (), {"kinds": set(), "dependent": False, "language": "en", "words": 0}),
    ],
)
def test_traits_of_a_turn(guard, turn, history, traits):
    found = guard._traits(Conversation.read(turn, history))
    got = {"kinds": {kind.value for kind in found.kinds} - {"answer_type"}, "dependent": found.dependent}
    got |= {"language": found.language, "words": found.words}
    assert {key: got[key] for key in traits} == traits


def test_filler_is_in_no_class(guard):
    turn = Conversation.read("No, thanks. Which routes run in winter?", HISTORY)
    assert Kind.NEGATION not in guard._traits(turn).kinds


TRAITS = Traits(frozenset({Kind.TIME, Kind.NEGATION}), dependent=True, language="en", words=5)


@pytest.mark.parametrize(
    ("when", "holds"),
    [
        (Predicate(), True),
        (Predicate(kinds=(Kind.TIME,)), True),
        (Predicate(kinds=(Kind.TIME, Kind.VERSION)), False),
        (Predicate(dependent=True), True),
        (Predicate(dependent=False), False),
        (Predicate(language="en"), True),
        (Predicate(language="de"), False),
        (Predicate(min_words=5, max_words=5), True),
        (Predicate(min_words=6), False),
        (Predicate(max_words=4), False),
        (Predicate(kinds=(Kind.NEGATION,), dependent=False), False),
    ],
)
def test_all_conditions_have_to_hold(when, holds):
    assert when.holds(TRAITS) is holds


def test_the_first_class_that_holds_counts():
    first, second = RequestClass("a", Predicate(language="en")), RequestClass("b", Predicate(dependent=True))
    assert first_class((first, second), TRAITS) is first
    assert first_class((second, first), TRAITS) is second
    assert first_class((), TRAITS) is None


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Predicate(kinds=("tiem",)), "kinds: expected some of"),
        (lambda: Predicate(kinds="time"), "kinds: expected some of"),
        (lambda: Predicate(language="English "), "language: expected a code"),
        (lambda: Predicate(min_words=-1), "min_words"),
        (lambda: Predicate(min_words=5, max_words=4), "max_words: expected at least min_words"),
        (lambda: RequestClass(" "), "expected a name"),
        (lambda: RequestClass("two\nlines"), "expected a name of one line"),
        (lambda: RequestClass("a", Predicate(), "shipp"), "expected one of ship"),
        (lambda: Policy(classes=(DATES,)), "classes: expected RequestClass, got Predicate"),
        (
            lambda: Policy(classes=(RequestClass("a", DATES), RequestClass("a"))),
            "class 'a': expected a name of its own",
        ),
        (lambda: Policy(classes=(RequestClass("a"), RequestClass("b", DATES))), "class 'b': it is never reached"),
    ],
)
def test_classes_that_mean_nothing_are_refused(make, message):
    with pytest.raises(PolicyError, match=message):
        make()


# What is done


def test_ship_searches_a_preserved_rewrite_alone(guard):
    decision = guard.decide(DATED, DATED_REWRITE, HISTORY, policy=policy(Release.SHIP))
    assert decision.verdict is Verdict.PRESERVED
    assert (decision.action, origins(decision)) == (Action.USE_REWRITE, ["rewrite"])
    assert decision.queries[0].text == decision.query == DATED_REWRITE
    assert decision.request_class == "dates"


@pytest.mark.parametrize("rewrite", [LOSSY, DATED])
def test_ship_does_what_the_policy_says_where_the_rewrite_is_not_preserved(guard, rewrite):
    shipped = guard.decide(DATED, rewrite, HISTORY, policy=policy(Release.SHIP))
    plain = guard.decide(DATED, rewrite, HISTORY)
    assert shipped.verdict is not Verdict.PRESERVED
    assert replace(shipped, request_class="") == plain


def test_ship_searches_several_rewrites_beside_the_turn(guard):
    rewrites = [DATED_REWRITE, "cost of a parking permit in 2023"]
    shipped = guard.decide(DATED, rewrites, HISTORY, policy=policy(Release.SHIP), profile=Profile.EXPAND)
    assert "original" in origins(shipped)


def test_fuse_is_the_policy_itself(guard):
    fused = guard.decide(DATED, DATED_REWRITE, HISTORY, policy=policy(Release.FUSE))
    assert replace(fused, request_class="") == guard.decide(DATED, DATED_REWRITE, HISTORY)
    assert fused.request_class == "dates"


def test_a_turn_of_no_class_gets_the_policy_itself(guard):
    for release in Release:
        decision = guard.decide(PLAIN, PLAIN_REWRITE, HISTORY, policy=policy(release))
        assert decision == guard.decide(PLAIN, PLAIN_REWRITE, HISTORY)


def test_fall_back_leaves_a_rewrite_out_that_is_there_anyway(guard):
    decision = guard.decide(DATED, DATED_REWRITE, HISTORY, policy=policy(Release.FALL_BACK))
    assert (decision.action, decision.reason) == (Action.FALL_BACK, Reason.SKIPPED)
    assert decision.query == DATED
    failed = guard.without_rewrite(DATED, Reason.REWRITER_ERROR, HISTORY)
    assert decision.queries == failed.queries
    assert origins(decision) == ["original", "carried"]
    assert decision.assessment == guard.check(DATED, DATED_REWRITE, HISTORY)


def test_fall_back_leaves_a_set_out_too(guard):
    decision = guard.decide(DATED, [DATED_REWRITE, "permit 2023"], HISTORY, policy=policy(Release.FALL_BACK))
    assert (decision.action, origins(decision)) == (Action.FALL_BACK, ["original", "carried"])


def test_clarify_asks_for_its_class_alone(guard):
    history = [("user", "Do you have the Alpha Card and the Beta Card?"), ("assistant", "Yes, both.")]
    turn, rewrite = "How long is it valid?", "How long is the Alpha Card valid?"
    when = Predicate(dependent=True)
    plain = guard.decide(turn, rewrite, history)
    asked = guard.decide(turn, rewrite, history, policy=policy(Release.CLARIFY, when))
    assert (asked.action, asked.candidates) == (Action.CLARIFY, ("Alpha Card", "Beta Card"))
    assert plain.action is Action.FUSE


def test_strict_keeps_its_meaning(guard):
    strict = replace(Policy.strict(), classes=policy(Release.SHIP).classes)
    for rewrite in (DATED_REWRITE, LOSSY):
        decision = guard.decide(DATED, rewrite, HISTORY, policy=strict)
        good = decision.verdict is Verdict.PRESERVED
        assert decision.action is (Action.USE_REWRITE if good else Action.FALL_BACK)


@pytest.mark.parametrize(
    ("release", "action", "texts"),
    [
        (Release.FALL_BACK, Action.FALL_BACK, [DATED]),
        (Release.FUSE, Action.USE_REWRITE, [DATED_REWRITE]),
        (Release.SHIP, Action.USE_REWRITE, [DATED_REWRITE]),
    ],
)
def test_a_policy_that_searches_once_still_does(guard, release, action, texts):
    single = replace(Policy.single(), classes=policy(release).classes)
    decision = guard.decide(DATED, DATED_REWRITE, HISTORY, policy=single)
    assert (decision.action, [query.text for query in decision.queries]) == (action, texts)


@pytest.mark.parametrize(
    ("release", "proposed"),
    [(Release.FALL_BACK, Action.FALL_BACK), (Release.SHIP, Action.USE_REWRITE), (Release.FUSE, Action.FUSE)],
)
def test_shadow_mode_searches_the_rewrite_and_says_what_the_class_would_do(guard, release, proposed):
    shadow = replace(Policy.observe(), classes=policy(release).classes)
    decision = guard.decide(DATED, DATED_REWRITE, HISTORY, policy=shadow)
    assert (decision.action, decision.proposed) == (Action.USE_REWRITE, proposed)
    assert [(q.text, q.origin) for q in decision.queries] == [(DATED_REWRITE, Origin.REWRITE)]


def test_a_short_turn_of_a_class_that_falls_back_is_not_merely_spared(guard):
    turn = "permit costs 2023"
    for when, action in ((DATES, Action.FALL_BACK), (Predicate(language="de"), Action.USE_ORIGINAL)):
        off = policy(Release.FALL_BACK, when)
        decision = guard.decide(turn, "permit 2023", HISTORY, policy=off, profile=Profile.SHORTEN)
        assert decision.action is action


@pytest.mark.parametrize("release", Release)
def test_no_class_alters_a_verdict(guard, release):
    for rewrite in (DATED_REWRITE, LOSSY, DATED):
        decision = guard.decide(DATED, rewrite, HISTORY, policy=policy(release))
        assert decision.assessment == guard.check(DATED, rewrite, HISTORY)


# Whether the rewriter is asked


def ways(search, rewriter, guard, **settings):
    """The same guarded search, run synchronously and asynchronously."""
    guarded = GuardedSearch(search, rewriter, guard=guard, **settings)
    yield lambda turn: guarded.run(turn, HISTORY)
    yield lambda turn: asyncio.run(guarded.arun(turn, HISTORY))


@pytest.mark.parametrize("way", [0, 1])
def test_the_rewriter_is_not_asked_for_a_class_that_falls_back(guard, search, searched, rewriter, way):
    run = list(ways(search, rewriter, guard, policy=policy(Release.FALL_BACK)))[way]
    off = run(DATED)
    assert rewriter.calls == []
    assert (off.decision.action, off.decision.reason) == (Action.FALL_BACK, Reason.SKIPPED)
    assert (off.decision.request_class, off.decision.verdict) == ("dates", None)
    assert sorted(searched) == sorted([DATED, guard.carried(DATED, HISTORY).text])
    used = run(PLAIN)
    assert rewriter.calls == [PLAIN]
    assert used.decision.action is Action.FUSE


@pytest.mark.parametrize("way", [0, 1])
def test_in_shadow_mode_the_rewriter_is_asked(guard, search, searched, rewriter, way):
    shadow = replace(Policy.observe(), classes=policy(Release.FALL_BACK).classes)
    result = list(ways(search, rewriter, guard, policy=shadow))[way](DATED)
    assert rewriter.calls == [DATED]
    assert searched == [DATED_REWRITE]
    assert result.decision.proposed is Action.FALL_BACK


@pytest.mark.parametrize("way", [0, 1])
def test_ship_searches_once(guard, search, searched, rewriter, way):
    run = list(ways(search, rewriter, guard, policy=policy(Release.SHIP)))[way]
    assert run(DATED).items == [DATED_REWRITE.lower()]
    assert searched == [DATED_REWRITE]
    searched.clear()
    run(PLAIN)
    assert len(searched) == 3


@pytest.mark.parametrize("way", [0, 1])
def test_a_rewrite_that_does_not_ship_is_hedged(guard, search, searched, way):
    lossy = Rewriter({DATED: LOSSY})
    result = list(ways(search, lossy, guard, policy=policy(Release.SHIP)))[way](DATED)
    assert result.decision.action is Action.FALL_BACK
    assert sorted(searched) == sorted([DATED, guard.carried(DATED, HISTORY).text])


def test_a_class_wins_over_turns_that_are_spared(guard, search, rewriter):
    complete = "Which routes did not run in winter 2023?"
    both = GuardedSearch(search, rewriter, guard=guard, policy=policy(Release.FALL_BACK), rewrite_when="dependent")
    assert both.run(complete, HISTORY).decision.action is Action.FALL_BACK
    spared = GuardedSearch(search, rewriter, guard=guard, policy=policy(Release.SHIP), rewrite_when="dependent")
    decision = spared.run(complete, HISTORY).decision
    assert (decision.action, decision.reason) == (Action.USE_ORIGINAL, Reason.SKIPPED)
    assert rewriter.calls == []


class Watched(Guard):
    """Counts how often the traits of a turn are asked for; `broken` lets that fail."""

    def __init__(self, broken=False):
        super().__init__()
        self.asked = 0
        self.broken = broken

    def class_of(self, turn, history=(), *, policy):
        self.asked += 1
        if self.broken:
            raise ZeroDivisionError("guard is broken")
        return super().class_of(turn, history, policy=policy)


@pytest.mark.parametrize(("release", "asked"), [(Release.FALL_BACK, 1), (Release.FUSE, 0), (Release.CLARIFY, 0)])
def test_the_turn_is_read_first_only_where_a_class_falls_back(search, rewriter, release, asked):
    watched = Watched()
    GuardedSearch(search, rewriter, guard=watched, policy=policy(release)).run(PLAIN, HISTORY)
    assert watched.asked == asked


@pytest.mark.parametrize("release", [Release.FALL_BACK, Release.SHIP])
def test_where_the_class_cannot_be_told_the_rewriter_is_asked(search, searched, rewriter, release):
    result = GuardedSearch(search, rewriter, guard=Watched(broken=True), policy=policy(release)).run(PLAIN, HISTORY)
    assert rewriter.calls == [PLAIN]
    assert result.decision.action is Action.FUSE
    assert PLAIN in searched


def test_safe_rewrite_asks_no_rewriter_that_is_off(guard, rewriter):
    off = policy(Release.FALL_BACK)
    decisions = [
        safe_rewrite(DATED, rewriter, HISTORY, guard=guard, policy=off),
        asyncio.run(asafe_rewrite(DATED, rewriter, HISTORY, guard=guard, policy=off)),
    ]
    assert rewriter.calls == []
    assert [(each.action, each.query) for each in decisions] == [(Action.FALL_BACK, DATED)] * 2
    assert safe_rewrite(PLAIN, rewriter, HISTORY, guard=guard, policy=off).query == PLAIN_REWRITE
    assert safe_rewrite(DATED, DATED_REWRITE, HISTORY, guard=guard, policy=off).assessment is not None


# What is told


def test_the_span_names_the_class(guard, search, rewriter, monkeypatch):
    told = probe(monkeypatch)
    named = replace(policy(Release.SHIP), name="accepted")
    for turn in (DATED, PLAIN):
        GuardedSearch(search, rewriter, guard=guard, policy=named).run(turn, HISTORY)
    spans = [dict(span.attributes) for span in told.spans if span.name == "rewriteguard.retrieve"]
    assert [span.get("rewriteguard.request_class") for span in spans] == ["dates", None]
    assert {span["rewriteguard.policy"] for span in spans} == {"accepted"}
    labels = {label for attributes, _ in told.points("rewriteguard.decisions") for label in attributes.values()}
    assert not {"dates", "accepted"} & labels


def test_a_planned_fall_back_is_not_logged_as_a_finding(guard, search, rewriter, caplog):
    with caplog.at_level("INFO", logger="rewriteguard"):
        GuardedSearch(search, rewriter, guard=guard, policy=policy(Release.FALL_BACK)).run(DATED, HISTORY)
    assert caplog.records == []


def test_a_policy_with_classes_is_a_value():
    made = policy(Release.FALL_BACK, Predicate((Kind.VERSION, Kind.TIME, Kind.TIME), True, "en", 2, 9))
    assert made.classes[0].when.kinds == (Kind.TIME, Kind.VERSION)
    for twin in (pickle.loads(pickle.dumps(made)), copy.deepcopy(made), replace(made)):
        assert (twin, hash(twin)) == (made, hash(made))
    assert made != policy(Release.SHIP, made.classes[0].when)
    assert Policy(classes=list(made.classes)) == replace(made, name="default")


# The file

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30).filter(str.strip)
names = texts.filter(lambda text: text.isprintable())
weights = st.builds(Weights, *[st.floats(0, 1e6) | st.integers(0, 9)] * 2, st.floats(0.001, 9))
rows = st.fixed_dictionaries(dict.fromkeys(Verdict, weights))
predicates = st.builds(
    Predicate,
    kinds=st.lists(st.sampled_from(Kind)).map(tuple),
    dependent=st.none() | st.booleans(),
    language=st.none() | st.sampled_from(["en", "de", "cyrillic"]),
    min_words=st.integers(0, 9),
    max_words=st.none() | st.integers(9, 99),
).filter(lambda when: not when.holds_always)
classes = st.lists(st.builds(RequestClass, names, predicates, st.sampled_from(Release)), unique_by=lambda c: c.name)
policies = st.builds(
    Policy,
    name=texts,
    weights=rows,
    complete_weights=st.none() | rows,
    k=st.floats(0, 1e9) | st.integers(0, 99),
    carried=st.booleans(),
    one_search=st.booleans(),
    reject_uncertain=st.booleans(),
    shadow=st.booleans(),
    clarify=st.booleans(),
    classes=classes.map(tuple),
)


@given(policies)
def test_what_is_written_is_read_again(tmp_path_factory, made):
    path = tmp_path_factory.getbasetemp() / "policy.toml"
    path.write_text(policy_text(made, ["what it rests on", "n = 30\nn = 40"]), "utf-8")
    assert Policy.load(path) == made


@pytest.mark.parametrize("made", [Policy(), Policy.strict(), Policy.observe(), Policy.single(), Policy.hybrid()])
def test_named_policies_are_written_and_read(tmp_path, made):
    (tmp_path / "policy.toml").write_text(policy_text(made), "utf-8")
    assert Policy.load(tmp_path / "policy.toml") == made


def test_a_file_says_what_it_means(tmp_path):
    path = tmp_path / "policy.toml"
    path.write_text(
        """
        name = "mine"
        reject_uncertain = true
        [weights]
        preserved = {original = 1, rewrite = 3, carried = 0}
        uncertain = {original = 1, rewrite = 1, carried = 0}
        changed.original = 1
        changed.rewrite = 0
        changed.carried = 0.5
        [[class]]
        name = "dates"
        when = {kinds = ["time"], dependent = true, language = "en", min_words = 3, max_words = 20}
        release = "fall_back"
        [[class]]
        name = "everything else"
        release = "ship"
        """,
        "utf-8",
    )
    assert Policy.load(path) == Policy(
        name="mine",
        weights={
            Verdict.PRESERVED: Weights(1, 3, 0),
            Verdict.UNCERTAIN: Weights(1, 1, 0),
            Verdict.CHANGED: Weights(1, 0, 0.5),
        },
        reject_uncertain=True,
        classes=(
            RequestClass("dates", Predicate((Kind.TIME,), True, "en", 3, 20), Release.FALL_BACK),
            RequestClass("everything else", Predicate(), Release.SHIP),
        ),
    )


CLASS = '[[class]]\nname = "dates"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("naem = 'x'", "policy.toml: naem: unknown key; did you mean 'name'?"),
        ("zzz = 1", "policy.toml: zzz: unknown key; expected one of name, weights, complete_weights, k, "),
        ("name = 3", "policy.toml: name: expected a text, got 3"),
        ("k = -1", "policy.toml: k: expected a number of at least 0, got -1"),
        ("k = inf", "policy.toml: k: expected a number of at least 0, got inf"),
        ("k = true", "policy.toml: k: expected a number, got True"),
        ("shadow = 1", "policy.toml: shadow: expected true or false, got 1"),
        ("weights = 1", "policy.toml: weights: expected a table, got 1"),
        ("[weights]\npreservd = 1", "policy.toml: weights: preservd: unknown key; did you mean 'preserved'?"),
        ("[weights.preserved]\noriginal = 1", "policy.toml: weights: preserved: rewrite: expected a number"),
        (
            "weights.preserved = {original = 0, rewrite = 0, carried = 0}",
            "policy.toml: weights: preserved: weights: expected three numbers of at least 0, one of them above 0",
        ),
        (
            "[complete_weights]\npreserved = {original = 1, rewrite = 1, carried = 1}",
            "policy.toml: complete_weights: no row for the verdict changed, uncertain",
        ),
        ("class = 1", "policy.toml: class: expected tables, each under [[class]], got 1"),
        (CLASS, "policy.toml: class 'dates': release: expected a text, but it is missing"),
        (CLASS + "release = 'shipp'", "class 'dates': release: 'shipp' is none of ship, fuse, fall_back, clarify; did"),
        ("[[class]]\nrelease = 'ship'", "policy.toml: class 1: name: expected a text, but it is missing"),
        (CLASS + "relaese = 'ship'", "policy.toml: class 'dates': relaese: unknown key; did you mean 'release'?"),
        (CLASS + "when.kind = ['time']", "class 'dates': when: kind: unknown key; did you mean 'kinds'?"),
        (CLASS + "when.kinds = ['tine']", "when: kinds: 'tine' is none of time, entity, "),
        (CLASS + "when.kinds = 'time'", "when: kinds: expected an array of texts, got 'time'"),
        (CLASS + "when.dependent = 'yes'", "when: dependent: expected true or false, got 'yes'"),
        (
            CLASS + "when = {min_words = 4, max_words = 3}",
            "class 'dates': when: max_words: expected at least min_words",
        ),
        (
            CLASS + "release = 'ship'\n" + CLASS + "release = 'ship'",
            "policy.toml: class 'dates': expected a name of its",
        ),
        ("name = ", "policy.toml: not TOML: "),
    ],
)
def test_what_a_file_cannot_say_is_named(tmp_path, text, message):
    path = tmp_path / "policy.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(PolicyError) as error:
        Policy.load(path)
    assert message in str(error.value)


def test_a_file_that_is_no_text_or_not_there_is_named(tmp_path):
    path = tmp_path / "policy.toml"
    path.write_bytes(b"name = '\xff'")
    with pytest.raises(PolicyError, match=r"policy\.toml: not UTF-8 \(byte 8\)"):
        Policy.load(path)
    with pytest.raises(FileNotFoundError):
        Policy.load(tmp_path / "missing.toml")


KEYS = [
    *("name", "k", "carried", "weights", "complete_weights", "class", "classes", "preserved", "original", "rewrite"),
    *("when", "release", "kinds", "dependent", "language", "min_words", "[key]", "accept", "default", "minimum"),
    *("recall_margin", "floors", "ceilings", "required", "everything_else", "slice", "failed", "forbidden"),
]
VALUES = [
    *(
        "true",
        "0",
        "1",
        "-1",
        "0.5",
        "1.5",
        "1e400",
        "nan",
        "9" * 40,
        "''",
        "' '",
        "'dates'",
        "'en'",
        "'ship'",
        "'time'",
    ),
    *("2024-01-01", "12:00:00", "[]", "['ship']", "['time', 1]", "['evidence_recall']", "[[1]]", "[{}]", "{}"),
    "{original = 1, rewrite = 1, carried = 1}",
]
toml_values = st.recursive(
    st.sampled_from(VALUES),
    lambda inner: (
        st.lists(inner, max_size=2).map(lambda items: f"[{', '.join(items)}]")
        | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4).map(
            lambda table: f"{{{', '.join(f'{key!r} = {value}' for key, value in table.items())}}}"
        )
    ),
    max_leaves=6,
)


@pytest.mark.parametrize(("load", "error"), [(Policy.load, PolicyError), (Rules.load, RulesError)])
@settings(suppress_health_check=[HealthCheck.differing_executors], max_examples=150, deadline=None)
@given(table=st.dictionaries(st.sampled_from(KEYS), toml_values, max_size=5))
def test_whatever_a_file_says_it_is_read_or_named(tmp_path_factory, load, error, table):
    path = tmp_path_factory.getbasetemp() / "any.toml"
    path.write_text("".join(f"{key!r} = {value}\n" for key, value in table.items()), "utf-8")
    try:
        load(path)
    except error as fault:
        assert str(fault).startswith(f"{path}: ")  # noqa: PT017 - most files are wrong, few are right
