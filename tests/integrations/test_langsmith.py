"""LangSmith's own client and tracer, with a session that keeps what would be sent: no server, no network."""

import json

import pytest
import requests
from langchain_classic.chains.history_aware_retriever import create_history_aware_retriever
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tracers import LangChainTracer
from langsmith import Client

from rewriteguard import Policy
from rewriteguard.demo import CONDENSE_PROMPT, BM25Retriever, RecordedRewriter, documents
from rewriteguard.integrations.langchain import GuardedRetriever, guard_history_aware_retriever

HISTORY = [HumanMessage("Where can I rent?"), AIMessage("At the Town Quay.")]
TURN = "Can I rent an e-bike without a credit card?"
WRONG = "Can I rent an e-bike with a credit card?"
CHANGED = {
    "rewriteguard_verdict": "changed",
    "rewriteguard_action": "fall_back",
    "rewriteguard_proposed_action": "fall_back",
    "rewriteguard_reasons": "dropped.negation",
}


class Session(requests.Session):
    """Keeps what it is asked to send."""

    def __init__(self):
        super().__init__()
        self.sent = []

    def request(self, method, url, **keywords):
        self.sent.append(json.loads(keywords["data"]) | {"method": method})
        response = requests.Response()
        response.status_code, response._content = 200, b"{}"
        return response

    def run(self, name, method="PATCH"):
        """The one run of that name without a parent, as it was when it ended."""
        (found,) = [each for each in self.sent if (each["method"], each["name"]) == (method, name) and not parent(each)]
        return found


def parent(run):
    return run.get("parent_run_id")


def metadata(run):
    return {name: value for name, value in run["extra"]["metadata"].items() if name.startswith("rewriteguard")}


@pytest.fixture
def session():
    return Session()


@pytest.fixture
def config(session):
    client = Client(api_url="http://127.0.0.1:9", api_key="none", session=session, auto_batch_tracing=False, info={})
    return {"callbacks": [LangChainTracer(client=client)], "tags": ["mine"], "metadata": {"tenant": "north"}}


def chain(guard, **keywords):
    llm = RecordedRewriter(rewrites={TURN: WRONG})
    plain = create_history_aware_retriever(llm, BM25Retriever(documents()), CONDENSE_PROMPT)
    return guard_history_aware_retriever(plain, guard=guard, **keywords)


@pytest.mark.parametrize("awaited", [False, True], ids=["sync", "async"])
async def test_the_decision_is_on_the_run_of_the_chain(guard, session, config, awaited):
    guarded, payload = chain(guard), {"input": TURN, "chat_history": HISTORY}
    _ = await guarded.ainvoke(payload, config) if awaited else guarded.invoke(payload, config)
    told = session.run("chat_retriever_chain")
    assert metadata(told) == CHANGED
    assert told["extra"]["metadata"]["tenant"] == "north"
    assert told["tags"] == ["mine", "rewriteguard:changed", "rewriteguard:fall_back"]


def test_no_other_run_gets_it(guard, session, config):
    chain(guard).invoke({"input": TURN, "chat_history": HISTORY}, config)
    others = [each for each in session.sent if parent(each)]
    assert len(others) > 6
    assert [each["name"] for each in others if metadata(each)] == []
    assert metadata(session.run("chat_retriever_chain", "POST")) == {}
    assert config["metadata"] == {"tenant": "north"}
    assert config["tags"] == ["mine"]


def test_each_call_of_a_batch_gets_its_own(guard, session, config):
    first = {"input": "Where can I rent an e-bike?", "chat_history": []}
    chain(guard).batch([first, {"input": TURN, "chat_history": HISTORY}], config)
    roots = [each for each in session.sent if each["method"] == "PATCH" and not parent(each)]
    told = {each["inputs"]["input"]: metadata(each)["rewriteguard_verdict"] for each in roots}
    assert told == {"Where can I rent an e-bike?": "none", TURN: "changed"}
    assert [each["tags"] for each in roots if each["inputs"]["input"] != TURN] == [
        ["mine", "rewriteguard:use_original"]
    ]


def test_shadow_mode_says_what_would_have_been_done(guard, session, config):
    chain(guard, policy=Policy.observe()).invoke({"input": TURN, "chat_history": HISTORY}, config)
    shadow = {"rewriteguard_action": "use_rewrite", "rewriteguard_proposed_action": "fall_back"}
    assert metadata(session.run("chat_retriever_chain")) == CHANGED | shadow


def test_the_decision_is_on_the_run_of_the_retriever(guard, session, config):
    retriever = GuardedRetriever(retriever=BM25Retriever(documents()), rewriter=lambda turn: WRONG, guard=guard)
    retriever.invoke(TURN, config | {"configurable": {"chat_history": HISTORY}})
    assert metadata(session.run("GuardedRetriever")) == CHANGED
