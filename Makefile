# Needs Python 3.11 or newer and make; everything else goes into .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help demo test lint types unit docs clean

help: ## Shows this list.
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "%-8s %s\n", $$1, $$2 }' Makefile

demo: $(READY) ## Runs a conversation unguarded, guarded and without rewriting.
	$(BIN)/rewriteguard demo

test: lint types unit docs ## Runs every check: style, types, layers, tests, documentation.

lint: $(READY) ## Checks style, format and the import layers.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(READY) ## Checks the types.
	$(BIN)/mypy

unit: $(READY) ## Runs the tests.
	$(BIN)/pytest

docs: $(READY) ## Builds the documentation into site/.
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

clean: ## Removes the environment and everything that was built.
	rm -rf $(VENV) site build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

# pip, so that the machine's own pip configuration (index, proxy, wheels) is used.
$(READY): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -qq --disable-pip-version-check --editable '.[dev]'
	touch $@
