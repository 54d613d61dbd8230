# One obvious command per chore. Everything is installed into .venv; nothing else on the machine changes.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready-$(shell cat requirements.lock pyproject.toml | cksum | cut -d' ' -f1)
PORT   ?= 6553
DOCS_READY := $(VENV)-docs/.ready

.DEFAULT_GOAL := help
.PHONY: help run test test-crash test-chaos fuzz attack soak explore simulate check fmt test-kubectl test-clients test-e2e test-browser cluster-assets test-cluster neighbour-assets neighbour test-neighbours conformance conformance-cluster bench bench-jobsets bench-start bench-start-cluster bench-answers bench-http bench-cluster picture deploy \
	docs test-docs docs-lock dist test-dist image test-helm sbom audit lock clean

help: ## List the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-19s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(READY):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Posse needs Python 3.11 or newer, $(PYTHON) is $$($(PYTHON) --version 2>&1). Try: make PYTHON=python3.12 ..."; exit 1; }
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV) || \
		{ echo "$(PYTHON) cannot make virtual environments: install the venv module of your Python (Debian: python3-venv)."; exit 1; }
	@echo "Setting up $(VENV) (once; about a minute) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@rm -f $(VENV)/.ready-*; touch $@

run: $(READY) ## Start the embedded cluster with an example gang (Ctrl-C stops it)
	@$(BIN)/posse up --port $(PORT) --example gang

# Bytecode is kept even where the shell says otherwise: else each of some hundred processes compiles Posse anew.
test: $(READY) ## Unit, property and scenario tests (HYPOTHESIS_PROFILE=ci: all examples and seeds, as CI does)
	@PYTHONDONTWRITEBYTECODE= $(BIN)/pytest -n auto --dist worksteal -m "not kubectl and not cluster and not dist and not helm and not site and not browser" $(ARGS)

test-crash: $(READY) ## Power cuts, flipped bits and 500 kills of `posse up` beside a ledger (ARGS="--kills 50"); about half an hour
	@$(BIN)/python -m tests.storage $(ARGS)

fuzz: $(READY) ## Odd input for decoding, patches, selectors, CEL, engines and a whole `posse up` (ARGS="--requests 10000 --seed 7")
	@$(BIN)/python -m tests.fuzz $(ARGS)

attack: $(READY) ## What tenants may send to a `posse up`, one by one: seconds until it is answered and others go on (ARGS="'^apply' --control-plane kubernetes")
	@$(BIN)/python -m tests.threats $(ARGS)

soak: $(READY) ## Two hours of churn: memory, file and latency stay flat (ARGS="--minutes 20")
	@$(BIN)/python -m tests.soak $(ARGS)

explore: $(READY) ## Property tests with new and many more examples (long)
	@HYPOTHESIS_PROFILE=explore $(BIN)/pytest -n auto --timeout 0 tests/properties

simulate: $(READY) ## Gangs under seeded faults, many more runs (ARGS="--runs 100000 --from 5000", "--trees" for trees of groups, or "--seed 7 --trace" to replay one)
	@$(BIN)/python -m tests.simulation $(ARGS)

check: $(READY) ## Format, lint, types, import contracts
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

fmt: $(READY) ## Format the code and mend what lint can mend
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

test-kubectl: $(READY) ## Drive the embedded cluster with stock kubectl (needs kubectl on PATH)
	@$(BIN)/pytest -m kubectl $(or $(ARGS),tests/kubectl)

