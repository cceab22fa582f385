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

demo: ## Make an operator, run it and watch it work, from nothing to Ready.
	@tests/demo

fmt: ## Format the workspace.
	$(CARGO) fmt --all

##@ Gates

# Runs a gate; `.ci/run` asks for the minutes.
gate = @tests/gate $@

lint: fmt-check clippy doc deny ## Everything that reads the code without running it.

fmt-check:
	$(gate) $(CARGO) fmt --all --check

clippy:
	$(gate) $(CARGO) clippy --locked --workspace --all-targets -- -D warnings

doc: ## The crates' documentation, without a warning.
	$(gate) env RUSTDOCFLAGS="-D warnings" $(CARGO) doc --locked --workspace --no-deps --document-private-items

deny: ## Licences, sources and advisories of everything that is built in.
	$(gate) tests/deny

test: test-workspace test-golden package test-docs ## Everything that needs only Rust.

# A gate says the same twice: random seeds are for nightly.
test-workspace: export PROPTEST_RNG_SEED ?= 1
test-workspace: ## Unit, property and command-line tests.
	$(gate) $(CARGO) test --locked --workspace --no-fail-fast

test-golden: ## Each golden project compiled, linted and tested as its owner would.
	$(gate) tests/golden/check

package: ## What would be published, built from the packages alone.
	$(gate) tests/packaging/check

test-docs: ## Every command block of the README and the guide.
	$(gate) tests/docs/check

conformance: ## The generated operator's whole life on a real kube-apiserver.
	$(gate) tests/control-plane/conformance

# How long each target is looked for.
FUZZ_SECONDS ?= 120
fuzz: ## Input that breaks what reads others' bytes, guided by coverage; needs nightly Rust.
	@tests/fuzz/check $(FUZZ_SECONDS)

soak: ## The generated operator under faults for MINUTES (10), chosen by SEED, on a real kube-apiserver.
	@tests/control-plane/soak

nightly: ## Long random runs: more seeds, more cases, more time.
	PROPTEST_CASES=20000 $(CARGO) test --locked --workspace
	GOBIN=$(CURDIR)/target/nightly go install sigs.k8s.io/controller-tools/cmd/controller-gen@v0.21.0
	assets=$${KUBEBUILDER_ASSETS:-$$(tests/control-plane/build)} && export CONTROLLER_GEN=$(CURDIR)/target/nightly/controller-gen && \
		SEED=$$(date +%s) KUBEBUILDER_ASSETS=$$assets CASES=20000 $(CARGO) test --locked --workspace --test server --test markers --test derive --test values --test rbac -- --ignored --skip record --skip pod_crd --test-threads=1 && \
		KUBEBUILDER_ASSETS=$$assets tests/fidelity/check 5000
	tests/fuzz/check 600
	KUBEWRIGHT_NIGHTLY=1 tests/control-plane/conformance
	MINUTES=30 tests/control-plane/soak
	tests/docs/check --cluster

bench: ## The figures of docs/reference/performance.md, measured here.
	@benches/run
	@benches/manifests
	@tests/fidelity/bench
	@$(CARGO) bench --locked --package faults --bench tenants

.PHONY: help build demo fmt lint fmt-check clippy doc deny test test-workspace test-golden package test-docs conformance soak fuzz nightly bench
