# What people run here. CI runs .ci/run, which calls these.
.PHONY: help demo build test laws fuzz lint oracle oracle-all newest oracle-coverage scheduler forecasts mutants hostile compare compare-quick e2e old-clusters soak real-manifests krew-chain krew-upgrade release-check admission fit faults collectors snapshot examples browser bench bench-measure bench-stage bench-start bench-plan bench-memory bench-dump bench-history bench-growth bench-parse bench-agree bench-watch bench-sync

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' Makefile | while IFS="$$(printf '\t')" read -r target words; do printf '%-17s %s\n' "$$target" "$$words"; done

build: ## the plugin, as bin/kubectl-ds
	go build -o bin/kubectl-ds ./cmd/kubectl-ds

test: ## the main module; no cluster, no network once the modules are there; go test -short ./... tries a tenth of the random cases
	go test ./...

laws: ## the same with ten times as many random cases, or LAW_CASES times; half an hour
	LAW_CASES=$(or $(LAW_CASES),10) go test -count=1 -timeout 3h ./...

lint: ## gofmt, go vet and staticcheck, in every module with code of ours
	@unformatted=$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go')); \
	  [ -z "$$unformatted" ] || { echo "gofmt would change: $$unformatted"; exit 1; }
	staticcheck=$$(tools/build.sh lint)/staticcheck; \
	for module in . test/e2e test/oracle test/oracle/controller test/oracle/program test/scheduler test/scheduler/wire test/scheduler/program; do \
	  (cd $$module && go vet ./... && "$$staticcheck" ./...) || exit 1; \
	done

oracle: ## our rules against the real controllers of four versions; ORACLE_SEED=n for other states
	cd test/oracle && go test -count=1 -timeout 30m

oracle-all: ## … of every version, with the numbers that docs/controller.md gives
	cd test/oracle && ORACLE_VERSIONS=all ORACLE_STATES=10000 ORACLE_STATES_OTHERS=2000 ORACLE_TRACES=400 ORACLE_TRACES_OTHERS=80 \
	  ORACLE_COVERAGE=../../coverage.md go test -count=1 -timeout 6h

newest: ## releases of Kubernetes that the oracle does not know, beside the model, as bin/newest.md; KNOWN=v1.36 as the newest known one, MINORS=1 of the newest minor only, EACH=2 releases of each
	cd test/oracle && go build -o ../../bin/newest ./newest
	cd test/oracle && ../../bin/newest -known "$(KNOWN)" -minors $(or $(MINORS),4) -each $(or $(EACH),1) -report ../../bin/newest.md; status=$$?; [ $$status = 1 ] || cat ../../bin/newest.md; exit $$status

oracle-coverage: ## which rules the states reach, in every version, as coverage.md
	cd test/oracle && ORACLE_VERSIONS=all ORACLE_STATES=2000 ORACLE_STATES_OTHERS=2000 ORACLE_COVERAGE=../../coverage.md go test -count=1 -timeout 3h -run TestSync

scheduler: ## pkg/fit, and what commands say of fit, against the real schedulers of two versions; SCHEDULER_SEED=n for other states, SCHEDULER_STATES=20000 for more
	cd test/scheduler && go test -count=1 -v -timeout 1h

forecasts: ## what plans say at 14,000 moments of 140 rollouts of the real controller, beside what came, as a table; ORACLE_SEED=n for others
	cd test/oracle && ORACLE_FORECASTS=140 go test -count=1 -v -timeout 1h -run TestForecasts .

mutants: ## break pkg/daemonset on purpose, sixty times, and see who notices; MUTANTS="-seed 2 -n 100", MUTANTS="-package pkg/fit -all"
	go run ./test/mutate $(MUTANTS)

hostile: ## 10,000 damaged inputs over all commands, some minutes; HOSTILE_SEED=n for others
	HOSTILE_CASES=$${HOSTILE_CASES:-10000} go test -count=1 -timeout 2h -run Hostile ./internal/cli

fuzz: ## Go's fuzzer on every reader, an hour in all; FUZZTIME=6s for each, FUZZ=Skim for some
	test/fuzz.sh "$(or $(FUZZTIME),6m)" "$(FUZZ)"

compare: ## what BASE, a commit, answers beside the working tree: examples, stories, 500 random states; minutes; COMPARE="-seed 2 -states 100 -only ^seed"
	go test -count=1 -timeout 3h -v -run 'TestSame$$' ./test/compare -base $(or $(BASE),default) $(COMPARE)

compare-quick: ## … of the examples, the stories of the command line, and ten states: half a minute
	$(MAKE) compare COMPARE="-states 10 -only '^(cli|examples)/|^seed'"

