SHELL := /bin/bash
PYTHON := .venv/bin/python
JOBS := $(shell n=$$(nproc 2>/dev/null || echo 2); echo $$((n < 7 ? n + 1 : 8)))
# What was compiled of the tests is kept, and one worker more than there are cores works while another one waits for a disk.
PYTEST = env -u PYTHONDONTWRITEBYTECODE $(PYTHON) -m pytest -n $(JOBS) --dist worksteal
.DEFAULT_GOAL := help
.PHONY: help setup check conform test test-full test-all run demo bench bench-peers bench-defects chaos evals impossible smoke licences sbom architecture plots golden pictures site lock clean

help: ## Show what can be made.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: .venv/.ready ## Make .venv with everything in it; instant when nothing changed.
	@command -v bwrap >/dev/null || echo "note: bubblewrap is not installed: no sandbox, its tests are skipped (apt install bubblewrap)"

.venv/.ready: pyproject.toml uv.lock requirements.lock scripts/setup.sh
	@bash scripts/setup.sh

check: setup ## Check format, lint, types, floors and the words of the documentation.
	$(PYTHON) -m ruff format --check src tests scripts
	$(PYTHON) -m ruff check src tests scripts
	$(PYTHON) -m mypy
	.venv/bin/lint-imports --no-cache
	.venv/bin/codespell -D - -D docs/vocabulary.txt

conform: setup ## Check this repository with its own conformance engine.
	.venv/bin/agentforge conformance check

test: setup ## Run the fast tests, in minutes; ARGS="tests/cli -x" runs all tests of a place.
	$(PYTEST) $(if $(findstring tests/,$(ARGS)),,-m fast) $(ARGS)

test-full: setup ## Run what `make test` leaves out: the catalogues, chaos, all languages, every way through the program.
	$(PYTEST) -m full $(ARGS)

test-all: setup ## Run all tests, those of both tiers.
	$(PYTEST) -m "fast or full" $(ARGS)

run: setup ## Do the main job with a model on this machine, no key: REPO=... REQUEST="..." (else on a sample); YES=1, FROM=..., MODEL=...
	@$(PYTHON) scripts/main_job.py

demo: setup ## Run the demonstration: a real repository, recorded replies.
	.venv/bin/agentforge demo

bench: setup ## Measure start, step, memory, what a verdict costs, the fleet (TASKS=8) and runs that travel (RUNS=1000).
	$(PYTHON) -m bench.run
	$(PYTHON) -m bench.verifier
	$(PYTHON) -m bench.fleet --tasks $(or $(TASKS),8)
	$(PYTHON) -m bench.travel --runs $(or $(RUNS),1000)

bench-peers: setup ## Do the same work with other agents, installed by name, and print the ratios; ARGS="--quick".
	$(PYTHON) -m bench.peers $(ARGS)
	$(PYTHON) -m bench.peers_memory $(if $(findstring --quick,$(ARGS)),--turns 5)

bench-defects: setup ## Show the 25 defects of the older harness on itself, and the same stimulus on us; ARGS="--only 4,9".
	$(PYTHON) -m bench.defects $(ARGS)

chaos: setup ## Kill runs at 1,000 random moments and at every durable write; fail every write; goes on where it stopped.
	$(PYTHON) -m tests.support.kills.random_kills --points $(or $(POINTS),1000) --record build/kills.jsonl
	$(PYTHON) -m pytest -m chaos

evals: setup ## Play the project's whole task set with its scripted answers; all must be right. Minutes.
	.venv/bin/agentforge eval run own --model scripted --parallel 2 --min-right 100 $(ARGS)

impossible: setup ## Play requests that their tests contradict, by an honest and a cheating script; each must end in a question. Minutes.
	.venv/bin/agentforge eval run impossible --model scripted --model scripted:cheating --parallel 2 --min-right 100 \
		--only "*-flipped" --only "*-duplicate" --only "*-base"
	.venv/bin/agentforge eval run impossible --model scripted --parallel 2 --min-right 100 --only "*-in-words"

smoke: setup ## Build wheel and sdist, install them with each extra into clean environments, and try them.
	bash scripts/smoke.sh $(ARGS)

licences: setup ## List the licences of all dependencies in docs/licences.md.
	$(PYTHON) scripts/licences.py

sbom: setup ## Write the software bill of materials (CycloneDX) of the lock file to build/sbom.cdx.json.
	$(PYTHON) scripts/sbom.py build/sbom.cdx.json

architecture: setup ## Draw the pictures of ARCHITECTURE.md and README.md from the code (part of make golden).
	$(PYTHON) scripts/architecture.py
	$(PYTHON) scripts/overview.py

plots: setup ## Draw the plots of cost and recall from the tables of docs/live.md and docs/evals.md (part of make golden).
	$(PYTHON) scripts/plots.py

golden: setup ## Regenerate what is generated: docs/cli.md, docs/agentforge.1, docs/reference, docs/cheats.md, docs/honest.md, docs/permissions.md, the pictures drawn from the code, the plots, the contracts parsed ahead, the golden views.
	$(PYTHON) scripts/compile_contracts.py
	$(PYTHON) scripts/cli_docs.py
	$(PYTHON) scripts/man_page.py
	$(PYTHON) scripts/reference_docs.py
	$(PYTHON) scripts/permissions_docs.py
	$(PYTHON) scripts/corpus_docs.py
	$(PYTHON) scripts/architecture.py
	$(PYTHON) scripts/overview.py
	$(PYTHON) scripts/plots.py
	$(PYTHON) -m tests.golden.regenerate

pictures: setup ## Record `agentforge demo` anew as docs/pictures/demo.cast, and draw the film of it; copy the pictures of the screen.
	.venv/bin/python -m pip --version >/dev/null 2>&1 && .venv/bin/python -m pip install -q pyte || uv pip install -q --python $(PYTHON) pyte
	$(PYTHON) scripts/pictures.py

site: ## Build the documentation as a web site in build/site (zensical, in an environment of its own).
	test -x build/docs/bin/zensical || { python3 -m venv build/docs && build/docs/bin/python -m pip install -q -r docs/requirements.txt; }
	build/docs/bin/zensical build --strict

lock: ## Resolve dependencies anew (needs uv): uv.lock, requirements.lock.
	uv lock
	uv export --frozen --all-extras --no-emit-project --no-header --quiet --output-file requirements.lock

clean: ## Remove .venv and caches.
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
