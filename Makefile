# What people run here. CI runs .ci/run, which calls these.
.PHONY: build test lint oracle e2e krew-chain snapshot examples bench-start

build: ## the plugin, as bin/kubectl-ds
	go build -o bin/kubectl-ds ./cmd/kubectl-ds

test: ## the main module; no cluster, no network once the modules are there
	go test ./...

lint: ## gofmt, go vet and staticcheck, in every module with code of ours
	@unformatted=$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go')); \
	  [ -z "$$unformatted" ] || { echo "gofmt would change: $$unformatted"; exit 1; }
	staticcheck=$$(tools/build.sh lint)/staticcheck; \
	for module in . test/e2e test/oracle test/oracle/controller test/oracle/v1.37; do \
	  (cd $$module && go vet ./... && "$$staticcheck" ./...) || exit 1; \
	done

oracle: ## our rules against the real controller's own code
	cd test/oracle && go test -count=1 -v -timeout 30m ./...

e2e: ## the plugin against a real control plane, which is built once and kept in the cache
	test/cluster/build.sh >/dev/null
	cd test/e2e && go test -count=1 -v -timeout 30m ./...

krew-chain: ## goreleaser's archives, installed by krew, run by kubectl: all six platforms; SINGLE_TARGET=1 for this one only
	krew/chain.sh

snapshot: ## archives in dist/, nothing installed
	goreleaser=$$(tools/build.sh release)/goreleaser && "$$goreleaser" release --snapshot --clean

examples: ## record examples/ anew from a real control plane
	test/cluster/build.sh >/dev/null
	cd test/e2e && RECORD_EXAMPLES=../../examples go test -count=1 -run 'TestExamples$$' -v -timeout 30m .

bench-start: ## start-up of kubectl-ds version beside kubectl version --client
	test/cluster/build.sh >/dev/null
	cd test/e2e && go test -run '^$$' -bench Start -benchtime 20x .
