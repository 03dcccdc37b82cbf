"""One text, read once: what a model wrapped around it, its units, references and vocabulary."""
