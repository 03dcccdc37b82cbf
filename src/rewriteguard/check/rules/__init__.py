"""The rules by family, and the one table of what each of them says and does."""
