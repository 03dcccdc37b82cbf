"""A LangChain agent whose search tool is guarded: the queries of its model are checked before they are searched.

Run it with: python examples/02_agent.py (needs the extras `agents` and `demo`).
"""

from langchain.agents import create_agent
from langchain.tools import tool
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from rewriteguard import Decision
from rewriteguard.demo import BM25Retriever, conversation, documents
from rewriteguard.integrations.langchain import GuardMiddleware

RETRIEVER = BM25Retriever(documents())


@tool
def search(query: str) -> str:
    """Searches the documents of the help desk."""
    print(f"  searched: {query}")
    return RETRIEVER.invoke(query)[0].page_content


class RecordedModel(BaseChatModel):
    """In place of your chat model: calls the tool with a recorded query, and answers with what it found."""

    queries: dict[str, str]

    @property
    def _llm_type(self) -> str:
        return "recorded-model"

    def bind_tools(self, tools, **keywords):  # noqa: ARG002
        """The tools are known."""
        return self

    def _generate(self, messages, stop=None, run_manager=None, **keywords):  # noqa: ARG002
        last = messages[-1]
        if isinstance(last, ToolMessage):
            answer = AIMessage(last.text)
        else:
            call = {"name": "search", "args": {"query": self.queries[last.text]}, "id": str(len(messages))}
            answer = AIMessage("", tool_calls=[call])
        return ChatResult(generations=[ChatGeneration(message=answer)])


def report(decision: Decision) -> None:
    """Prints what the guard decided about one query."""
    print(f"  {decision.verdict}: {decision.action.value} ({decision.reason})")


def main() -> None:
    """Asks every question of the conversation and prints what was searched and answered."""
    turns = conversation()
    model = RecordedModel(queries={turn.user: turn.rewrite or turn.user for turn in turns})
    guard = GuardMiddleware({"search": "query"}, on_decision=report)  # the tool, and its argument that is the query
    agent = create_agent(model, [search], middleware=[guard])

    messages = []
    for turn in turns:
        print(turn.user)
        messages = agent.invoke({"messages": [*messages, HumanMessage(turn.user)]})["messages"]
        print(f"  {messages[-1].text}")


if __name__ == "__main__":
    main()
