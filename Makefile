# The commands for working on this repository; "make help" lists them. CI runs .ci/run, which calls some of them.
# A line "#  NAME=VALUE  text" below a target documents a variable of that target. Each part that ONLY selects has such
# a line; TestMakeTargets in docs/map_test.go compares these lines with the scripts and with the documentation.
.PHONY: help build test lint check e2e oracle scheduler mutants fuzz compare soak bench examples browser release-check

# A variable on the command line that no target of the command line documents is an error: a misspelt name must not start
# an hour of something else. Names with an underscore are variables of the tests, such as ORACLE_STATES.
documented = $(shell sed -n '/^$1:/,/^	/s/^\#  \([A-Z]*\)=.*/\1/p' Makefile)
given = $(foreach v,$(.VARIABLES),$(if $(findstring command line,$(origin $v)),$(if $(findstring _,$v),,$v)))
unknown = $(filter-out GO% -*-% $(foreach target,$(MAKECMDGOALS),$(call documented,$(target))),$(given))
$(if $(strip $(unknown)),$(error make $(MAKECMDGOALS) does not use $(strip $(unknown)); see "make help"))

help: ## print this list
	@awk -F '  +' '/^[a-z0-9-]+:.*## / { sub(/:.*## /, "  "); printf "%-14s %s\n", $$1, $$2 } \
	  /^#  [A-Z0-9_]+=/ { printf "  %-21s %s\n", $$2, $$3 }' Makefile

build: ## build the plugin as bin/kubectl-ds
	go build -o bin/kubectl-ds ./cmd/kubectl-ds

test: ## run the tests of the main module; go test -short draws a tenth of the cases
#  LAW_CASES=10  draw ten times as many random cases; takes half an hour
#  ONLY=hostile  run every command on 10,000 damaged inputs; takes some minutes
#  ONLY=NAMES  run the tests with these names, a regular expression
#  CASES=N  with ONLY=hostile: how many inputs
#  SEED=N  with ONLY=hostile: draw other inputs
	test/main.sh

lint: ## run gofmt, go vet and staticcheck in every module that has code
	tools/lint.sh

check: ## run everything that a change must pass; the same as .ci/run
#  LAW_CASES=10  draw ten times as many random cases in the main module
	.ci/run

e2e: ## test the plugin against a real control plane; the first run builds it and caches it
#  E2E_PARALLEL=5  run this many tests at once, each on a control plane of its own (700 MB)
#  ONLY=NAMES  run the tests with these names, a regular expression: Watch|Fit
#  ONLY=admission  compare pkg/admission with the API server: 400 cases, half a minute
#  ONLY=fit  compare plans with the scheduler in 60 random scenes; takes some minutes
#  ONLY=faults  run 1,000 commands through a proxy that breaks every tenth response
#  ONLY=collectors  compare answers from troubleshoot and sonobuoy dumps with the cluster's
#  CASES=N  with ONLY=admission, fit or faults: how many cases
#  SEED=N  with ONLY=admission, fit or faults: draw other cases
#  MANIFESTS=all  try every change of TestManifests; takes some minutes
#  FAULTS_RUN=N  with ONLY=faults: repeat only this run
#  CLUSTER="v1.24 v1.30"  use these versions, and run the tests that hold for every version
#  REAL_MANIFESTS=FOLDER  upgrade the DaemonSets in FOLDER; see test/e2e/real_test.go
	test/e2e.sh

oracle: ## compare the rules with the real controllers of four versions
#  VERSIONS=all  compare every version, and write the numbers of docs/controller.md
#  VERSIONS=v1.22.17  compare only these versions, separated by spaces
#  ONLY=NAMES  run the tests with these names, a regular expression: Sync|Traces
#  ONLY=coverage  write to coverage.md which rules the states reach, in every version
#  ONLY=forecasts  compare 14,000 forecasts with 140 rollouts of the real controller
#  ONLY=newest  compare new releases of Kubernetes with the model; writes bin/newest.md
#  CASES=N  how many random states of the newest version, or rollouts for forecasts
#  SEED=N  draw other states
#  KNOWN=v1.36  with ONLY=newest: take this version for the newest known one
#  MINORS=4  with ONLY=newest: how many of the newest minor versions to look at
#  EACH=1  with ONLY=newest: how many releases of each minor version to compare
	test/oracle.sh

scheduler: ## compare pkg/fit, and the answers about fit, with the real schedulers of two versions
#  CASES=N  how many random states of the newest version; a tenth for the other
#  SEED=N  draw other states
#  VERSIONS=v1.37.1  compare only these versions, separated by spaces
	cd test/scheduler && $(if $(SEED),SCHEDULER_SEED=$(SEED)) $(if $(VERSIONS),SCHEDULER_VERSIONS="$(VERSIONS)") \
	  $(if $(CASES),SCHEDULER_STATES=$(CASES) SCHEDULER_STATES_OTHERS=$$(( ($(CASES) + 9) / 10 ))) \
	  go test -count=1 -v -timeout 1h

