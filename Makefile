# make demo    install, then tune ResNet-50 and compare it with onnxruntime
# make test    install, then lint, type-check and test
#
# Both keep to the folder .venv. MINUTES=1 make demo tunes for less time; THOROUGH=1 make test runs
# the cases that take long, too, as CI does; COVERAGE=90 make test counts lines, and fails where fewer
# than 90 % run.

PYTHON ?= python3
VENV ?= .venv
MINUTES ?= 3
WORKERS ?= 2
THOROUGH ?=
COVERAGE ?=
BIN := $(VENV)/bin
COVER := $(if $(COVERAGE),--cov=tilewright --cov-report=term:skip-covered --cov-fail-under=$(COVERAGE))

# mypy has one core, and the tests have waits: they share the time.
MAKEFLAGS += --jobs=2

.PHONY: demo test lint types layers pytest clean

demo: $(VENV)/.installed-demo
	$(BIN)/python -m benchmarks.demo --minutes $(MINUTES)

test: lint types layers pytest

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(VENV)/.installed-dev
	$(BIN)/mypy

layers: $(VENV)/.installed-dev
	$(BIN)/lint-imports

pytest: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(if $(THOROUGH),--thorough) $(COVER)

# An extra is installed anew when what it needs has changed.
$(VENV)/.installed-%: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
		-e '.[$*]' -c constraints.txt
	touch $@

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' || \
		{ echo "$(PYTHON) is not Python 3.11 to 3.14; name one: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV) || \
		{ rm -rf $(VENV); echo "on Debian: apt-get install python3-venv"; exit 1; }

clean:
	rm -rf $(VENV) demo build .coverage .mypy_cache .ruff_cache .pytest_cache .hypothesis
