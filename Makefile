# Two targets do everything a newcomer needs: `make dev` and `make test`.
# Both install what they need and say so.

GO      ?= go
VERSION ?= $(shell ./tools/version.sh)
LDFLAGS := -s -w -X github.com/reeve-run/reeve/internal/cli.linked=$(VERSION)
TOOLS   := -modfile=tools/go.mod

NPM_DONE := ui/node_modules/.package-lock.json

.PHONY: dev demo stacks build ui ui-check ui-test ui-truth pictures bench-ui test check race unit e2e fuzz properties leaks jepsen jepsen-planted bench generate packages packages-check clean

## dev: run a web service and a batch job on this machine: real processes, one command
dev: build
	@echo 'see more of Reeve with "make demo": a shop with something to explore and to repair'
	./bin/reeve dev examples/web.hcl examples/batch.hcl

## demo: run a shop on this machine: services, traffic, a stuck canary, a crash loop and more
demo: build
	./bin/reeve demo

## stacks: show the life of a stack on this machine: deploy, shift, deprecate, expire, rescue
stacks: build
	REEVE=bin/reeve ./examples/stacks/walk.sh

## build: the one binary, static, at bin/reeve
build:
	@echo "building bin/reeve (Go modules are fetched on the first run)"
	@mkdir -p bin
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/reeve ./cmd/reeve

## test: everything that must hold before a change lands
test: check ui-check ui-test ui-truth race

## ui: build the web UI from ui/ into internal/ui/dist, which is committed: nothing else needs npm
ui: $(NPM_DONE)
	cd ui && npm run --silent build

$(NPM_DONE): ui/package-lock.json
	@./tools/need.sh node nodejs
	@./tools/need.sh npm npm
	@echo "installing the packages that build and test the web UI"
	cd ui && npm ci --ignore-scripts --no-audit --no-fund

## ui-check: types, unit tests and sizes of the web UI, and whether internal/ui/dist is fresh
ui-check: $(NPM_DONE)
	@./tools/ui_check.sh

## ui-test: the pages of the web UI in Chromium, against the real binary
ui-test: build $(NPM_DONE)
	@./tools/need.sh chromium chromium
	@./tools/need.sh openssl openssl
	@./tools/need.sh unshare util-linux
	@./tools/need.sh /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf fonts-dejavu-core
	cd ui && npm run --silent browser

## ui-truth: random changes for MINUTES, after which each page of the web UI must show what the API says
ui-truth: build $(NPM_DONE)
	@./tools/need.sh chromium chromium
	cd ui && MINUTES=$(or $(MINUTES),1) node --test --test-timeout=7200000 test/truth/truth.test.mjs

## pictures: the pictures of the docs: pages of the web UI over a running demo, and a session of the command line
pictures: build $(NPM_DONE)
	@./tools/need.sh chromium chromium
	@./tools/need.sh unshare util-linux
	@./tools/need.sh script bsdutils
	cd ui && timeout 600 node tools/pictures.mjs

## bench-ui: the budgets of the web UI in Chromium; MINUTES=60 measures the heap for an hour, SIZE=1 adds 100,000 instances and a log of 1 GB
bench-ui: build $(NPM_DONE)
	@./tools/need.sh chromium chromium
	cd ui && node test/bench/budgets.mjs
	$(if $(SIZE),cd ui && node test/bench/size.mjs)
	cd ui && MINUTES=$(or $(MINUTES),10) node --test --test-timeout=7200000 test/truth/truth.test.mjs

## check: build, vet, linters, tidy modules, fresh generated files, known vulnerabilities
check: build
	$(GO) vet ./...
	$(GO) mod tidy -diff
	$(GO) tool $(TOOLS) staticcheck ./...
	@./tools/fresh.sh
	@./tools/vulncheck.sh

# A lane prints its time and its budget at the end; STRICT=1 fails a lane that exceeds it.
LANE := ./tools/lane.sh

# Packages whose tests start real processes, mount file systems or build the binary. Tests
# of other packages that start a process begin with TestReal.
REAL := /internal/(agent|bench|cli|e2e|jepsen|node/artifact|node/beneath|node/driver/.*|node/network|node/supervise.*|testbed.*)$$

