"""rewriteguard: a guard between the model that rewrites a user's question and the retriever that searches with it."""