mutants: ## break pkg/daemonset in 60 places, one at a time, and report which tests notice
#  CASES=60  how many places
#  SEED=N  draw other places
#  ONLY=place.go  break only this file
#  ARGS="..."  more flags, such as -package pkg/fit -all; see test/mutate/main.go
	go run ./test/mutate $(if $(SEED),-seed $(SEED)) $(if $(CASES),-n $(CASES)) $(if $(ONLY),-only $(ONLY)) $(ARGS)

fuzz: ## run Go's fuzzer on every reader; takes an hour
#  FUZZTIME=6m  how long to run each fuzz target
#  ONLY=Skim  run only fuzz targets whose names contain this
	test/fuzz.sh "$(or $(FUZZTIME),6m)" "$(ONLY)"

compare: ## compare the answers with those of an older commit; takes some minutes
#  BASE=COMMIT  compare with this commit
#  QUICK=1  compare examples, command-line stories and ten states; half a minute
#  CASES=500  how many random states, besides the examples and stories
#  SEED=N  draw other states
#  ONLY='^seed'  compare only inputs whose names match this regular expression
#  ARGS="..."  more flags; see test/compare/compare_test.go
	go test -count=1 -timeout 3h -v -run 'TestSame$$' ./test/compare -base $(or $(BASE),default) \
	  $(if $(SEED),-seed $(SEED)) $(if $(or $(CASES),$(QUICK)),-states $(or $(CASES),10)) \
	  $(if $(or $(ONLY),$(QUICK)),-only '$(or $(ONLY),^(cli|examples)/|^seed)') $(ARGS)

soak: ## run the tests that take hours: a new random seed, mutants, every version and platform
#  ONLY="hostile oracle"  run only these steps; .ci/soak lists them
#  SEED=N  repeat a run that printed this seed
	.ci/soak $(ONLY)

bench: ## measure everything in docs/performance.md, in an hour, and check the limits
#  PAIRS=11  how often to run each pair of commands
#  PEERS=FOLDER  measure kubectl-status and kubectl-revisions in FOLDER, too
#  STAGE=1  keep an API server with 5,000 nodes until Ctrl-C; up to 16 GB of memory
#  ONLY=measure  compare commands with kubectl and a program that sends the same requests
#  ONLY=growth  run commands on snapshots; limit: 12 times the CPU for ten times the nodes
#  ONLY=parse  read a dump of 15,000 nodes; limits: 1.5 times Python's json.load, 220 MB
#  ONLY=agree  compare answers over every way in which an API server pages a list
#  ONLY=watch  measure explain --watch while nothing changes, and the delay of a change
#  ONLY=sync  compare one sync of the model with one of the newest real controller
#  ONLY=start  compare the start of kubectl-ds version with kubectl version --client
#  ONLY=plan  plan a whole rollout over 1,000 to 100,000 nodes
#  ONLY=memory  read 5,000 nodes and 50,000 other pods; plan with and without --fit
#  ONLY=dump  explain a must-gather in a .tar.xz, and compare with xz
#  ONLY=history  read 100 revisions of 200 KB; compare with kubectl get controllerrevisions
#  SIZE=15000  how many nodes: 5000, 15000 or small; for growth several, for parse any
#  ROWS=explain  with ONLY=measure: only rows that match this regular expression
#  LINK=1  with ONLY=measure: go through a link of 80 ms and 20 Mbit/s
#  BENCHTIME=1x  with ONLY=sync, start, plan, memory, dump or history: how often to run
#  DUMP=FILE  with ONLY=dump: explain this must-gather
	test/bench.sh

examples: ## record examples/ again from a real control plane
#  DEMO=1  record the terminal session of the README instead; needs asciinema
	tools/examples.sh

browser: ## check the HTML reports in chromium with axe-core; writes pictures to bin/pages
#  ONLY=stuck,big  check only these pages
#  CHROMIUM=FILE  use this browser
	test/browser/run.sh

release-check: ## do everything that a release does, except publish it
#  ONLY=krew  build the archives, install them with krew, and run them with kubectl
#  ONLY=upgrade  install v0.0.1 with krew, upgrade to v0.0.2, and uninstall it
#  ONLY=snapshot  build the archives in dist/, and install nothing
#  SINGLE_TARGET=1  with ONLY=krew: build for this platform instead of all six
#  BUILT=1  with ONLY=krew: install the archives that are in dist/ already
#  KUBECTL=FILE  with ONLY=krew or upgrade: use this kubectl
	.ci/release-check $(ONLY)
