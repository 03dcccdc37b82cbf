"""Several queries of one turn, and hypothetical documents, behind LangChain's own retriever and chains."""

import re

import pytest
from langchain_classic.chains import HypotheticalDocumentEmbedder, LLMChain
from langchain_classic.retrievers import MultiQueryRetriever
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate, PromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda
from langchain_tests.integration_tests import RetrieversIntegrationTests
from pydantic import Field

from fakes import probe
from rewriteguard import Guard, Policy, Profile, ScopeError, Verdict
from rewriteguard.errors import ClarificationNeeded, InputError, UnsupportedChainError
from rewriteguard.integrations.langchain import (
    GuardedMultiQueryRetriever,
    GuardedRetriever,
    guard_hyde,
    guard_multi_query_retriever,
)
from rewriteguard.model.decision import Action

TURN = "Which workshops are not open to beginners in May 2024?"
GOOD = "workshops closed to beginners May 2024"
SAME = "Which workshops in May 2024 are not for beginners?"
WRONG = "Which workshops are not open to beginners in May 2023?"
RAW = f"Here are three versions of the question:\n\n1. {SAME}\n2. {WRONG}\n3. workshop calendar 2024\n"
DOCUMENTS = [
    Document("Workshops that are not open to beginners in May 2024: glazing, wood firing.", id="advanced-2024"),
    Document("Workshops that are not open to beginners in May 2023: raku.", id="advanced-2023"),
    Document("The workshop calendar of 2024 comes out in January.", id="calendar"),
    Document("Clay is sold at the desk.", id="clay"),
]


class Words(BaseRetriever):
    """Ranks by shared words; remembers what it was asked."""

    documents: list[Document] = DOCUMENTS
    k: int = 2
    calls: list = Field(default_factory=list)
    failing: str = "\0"

    def _get_relevant_documents(self, query, *, run_manager, k=None, house=None):
        self.calls.append(query)
        if self.failing in query:
            raise ConnectionError("index is gone")
        asked = set(re.findall(r"\w+", query.lower()))

        def score(document):
            return len(asked & set(re.findall(r"\w+", document.page_content.lower())))

        return sorted((d for d in self.documents if score(d)), key=score, reverse=True)[: k or self.k]

    async def _aget_relevant_documents(self, query, *, run_manager, k=None, house=None):
        return self._get_relevant_documents(query, run_manager=run_manager, k=k)


@pytest.fixture(scope="module")
def guard():
    return Guard()


def multi(*answers, retriever=None, **keywords):
    model = FakeListChatModel(responses=list(answers))
    return MultiQueryRetriever.from_llm(retriever=retriever or Words(calls=[]), llm=model, **keywords)


def ids(documents):
    return [document.id for document in documents]


async def test_the_turn_and_the_good_queries_are_searched_and_no_contradicting_one(guard):
    own = multi(RAW)
    assert "advanced-2023" in ids(own.invoke(TURN))
    assert "Here are three versions of the question:" in own.retriever.calls
    assert TURN not in own.retriever.calls
    seen = []
    for way in ("invoke", "ainvoke"):
        inner = Words(calls=[])
        guarded = guard_multi_query_retriever(multi(RAW, retriever=inner), guard=guard, on_decision=seen.append)
        found = guarded.invoke(TURN) if way == "invoke" else await guarded.ainvoke(TURN)
        assert ids(found)[0] == "advanced-2024"
        assert set(inner.calls) == {TURN, SAME, "workshop calendar 2024"}
    decision = seen[0]
    assert seen[1] == decision
    assert decision.verdict is Verdict.CHANGED
    assert [a.verdict for a in decision.assessment.assessments] == ["preserved", "changed", "uncertain"]
    assert [(q.text, q.weight, q.origin) for q in decision.queries] == [
        (TURN, 2, "original"),
        (SAME, 2, "rewrite"),
        ("workshop calendar 2024", 1, "rewrite"),
    ]


