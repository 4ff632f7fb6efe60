# Targets for everything that people and CI run; `make help` lists them.
GO        ?= go
BIN       := .tmp/bin
LINT      := $(BIN)/golangci-lint
LINT_VERSION := v2.15.0
NFPM      := $(BIN)/nfpm
NFPM_VERSION := v2.43.1
CODE      := adapters cmd conformance fakes fixtures recorder

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | sort | expand -t 16

.PHONY: build
build: ## build bin/turnspec
	$(GO) build -o bin/turnspec ./cmd/turnspec

.PHONY: generate
generate: ## write the files that are derived from Go code: schemas, types, tables, the packed corpus
	$(GO) generate ./adapters/event ./fixtures ./conformance/plug/jsonl ./conformance/plug/sse

.PHONY: test
test: ## run all tests that need no real runtime
	$(GO) test ./...

.PHONY: race
race: ## look for data races: the same tests with the race detector, on a sample of the corpus
	GORACE=atexit_sleep_ms=10 $(GO) test -race -timeout 30m ./...

.PHONY: matrix
matrix: ## run all tests with all that they can try: broken adapters on every check, programs with all faults, all cases (`go test` takes a part; hours)
	TURNSPEC_MATRIX=whole $(GO) test -count=1 -timeout 150m ./...

.PHONY: run
run: ## run the suite on the embedded corpus
	$(GO) run ./cmd/turnspec run

.PHONY: lint
lint: $(LINT) ## check formatting and lint, which includes vet
	@test -z "$$(gofmt -l $(CODE))" || { echo "not formatted:"; gofmt -l $(CODE); exit 1; }
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
	$(GO) test -count=1 -timeout 20m -tags live ./recorder ./conformance/lab/live
	$(GO) run ./cmd/turnspec schema --check codex

.PHONY: test-clients
test-clients: ## let third-party clients drive stand-ins and real runtimes, and compare what they receive (ARGS='-run TestClients/pi-rpc': some)
	$(GO) test -count=1 -timeout 30m -tags clients ./recorder/internal/clients $(ARGS)

