# Two commands matter: `make run` does the main job on recorded traces, `make check` passes all checks.
# Both work on a fresh clone: they create .venv and install what they need into it, once.

PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
# The stamps carry a checksum of this folder's path: an editable install knows its folder by name,
# so in a copied checkout it would go on running the code it was copied from.
HERE := $(shell pwd | cksum | cut -d' ' -f1)
INSTALLED := $(VENV)/.installed-$(HERE)
CHECKABLE := $(VENV)/.checkable-$(HERE)
PIP := $(PY) -m pip --disable-pip-version-check
JOBS ?= 2

DEMO := build/demo

.DEFAULT_GOAL := help
.PHONY: help run check fix fuzz crash bench bench-full clean

help: ## Say what the targets do
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

run: $(INSTALLED) ## Ingest the recorded traces, score them, show what was forbidden and what failed
	@rm -rf $(DEMO) && mkdir -p $(DEMO)
	$(VENV)/bin/trajscope ingest fixtures/traces --db $(DEMO)/traces.duckdb --quiet
	$(VENV)/bin/trajscope score --db $(DEMO)/traces.duckdb \
	  --expect fixtures/expectations/demo.yaml --fail-on never
	$(VENV)/bin/trajscope query --db $(DEMO)/traces.duckdb --file fixtures/expectations/failed.sql

check: $(CHECKABLE) ## Format, lint, types, import contracts, tests
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(PY) -m mypy
	$(VENV)/bin/lint-imports --no-cache
	$(PY) -m pytest -n $(JOBS)

fix: $(CHECKABLE) ## Format the code and mend what the linter can mend
	$(PY) -m ruff format .
	$(PY) -m ruff check --fix .

fuzz: $(CHECKABLE) ## Mutate every recorded capture for ten minutes, evenly over the formats
	$(PY) -m tests.fuzz.mutate 600

crash: $(CHECKABLE) ## Kill twenty ingests at random moments, and see what the stores hold
	CRASH_RUNS=20 $(PY) -m pytest tests/unit/store/test_crash.py -q

# BENCH_SPANS adds a size: make bench BENCH_SPANS=1000000.
bench: $(CHECKABLE) ## Measure ingest, scorers and queries; write docs/benchmarks.md
	$(PY) -m tests.bench.run 20000 200000 $(BENCH_SPANS)

bench-full: $(CHECKABLE) ## The same, with a million spans
	$(PY) -m tests.bench.run 20000 200000 1000000

clean: ## Remove what was built; .venv stays
	rm -rf build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

# `python -m venv` keeps what an existing .venv holds, and mends one whose interpreter is gone.
$(PY):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "$(PYTHON) is no Python 3.11 or newer; name one: make PYTHON=python3.12 <target>" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(INSTALLED): pyproject.toml | $(PY)
	$(PIP) install --quiet --editable .
	@touch $@

# Dependency groups (PEP 735) need pip 25.1.
$(CHECKABLE): pyproject.toml | $(PY)
	$(PIP) install --quiet --upgrade 'pip>=25.1'
	$(PIP) install --quiet --editable . --group dev
	@touch $@ $(INSTALLED)
