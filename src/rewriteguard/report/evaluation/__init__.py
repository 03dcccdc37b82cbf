"""The page, the Markdown and the rows of an evaluation."""