def test_all_that_was_found_is_returned_and_with_k_the_best(guard):
    answers = (f"{SAME}\nclay at the desk\ncalendar of workshops",)
    guarded = guard_multi_query_retriever(multi(*answers), guard=guard)
    assert set(ids(guarded.invoke(TURN))) == {"advanced-2024", "advanced-2023", "calendar", "clay"}
    best = guard_multi_query_retriever(multi(*answers), guard=guard, k=1)
    assert ids(best.invoke(TURN)) == ["advanced-2024"]
    assert len(guarded.invoke(TURN, k=2)) == 2


def test_a_variant_equal_to_the_turn_is_searched_once_with_both_weights(guard):
    inner, seen = Words(calls=[]), []
    guarded = guard_multi_query_retriever(
        multi(f"1. {TURN}\n2. {SAME}\n3. {SAME}", retriever=inner), guard=guard, on_decision=seen.append
    )
    guarded.invoke(TURN)
    assert sorted(inner.calls) == sorted([TURN, SAME])
    assert [q.weight for q in seen[0].queries] == [4, 2]


@pytest.mark.parametrize("answer", ["", "\n\n", "Here are three versions:"])
async def test_no_queries_fall_back_to_the_turn(guard, answer):
    inner, seen = Words(calls=[]), []
    made = multi(answer, retriever=inner)
    guarded = guard_multi_query_retriever(made, guard=guard, on_decision=seen.append)
    assert guarded.invoke(TURN) == await guarded.ainvoke(TURN) == Words(calls=[]).invoke(TURN)
    assert set(inner.calls) == {TURN}
    assert [d.reason for d in seen] == ["rewriter_error", "rewriter_error"]


async def test_a_model_that_fails_falls_back_to_the_turn_and_to_the_history(guard):
    def broken(_):
        raise ConnectionError("model is gone")

    inner, seen = Words(calls=[]), []
    made = MultiQueryRetriever(retriever=inner, llm_chain=RunnableLambda(broken))
    with pytest.raises(ConnectionError):
        made.invoke(TURN)
    guarded = guard_multi_query_retriever(made, guard=guard, on_decision=seen.append)
    history = [HumanMessage("What does the pottery house offer?"), AIMessage("Workshops on glazing.")]
    config = {"configurable": {"chat_history": history}}
    assert ids(guarded.invoke(TURN, config))[0] == "advanced-2024"
    assert ids(await guarded.ainvoke(TURN, config))[0] == "advanced-2024"
    assert seen[0].reason == "rewriter_error"
    assert [q.origin for q in seen[0].queries] == ["original", "carried"]


def test_one_query_whose_search_fails_leaves_the_others(guard):
    inner = Words(calls=[], failing="calendar")
    guarded = guard_multi_query_retriever(multi(RAW, retriever=inner), guard=guard)
    assert ids(guarded.invoke(TURN))[0] == "advanced-2024"


@pytest.mark.parametrize("original", [True, False])
async def test_shadow_mode_finds_what_langchain_finds(guard, original):
    seen = []
    own = multi(RAW, include_original=original)
    made = multi(RAW, include_original=original)
    guarded = guard_multi_query_retriever(made, guard=guard, policy=Policy.observe(), on_decision=seen.append)
    assert guarded.invoke(TURN) == own.invoke(TURN)
    assert await guarded.ainvoke(TURN) == await own.ainvoke(TURN)
    assert sorted(made.retriever.calls) == sorted(own.retriever.calls)
    assert (seen[0].verdict, seen[0].action, seen[0].proposed) == (Verdict.CHANGED, "use_rewrite", "fuse")
    failing = multi(RAW, retriever=Words(calls=[], failing="calendar"))
    with pytest.raises(ConnectionError):
        guard_multi_query_retriever(failing, guard=guard, policy=Policy.observe()).invoke(TURN)


def test_one_search_is_the_turn_itself(guard):
    inner, seen = Words(calls=[]), []
    made = multi(RAW, retriever=inner)
    guard_multi_query_retriever(made, guard=guard, policy=Policy.single(), on_decision=seen.append).invoke(TURN)
    assert inner.calls == [TURN]
    assert seen[0].action is Action.USE_ORIGINAL


