"""LangChain rebuilds and copies runnables: the guarded ones keep their scope, policy and vetoes through all of it."""

import copy
import pickle

import pytest
from langchain_classic.chains import create_history_aware_retriever
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import ConfigurableField, RunnableLambda

from fakes import FakeGuard
from rewriteguard.errors import InputError, ScopeError
from rewriteguard.integrations.langchain import (
    GuardedHydeRetriever,
    GuardedMultiQueryRetriever,
    GuardedRetriever,
    guard_history_aware_retriever,
)
from rewriteguard.policy.policy import Policy

KINDS = [GuardedRetriever, GuardedMultiQueryRetriever, GuardedHydeRetriever]
SHELF = [
    Document(f"Box {place} holds maps.", id=f"{tenant}-{place}", metadata={"tenant": tenant})
    for place in range(4)
    for tenant in ("north", "south")
]
TALK = {"chat_history": [("human", "Where are the maps?"), ("ai", "In the boxes of the cellar.")]}
NORTH = {"configurable": {"tenant": "north", **TALK}}


class Shelf(BaseRetriever):
    """Finds what stands on it, of one tenant or of all."""

    documents: list[Document] = SHELF

    def _get_relevant_documents(self, query, *, run_manager, tenant=None, k=8):
        return [each for each in self.documents if tenant in (None, each.metadata["tenant"])][:k]


class Careless(BaseRetriever):
    """Takes no limit."""

    def _get_relevant_documents(self, query, *, run_manager):
        return SHELF


ASKED = []


def of_tenant(config):
    tenant = config["configurable"]["tenant"]
    ASKED.append(tenant)
    return {"tenant": tenant}


def but_for_box_three(document):
    return "Box 3" not in document.page_content


def in_which(turn, history):
    return "Which box holds the maps?"


def made(kind=GuardedRetriever, **keywords):
    given = {"retriever": Shelf(), "scope": of_tenant, "admit": but_for_box_three, "k": 2, **keywords}
    return kind(rewriter=in_which, guard=FakeGuard(), **given)


def chain(**keywords):
    prompt = ChatPromptTemplate.from_template("Rephrase {input} after {chat_history}")
    model = FakeListChatModel(responses=["Which box holds the maps?"])
    own = create_history_aware_retriever(model, keywords.pop("retriever", Shelf()), prompt)
    return guard_history_aware_retriever(own, guard=FakeGuard(), **keywords).bound  # without the name of the run


def ids(documents):
    return sorted(document.id for document in documents)


def configured(guarded, **values):
    """The same runnable with the fields of `values` set through the run's config."""
    fields = {name: ConfigurableField(id=f"my_{name}") for name in values}
    return guarded.configurable_fields(**fields).with_config(
        configurable={f"my_{name}": value for name, value in values.items()}
    )


def one_of_two(guarded, which):
    field = ConfigurableField(id="which")
    return Careless().configurable_alternatives(field, guarded=guarded).with_config(configurable={"which": which})


