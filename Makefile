# Everything runs from a virtual environment, made from requirements.lock by `make install`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# uv lives in a folder of its own: `uv pip sync` removes from the environment whatever the lock does not name.
UV := VIRTUAL_ENV=$(VENV) $(VENV)/uv/bin/uv
STAMP := $(VENV)/.installed
# What makes the site of the documentation; nothing else needs it.
SITE := docs/site/.venv
SITE_STAMP := $(SITE)/.installed
# Where the environment forbids files of compiled code, every process of the tests would compile all that it imports.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help install lock check format test test-all golden test-python test-browser writing pictures demo serve crash crash-store model nodes simulate fuzz storm limits mutate advisories bench bench-short docs clean

help:  ## list these targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: $(STAMP)  ## make .venv with the pinned, hashed dependencies and this project

$(STAMP): requirements.lock requirements-build.lock pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@test -x $(VENV)/uv/bin/uv || $(BIN)/python -m pip install --quiet --disable-pip-version-check --target $(VENV)/uv --require-hashes --requirement requirements-build.lock
	@$(UV) pip sync --quiet --require-hashes requirements.lock
	@$(UV) pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

lock:  ## pin the newest versions that pyproject.toml allows (hashes only, no addresses)
	@$(UV) pip compile --quiet --upgrade --universal --generate-hashes --no-emit-index-url --no-header \
	  --group build --output-file requirements-build.lock
	@$(UV) pip compile --quiet --upgrade --universal --generate-hashes --no-emit-index-url --no-header \
	  --group dev --extra testing --extra otel --extra mcp --extra postgresql pyproject.toml --output-file requirements.lock
	@$(UV) pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
	  --constraint requirements.lock docs/site/requirements.in --output-file docs/site/requirements.lock

check: install  ## lint, types, architecture
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@$(BIN)/python -m tests.architecture.prose
	$(BIN)/basedpyright
	$(BIN)/lint-imports --no-logo

format: install  ## let ruff rewrite the layout
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

test: install  ## the first tier: rules, contracts, use cases, drivers, pages, documentation
	$(BIN)/pytest -m "not slow"

test-all: install  ## the second tier: all contracts on databases, properties with more examples, short campaigns, several processes
	$(BIN)/pytest -m "slow or hypothesis" --hypothesis-profile=thorough --dist=loadfile

golden: install  ## write the golden posts anew, to be reviewed as a diff
	GOLDEN=write $(BIN)/pytest -q -k reads_like_this tests/core

test-python:  ## the first tier on another interpreter, in an environment of its own: PYTHON=python3.14
	$(MAKE) test PYTHON=$(PYTHON) VENV=.venv-$(notdir $(PYTHON))

test-browser: install  ## the dashboard in a real Chromium: each page and action; pictures in build/screens
	@$(BIN)/python -m tests.browser.chromium
	$(BIN)/pytest tests/browser -o "python_files=browser_*.py" --numprocesses=2 --dist=loadfile

writing: install  ## show how the changelog writer classifies commit messages of many styles
	@$(BIN)/python -m tests.core.changelog.styles

pictures: test-browser  ## put the pictures of the dashboard and of the public changelog that the documentation shows in their place
	for picture in docs/pictures/*.png; do cp build/screens/$${picture##*/} $$picture; done

demo: install  ## the main job, end to end, in a temporary folder: KEEP=1 or 0 (leave the server up; 1 on a terminal) REPOSITORY=path
	@$(BIN)/contentsvc demo $(if $(KEEP),$(if $(filter-out 0 no,$(KEEP)),--keep,--no-keep)) $(if $(REPOSITORY),--repository '$(REPOSITORY)')

serve: install  ## serve on 127.0.0.1:8000 with a SQLite file in this folder
	$(BIN)/contentsvc serve

crash: install  ## kill -9 the server while deliveries stream in: COUNT=50 SEED=1 ROWS=0 (there before)
	$(BIN)/python -m campaigns.crash --count $(or $(COUNT),50) --seed $(or $(SEED),1) --rows $(or $(ROWS),0)

crash-store: install  ## kill -9 a process that settles on a file, several times a second: COUNT=1000 SEED=1
	$(BIN)/python -m campaigns.crash --store --count $(or $(COUNT),1000) --seed $(or $(SEED),1)

model: install  ## the same random scripts on every store, against a plain model: COUNT=200 SEED=1
	$(BIN)/python -m campaigns.model --count $(or $(COUNT),200) --seed $(or $(SEED),1)

nodes: install  ## kill -9 nodes on one PostgreSQL, stop it, cut it off, migrate it: COUNT=30 SEED=1
	$(BIN)/python -m campaigns.nodes --count $(or $(COUNT),30) --seed $(or $(SEED),1)

simulate: install  ## nodes, a code host and faults in made-up time, then everything in order: COUNT=100000 SEED=1
	$(BIN)/python -m campaigns.simulate --count $(or $(COUNT),100000) --seed $(or $(SEED),1)

fuzz: install  ## unusual and invalid bodies and headers through verify, parse and decide: COUNT=1000000 SEED=1 REQUESTS=10000 (to /v1)
	$(BIN)/python -m campaigns.fuzz --count $(or $(COUNT),1000000) --requests $(or $(REQUESTS),10000) --seed $(or $(SEED),1)

storm: install  ## races, large bodies, slow sockets, idle senders, trailers, bursts, heads, forms (5 minutes): COUNT=1000 SEED=1 ONLY=forms
	$(BIN)/python -m campaigns.storm --count $(or $(COUNT),1000) --seed $(or $(SEED),1) $(if $(ONLY),--only $(ONLY))

limits: install  ## ask a server at 0, 59.9 and 60.1 s, and after Retry-After: what must pass passes (2 minutes)
	$(BIN)/python -m campaigns.limits

advisories: install  ## ask whether anything is publicly known against the pinned packages (needs the network)
	$(BIN)/python -m benchmarks.advisories

mutate: install  ## put 17,000 small faults into the core: the tests must notice them (some hours): COUNT=500 SEED=1 ONLY=access.window
	$(BIN)/python -m tests.mutation --count $(or $(COUNT),0) --seed $(or $(SEED),1) $(if $(ONLY),--only $(ONLY)) $(if $(JOBS),--jobs $(JOBS))

bench: install  ## measure everything, an hour on a quiet machine: BENCH=http,growth (names; BENCH=list) SEED=1 ROUNDS=27 SHORT=1
	$(BIN)/python -m benchmarks $(if $(BENCH),--rows $(BENCH)) $(if $(SEED),--seed $(SEED)) $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(filter-out 0 no,$(SHORT)),--short)

bench-short: install  ## the same in three minutes, figures in build/ alone
	$(BIN)/python -m benchmarks --short $(if $(BENCH),--rows $(BENCH)) $(if $(SEED),--seed $(SEED))

docs: install $(SITE_STAMP)  ## make the documentation's site in build/site, and check it
	$(BIN)/python -m docs.site.build

$(SITE_STAMP): docs/site/requirements.lock | $(STAMP)
	@test -x $(SITE)/bin/python || $(PYTHON) -m venv $(SITE)
	@VIRTUAL_ENV=$(SITE) $(VENV)/uv/bin/uv pip sync --quiet --require-hashes docs/site/requirements.lock
	@touch $@

clean:  ## remove what the targets made
	rm -rf .venv .venv-* $(SITE) build dist .pytest_cache .ruff_cache .hypothesis .import_linter_cache .grimp_cache
