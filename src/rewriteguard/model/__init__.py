"""The nouns: conversation, tokens, comparison, assessment, decision. They import nothing of ours but errors."""