def test_legacy_chains_and_whole_texts_are_read(guard):
    prompt = PromptTemplate.from_template("Versions of {question}")
    texts = FakeListChatModel(responses=[RAW])
    parsed = MultiQueryRetriever.from_llm(Words(calls=[]), texts).llm_chain.steps[-1]
    for chain in (LLMChain(llm=texts, prompt=prompt, output_parser=parsed), prompt | texts):
        inner = Words(calls=[])
        guarded = GuardedMultiQueryRetriever(retriever=inner, rewriter=chain, guard=guard)
        guarded.invoke(TURN)
        assert set(inner.calls) == {TURN, SAME, "workshop calendar 2024"}


def test_scope_limits_every_query_and_admit_vetoes(guard):
    inner = Words(calls=[])
    made = multi(RAW, retriever=inner)
    open_to_all = guard_multi_query_retriever(made, guard=guard, admit=lambda d: d.id != "advanced-2024")
    assert "advanced-2024" not in ids(open_to_all.invoke(TURN))
    inner.calls.clear()
    closed = guard_multi_query_retriever(made, guard=guard, scope=lambda config: None)
    with pytest.raises(ScopeError):
        closed.invoke(TURN)
    assert inner.calls == []
    limited = guard_multi_query_retriever(made, guard=guard, scope=lambda config: {"house": "north"})
    assert ids(limited.invoke(TURN))[0] == "advanced-2024"
    unknown = guard_multi_query_retriever(made, guard=guard, scope=lambda config: {"tenant": "north"})
    with pytest.raises(ScopeError, match="tenant"):
        unknown.invoke(TURN)


def test_each_query_has_its_place_on_the_spans(guard, monkeypatch):
    seen = probe(monkeypatch)
    guard_multi_query_retriever(multi(RAW), guard=guard).invoke(TURN)
    fused = seen.span("rewriteguard.fuse").attributes
    assert fused["rewriteguard.fusion.arms"] == ("original", "rewrite", "rewrite.2")
    assert fused["rewriteguard.fusion.weights"] == (2.0, 2.0, 1.0)
    assert "rewrite.2#" in " ".join(fused["rewriteguard.fusion.sources"])
    searched = [s.attributes["rewriteguard.arm"] for s in seen.spans if s.name == "rewriteguard.search"]
    assert sorted(searched) == ["original", "rewrite", "rewrite"]
    checked = seen.span("rewriteguard.check").attributes
    assert checked["rewriteguard.rewritten_query"] == f"{SAME}\n{WRONG}\nworkshop calendar 2024"
    assert (checked["rewriteguard.profile"], checked["rewriteguard.verdict"]) == ("expand", "changed")
    [(labels, _)] = seen.points("rewriteguard.decisions")
    assert (labels["action"], labels["verdict"], labels["profile"]) == ("fuse", "changed", "expand")


def test_what_is_no_multi_query_retriever_is_refused(guard):
    for other in (Words(calls=[]), multi(RAW).with_config(tags=["shop"]), "text"):
        with pytest.raises(UnsupportedChainError, match="llm_chain"):
            guard_multi_query_retriever(other, guard=guard)
    with pytest.raises(InputError, match="unknown keywords polcy"):
        guard_multi_query_retriever(multi(RAW), guard=guard, polcy=Policy())


PRINTERS = [
    HumanMessage("Do you sell the Lumo X500 and the Lumo X700?"),
    AIMessage("Yes, we sell the Lumo X500 and the Lumo X700."),
]


