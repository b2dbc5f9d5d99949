# The targets that a contributor needs; `make` alone lists them.
.DEFAULT_GOAL := help
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

.PHONY: help build test race lint fuzz crash qdrant measure bench microbench

help: ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

build: ## build ./memoryd, static
	CGO_ENABLED=0 go build -buildvcs=auto -trimpath -ldflags "-s -w -X main.version=$(VERSION)" -o memoryd ./cmd/memoryd

test: ## run all tests
	go test ./...

race: ## run the packages with concurrency under the race detector
	go test -race ./api/... ./cmd/... ./compact/... ./guidelines/revisions/... ./evaluate/... ./llm/... ./ops/... ./llm/usage/... ./store/...

lint: ## format, vet and, where it is installed, golangci-lint
	test -z "$$(gofmt -l .)"
	go vet ./...
	if command -v golangci-lint >/dev/null; then golangci-lint run; fi

fuzz: ## fuzz each target for FUZZTIME (20s)
	@grep -roE '^func Fuzz[A-Za-z0-9]+' --include='*_test.go' . | sed 's|/[^/]*:func | |' | while read -r dir name; do \
		echo "== $$name in $$dir"; go test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(or $(FUZZTIME),20s) "$$dir" || exit 1; done

crash: ## kill, cut the power and check histories for long; seeds are printed, MEMORYD_POWERLOSS_SEED and MEMORYD_LINEAR_SEED repeat one
	MEMORYD_KILL_ROUNDS=$(or $(MEMORYD_KILL_ROUNDS),300) go test -count=1 -timeout 60m ./test/crash/... ./store/sqlite
	MEMORYD_POWERLOSS_POINTS=$(or $(MEMORYD_POWERLOSS_POINTS),10000) go test -count=1 -timeout 60m ./test/powerloss

qdrant: ## run the tests against the real server that MEMORYD_TEST_QDRANT names (host:port of its gRPC)
	test -n "$(MEMORYD_TEST_QDRANT)"
	go test -count=1 -timeout 30m ./store/... ./test/replicas

measure: ## measure judge, guidelines, preflight and compaction on the recordings in MEMORYD_TEST_DATA
	test -n "$(MEMORYD_TEST_DATA)"
	go test -count=1 -v -run 'Recorded|Measure|Recall|ForgeSaves' ./evaluate/... ./guidelines/... ./compact

bench: ## measure the program against its baselines; `go -C bench run . all -docs ../docs` also renews docs/performance.md
	go -C bench run . all

microbench: ## run the benchmarks of the packages
	go test -run '^$$' -bench . -benchtime 2s ./store/sqlite ./evaluate/... ./guidelines/...
