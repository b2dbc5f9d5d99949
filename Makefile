# The targets that a contributor needs; `make` alone lists them.
.DEFAULT_GOAL := help
VERSION := $(shell cat VERSION)

.PHONY: help build release reproducible sbom snapshot test race lint gate fuzz crash qdrant measure train ablate bench microbench

help: ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

build: ## build ./memoryd, static
	CGO_ENABLED=0 go build -buildvcs=auto -trimpath -ldflags "-s -w" -o memoryd ./cmd/memoryd

release: ## build ./memoryd as a static position-independent program (needs a C compiler); twice gives the same bytes
	CGO_ENABLED=1 go build -buildmode=pie -tags netgo,osusergo -buildvcs=auto -trimpath \
		-ldflags "-s -w -buildid= -linkmode=external -extldflags '-static-pie -Wl,--build-id=none'" -o memoryd ./cmd/memoryd

reproducible: ## build twice, the second time without a cache, and compare
	$(MAKE) build && cp memoryd memoryd.first && GOCACHE=$$(mktemp -d) $(MAKE) build && cmp memoryd memoryd.first && sha256sum memoryd && rm memoryd.first

sbom: build ## write sbom.json (CycloneDX): what the built program holds, with the hashes of go.sum
	go run github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0 bin -json -noserial -notimestamp -std -output sbom.json memoryd

snapshot: ## build all packages twice, compare them byte for byte, and check them; publishes nothing (nightly; takes long)
	deploy/package/snapshot

test: ## run all tests
	go test ./...

race: ## run all packages under the race detector, without the long tests
	go test -race -short ./...

lint: ## the linters of .golangci.yml, of the version that the gate pins
	golangci-lint run ./...
	cd bench && golangci-lint run --config ../.golangci.yml --disable depguard,gocyclo,lll ./...

gate: ## everything that must pass before a change lands
	.ci/run

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

train: ## learn the judge's score anew from the labelled outputs, and measure it, also on the recordings in MEMORYD_TEST_DATA
	go -C bench run ./train

ablate: ## take out each rule, grammar, statement, warning and list of words in turn, on MEMORYD_TEST_DATA: renews bench/results/ablation.md
	go -C bench run ./ablate -docs results

bench: ## measure the program against its baselines; `go -C bench run . all -docs results` also renews bench/results/performance.md
	go -C bench run . all

microbench: ## run the benchmarks of the packages
	go test -run '^$$' -bench . -benchtime 2s ./store/sqlite ./evaluate/... ./guidelines/...
