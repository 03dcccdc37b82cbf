"""A LangChain history-aware retriever, guarded: the conversation of `rewriteguard demo` in a few lines.

Run it with: python examples/01_guarded_chain.py (needs the extra `demo`).
"""

from langchain_classic.chains.history_aware_retriever import create_history_aware_retriever
from langchain_core.messages import AIMessage, HumanMessage

from rewriteguard import Decision
from rewriteguard.demo import CONDENSE_PROMPT, BM25Retriever, RecordedRewriter, conversation, documents
from rewriteguard.integrations.langchain import guard_history_aware_retriever


def report(decision: Decision) -> None:
    """Prints what the guard decided about one turn."""
    verdict = decision.verdict.value if decision.verdict else "not rewritten"
    print(f"  {verdict}: {decision.action.value} ({decision.reason})")


def main() -> None:
    """Asks every question of the conversation and prints the first document found."""
    turns = conversation()
    rewriter = RecordedRewriter(rewrites={turn.user: turn.rewrite for turn in turns if turn.rewrite is not None})
    chain = create_history_aware_retriever(rewriter, BM25Retriever(documents()), CONDENSE_PROMPT)
    guarded = guard_history_aware_retriever(chain, on_decision=report)  # the only line that the guard adds

    history: list[HumanMessage | AIMessage] = []
    for turn in turns:
        print(turn.user)
        found = guarded.invoke({"input": turn.user, "chat_history": history})
        print(f"  {found[0].metadata['title']}")
        history += [HumanMessage(turn.user), AIMessage(turn.assistant)]


if __name__ == "__main__":
    main()