WAYS = {
    "configurable fields, none set": lambda guarded: guarded.configurable_fields(k=ConfigurableField(id="my_k")),
    "configurable fields": lambda guarded: configured(guarded, k=8),
    "configurable fields, of LangChain": lambda guarded: configured(guarded, tags=["t"]),
    "configurable alternatives": lambda guarded: one_of_two(guarded, "guarded"),
    "configurable alternatives, own": lambda guarded: guarded.configurable_alternatives(
        ConfigurableField(id="which"), careless=Careless()
    ),
    "fields of an alternative": lambda guarded: one_of_two(configured(guarded, k=8), "guarded"),
    "with_config": lambda guarded: guarded.with_config(tags=["t"], configurable={"page": 1}),
    "with_retry": lambda guarded: guarded.with_retry(wait_exponential_jitter=False),  # tries again at once
    "model_copy": lambda guarded: guarded.model_copy(),
    "model_copy, deep": lambda guarded: guarded.model_copy(deep=True),
    "model_copy, updated": lambda guarded: guarded.model_copy(update={"k": 8}),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda guarded: pickle.loads(pickle.dumps(guarded)),
    "made of its fields": lambda guarded: type(guarded)(
        **{name: getattr(guarded, name) for name in type(guarded).model_fields}
    ),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("kind", KINDS)
async def test_scope_and_veto_hold_however_the_retriever_is_rebuilt(kind, way):
    for copied in (way(made(kind)), way(made(kind, scope=None))):
        found = copied.invoke("In which one?", NORTH)
        assert ids(found) == ids(await copied.ainvoke("In which one?", NORTH))
        assert ids(found)
        assert not [each for each in found if each.id.endswith("3")]
        tenants = {each.metadata["tenant"] for each in found}
    assert tenants == {"north", "south"}  # without a scope: it is the scope that keeps them apart
    scoped = way(made(kind, k=8))
    assert ids(scoped.invoke("In which one?", NORTH)) == ["north-0", "north-1", "north-2"]
    with pytest.raises(ScopeError):
        scoped.invoke("In which one?", {"configurable": TALK})
    with pytest.raises(ScopeError):
        await scoped.ainvoke("In which one?", {"configurable": TALK})


def test_a_configured_count_counts_and_is_checked():
    assert len(configured(made(), k=3).invoke("In which one?", NORTH)) == 3
    assert len(configured(made(), k=None).invoke("In which one?", NORTH)) == 3
    with pytest.raises(InputError, match="k: expected a whole number above 0 or None, got 0"):
        configured(made(), k=0).invoke("In which one?", NORTH)


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_the_scope_is_asked_once_a_call(way):
    copied = way(made())
    ASKED.clear()
    copied.invoke("In which one?", NORTH)
    assert ASKED == ["north"]


@pytest.mark.parametrize("kind", KINDS)
def test_policy_and_callbacks_stay_with_it(kind):
    seen = []
    guarded = made(kind, policy=Policy.observe(), on_decision=seen.append)
    guarded.invoke("In which one?", NORTH)
    configured(guarded, k=8).invoke("In which one?", NORTH)
    assert [decision.action for decision in seen] == ["use_rewrite", "use_rewrite"]


def replaced(guarded, retriever):
    guarded.retriever = retriever
    return guarded


OTHERS = {
    "assigned": replaced,
    "model_copy": lambda guarded, other: guarded.model_copy(update={"retriever": other}),
    "configurable fields": lambda guarded, other: configured(guarded, retriever=other),
}


@pytest.mark.parametrize("way", OTHERS.values(), ids=OTHERS)
@pytest.mark.parametrize("kind", KINDS)
async def test_another_retriever_is_searched_under_the_same_scope(kind, way):
    new = [Document("A new box.", id=f"{tenant}-new", metadata={"tenant": tenant}) for tenant in ("north", "south")]
    other = way(made(kind), Shelf(documents=new))
    assert ids(other.invoke("In which one?", NORTH)) == ["north-new"]
    assert ids(await other.ainvoke("In which one?", NORTH)) == ["north-new"]
    with pytest.raises(ScopeError, match="Careless"):
        way(made(kind), Careless()).invoke("In which one?", NORTH)


@pytest.mark.parametrize("way", OTHERS.values(), ids=OTHERS)
def test_a_chain_searches_another_retriever_under_the_same_scope(way):
    guarded = chain(scope=of_tenant)
    other = way(guarded, Shelf(documents=SHELF[:2]))
    payload = {"input": "In which one?", **TALK}
    assert ids(other.invoke(payload, NORTH)) == ["north-0"]
    with pytest.raises(ScopeError, match="RunnableLambda"):
        way(guarded, RunnableLambda(lambda query: SHELF)).invoke(payload, NORTH)


def test_the_settings_are_given_whole_or_made_of_keywords():
    with pytest.raises(InputError, match="settings: expected no further keywords beside it, got admit, guard, scope"):
        made(settings=made().settings)


@pytest.mark.parametrize("guarded", [made(), chain()], ids=["retriever", "chain"])
def test_what_the_application_set_is_not_shown(guarded):
    assert "scope" not in repr(guarded)
    assert "settings" not in guarded.model_dump()