e2e: ## the plugin against a real control plane, which is built once and kept in the cache; E2E_PARALLEL=n tests at once, each on a control plane of its own (700 MB)
	test/cluster/build.sh >/dev/null
	cd test/e2e && go test -count=1 -v -timeout 45m -parallel $(or $(E2E_PARALLEL),5) ./...

# The end-to-end tests that hold for a control plane of any version.
OLD_TESTS = Stage|PlanComesTrue|Examples|ServerLacks|ServiceAccount|TimesOfWrites|RightsAndRequests|Watch|KubectlApply|Verdicts|UndoPreview|History|HistoryCounts|Fit|AdmissionPasses|Forecasts
old-clusters: ## the plugin against real control planes of v1.24 and v1.30, or of OLD_VERSIONS, each built once and kept in the cache; OLD_TESTS="PlanComesTrue" for some
	test/cluster/build.sh >/dev/null
	for version in $(or $(OLD_VERSIONS),v1.24 v1.30); do \
	  test/cluster/old.sh $$version >/dev/null && \
	  (cd test/e2e && E2E_CLUSTER=$$version go test -count=1 -v -timeout 45m -parallel $(or $(E2E_PARALLEL),5) -run '^Test($(OLD_TESTS))$$' .) || exit 1; \
	done

admission: ## pkg/admission against a real API server: ADMISSION_CASES=400 namespaces and templates, half a minute; ADMISSION_SEED=n for others
	test/cluster/build.sh >/dev/null
	cd test/e2e && ADMISSION_CASES=$(or $(ADMISSION_CASES),400) ADMISSION_SEED=$(or $(ADMISSION_SEED),1) go test -count=1 -v -timeout 45m -run 'TestAdmission' .

fit: ## plans against the real scheduler: FIT_SCENES=60 drawn scenes on a real control plane, some minutes; FIT_SEED=n for others
	test/cluster/build.sh >/dev/null
	cd test/e2e && FIT_SCENES=$(or $(FIT_SCENES),60) FIT_SEED=$(or $(FIT_SEED),1) go test -count=1 -v -timeout 45m -run 'TestFit$$' .

faults: ## commands through a proxy that answers a tenth of the requests of a real API server badly: FAULTS=1000 runs, some minutes; FAULTS_SEED=n for others, FAULTS_RUN=n for one of them again
	test/cluster/build.sh >/dev/null
	cd test/e2e && FAULTS=$(or $(FAULTS),1000) FAULTS_SEED=$(or $(FAULTS_SEED),1) FAULTS_RUN=$(or $(FAULTS_RUN),0) go test -count=1 -v -timeout 3h -run 'TestFaults$$' .

collectors: ## the answers from dumps that troubleshoot and sonobuoy make of a real control plane are those of the cluster; builds both, some minutes
	test/cluster/build.sh >/dev/null
	troubleshoot=$$(tools/build.sh troubleshoot)/troubleshoot sonobuoy=$$(tools/build.sh sonobuoy)/sonobuoy && \
	cd test/e2e && TROUBLESHOOT="$$troubleshoot" SONOBUOY="$$sonobuoy" go test -count=1 -v -timeout 30m -run 'TestDumps$$' .

soak: ## what .ci/run leaves out: random cases of a new seed, mutants, e2e three times, every version and platform; hours; SOAK="hostile oracle" for some
	.ci/soak $(SOAK)

real-manifests: ## upgrades of DaemonSets that people run, against a real control plane, as a table: DIR=directory; see test/e2e/real_test.go
	@[ -n "$(DIR)" ] || { echo "give the directory that holds NAME/old.yaml and NAME/new.yaml: make real-manifests DIR=DIRECTORY"; exit 1; }
	test/cluster/build.sh >/dev/null
	cd test/e2e && REAL_MANIFESTS="$(abspath $(DIR))" go test -count=1 -v -timeout 90m -run 'TestRealManifests$$' .

krew-chain: ## goreleaser's archives, installed by krew, run by kubectl: all six platforms; SINGLE_TARGET=1 for this one only
	krew/chain.sh

krew-upgrade: ## from an empty KREW_ROOT: the project's own index, v0.0.1, an upgrade to v0.0.2, uninstalled; each by the real krew
	krew/upgrade.sh

release-check: ## all that a release does short of publishing it, with a table; builds goreleaser, krew, syft and cosign first
	.ci/release-check

snapshot: ## archives in dist/, nothing installed
	goreleaser=$$(tools/build.sh release)/goreleaser && "$$goreleaser" release --snapshot --clean --skip=sbom,sign

