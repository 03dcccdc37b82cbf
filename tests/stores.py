"""Vector stores that run in the test's own process."""

from chromadb import EphemeralClient
from chromadb.config import Settings
from langchain_chroma import Chroma


def empty_chroma(name, embeddings):
    """An empty Chroma collection; a process has one client, and it must be made with the same settings each time."""
    store = Chroma(name, embeddings, client=EphemeralClient(Settings(anonymized_telemetry=False)))
    store.reset_collection()
    return store