@pytest.mark.parametrize("history", [PRINTERS])
async def test_contradicting_rewrites_reach_the_user_as_candidates(guard, history):
    question = "How heavy is it?"
    config = {"configurable": {"chat_history": history}}
    lines = "How heavy is the Lumo X500?\nHow heavy is the Lumo X700?"
    asking = Policy(clarify=True)
    whole = multi(lines)
    by_list = GuardedRetriever(
        retriever=Words(calls=[]), rewriter=lambda turn: lines.split("\n"), guard=guard, policy=asking
    )
    by_lines = guard_multi_query_retriever(whole, guard=guard, policy=asking, profile=Profile.CONDENSE)
    for guarded in (by_list, by_lines):
        with pytest.raises(ClarificationNeeded) as sync:
            guarded.invoke(question, config)
        with pytest.raises(ClarificationNeeded) as later:
            await guarded.ainvoke(question, config)
        assert sync.value.candidates == later.value.candidates
        assert [re.findall(r"X\d+", each) for each in sync.value.candidates] == [["X500"], ["X700"]]
    agreed = GuardedRetriever(
        retriever=Words(calls=[]), rewriter=lambda turn: ["How heavy is it?"] * 2, guard=guard, policy=asking
    )
    agreed.invoke(question, config)


RICE = "How long can cooked rice stay in the fridge?"
PASSAGE = "Cooked rice can stay in the fridge for three to four days.\n\nIt should never be left out overnight."
TURNED = "Cooked rice cannot stay in the fridge."
KITCHEN = [
    Document("Cooked rice: three days in the fridge.", id="rice"),
    Document("Rice should never be left out overnight.", id="overnight"),
]


def hyde(writer, guard, inner, **keywords):
    return guard_hyde(writer, inner, guard=guard, **keywords)


async def test_the_document_is_searched_beside_the_turn(guard):
    flat = " ".join(PASSAGE.split())
    prompt = ChatPromptTemplate.from_template("Write a passage that answers {question}")
    chain = prompt | FakeListChatModel(responses=[PASSAGE]) | StrOutputParser()
    legacy = HypotheticalDocumentEmbedder.from_llm(
        FakeListChatModel(responses=[PASSAGE]), DeterministicFakeEmbedding(size=4), "web_search"
    )
    for writer in (chain, legacy, lambda turn: PASSAGE, lambda turn, history: PASSAGE):
        inner, seen = Words(calls=[], documents=KITCHEN), []
        guarded = hyde(writer, guard, inner, on_decision=seen.append)
        assert ids(guarded.invoke(RICE)) == ["rice", "overnight"]
        assert sorted(set(inner.calls)) == sorted([RICE, flat])
        assert ids(await guarded.ainvoke(RICE)) == ["rice", "overnight"]
        assert [(q.text, q.weight) for q in seen[0].queries] == [(RICE, 2), (flat, 4)]


@pytest.mark.parametrize("document", [TURNED, "", "   "])
def test_a_document_that_contradicts_or_is_empty_is_not_searched(guard, document):
    inner = Words(calls=[], documents=KITCHEN)
    assert ids(hyde(lambda turn: document, guard, inner).invoke(RICE)) == ["rice", "overnight"]
    assert inner.calls == [RICE]


def test_a_writer_that_fails_leaves_the_turn(guard):
    def broken(turn):
        raise TimeoutError("model is slow")

    inner = Words(calls=[], documents=KITCHEN)
    assert ids(hyde(broken, guard, inner).invoke(RICE)) == ["rice", "overnight"]


def test_shadow_mode_searches_the_raw_document_alone(guard):
    inner = Words(calls=[], documents=KITCHEN)
    hyde(lambda turn: PASSAGE, guard, inner, policy=Policy.observe()).invoke(RICE)
    assert inner.calls == [PASSAGE]


def test_a_bare_model_writes_no_document(guard):
    with pytest.raises(InputError, match="bare language model"):
        hyde(FakeListChatModel(responses=[""]), guard, Words(calls=[]))


class TestStandard(RetrieversIntegrationTests):
    @property
    def retriever_constructor(self):
        return GuardedMultiQueryRetriever

    @property
    def retriever_constructor_params(self):
        return {
            "retriever": Words(calls=[], k=3),
            "rewriter": lambda turn: [turn, f"{turn} in May 2024"],
            "guard": Guard(),
        }

    @property
    def retriever_query_example(self):
        return "workshops"

    @property
    def num_results_arg_name(self):
        return "k"
