# Every target sets up what it needs in .venv, once; after that it works offline.

VENV := .venv
PYTHON := $(VENV)/bin/python

# Caches stay inside the clone, and nothing is fetched from the Hub.
export HF_HOME := $(CURDIR)/$(VENV)/huggingface
export HF_HUB_OFFLINE := 1
unexport HF_DATASETS_CACHE HF_EVALUATE_CACHE HF_HUB_CACHE HF_METRICS_CACHE HF_MODULES_CACHE
export GRADIO_ANALYTICS_ENABLED := False
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo app test test-all screenshots bench vendor clean

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' $(MAKEFILE_LIST)

demo: $(VENV)/run.stamp  ## score two systems on the example receipts
	$(PYTHON) -m metrics demo

METRIC := kieval
app: $(VENV)/run.stamp  ## open the page of a metric: make app METRIC=kieval
	$(PYTHON) $(METRIC)/app.py

test: $(VENV)/test.stamp  ## check the vendored copies, the style and the tests
	$(PYTHON) -m metrics.vendor --check
	$(PYTHON) -m ruff check .
	$(PYTHON) -m pytest

test-all: $(VENV)/training.stamp $(VENV)/spark.stamp  ## the same, with the tests that need torch or Spark
	$(MAKE) test

screenshots: $(VENV)/test.stamp  ## take the pictures of the pages in docs/ (needs chromium)
	$(PYTHON) docs/take_screenshots.py

bench: $(VENV)/bench.stamp $(VENV)/spark.stamp  ## measure speed, and compare with the peers side by side
	$(PYTHON) benchmarks/run.py

vendor: $(VENV)/run.stamp  ## copy the shared source into the metric folders
	$(PYTHON) -m metrics.vendor

clean:  ## remove the environment, caches and benchmark outputs
	rm -rf $(VENV) .pytest_cache .hypothesis .ruff_cache benchmarks/output
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(PYTHON):
	@for python in python3.11 python3; do \
	  $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && exec $$python -m venv $(VENV); \
	done; \
	echo "Python 3.11 or newer is needed: install it, or put it on PATH as python3." >&2; exit 1

$(VENV)/run.stamp: requirements.txt | $(PYTHON)
	$(PYTHON) -m pip install --quiet --requirement $<
	@touch $@

$(VENV)/bench.stamp: requirements-bench.txt $(VENV)/run.stamp
	$(PYTHON) -m pip install --quiet --requirement $<
	@touch $@

$(VENV)/test.stamp: requirements-dev.txt $(VENV)/run.stamp
	$(PYTHON) -m pip install --quiet --requirement $<
	@touch $@

$(VENV)/training.stamp: requirements-training.txt $(VENV)/run.stamp
	$(PYTHON) -m pip install --quiet --requirement $<
	@touch $@

$(VENV)/spark.stamp: requirements-spark.txt $(VENV)/run.stamp
	$(PYTHON) -m pip install --quiet --requirement $<
	@touch $@