# READERS are the libraries of front ends that read what the dialects write (110 MB).
READERS := .tmp/dialects
.PHONY: test-dialects
test-dialects: ## let the libraries of front ends (AI SDK, AG-UI, CopilotKit) read the messages of each case, in each dialect, and the streams that the checkers know
	mkdir -p $(READERS) && cp adapters/backend/dialect/testdata/readers/* $(READERS)
	cd $(READERS) && { cmp -s package-lock.json installed.json || { npm ci --omit=optional --ignore-scripts --no-audit --no-fund --loglevel=error && cp package-lock.json installed.json; }; }
	$(GO) test -count=1 -timeout 10m -tags clients -run 'TestReaders|TestFrontEnds' ./adapters/backend/dialect ./cmd/turnspec $(ARGS)

# BRIDGES are packages that put a runtime behind the page of a chat (200 MB; with LIGHT=1 those that install
# in seconds, on a few cases).
BRIDGES := .tmp/bridges
LIGHT   ?=
.PHONY: test-bridges
test-bridges: ## grade packages that put a runtime behind useChat or AG-UI; a failure that is not known fails (LIGHT=1: some of them, on few cases)
	mkdir -p $(BRIDGES) && cp conformance/lab/peers/bridges/* $(BRIDGES)
	cd $(BRIDGES) && { [ "$$(cat package-lock.json; echo '$(LIGHT)')" = "$$(cat installed.json 2>/dev/null)" ] || { npm ci --omit=optional $(if $(LIGHT),--omit=dev) --ignore-scripts --no-audit --no-fund --loglevel=error && { cat package-lock.json; echo '$(LIGHT)'; } > installed.json; }; }
	$(GO) test -count=1 -timeout 30m -tags peers -v -run TestBridges ./conformance/lab/peers -args $(if $(LIGHT),-light) $(ARGS)

PAGE := .tmp/page
.PHONY: test-page
test-page: ## look for accessibility problems of the chat page in Chromium with axe-core (3 MB)
	mkdir -p $(PAGE) && cp adapters/backend/page/testdata/axe/* $(PAGE)
	cd $(PAGE) && { cmp -s package-lock.json installed.json || { npm ci --ignore-scripts --no-audit --no-fund --loglevel=error && cp package-lock.json installed.json; }; }
	TURNSPEC_AXE=$(CURDIR)/$(PAGE)/node_modules/axe-core/axe.min.js $(GO) test -count=1 -run TestNoAccessibilityProblems ./adapters/backend/page $(ARGS)

.PHONY: peers
peers: ## run third-party adapters on a part of the corpus and print the results (ARGS="-topics '*'": of all topics); their failures fail nothing
	$(GO) test -count=1 -timeout 60m -tags peers -v ./conformance/lab/peers -args $(ARGS)

.PHONY: bridges-update
bridges-update: ## grade the bridges, and write conformance/lab/peers/bridges.json
	$(MAKE) test-bridges ARGS=-update

.PHONY: peers-update
peers-update: ## the same, and write conformance/lab/peers/results.json
	$(GO) test -count=1 -timeout 30m -tags peers -v ./conformance/lab/peers -args -update

RECORDED := claude,codex,codexexec,pi,chat,acp

.PHONY: record-check
record-check: ## record every scenario again and compare with the stored cases
	$(GO) run ./cmd/turnspec record --check --runtime $(RECORDED),opencode,opencoderun

.PHONY: recorded
recorded: # print the runtimes of record-check that CI has the time for: OpenCode repeats what fails for a minute and more
	@echo $(RECORDED)

.PHONY: schema-check
schema-check: ## compare the stored schemas with those that the installed runtimes print
	$(GO) run ./cmd/turnspec schema --check

.PHONY: fuzz
fuzz: ## fuzz the decoders and the tool policy for a minute each
	$(GO) test ./adapters/event -run '^$$' -fuzz FuzzDecode -fuzztime 60s
	$(GO) test ./adapters/codex -run '^$$' -fuzz FuzzLines -fuzztime 60s
	$(GO) test ./adapters/claude -run '^$$' -fuzz FuzzLines -fuzztime 60s
	$(GO) test ./adapters/backend/policy -run '^$$' -fuzz FuzzGrammar -fuzztime 60s -fuzzminimizetime 1x
	$(GO) test ./adapters/backend/policy -run '^$$' -fuzz FuzzText -fuzztime 60s -fuzzminimizetime 1x
	$(GO) test ./adapters/codex -run '^$$' -fuzz FuzzFast -fuzztime 60s
	$(GO) test ./adapters/claude -run '^$$' -fuzz FuzzFast -fuzztime 60s
	$(GO) test ./adapters/event -run '^$$' -fuzz FuzzAppendFrequent -fuzztime 60s
	$(GO) test ./adapters/event -run '^$$' -fuzz FuzzTimeText -fuzztime 60s
	$(GO) test ./adapters/internal/fastjson -run '^$$' -fuzz FuzzText -fuzztime 60s
	$(GO) test ./adapters/backend/sidecar -run '^$$' -fuzz FuzzRequests -fuzztime 60s

BENCH := ./adapters/event ./adapters/codex ./adapters/claude ./adapters/internal/session ./conformance/lab/bench ./conformance/lab/bench/internal/load
.PHONY: bench
bench: ## measure the hot paths, for benchstat (ARGS='-count 10')
	$(GO) test $(BENCH) -run '^$$' -bench 'Delta|Encode|Decode|Turn|Stamps|Outbox' -benchmem -count 6 $(ARGS)

.PHONY: bench-page
bench-page: ## measure the adapters on this machine, which should be quiet, and write conformance/lab/bench/results.json (more than an hour; JSON and plots in .tmp/bench)
	mkdir -p .tmp/bench
	$(GO) build -o .tmp/bench/turnspec ./cmd/turnspec
	-for r in codex claude; do .tmp/bench/turnspec bench --runtime $$r --repeat 4 --gate targets --json --html .tmp/bench/$$r.html > .tmp/bench/$$r.json; done
	ulimit -n 16384 && for r in codex claude; do \
	.tmp/bench/turnspec bench --runtime $$r --repeat 5 --control raw --sessions 200,400 --rate 50 --deltas 200 --json > .tmp/bench/process-sessions-$$r.json && \
	.tmp/bench/turnspec bench --runtime $$r --repeat 5 --control raw --sessions 500,2000 --share 50 --rate 50 --deltas 200 --json > .tmp/bench/shared-sessions-$$r.json || exit 1; done
	$(GO) run ./cmd/targets --exhaustive --tests --json > .tmp/bench/targets.sections
	cd .tmp/bench && ./turnspec bench show --json codex.json claude.json process-sessions-*.json shared-sessions-*.json > figures.sections
	cat .tmp/bench/figures.sections .tmp/bench/targets.sections > conformance/lab/bench/results.json

.PHONY: targets
targets: ## measure the suite, the program, a build and the tests, beside their targets (an hour; ARGS='--base COMMIT')
	$(GO) run ./cmd/targets --exhaustive --tests $(ARGS)

USECHAT := .tmp/usechat
.PHONY: usechat
usechat: ## build the page of useChat that `turnspec bench page --usechat .tmp/usechat/usechat.js` measures (40 MB of React, the AI SDK and esbuild)
	mkdir -p $(USECHAT) && cp conformance/lab/bench/paint/usechat/*.json conformance/lab/bench/paint/usechat/*.mjs conformance/lab/bench/paint/marks.mjs $(USECHAT)
	cd $(USECHAT) && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error && npm run --silent build

.PHONY: test-usechat
test-usechat: usechat ## measure the page of useChat once, in Chromium
	TURNSPEC_USECHAT=$(CURDIR)/$(USECHAT)/usechat.js $(GO) test -count=1 -run TestRun ./conformance/lab/bench/paint $(ARGS)

.PHONY: crash
crash: ## kill a program that appends to an event log, and a server, at 200 random moments each
	TURNSPEC_CRASH_ROUNDS=200 $(GO) test -count=1 -v -run 'TestCrash$$' ./adapters/backend/eventlog/sqlite
	TURNSPEC_CRASH_ROUNDS=200 $(GO) test -count=1 -v -run 'TestKilledServer$$' ./adapters/backend/sidecar

.PHONY: mutants
mutants: ## change the adapters in thousands of small ways and list in conformance/lab/mutants/results.json the changes that no check detects (hours; ARGS='--sample 200 --goldens=false')
	$(GO) run ./conformance/lab/mutants --results conformance/lab/mutants/results.json $(ARGS)

comma := ,
COVERED := $(subst $(eval ) ,$(comma),$(addprefix ./adapters/,acp chat claude codex codexexec opencode opencoderun pi internal/...))

.PHONY: unreached
unreached: ## list the lines of the adapters that no case reaches without a fault, the next scenarios to write (minutes; ARGS='--runtime pi')
	rm -rf .tmp/unreached && mkdir -p .tmp/unreached/data
	$(GO) build -cover -coverpkg=./cmd/turnspec,$(COVERED) -o .tmp/unreached/turnspec ./cmd/turnspec
	GOCOVERDIR=.tmp/unreached/data .tmp/unreached/turnspec run --tier witness --check text.once $(ARGS)
	$(GO) tool covdata textfmt -i=.tmp/unreached/data -o=.tmp/unreached/lines
	@sed -n 's|^.*/\(adapters/[^:]*\):\([0-9]*\)\.[0-9]*,\([0-9]*\)\..* 0$$|\1:\2-\3|p' .tmp/unreached/lines | sort -t: -k1,1 -k2,2n

