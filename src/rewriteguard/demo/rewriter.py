"""A chat model that replays recorded rewrites, so that the demo needs no network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder

if TYPE_CHECKING:
    from langchain_core.callbacks import CallbackManagerForLLMRun

CONDENSE_PROMPT = ChatPromptTemplate.from_messages(
    [
        ("system", "Rewrite the last question so that it can be understood without the conversation."),
        MessagesPlaceholder("chat_history"),
        ("human", "{input}"),
    ]
)


class RecordedRewriter(BaseChatModel):
    """Answers a question with the rewrite that was recorded for it."""

    rewrites: dict[str, str]

    @property
    def _llm_type(self) -> str:
        return "recorded-rewriter"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,  # noqa: ARG002
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002
        **kwargs: Any,  # noqa: ARG002
    ) -> ChatResult:
        rewrite = self.rewrites[messages[-1].text]
        return ChatResult(generations=[ChatGeneration(message=AIMessage(rewrite))])