## race: unit tests and end-to-end tests on the real binary, with the race detector
# What the properties draw is the same in every run; "make properties" draws more.
race: export RAPID_SEED ?= 1
race:
	@./tools/need.sh gcc gcc
	@./tools/need.sh ip iproute2
	@./tools/need.sh runc runc
	@./tools/need.sh /usr/lib/cni/bridge containernetworking-plugins
	@./tools/need.sh iptables iptables
	@./tools/need.sh dockerd docker.io
	@./tools/need.sh qemu-system-x86_64 qemu-system-x86 --no-install-recommends
	@$(LANE) race 900 $(GO) test -race -timeout 80m ./...

## unit: the tests that start no real process, without the race detector
unit: export RAPID_SEED ?= 1
unit:
	@$(LANE) unit 120 $(GO) test -timeout 10m -skip '^TestReal' $$($(GO) list ./... | grep -v -E '$(REAL)')

## e2e: the tests of the real binary and its command line, with the race detector
e2e:
	@./tools/need.sh gcc gcc
	@./tools/need.sh ip iproute2
	@./tools/need.sh runc runc
	@./tools/need.sh /usr/lib/cni/bridge containernetworking-plugins
	@./tools/need.sh iptables iptables
	@./tools/need.sh dockerd docker.io
	@$(LANE) e2e 300 $(GO) test -race -parallel 4 -timeout 25m ./internal/e2e ./internal/cli

## fuzz: every fuzz target for FUZZTIME each
FUZZTIME ?= 20s
fuzz:
	@./tools/fuzz.sh $(FUZZTIME)

## properties: every property, CHECKS times, on what no run has drawn before
CHECKS ?= 2000
properties:
	@./tools/properties.sh $(CHECKS)

## leaks: start and stop CYCLES instances of all kinds, and kill agents and others KILLS times; nothing may remain
CYCLES ?= 1000
KILLS  ?= 100
leaks:
	$(GO) test ./internal/e2e -run '^TestContainerCyclesLeakNothing$$' -count=1 -timeout 15m -v -cycles $(CYCLES)
	$(GO) test ./internal/e2e -run '^TestContainerKillsAtEachStep$$' -count=1 -timeout 15m -v -kills $(KILLS)

## jepsen: inject faults into a cluster for the time JEPSEN, and check the histories of its clients
JEPSEN ?= 3m
SEED   ?= 0
JEPSEN_FLAGS ?=
jepsen:
	@./tools/need.sh ip iproute2
	$(GO) test ./internal/jepsen -run '^TestFaults$$' -count=1 -timeout 0 -v -failpoints -duration $(JEPSEN) -seed $(SEED) -ledger $(CURDIR)/docs/reliability-ledger.jsonl $(JEPSEN_FLAGS)

## jepsen-planted: check that the harness finds planted defects, each in a binary of its own
PLANTED := $(GO) test ./internal/jepsen -run '^TestFaults$$' -count=1 -timeout 0 -v -servers 3 -seed 3
jepsen-planted:
	@./tools/need.sh ip iproute2
	$(PLANTED) -planted planted -rounds 10
	$(PLANTED) -planted planted_forward -rounds 5
	$(PLANTED) -planted planted_lock -rounds 5
	$(PLANTED) -planted planted_confirm -failpoints -faults hang-disk-leader -rounds 5
	$(PLANTED) -planted planted_sync -failpoints -faults power-loss-all -rounds 5
	$(GO) test -tags planted_recheck ./internal/server -run '^TestOldSnapshotPlacesNothingThatIsGone$$' -count=1 2>&1 | tee /dev/stderr | grep -q -e '--- FAIL: TestOldSnapshot'

## bench: measure what docs/benchmarks.md reports, and print it as a table
bench: build
	$(GO) run ./internal/bench -reeve bin/reeve

## generate: everything in the tree that is made from something else
generate:
	@./tools/generate.sh

## packages: a deb, an rpm, a tarball and a container image in dist/, for each of ARCHS
# "make packages ARCHS='amd64 arm64'" also builds for other processors. The same commit makes
# the same bytes.
ARCHS ?= $(shell $(GO) env GOARCH)
packages:
	@./tools/packages.sh dist $(ARCHS)

## packages-check: build the packages twice, compare them, and install the deb in a directory
packages-check:
	@./tools/packages-check.sh

clean:
	rm -rf bin dist