# The files of a release do not depend on who builds them, or where.
DIST := GOFLAGS=-trimpath $(GO) run ./cmd/dist --nfpm $(abspath $(NFPM))

.PHONY: docs
docs: ## write the documentation as static HTML into docs: the pages of the repository, results of measurements, one for each check and one for each scenario (ARGS='--out /tmp/docs')
	$(GO) run ./cmd/docs $(ARGS)

.PHONY: pictures
pictures: ## take the pictures of cmd/docs/index.md again: the console, the HTML report, watch and debug (Chromium, Python, script)
	$(GO) run ./cmd/docs --pictures

.PHONY: dist
dist: $(NFPM) ## build the files of a release into dist: archives, npm packages, wheels, .deb, formula, SBOM, checksums (ARGS='--version 1.2.3 --targets linux/amd64')
	$(DIST) $(ARGS)

.PHONY: dist-test
dist-test: $(NFPM) ## build the files for this platform twice, compare them, install them in empty folders and run what was installed
	$(DIST) --targets $(shell $(GO) env GOOS)/$(shell $(GO) env GOARCH)
	rm -rf .tmp/again && git clone -q . .tmp/again
	cd .tmp/again && $(DIST) --targets $(shell $(GO) env GOOS)/$(shell $(GO) env GOARCH)
	$(GO) test -count=1 -v -tags dist ./cmd/dist -args -again $(abspath .tmp/again/dist)
	rm -rf .tmp/again

.PHONY: cross
cross: ## compile and vet all code, tests included, for macOS and Windows
	GOOS=darwin GOARCH=arm64 $(GO) vet ./...
	GOOS=windows $(GO) vet ./...

$(NFPM):
	GOBIN=$(abspath $(BIN)) $(GO) install github.com/goreleaser/nfpm/v2/cmd/nfpm@$(NFPM_VERSION)

.PHONY: clean
clean: ## remove everything that was built and installed here
	rm -rf bin dist docs .tmp .runtimes
