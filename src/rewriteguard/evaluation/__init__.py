"""The offline protocol: proof, on a team's own questions, that a rewriter may be used."""
