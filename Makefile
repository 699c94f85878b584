# Everything here works on a fresh clone with Python 3.11 (or newer) and make: the first call makes
# the environment in .venv, later ones find the stamp and start at once.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
BUILD := .build
DOCS := $(BUILD)/docs
UV := $(shell command -v uv 2>/dev/null)
PIP := $(if $(UV),$(UV) pip install --quiet --python $(BIN)/python,$(BIN)/python -m pip install --quiet --disable-pip-version-check)
PYTEST := $(BIN)/python -m pytest -q
# Tests that start Ray and Spark have the mark `ray`, and the machine to themselves; all others run in two processes.
WITH_RAY := tests/cluster tests/service
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
CODE := elsinore planner actors connectors cluster tests examples benchmarks loadtest deploy/site

.DEFAULT_GOAL := help
.PHONY: help demo browser test test-fast test-all check format bench loadtest lock docs sbom dist clean

help: ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(STAMP): pyproject.toml requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Elsinore needs Python 3.11 or newer; $(PYTHON) is older. Try: make PYTHON=python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(PIP) -r requirements.lock
	$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

demo: $(STAMP) ## a stream of rides, three queries over it, their plan, their rows, the gain of sharing
	@mkdir -p $(BUILD)
	$(BIN)/elsinore generate ridesharing --events 200000 --out $(BUILD)/rides.parquet
	$(BIN)/elsinore explain examples/ridesharing/workload.elsinore
	ELSINORE_ENGINE=ray $(BIN)/python examples/ridesharing/run.py $(BUILD)/rides.parquet

browser: $(STAMP) ## Chromium and Playwright, for the tests of the console; needs root on Debian and Ubuntu
	@command -v chromium || command -v chromium-browser || \
		{ $(SUDO) apt-get update && $(SUDO) apt-get install --yes --no-install-recommends chromium; }
	$(PIP) 'playwright>=1.60,<2'
	cd deploy/console && npm ci --ignore-scripts

check: $(STAMP) ## ruff and mypy
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/mypy

test: check ## check, and the quick tests
	$(PYTEST) -m "not long and not ray" -n 2 tests
	$(PYTEST) -m "not long and ray" $(WITH_RAY)

test-fast: $(STAMP) ## the quick tests that start neither Ray nor Spark, with fewer generated cases and no slow ones
	ELSINORE_TEST=fast $(PYTEST) -m "not long and not slow and not ray" -n 2 tests $(WITH_RAY:%=--ignore=%)

test-all: check ## check, and all tests
	ELSINORE_TEST=all $(PYTEST) -m "not ray" -n 2 tests
	ELSINORE_TEST=all $(PYTEST) -m ray $(WITH_RAY)

format: $(STAMP) ## let ruff fix what it can
	$(BIN)/ruff check --fix $(CODE)
	$(BIN)/ruff format $(CODE)

bench: $(STAMP) ## the benchmarks, as a table and as JSON
	$(BIN)/python -m benchmarks

loadtest: $(STAMP) ## load a service for two minutes with users that check their rows
	$(BIN)/python -m loadtest --out $(BUILD)/loadtest

COMPILE = $(BIN)/python -m uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --no-annotate --no-header
lock: $(STAMP) ## renew requirements.lock, and the locks of what runs, what builds, and the documentation
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	@{ head -n 1 requirements.lock; $(COMPILE) --extra dev --group docs pyproject.toml; } > requirements.new
	@mv requirements.new requirements.lock
	@{ head -n 1 requirements-runtime.lock; $(COMPILE) --extra cluster --constraint requirements.lock pyproject.toml; } > requirements.new
	@mv requirements.new requirements-runtime.lock
	@{ head -n 1 requirements-build.lock; $(COMPILE) --group build; } > requirements.new
	@mv requirements.new requirements-build.lock
	@{ head -n 1 requirements-docs.lock; $(COMPILE) --group docs --constraint requirements.lock; } > requirements.new
	@mv requirements.new requirements-docs.lock

$(DOCS)/.installed: requirements-docs.lock
	$(PYTHON) -m venv --clear $(DOCS)
	$(DOCS)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-docs.lock
	@touch $@

docs: $(DOCS)/.installed ## the documentation as a site: .build/site
	NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/python -m mkdocs build --quiet --strict

sbom: ## the bill of materials of requirements-runtime.lock, in CycloneDX: .build/sbom.cdx.json
	@mkdir -p $(BUILD)
	$(PYTHON) -m venv --clear $(BUILD)/tools
	$(BUILD)/tools/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-build.lock
	$(BUILD)/tools/bin/cyclonedx-py requirements requirements-runtime.lock --pyproject pyproject.toml \
		--output-reproducible --output-format JSON --output-file $(BUILD)/sbom.cdx.json

dist: $(STAMP) ## a wheel and an sdist, in dist
	$(BIN)/python -m hatchling build

clean: ## remove the environment and all build products
	rm -rf $(VENV) $(BUILD) dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
