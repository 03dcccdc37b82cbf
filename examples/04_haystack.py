"""A Haystack pipeline with the guard between the generator that rewrites and the retriever.

Run it with: python examples/04_haystack.py (needs the extras `haystack` and `demo`).
"""

from haystack import Document, Pipeline, component
from haystack.components.retrievers import InMemoryBM25Retriever
from haystack.dataclasses import ChatMessage
from haystack.document_stores.in_memory import InMemoryDocumentStore

from rewriteguard.demo import conversation, documents
from rewriteguard.integrations.haystack import RewriteGuard


@component
class RecordedRewriter:
    """In place of a prompt and your chat generator: gives the recorded rewrite of a question."""

    def __init__(self, rewrites: dict[str, str]) -> None:
        self.rewrites = rewrites

    @component.output_types(replies=list[ChatMessage])
    def run(self, query: str, history: list[ChatMessage]) -> dict[str, list[ChatMessage]]:  # noqa: ARG002
        """One reply, as a generator gives it."""
        return {"replies": [ChatMessage.from_assistant(self.rewrites.get(query, query))]}


def main() -> None:
    """Asks every question of the conversation and prints what was searched and found."""
    turns = conversation()
    store = InMemoryDocumentStore()
    store.write_documents(
        [Document(content=each.page_content, meta={"title": each.metadata["title"]}) for each in documents()]
    )
    pipeline = Pipeline()
    pipeline.add_component("rewriter", RecordedRewriter({turn.user: turn.rewrite for turn in turns if turn.rewrite}))
    pipeline.add_component("guard", RewriteGuard())
    pipeline.add_component("retriever", InMemoryBM25Retriever(store, top_k=3))
    pipeline.connect("rewriter.replies", "guard.replies")
    pipeline.connect("guard.query", "retriever.query")

    history: list[ChatMessage] = []
    for turn in turns:
        asked = {"query": turn.user, "history": history}
        result = pipeline.run({"rewriter": asked, "guard": asked}, include_outputs_from={"guard"})
        decision = result["guard"]["decision"]
        print(f"{turn.user}\n  searched: {decision.query}")
        print(f"  {decision.verdict}: {decision.action.value} ({decision.reason})")
        print(f"  {result['retriever']['documents'][0].meta['title']}")
        history += [ChatMessage.from_user(turn.user), ChatMessage.from_assistant(turn.assistant)]


if __name__ == "__main__":
    main()
