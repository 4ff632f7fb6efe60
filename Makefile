# Everything that is done by hand or in CI has a target here; `make help` lists them.
GO        ?= go
BIN       := .tmp/bin
LINT      := $(BIN)/golangci-lint
LINT_VERSION := v2.15.0
CODE      := adapters cmd conformance fakes fixtures internal recorder

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | sort | expand -t 16

.PHONY: build
build: ## build bin/turnspec
	$(GO) build -o bin/turnspec ./cmd/turnspec

.PHONY: test
test: ## run all tests that need no real runtime
	$(GO) test -race ./...

.PHONY: run
run: ## run the suite on the embedded corpus
	$(GO) run ./cmd/turnspec run

.PHONY: lint
lint: $(LINT) ## check formatting, vet and lint
	@test -z "$$(gofmt -l $(CODE))" || { echo "not formatted:"; gofmt -l $(CODE); exit 1; }
	$(GO) vet ./...
	$(LINT) run ./...

$(LINT):
	GOBIN=$(abspath $(BIN)) $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)

.PHONY: runtimes
runtimes: ## install the newest pinned version of each real runtime into .runtimes, from npm
	$(GO) run ./cmd/turnspec runtimes install

.PHONY: runtimes-all
runtimes-all: ## install every pinned version of the real runtimes
	$(GO) run ./cmd/turnspec runtimes install --all

.PHONY: live
live: ## let the adapters drive the real runtimes against the scripted model
	$(GO) run ./cmd/turnspec run --tier live
	$(GO) test -count=1 -tags live ./recorder
	$(GO) run ./cmd/turnspec schema --check codex

.PHONY: test-clients
test-clients: ## let clients that we did not write drive stand-ins and real runtimes, and compare what they see
	$(GO) test -count=1 -tags clients ./recorder/clients

.PHONY: peers
peers: ## let adapters that others maintain perform a part of the corpus, and print how they stand; their failures fail nothing
	$(GO) test -count=1 -timeout 30m -tags peers -v ./conformance/peers

.PHONY: peers-update
peers-update: ## the same, and write it into conformance/PEERS.md
	$(GO) test -count=1 -timeout 30m -tags peers -v ./conformance/peers -args -update

.PHONY: record-check
record-check: ## record every scenario anew and compare with the stored cases
	$(GO) run ./cmd/turnspec record --check

.PHONY: schema-check
schema-check: ## compare the stored schemas with what the installed runtimes say of themselves
	$(GO) run ./cmd/turnspec schema --check

.PHONY: fuzz
fuzz: ## fuzz the decoders for a minute each
	$(GO) test ./adapters/event -run '^$$' -fuzz FuzzDecode -fuzztime 60s
	$(GO) test ./adapters/codex -run '^$$' -fuzz FuzzLines -fuzztime 60s
	$(GO) test ./adapters/claude -run '^$$' -fuzz FuzzLines -fuzztime 60s

.PHONY: mutants
mutants: ## change the adapters in thousands of small ways, and list in conformance/MUTANTS.md what the suite does not see (hours; ARGS='--sample 200')
	$(GO) run ./internal/mutants --page conformance/MUTANTS.md $(ARGS)

.PHONY: clean
clean: ## remove what was built and installed here
	rm -rf bin .tmp .runtimes
