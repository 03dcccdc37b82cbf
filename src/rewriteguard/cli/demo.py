"""`rewriteguard demo`: a conversation through a rewriter that makes mistakes."""

from __future__ import annotations

import importlib

from rewriteguard.cli.console import OUT, fail


def demo() -> None:
    """Runs a conversation through a rewriter that makes mistakes: unguarded, guarded and without rewriting."""
    try:
        module = importlib.import_module("rewriteguard.demo.run")
    except ModuleNotFoundError as error:
        fail(f"the demo needs {error.name}; run: pip install 'rewriteguard[demo]'")
    module.run(OUT)
