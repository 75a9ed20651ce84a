# `make demo` and `make test` do all their own set-up: they need Python 3.11 or newer, and make.
# Another interpreter:  make test PYTHON=python3.12

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= python3
# Each worker keeps to its half of the files while it can: what they share is made once.
PYTEST_ARGS ?= -n 2 --dist worksteal
VENV := .venv
LOWEST := .venv-lowest
BIN := $(VENV)/bin
PIP_INSTALL := python -m pip install --quiet --disable-pip-version-check --no-compile
CHECK_PYTHON = $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	{ echo "$(PYTHON) is older than Python 3.11: try  make PYTHON=python3.11"; exit 1; }

# Without bytecode on the disk every process compiles all it imports: seconds, a hundred times.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help
help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 20

$(VENV)/created:
	@$(CHECK_PYTHON)
	$(PYTHON) -m venv $(VENV)
	@touch $@

# What the demo needs, and what development needs, in one environment: the second contains the first.
$(VENV)/installed-demo: pyproject.toml | $(VENV)/created
	$(BIN)/$(PIP_INSTALL) -e '.[plot]'
	@touch $@

$(VENV)/installed-dev: pyproject.toml | $(VENV)/created
	$(BIN)/$(PIP_INSTALL) -e '.[dev]'
	@touch $(VENV)/installed-demo $@

$(VENV)/installed-bench: pyproject.toml | $(VENV)/created
	$(BIN)/$(PIP_INSTALL) -e '.[dev,bench]'
	@touch $(VENV)/installed-demo $(VENV)/installed-dev $@

$(VENV)/installed-docs: pyproject.toml | $(VENV)/created
	$(BIN)/$(PIP_INSTALL) -e '.[docs]'
	@touch $(VENV)/installed-demo $@

.PHONY: venv
venv: $(VENV)/installed-dev ## create .venv with everything for development

.PHONY: demo
demo: $(VENV)/installed-demo ## cluster a hard data set, print a table, write build/demo.png
	@mkdir -p build
	$(BIN)/icvi-artmap demo --output build/demo.png

.PHONY: test
test: lint ## all checks and the whole test suite
	$(BIN)/python -m pytest $(PYTEST_ARGS)

.PHONY: test-nojit
test-nojit: $(VENV)/installed-dev ## the tests marked nojit, as plain Python
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest $(PYTEST_ARGS) -m nojit tests

# The name of a CPU build: a plain torch would bring gigabytes for graphics cards on some systems.
TORCH ?= torch==2.13.0+cpu
INSTALL_TORCH = $(BIN)/python -c 'import torch' 2>/dev/null || $(BIN)/$(PIP_INSTALL) '$(TORCH)'

.PHONY: test-deep
test-deep: $(VENV)/installed-dev ## the tests that need PyTorch, if a CPU build of it can be installed
	@$(INSTALL_TORCH) || \
		echo "$(TORCH) could not be installed: the tests that need it are skipped"
	$(BIN)/python -m pytest $(PYTEST_ARGS) tests/test_deep.py tests/test_deep_commands.py \
		tests/test_examples.py::test_deep_digits

# An environment of its own: the versions there are the oldest that the package promises to work
# with, and some have no wheels for the newest Python.
$(LOWEST)/installed: pyproject.toml tests/helpers/lowest_versions.py
	@$(CHECK_PYTHON)
	$(PYTHON) -m venv --clear $(LOWEST)
	$(PYTHON) tests/helpers/lowest_versions.py > $(LOWEST)/requirements.txt
	$(LOWEST)/bin/$(PIP_INSTALL) -r $(LOWEST)/requirements.txt -e .
	@touch $@

.PHONY: test-lowest
test-lowest: $(LOWEST)/installed ## the suite with the lowest versions that pyproject.toml allows
	$(LOWEST)/bin/python -m pytest $(PYTEST_ARGS)

.PHONY: lint
lint: $(VENV)/installed-dev ## style, types and the order of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

FUZZ_ARGS ?=

.PHONY: fuzz
fuzz: $(VENV)/installed-dev ## hostile input of all kinds for some minutes; FUZZ_ARGS='fits --seed 7 --count 1'
	$(BIN)/python -m fuzz $(FUZZ_ARGS)

.PHONY: bench
bench: $(VENV)/installed-bench ## all benchmarks; writes docs/benchmarks.md
	$(BIN)/python -m benchmarks

.PHONY: bench-quick
bench-quick: $(VENV)/installed-bench ## the benchmarks at smaller sizes, under 5 minutes
	$(BIN)/python -m benchmarks --quick

.PHONY: quality
quality: $(VENV)/installed-bench ## quality of the partitions, against peers; writes docs/quality.md
	$(BIN)/python -m benchmarks.quality

DATA ?= ../shared/data

.PHONY: reproduce
reproduce: $(VENV)/installed-bench ## the paper's tables and figures from DATA=folder; writes docs/reproduction.md
	$(BIN)/icvi-artmap reproduce --data $(DATA) --output build/reproduction
	cp build/reproduction/reproduction.md docs/
	cp build/reproduction/images/*.png docs/images/

REAL_ARGS ?=

.PHONY: reproduce-real
reproduce-real: $(VENV)/installed-bench ## the paper's real data in trained latents, hours; writes docs/deep_tables.md
	@$(INSTALL_TORCH)
	$(BIN)/icvi-artmap reproduce --real $(REAL_ARGS) --data $(DATA) --output build/deep
	cp build/deep/reproduction.md docs/deep_tables.md
	cp build/deep/images/reproduction-curves.png docs/images/

# What is generated goes first: an example is drawn anew only if it has changed itself, not if the
# package has.
DOCS_ARGS ?=

.PHONY: docs
docs: $(VENV)/installed-docs ## the documentation as web pages: build/docs/index.html
	rm -rf docs/api docs/gallery build/docs
	$(BIN)/python -m sphinx -W --keep-going -q -d build/doctrees $(DOCS_ARGS) docs build/docs
	@echo build/docs/index.html

.PHONY: pictures
pictures: docs ## the pictures that pages of the documentation show, in docs/images
	$(BIN)/python examples/pictures.py docs/images/pictures
	$(BIN)/python examples/front.py docs/images/front.png
	cp docs/gallery/images/sphx_glr_plot_any_shape_001.png docs/images/shapes.png

.PHONY: clean
clean: ## remove everything that make has made
	rm -rf $(VENV) $(LOWEST) build dist docs/api docs/gallery
	rm -rf .pytest_cache .ruff_cache .mypy_cache .import_linter_cache .hypothesis
	find src tests examples docs fuzz -name __pycache__ -type d -prune -exec rm -rf {} +
