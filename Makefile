# The menu. Everything runs in a virtual environment of its own and needs no root.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c

VENV ?= .venv
BIN := $(VENV)/bin
# The first interpreter that is new enough; PYTHON=... picks another.
PYTHON ?= $(shell for candidate in python3 python3.13 python3.12 python3.11; do \
	"$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo "$$candidate" && break; done)
ARGS ?=

.PHONY: help setup setup-dev demo test test-training serve check mutate bench images doctor clean

help:  ## show this menu
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 22

setup: $(VENV)/.installed  ## virtual environment with the service

demo: setup  ## service up, real submissions scored, a table printed, service down
	@$(BIN)/sandbox-service demo $(ARGS)

serve: setup  ## service up on 127.0.0.1:8000, until Ctrl-C
	@$(BIN)/sandbox-service serve $(ARGS)

doctor: setup  ## what this machine has, what is missing and how to get it
	@$(BIN)/sandbox-service doctor

images: setup  ## sandbox images for the Docker engine
	@$(BIN)/sandbox-service images build $(ARGS)

test: setup-dev  ## every test that this machine can run; skips are named with their reason
	$(BIN)/pytest --ignore=tests/training $(ARGS)
	@$(MAKE) --no-print-directory test-training

test-training: $(VENV)/.installed-trainer  ## the trainer's tests alone; they need torch
	$(BIN)/pytest tests/training tests/unit/training $(ARGS)

check: setup-dev  ## lint, format, types, layers, unit tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -q tests/unit

bench: setup-dev  ## ratios against a bare subprocess, printed and written as JSON
	$(BIN)/python tests/benchmarks/run.py $(ARGS)

mutate: setup-dev  ## mutation testing of judge and rewards; ARGS="sandbox_service.judge.values*" for a part
	$(BIN)/python -m pip install --quiet 'mutmut>=3.8,<4'
	PYTHONPATH="$(CURDIR)/mutants" $(BIN)/mutmut run $(ARGS)
	$(BIN)/mutmut results

clean:  ## remove the virtual environment, caches and the state of `make serve`
	rm -rf $(VENV) .sandbox-service build dist .coverage .hypothesis .pytest_cache .mypy_cache \
		.ruff_cache .import_linter_cache mutants
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

setup-dev: $(VENV)/.installed-dev

$(BIN)/python:
	@if [ -z "$(PYTHON)" ]; then \
		echo "Python 3.11 or newer is needed, and no python3 on the PATH is; set PYTHON=/path/to/it." >&2; \
		exit 1; \
	fi
	@if ! $(PYTHON) -c 'import ensurepip, venv' 2>/dev/null; then \
		echo "$(PYTHON) has no venv module; on Debian and Ubuntu: apt-get install python3-venv" >&2; \
		exit 1; \
	fi
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[embedded]'
	@touch $@

$(VENV)/.installed-trainer: pyproject.toml tests/training/constraints.txt | $(VENV)/.installed-dev
	$(BIN)/python -m pip install --quiet --constraint tests/training/constraints.txt \
		--editable '.[trainer]'
	@touch $@

# It holds all that `setup` installs, so it counts as that, too.
$(VENV)/.installed-dev: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[dev,embedded,answer]'
	@touch $@ $(VENV)/.installed
