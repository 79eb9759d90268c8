# Two commands: `make demo` runs the main job, `make test` runs the tests; CI also runs
# `make test-rest`: whole processes on the real clock, and the proofs that each promise can fail.
# Both need Python 3.11 or newer, and make. They install into $(VENV) from the lock.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
COMPILED ?= .venv-compiled
# Many short processes would compile the same modules again and again.
unexport PYTHONDONTWRITEBYTECODE
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: demo test test-rest compiled lint bench fuzz soak conformance clean

demo: $(VENV)/installed
	@echo "== Three incidents, on a naive router and on ours"
	@$(BIN)/python docs/examples/incidents.py
	@echo "== The promises, on mock engines in virtual time"
	@$(BIN)/pytest --mock-engines features -q -n 2 --dist worksteal
	@if [ -e $(VENV)/llamacpp ]; then \
	  echo "== The same promises, where a real llama.cpp server can keep them" && \
	  $(BIN)/pytest --engine-lane llamacpp features -q -r fE; \
	else echo "== No wheel of llama.cpp here: its lane is left out"; fi

test: $(VENV)/installed lint
	@echo "== Every test in virtual time, on mock engines (make test-rest runs the others)"
	@$(BIN)/pytest --mock-engines -q -n 2 --dist worksteal -m "not realtime and not proof"
	@if [ -e $(VENV)/llamacpp ]; then \
	  echo "== The promises that a real llama.cpp server can keep" && \
	  $(BIN)/pytest --engine-lane llamacpp features -q -r fE; \
	else echo "== No wheel of llama.cpp here: its lane is left out"; fi

test-rest: $(VENV)/installed
	@echo "== The tests that start whole processes, and the proofs that each promise can fail"
	@$(BIN)/pytest --mock-engines -q -n 2 --dist worksteal -m "realtime or proof"

# From the source archive: extension modules beside the sources would be what tests import.
compiled: $(VENV)/installed
	@echo "== The router compiled, in $(COMPILED) (two minutes; needs a C compiler and Python's headers)"
	@rm -rf $(COMPILED)
	@$(PYTHON) -m venv $(COMPILED)
	@$(BIN)/hatchling build --target sdist --directory $(COMPILED)/dist
	@HATCH_BUILD_HOOK_ENABLE_MYPYC=1 $(PIP) wheel --no-deps --no-build-isolation \
	  --wheel-dir $(COMPILED)/dist $(COMPILED)/dist/*.tar.gz
	@$(COMPILED)/bin/python -m pip --disable-pip-version-check --quiet install \
	  -r requirements.lock $(COMPILED)/dist/*.whl
	@echo "== Done: $(COMPILED)/bin/staticfire"

lint: $(VENV)/installed
	@echo "== ruff, mypy"
	@$(BIN)/ruff check --quiet
	@$(BIN)/ruff format --check --quiet
	@$(BIN)/mypy --no-error-summary

bench: $(VENV)/installed
	@$(BIN)/python bench/run.py

# Bytes by chance, and a run with churn: as long as is wanted.
fuzz: $(VENV)/installed
	@$(BIN)/python bench/fuzzing.py --seconds $(or $(SECONDS),300)

soak: $(VENV)/installed
	@$(BIN)/python bench/soak.py --minutes $(or $(MINUTES),30)

# The page of what each router keeps: those that are found, one after another.
ROUTERS ?= haproxy nginx sglang-router smg vllm-router
JOBS ?= 3
conformance: $(VENV)/installed
	@mkdir -p build/conformance
	@rm -f build/conformance/*.json
	@status=0; for router in bundled $(ROUTERS); do \
	  echo "== $$router"; \
	  $(BIN)/staticfire conform --router $$router --seed 0 --jobs $(JOBS) \
	    --report build/conformance/$$router.json || status=1; \
	done; \
	$(BIN)/staticfire report conformance build/conformance/*.json -o docs/conformance.md && exit $$status

$(VENV)/installed: requirements.lock requirements-llamacpp.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Python 3.11 or newer is needed; name one: make PYTHON=python3.12"; exit 1; }
	@echo "== Installing into $(VENV) from requirements.lock (about a minute)"
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) install -r requirements.lock
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@rm -f $(VENV)/llamacpp
	@if $(PIP) install -r requirements-llamacpp.lock; then touch $(VENV)/llamacpp; \
	else echo "== llama.cpp cannot be had here; everything else works without it"; fi
	@touch $@

clean:
	rm -rf $(VENV) $(COMPILED) build dist