test-browser: $(READY) ## Drive the page with chromium (needs chromium; SCREENSHOTS=docs/images renews the pictures)
	@command -v chromium >/dev/null || [ -n "$(CHROMIUM)" ] || \
		{ echo "make test-browser needs chromium: install it (Debian: apt install chromium), or set CHROMIUM=/path/to/it."; exit 1; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-browser.lock
	@CHROMIUM="$(CHROMIUM)" SCREENSHOTS="$(SCREENSHOTS)" $(BIN)/pytest -m browser --timeout 300 $(or $(ARGS),tests/browser)

test-clients: $(READY) ## Use the embedded cluster with Go, Python and JavaScript clients, Helm and kubectl; says what is missing
	@$(BIN)/python -m tests.clients

test-e2e: cluster-assets ## Kubernetes' own end-to-end tests that need no kubelet, on both kinds of posse up (ARGS="--modes embedded --focus Watchers"); long
	@$(BIN)/python -m tests.e2e $(ARGS)

cluster-assets: $(READY) ## Build kube-apiserver and the like for real-cluster tests (once, about 15 minutes; needs Go or KUBEBUILDER_ASSETS)
	@$(BIN)/python -m tools.cluster_assets

test-cluster: cluster-assets ## Tests on a real kube-apiserver and etcd, both on loopback (ARGS=tests/cluster/test_outages.py: only these)
	@$(BIN)/pytest -m cluster --timeout 600 $(or $(ARGS),tests/cluster)

neighbour-assets: cluster-assets ## Build the controllers of other projects that Posse is tested with (once; needs Go)
	@$(BIN)/python -m tools.neighbours.assets

neighbour: neighbour-assets ## A real control plane with another project's controller beside Posse, until Ctrl-C (NAME=kueue, jobset or lws)
	@$(BIN)/python -m tools.neighbours $(or $(NAME),kueue)

test-neighbours: neighbour-assets ## Other projects' own controllers beside Posse on a real kube-apiserver (ARGS=tests/neighbours/test_kueue.py: only these)
	@$(BIN)/pytest -m cluster --timeout 600 $(or $(ARGS),tests/neighbours)

test-chaos: cluster-assets ## Faults on a real control plane: silent and cut connections, kills, suspended leaders, partitions, wrong clocks, poisons
	@$(BIN)/pytest -m cluster --timeout 600 tests/cluster/test_silence.py tests/cluster/test_outages.py tests/cluster/test_leader_kills.py \
		tests/cluster/test_partitions.py tests/cluster/test_clock_skew.py tests/cluster/test_poisons.py tests/cluster/test_broken_reads.py

conformance: $(READY) ## Black-box scenarios of ../shared/conformance, counted by tag (ARGS=--required: only those that may not fail)
	@$(BIN)/python -m tools.conformance $(ARGS)

conformance-cluster: cluster-assets ## The same on real control planes: native groups on 1.37, custom resources on 1.33
	@$(BIN)/python -m tools.conformance --real posse $(ARGS)
	@$(BIN)/python -m tools.conformance --real posse-crd $(ARGS)

bench: $(READY) ## Measure; prints a table and writes build/bench.json
	@$(BIN)/python -m bench

bench-jobsets: $(READY) ## Time until all gangs of many JobSets run on posse up (ARGS="--jobsets 50 --open-pages 20"); about a minute
	@$(BIN)/python -m bench.jobsets $(ARGS)

bench-start: $(READY) ## Time to the first decision and memory, from 1,000 to 100,000 nodes (ARGS="--sizes 5000:50000")
	@$(BIN)/python -m bench.start $(ARGS)

bench-start-cluster: cluster-assets ## Start of Posse and of kube-scheduler on the same kube-apiserver: until the first gang is bound (ARGS="--nodes 500 --pods 5000")
	@$(BIN)/python -m bench.cluster.start $(ARGS)

bench-answers: $(READY) ## How long posse up takes to answer while 50,000 pods are decided (ARGS="--pods 5000")
	@$(BIN)/python -m bench.answer_times $(ARGS)

bench-http: cluster-assets ## The API over HTTP beside a real kube-apiserver: creates, binds, lists, watches (ARGS="--listed 10000"); some minutes
	@$(BIN)/python -m bench.http_speed $(ARGS)

bench-cluster: cluster-assets ## Race kube-scheduler on the same kube-apiserver (ARGS='--shapes "gangs of 3$$"'); about 15 minutes
	@$(BIN)/python -m bench.cluster $(ARGS)

picture: $(READY) ## Draw the pictures of README, guides and architecture again
	@$(BIN)/python -m tools.picture
	@$(BIN)/python -m tools.deadlock_picture
	@$(BIN)/python -m tools.layers_picture

deploy: $(READY) ## Write deploy/ (Kustomize, Helm) from what `posse install` prints
	@$(BIN)/python -m tools.deploy_files

dist: $(READY) ## Build sdist, wheel, bill of materials and checksums in build/dist (KEY=FILE signs them with an Ed25519 key)
	@$(BIN)/python -m tools.dist $(if $(KEY),--key $(KEY))

test-dist: $(READY) ## Build, install the wheel into an empty environment, and run it there (needs a package index)
	@$(BIN)/pytest -m dist --timeout 900 tests/dist

$(DOCS_READY): docs/requirements.lock
	@$(PYTHON) -m venv --clear $(VENV)-docs
	@$(VENV)-docs/bin/pip install --quiet --disable-pip-version-check --require-hashes -r docs/requirements.lock
	@touch $@

docs: $(READY) $(DOCS_READY) ## Build the site of the documentation in build/site; it needs no network to be read
	@mkdir -p build
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m tools.docs_site $(VENV)-docs/bin/mkdocs

test-docs: docs ## Build the site; check its links, that it needs no network, and its search (with chromium, if there)
	@$(BIN)/pytest -m site tests/site

docs-lock: ## Renew docs/requirements.lock
	@$(PYTHON) -m venv $(VENV)-lock && $(VENV)-lock/bin/pip install --quiet uv
	@echo "mkdocs-material>=9.6" | $(VENV)-lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
		--upgrade - -o docs/requirements.lock
	@rm -rf $(VENV)-lock

image: $(READY) ## Build the image with docker, podman, nerdctl or buildah (BASE=python:3.12.11-slim-bookworm@sha256:... IMAGE=NAME)
	@$(BIN)/python -m tools.image --base "$(BASE)" $(if $(IMAGE),--image $(IMAGE))

test-helm: $(READY) ## Render the chart with helm and compare it with `posse install` (needs helm on PATH)
	@command -v helm >/dev/null || { echo "helm is missing: install it, or build it: go install helm.sh/helm/v3/cmd/helm@v3.19.0"; exit 2; }
	@$(BIN)/pytest -m helm tests/helm

sbom: $(READY) ## Write the bill of materials (CycloneDX) to build/sbom.json
	@$(BIN)/python -m tools.sbom

audit: ## Ask a database of vulnerabilities about every package of requirements.lock (needs the network)
	@$(PYTHON) -m venv $(VENV)-audit && $(VENV)-audit/bin/pip install --quiet --disable-pip-version-check pip-audit
	@$(VENV)-audit/bin/pip-audit --strict --require-hashes --disable-pip --requirement requirements.lock; \
		code=$$?; rm -rf $(VENV)-audit; \
		[ $$code -eq 0 ] || echo "Not every package could be audited as sound; the lines above say which, and why." \
			"pip-audit asks https://pypi.org/pypi/NAME/VERSION/json: \"not found on PyPI\" for a package that is there means that" \
			"this address is not reached, as behind a mirror that serves packages only."; exit $$code

lock: ## Renew requirements.lock from pyproject.toml
	@$(PYTHON) -m venv $(VENV)-lock && $(VENV)-lock/bin/pip install --quiet uv
	@$(VENV)-lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --upgrade \
		--group dev pyproject.toml -o requirements.lock
	@$(VENV)-lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --upgrade \
		--group browser --constraint requirements.lock -o requirements-browser.lock
	@rm -rf $(VENV)-lock

clean: ## Remove what was built (.venv, build, caches)
	@rm -rf $(VENV) $(VENV)-docs build .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
