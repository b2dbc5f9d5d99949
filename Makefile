# The targets that a contributor needs; `make` alone lists them.
.DEFAULT_GOAL := help
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

.PHONY: help build test race lint fuzz bench measure

help: ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

build: ## build ./memoryd, static
	CGO_ENABLED=0 go build -buildvcs=auto -trimpath -ldflags "-s -w -X main.version=$(VERSION)" -o memoryd ./cmd/memoryd

test: ## run all tests
	go test ./...

race: ## run the packages with concurrency under the race detector
	go test -race ./api/... ./cmd/... ./evaluate/... ./llm/... ./ops/... ./store/...

lint: ## format, vet and, where it is installed, golangci-lint
	test -z "$$(gofmt -l .)"
	go vet ./...
	if command -v golangci-lint >/dev/null; then golangci-lint run; fi

fuzz: ## fuzz each target for a short while
	go test -run '^$$' -fuzz FuzzRequestBodies -fuzztime 20s ./api
	go test -run '^$$' -fuzz FuzzParse -fuzztime 20s ./config
	go test -run '^$$' -fuzz FuzzParseLine -fuzztime 20s ./evaluate/calibrate
	go test -run '^$$' -fuzz FuzzJudge -fuzztime 20s ./evaluate/rules

measure: ## measure judge and guidelines on the recordings in MEMORYD_TEST_DATA
	go test -count=1 -v -run 'Recorded|Measure' ./evaluate/... ./guidelines

bench: ## run the benchmarks of the stores and the judges
	go test -run '^$$' -bench . -benchtime 2s ./store/sqlite ./evaluate/... ./guidelines/...
