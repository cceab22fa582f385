# The gates of kubewright. `make help` lists them; `.ci/run` runs lint, test and conformance.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
CARGO ?= cargo
export CARGO_TERM_COLOR ?= auto

##@ Everyday

help: ## This list.
	@awk 'BEGIN {FS = ":.*##"} /^[a-z-]+:.*##/ {printf "  %-16s %s\n", $$1, $$2} /^##@/ {printf "\n%s\n", substr($$0, 5)}' $(MAKEFILE_LIST)

build: ## The command line, in target/debug.
	$(CARGO) build --locked --bin kubewright

demo: ## Generate an operator, run it, and watch creation, repair and deletion of 25 objects.
	@tests/demo

fmt: ## Format the workspace.
	$(CARGO) fmt --all

##@ Gates

# Runs a gate; `.ci/run` sets GATE_TIMES to record the minutes.
gate = @tests/gate $@

lint: fmt-check clippy doc deny ## All checks that do not run the code.

fmt-check:
	$(gate) $(CARGO) fmt --all --check

clippy:
	$(gate) $(CARGO) clippy --locked --workspace --all-targets -- -D warnings
	@# These are not among all targets, because they need programs that Go builds.
	@$(CARGO) clippy --locked --workspace --test conformance --test helm --test plane --test runtime --test openapi --test random_rules --test random_values -- -D warnings

doc: ## The crates' documentation, without warnings.
	$(gate) env RUSTDOCFLAGS="-D warnings" $(CARGO) doc --locked --workspace --no-deps --document-private-items

deny: ## Licences, sources and advisories of all dependencies.
	$(gate) tests/deny

test: test-workspace test-golden package test-docs ## All tests that need only Rust.

# A gate has the same result each time: random seeds are for nightly.
test-workspace: export PROPTEST_RNG_SEED ?= 1
test-workspace: ## Unit, property and command-line tests.
	$(gate) $(CARGO) test --locked --workspace --no-fail-fast

test-golden: ## Each golden project compiled, linted and tested as its owner would.
	$(gate) tests/golden/check

package: ## The packages to be published, each built on its own; and what is released for Linux.
	$(gate) tests/packaging/check
	$(gate) tests/packaging/release

test-docs: ## Every command block of the README and the guide.
	$(gate) tests/docs/check

conformance: ## The generated operator from start to deletion on a real kube-apiserver; KUBERNETES=1.33 on another release.
	$(gate) tests/control-plane/conformance

# The seconds for each target.
FUZZ_SECONDS ?= 120
fuzz: ## Search for input that breaks the parsers, guided by coverage; needs nightly Rust.
	@tests/fuzz/check $(FUZZ_SECONDS)

kubernetes: ## Move the in-process API server's release: build, record, write the tables, list what fails; VERSION=1.38.0.
	@tests/control-plane/kubernetes $(VERSION)

soak: ## The generated operator under faults for MINUTES (10), chosen by SEED, on a real kube-apiserver.
	@tests/control-plane/soak

# The releases beside 1.37 that operators are tested on; tests/control-plane/versions has a Go module for each.
OTHER_KUBERNETES = 1.33 1.34 1.35 1.36
nightly: ## Long random runs: more seeds, more cases, more time.
	KUBEWRIGHT_NIGHTLY=1 SEED=$$(date +%Y%m%d) PROPTEST_CASES=20000 $(CARGO) test --locked --workspace
	. tests/peers.env && GOBIN=$(CURDIR)/target/nightly go install sigs.k8s.io/controller-tools/cmd/controller-gen@$$CONTROLLER_TOOLS
	assets=$${KUBEBUILDER_ASSETS:-$$(tests/control-plane/build)} && export CONTROLLER_GEN=$(CURDIR)/target/nightly/controller-gen && \
		SEED=$$(date +%s) KUBEBUILDER_ASSETS=$$assets CASES=20000 $(CARGO) test --locked --workspace --test recorded --test types --test random_values --test random_rules -- --ignored --skip pod_crd --test-threads=1 && \
		KUBEBUILDER_ASSETS=$$assets tests/fidelity/check 5000 && \
		KUBEBUILDER_ASSETS=$$assets tests/controller-runtime/check && \
		KUBEBUILDER_ASSETS=$$assets tests/clients/check && \
		KUBEBUILDER_ASSETS=$$assets tests/e2e/check && \
		KUBEBUILDER_ASSETS=$$assets tests/suites/check
	tests/prometheus/check
	tests/fuzz/check 600
	KUBEWRIGHT_NIGHTLY=1 tests/golden/check one patterns cluster namespaced two-groups
	KUBEWRIGHT_NIGHTLY=1 tests/control-plane/conformance
	for minor in $(OTHER_KUBERNETES); do KUBERNETES=$$minor tests/control-plane/conformance; done
	MINUTES=30 tests/control-plane/soak
	tests/docs/check --cluster

bench: ## Measure the figures of docs/reference/performance.md.
	@benches/run
	@benches/manifests
	@tests/fidelity/bench
	@$(CARGO) bench --locked --package faults --bench tenants

##@ Releases

freeze: ## Keep the templates and crates of this release, so that later ones can upgrade its projects.
	$(CARGO) test --locked --workspace --test releases -- --ignored freeze_this_release

.PHONY: help build demo fmt lint fmt-check clippy doc deny test test-workspace test-golden package test-docs conformance soak fuzz nightly bench freeze
