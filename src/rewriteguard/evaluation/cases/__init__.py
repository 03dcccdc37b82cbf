"""The requests of an evaluation, their contracts and their files."""
