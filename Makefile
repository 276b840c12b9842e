# Two commands are all a newcomer needs: `make report` and `make lab`.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

# Folders of tests, two more at once than there are processors, as plays mostly wait for their servers: those with servers first, the
# longest first. A server that waits for a processor misses its deadlines, so the other folders make way.
SERVERS := scans rehearsal incidents browser notebooks leaders schedules differential collect
LONG    := formats questions degraded unreadable
OTHERS  := $(LONG) $(filter-out $(SERVERS) $(LONG),$(shell find tests -mindepth 2 -name 'test_*.py' | cut -d/ -f2 | sort -u))
# Pages of runs that tests of notebooks make: they are looked at where they are made, else each notebook would run twice.
REPORTS := tests/browser/test_axe.py tests/browser/test_report.py
MORE_notebooks := $(REPORTS)
MORE_browser   := $(REPORTS:%=--ignore=%)
# What needs its moment runs when no other server does, two plays at once; folders without servers take what it leaves of the processors.
ALONE   := incidents rehearsal
# The releases that tests start most of their servers of.
OFTEN   := 0.9.0.1 2.8.2 3.9.2
FAILED  := build/failed

.PHONY: install report trends lab test test-top ready-spark ready-servers quick explore bench bench-quick docs screenshots lint clean

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

# So is the morning after.
trends: $(READY)
	@$(BIN)/casebook run scheduled_report --source sample:overnight || test $$? -eq 2

lab: $(READY)
	@$(BIN)/casebook lab

test: $(READY)
	@$(MAKE) --no-print-directory --jobs=2 ready-spark ready-servers
	@rm -f $(FAILED)
	@$(MAKE) --no-print-directory --jobs=$(shell expr $$(nproc) + 2) --output-sync $(SERVERS:%=part-%) part-top $(ALONE:%=part-alone-%) $(OTHERS:%=part-%)
	@test ! -e $(FAILED) || { echo "Failed:"; sed 's/^/    make test-/' $(FAILED); exit 1; }

# One that fails keeps no other from being run, nor those that wait for it.
part-%: $(READY)
	@$(MAKE) --no-print-directory test-$* || { mkdir -p $(dir $(FAILED)) && echo $* >> $(FAILED); }

$(ALONE:%=part-alone-%): | $(SERVERS:%=part-%) part-top

# What many tests would do each for itself, or wait for each other to do: fetch, compile, archive classes.
ready-spark: $(READY)
	@$(BIN)/casebook prepare

ready-servers: $(READY)
	@$(BIN)/python -m casebook.rehearsal.servers.archiving $(OFTEN)

test-alone-%: $(READY)
	@$(BIN)/python -m pytest -m alone tests/$*

test-top: $(READY)
	@$(BIN)/python -m pytest -m "not alone" tests/test_*.py

# A folder of tests, or those of one question: make test-scans, make test-timeline.
test-%: $(READY)
	@$(if $(filter $*,$(SERVERS)),,nice -n 10) $(BIN)/python -m pytest -m "not alone" $(wildcard tests/$* tests/questions/$*) $(MORE_$*)

# Tests that start no process and no server, in less than a minute.
quick: $(READY)
	@$(BIN)/python -m tests.quick

# Property tests on examples drawn anew, for as long as EXPLORE says; SEED=n draws those of a former time again.
explore: $(READY)
	@$(BIN)/python -m tests.explore $(or $(EXPLORE),10m) $(SEED)

bench: $(READY)
	@$(BIN)/python -m tests.bench

# A tenth of it, one round of each: whether all of them run, and roughly what they print.
bench-quick: $(READY)
	@BENCH_QUICK=1 $(BIN)/python -m tests.bench

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
