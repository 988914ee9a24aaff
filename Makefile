# make demo        install into .venv and look around on the embedded data
# make test        everything a change must pass: lint, types, imports, limits, docs, tests
# make test-slow   fuzzing, large files, full products, kernels with sanitizers
# make docs-output  run the examples of the documentation and write their output into the pages
# make lint | docs | bench | wheel | clean
#
# PYTHON chooses the interpreter (3.11 or newer), VENV the environment, CXX the compiler:
#   make test PYTHON=python3.13 VENV=.venv-3.13
#   make test CXX=/nonexistent          (no compiler: the reference twins of the kernels run)

PYTHON ?= python3
VENV ?= .venv
BENCH_ARGS ?=
PYTEST_ARGS ?=
REST := tests/cli tests/estimators tests/explain tests/features tests/gallery tests/kernels tests/real tests/store tests/test_docs.py

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help demo test test-slow pytest pytest-most pytest-rest slow-products slow-rest lint format types imports limits sanitize docs docs-output bench wheel native clean distclean FORCE
MAKEFLAGS += --no-builtin-rules
# Tests start many processes of their own: compiled modules are kept, also where the environment asks for none.
unexport PYTHONDONTWRITEBYTECODE
SYNC := $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)

BIN := $(VENV)/bin
PY := $(BIN)/python
PIP := $(PY) -m pip --disable-pip-version-check
BUILD := build/$(notdir $(VENV))
NATIVE := CMakeLists.txt src/linnaeus/kernels/native $(wildcard src/linnaeus/kernels/native/*) \
  src/linnaeus/kernels/reference/characters.py

# The compiler CMake would take: the one that was asked for, else the first that is there.
ifeq ($(origin CXX),default)
COMPILER := $(shell command -v c++ || command -v g++ || command -v clang++)
else
COMPILER := $(shell command -v $(CXX))
endif

help:
	@sed -n 's/^# \{0,1\}//p;/^$$/q' Makefile

# --- The environment, in stamps: each is made again when what it depends on changed. ---

$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Linnaeus needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1). Name another: make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet --upgrade "pip>=25.1"
	@touch $@

# Changes only when another compiler is chosen, so that the package is built again.
$(VENV)/.compiler: FORCE | $(VENV)/.created
	@echo '$(COMPILER)' | cmp -s - $@ || echo '$(COMPILER)' > $@

$(VENV)/.package: pyproject.toml $(NATIVE) $(VENV)/.compiler | $(VENV)/.created
	$(PIP) install --quiet --group build
	$(PIP) install --quiet --no-build-isolation --editable .
	@$(PY) -W ignore tools/say_kernels.py
	@touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/.package
	$(PIP) install --quiet --group lint --group test --group docs
	-$(PIP) install --quiet --group neural && $(PIP) install --quiet --group transformers
	@touch $@

# --- What people ask for ---

demo: $(VENV)/.package
	@$(BIN)/linnaeus demo

# The tests are cut in two, so that two cores have work to the end. Threads of linear algebra would wait for each other
# on these cores; `make test-slow` runs with them.
pytest pytest-most pytest-rest sanitize: export OPENBLAS_NUM_THREADS := 1
test: $(VENV)/.package $(VENV)/.dev
	@$(MAKE) --no-print-directory native
	@$(PY) tools/check_tree.py remember $(BUILD)/tree.txt
	@$(MAKE) --no-print-directory -j2 -k $(SYNC) pytest-most pytest-rest lint docs
	@$(PY) tools/check_tree.py compare $(BUILD)/tree.txt

# Cut in two as well: the product of losses, regularizers, optimizers and output spaces is about half of the time.
test-slow: $(VENV)/.package $(VENV)/.dev
	@$(MAKE) --no-print-directory -j2 -k $(SYNC) slow-rest slow-products sanitize

slow-products slow-rest: export HYPOTHESIS_PROFILE := slow
slow-products: $(VENV)/.package $(VENV)/.dev
	+$(PY) -m pytest -m slow tests/contracts $(PYTEST_ARGS) || (($$? == 5))

slow-rest: $(VENV)/.package $(VENV)/.dev
	$(PY) -m pytest -m slow --ignore=tests/contracts $(PYTEST_ARGS) || (($$? == 5))

# With +, so that its lines are seen as they come, also beside other work.
pytest: $(VENV)/.package $(VENV)/.dev
	+$(PY) -m pytest -m "not slow" $(PYTEST_ARGS)

pytest-most: $(VENV)/.package $(VENV)/.dev
	+$(PY) -m pytest -m "not slow" $(REST:%=--ignore=%) $(PYTEST_ARGS)

# Exit code 5 says that PYTEST_ARGS chose none of these.
pytest-rest: $(VENV)/.package $(VENV)/.dev
	$(PY) -m pytest -m "not slow" $(REST) $(PYTEST_ARGS) || (($$? == 5))

lint: $(VENV)/.package $(VENV)/.dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/clang-format --dry-run --Werror $(wildcard src/linnaeus/kernels/native/*.[ch]pp)
	$(BIN)/mypy
	$(BIN)/mypy --strict --explicit-package-bases tools tests/typed
	$(BIN)/lint-imports --no-logo
	$(PY) tools/check_limits.py

format: $(VENV)/.dev
	$(BIN)/ruff check --fix
	$(BIN)/ruff format
	$(BIN)/clang-format -i $(wildcard src/linnaeus/kernels/native/*.[ch]pp)

# Not --quiet: it hides the warnings from --strict as well, and a dead link would pass.
docs: $(VENV)/.package $(VENV)/.dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --site-dir site

# Draws the pictures of the README, writes the table of tasks, runs the examples of every page and writes their output.
docs-output: $(VENV)/.package $(VENV)/.dev
	$(PY) tools/draw_readme.py
	$(PY) tools/task_table.py
	$(PY) tools/write_docs.py

# Peers that cannot be installed here are named and skipped by the benchmarks.
bench: $(VENV)/.package $(VENV)/.dev
	-$(PIP) install --quiet --group bench
	-$(PIP) install --quiet --group race
	-$(PIP) install --quiet --group neighbors
	$(PY) benchmarks/features.py $(BENCH_ARGS)
	$(PY) benchmarks/startup.py
	$(PY) benchmarks/solvers.py --quick
	$(PY) benchmarks/threads.py --quick
	$(PY) benchmarks/online.py
	$(PY) benchmarks/costs.py
	$(PY) benchmarks/neighbors.py
	$(PY) benchmarks/ranking.py
	$(PY) benchmarks/latency.py
	$(PY) benchmarks/cold.py
	$(PY) benchmarks/throughput.py

# A machine with a compiler tests the compiled kernels, and never their twins by mistake.
native: $(VENV)/.package
	@$(if $(COMPILER),$(PY) -W ignore tools/say_kernels.py --require)

sanitize: $(VENV)/.package $(VENV)/.dev
	@PY=$(PY) FOLDER=$(BUILD)/sanitize COMPILER='$(COMPILER)' tools/sanitize.sh

wheel: $(VENV)/.package
	$(PIP) install --quiet --group wheel
	@PY=$(PY) FOLDER=$(BUILD)/wheel tools/test_wheel.sh

clean:
	rm -rf build dist site wheelhouse .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find src tests tools benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean
	rm -rf $(VENV)