examples: ## record examples/ again from a real control plane, and age them
	test/cluster/build.sh >/dev/null
	cd test/e2e && RECORD_EXAMPLES=../../examples go test -count=1 -run 'TestExamples$$' -v -timeout 30m .
	go run ./test/age examples

browser: ## pages of -o html in chromium, light and dark, at the width of a phone and of a desktop, with axe-core; pictures in bin/pages; ONLY=stuck,big for some
	test/browser/run.sh

demo: ## record the terminal session of the README on a real control plane; needs asciinema (apt-get install asciinema)
	test/cluster/build.sh >/dev/null
	cd test/e2e && go run ./cmd/scene stuck asciinema rec --quiet --overwrite --cols 100 --rows 40 --idle-time-limit 4 --title "kubectl ds" \
	  --env TERM --command ../../docs/demo/session.sh ../../docs/demo/session.cast

bench-stage: ## a real etcd and API server with 5,000 nodes and 130,000 pods, kept until Ctrl-C; the first time it is filled, 20 minutes and 2 GB; SIZE=15000, SIZE=small. The API server takes up to 16 GB of memory
	test/cluster/build.sh >/dev/null
	cd test/e2e && go run ./cmd/bench stage $(or $(SIZE),5000)

bench: ## every measurement of docs/performance.md, one after the other, an hour or less on a stage that is filled; fails where one of them asks for less; PAIRS=5 for fewer runs of each but explain -A, PEERS=FOLDER as below
	test/cluster/build.sh >/dev/null
	@[ -z "$(ONLY)$(LINK)$(SIZE)" ] || { echo "ONLY, LINK and SIZE are of make bench-measure"; exit 1; }
	cd test/e2e && go run ./cmd/bench all -pairs $(or $(PAIRS),11) -peers "$(PEERS)"

bench-measure: ## what commands cost on that stage, beside kubectl and beside a program that makes the same requests; SIZE=15000, PAIRS=5, ONLY=explain for some, LINK=1 through a link of 80 ms and 20 Mbit/s, PEERS=FOLDER beside kubectl-status and kubectl-revisions that were built there
	test/cluster/build.sh >/dev/null
	cd test/e2e && go run ./cmd/bench measure -size $(or $(SIZE),5000) -pairs $(or $(PAIRS),11) -only "$(ONLY)" $(if $(LINK),-link) -peers "$(PEERS)"

bench-growth: ## what each command takes of recorded snapshots of growing clusters; fails where ten times as many nodes take more than twelve times as much; SIZES="1000 10000"
	cd test/e2e && go run ./cmd/bench growth $(or $(SIZES),1000 10000 100000)

bench-parse: ## what a dump of 15,000 nodes in JSON costs, beside Python's json.load; fails where more than 1.5 times as much, or 200 MB; NODES=5000
	cd test/e2e && go run ./cmd/bench parse $(or $(NODES),15000)

bench-agree: ## what commands answer, asked of an API server in every way in which it makes a list, and in pages of several sizes; SIZE=small
	test/cluster/build.sh >/dev/null
	cd test/e2e && go run ./cmd/bench agree $(or $(SIZE),5000)

bench-watch: ## what explain --watch takes while nothing moves but what nodes say of themselves, and how soon a change is on the screen; SIZE=small
	test/cluster/build.sh >/dev/null
	cd test/e2e && go run ./cmd/bench watch $(or $(SIZE),5000)

bench-sync: ## one sync of the model beside one of the newest real controller, on the same objects
	cd test/oracle && go test -run '^$$' -bench 'Sync$$' .

bench-start: ## start-up of kubectl-ds version beside kubectl version --client
	test/cluster/build.sh >/dev/null
	cd test/e2e && go test -run '^$$' -bench Start -benchtime 20x .

bench-plan: ## a whole rollout over 1,000 to 100,000 nodes, with the ratio of each size to the one before
	go test -run '^$$' -bench Rollout ./pkg/plan

bench-memory: ## what a read of 5,000 nodes takes with the rows of 50,000 other pods, and what plan-rollout --fit takes, beside the same without
	go test -run '^$$' -bench Memory -benchtime $(or $(MEMORY_TIMES),3x) ./internal/source

bench-dump: ## a must-gather in a .tar.xz explained beside xz, which unpacks it: CPU time and memory; DUMP=FILE for a real one
	go test -run '^$$' -bench MustGather -benchtime 5x ./internal/source

bench-history: ## 100 revisions of 200 KB beside kubectl get controllerrevisions -o yaml of the same ones
	test/cluster/build.sh >/dev/null
	cd test/e2e && go test -run '^$$' -bench History -benchtime 10x .
