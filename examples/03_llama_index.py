"""A LlamaIndex chat engine with the guard behind its rewriter.

Run it with: python examples/03_llama_index.py (needs the extras `llama-index` and `demo`).
"""

from typing import Any

from llama_index.core.base.llms.types import CompletionResponse, CompletionResponseGen, LLMMetadata
from llama_index.core.llms import CustomLLM
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from rewriteguard import Decision
from rewriteguard.demo import BM25Retriever, conversation, documents
from rewriteguard.integrations.llama_index import GuardedCondensePlusContextChatEngine


class DemoRetriever(BaseRetriever):
    """In place of the retriever of your index."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = BM25Retriever(documents())

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        print(f"  searched: {query_bundle.query_str}")
        found = self.inner.invoke(query_bundle.query_str)
        return [NodeWithScore(node=TextNode(text=document.page_content)) for document in found]


class RecordedModel(CustomLLM):
    """In place of your model: condenses a question into its recorded rewrite, and answers nothing."""

    rewrites: dict[str, str]

    @property
    def metadata(self) -> LLMMetadata:
        """The defaults will do."""
        return LLMMetadata()

    def complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:  # noqa: ARG002
        """The rewrite of the question that the prompt holds."""
        question = prompt.partition("Follow Up Input: ")[2].partition("\n")[0]
        return CompletionResponse(text=self.rewrites.get(question, "..."))

    def stream_complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponseGen:
        """The same in one piece."""
        yield self.complete(prompt, formatted)


def report(decision: Decision) -> None:
    """Prints what the guard decided about one rewrite."""
    print(f"  {decision.verdict}: {decision.action.value} ({decision.reason})")


def main() -> None:
    """Asks every question of the conversation and prints what was searched."""
    turns = conversation()
    engine = GuardedCondensePlusContextChatEngine.from_defaults(
        retriever=DemoRetriever(),
        llm=RecordedModel(rewrites={turn.user: turn.rewrite for turn in turns if turn.rewrite}),
        on_decision=report,  # the only line that the guard adds, with the name of the class
    )
    for turn in turns:
        print(turn.user)
        found = engine.chat(turn.user).source_nodes[0]
        print(f"  {found.text.partition('.')[0]}")


if __name__ == "__main__":
    main()
