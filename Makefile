# Two commands are all a newcomer needs: `make report` and `make lab`.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

# Folders of tests, the longest first: two more at once than there are processors, as plays mostly wait for their servers.
# Folders without servers make way for those with: a server that waits for a processor misses its deadlines. The longest does not,
# as all wait for it in the end.
LONGEST := scans incidents rehearsal browser leaders notebooks schedules differential
URGENT  := scans incidents rehearsal schedules differential browser leaders collect notebooks
# What needs its moment runs behind the others, two plays at once.
ALONE   := incidents rehearsal
FOLDERS := $(LONGEST) $(filter-out $(LONGEST),$(shell find tests -mindepth 2 -name 'test_*.py' | cut -d/ -f2 | sort -u))

.PHONY: install report lab test test-together test-alone test-top explore bench docs screenshots lint clean

install: $(READY)
	@echo "Installed. Next: make report, make lab, or $(BIN)/casebook doctor"
	@echo "For casebook by its name alone, in this terminal: source $(BIN)/activate"

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed; set PYTHON=python3.x")'
	@echo "Installing into $(VENV) (about two minutes the first time) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -e .
	@touch $@

# The shipped incident is critical, so exit code 2 is the answer that is wanted here.
report: $(READY)
	@$(BIN)/casebook run partition_leadership --source sample:leader_minus_one || test $$? -eq 2

# Jupyter refuses to run as root, as in a container, unless told that it is meant; lib/jupyter keeps it from asking the outside.
lab: $(READY)
	@JUPYTER_CONFIG_PATH="$(CURDIR)/lib/jupyter:$$JUPYTER_CONFIG_PATH" $(BIN)/jupyter lab $(if $(filter 0,$(shell id -u)),--allow-root) --ServerApp.root_dir=. --LabApp.default_url=/lab/tree/notebooks/00_start_here.ipynb

test: $(READY)
	@$(BIN)/casebook prepare
	@$(MAKE) --no-print-directory --keep-going --jobs=1 test-together test-alone

test-together: $(READY)
	@$(MAKE) --no-print-directory --keep-going --jobs=$(shell expr $$(nproc) + 2) --output-sync $(FOLDERS:%=test-%) test-top

test-alone: $(READY)
	@$(MAKE) --no-print-directory --keep-going --jobs=$(words $(ALONE)) --output-sync $(ALONE:%=alone-%)

alone-%: $(READY)
	@$(BIN)/python -m pytest -m alone tests/$*

test-top: $(READY)
	@$(BIN)/python -m pytest -m "not alone" tests/test_*.py

# A folder of tests, or those of one question: make test-scans, make test-timeline.
test-%: $(READY)
	@$(if $(filter $*,$(URGENT)),,nice -n 5) $(BIN)/python -m pytest -m "not alone" $(wildcard tests/$* tests/questions/$*)

# Property tests on examples drawn anew, for as long as EXPLORE says; SEED=n draws those of a former time again.
explore: $(READY)
	@$(BIN)/python -m tests.explore $(or $(EXPLORE),10m) $(SEED)

bench: $(READY)
	@$(BIN)/python -m tests.bench

# What the documentation takes from the code: lists of notebooks, tables, rules.
docs: $(READY)
	@$(BIN)/python -m tests.made_docs

# The pictures of the README, taken of real pages.
screenshots: $(READY)
	@$(BIN)/python -m tests.screenshots

lint: $(READY)
	@$(BIN)/ruff check lib tests notebooks
	@$(BIN)/ruff format --check lib tests
	@$(BIN)/lint-imports
	@$(BIN)/nbstripout --verify notebooks/*.ipynb

clean:
	rm -rf $(VENV) build
