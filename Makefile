# Tasks for users and developers of Seine. `make` without a target lists them.

SEED ?=
DELAY ?= 1s
OUT ?= ./seine-out
DATA ?= ./seine-data
VERSION ?=
BIN := bin
GOLANGCI_LINT := go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 10

# The demo site needs testweb; a crawl of another site only needs seine.
.PHONY: crawl
crawl: ## crawl SEED=URL into OUT, or a bundled demo site without SEED
	@[ -x $(BIN)/seine ] || echo "compiling seine: some minutes at first, seconds later"
	@scripts/compile ./cmd/seine $(if $(SEED),,./cmd/testweb)
	@if [ -n "$(SEED)" ]; then $(BIN)/seine crawl "$(SEED)" --delay $(DELAY) --data "$(DATA)" --out "$(OUT)"; \
	else scripts/demo; fi

.PHONY: build
build: ## build all commands into bin/
	CGO_ENABLED=0 go build -trimpath -pgo=internal/release/cpu.pgo -o $(BIN)/ ./cmd/...

# Packages without goroutines: they have no races, and under the race detector their
# tests of hostile pages take minutes.
SEQUENTIAL := /internal/(page/(article|charset|css|document|feed|htmlpage|language|mediatype|pii|simhash|sitemap|structured|xmlstream)|base/(dates|jsontext|regexbound)|ops/items|output/(ageencrypt|format|warc)|run/specfile|schedule/traps|testing/(doclinks|htmltree|samplesites))(/|$$)|/examples/extractor/calendar$$

# Packages whose slowest tests (each in one goroutine, or like another case of its table)
# take minutes under the race detector. These tests run only without it, the rest also with it.
SLOW_UNDER_RACE := ./internal/page/extract ./internal/testing/testweb ./internal/frontier/state

# The slowest packages start first, so that the others run in parallel with them. -vet off: make lint runs go vet for all
# packages; go test would repeat it on a race build of every import.
.PHONY: test
test: sites node versitygw postgres warcio readers promtool systemd shells chromium vueapp axe openapiclient ## run all tests with the race detector, end-to-end included
	CGO_ENABLED=1 go test -vet off -race -p 3 -timeout 15m $$(go list ./pkg/stages/... ./... | grep -vE '/e2e$$|$(SEQUENTIAL)')
	@$(MAKE) --no-print-directory -j 2 test-e2e test-alone

# End-to-end tests wait longer than they compute and leave the processors to the other tests. -count 1: the test cache
# does not detect changes of the commands that they run.
.PHONY: test-e2e
test-e2e:
	go test -vet off -count 1 -parallel 5 -timeout 25m ./internal/testing/e2e

.PHONY: test-alone
test-alone:
	go test -vet off -timeout 15m $$(go list ./... | grep -E '$(SEQUENTIAL)') $(SLOW_UNDER_RACE)
	go test -vet off -count 1 -timeout 15m -run '^Test(Crash|LargeBody|DatabaseDiskFull)' ./pkg/stages/writer # take minutes under the detector
	cd bench && go test -vet off ./...
	cd deploy/helm/check && go test -vet off .

.PHONY: check
check: ## check the changes since the last commit, or since BASE: vet, lint, tests of the changed packages and their importers
	@GOLANGCI_LINT="$(GOLANGCI_LINT)" scripts/check

.PHONY: sites
sites: ## download the documentation that tests and benchmarks crawl
	@scripts/sites

.PHONY: node
node: ## install Node.js, for the example of a stage in JavaScript
	@scripts/node

.PHONY: versitygw
versitygw: ## build the S3 server of the writer's tests
	@scripts/versitygw

.PHONY: postgres
postgres: ## install a PostgreSQL server, for the tests of databases
	@scripts/postgres

.PHONY: warcio
warcio: node ## install warcio.js, with which tests read archives
	@scripts/warcio

.PHONY: readers
readers: node ## install third-party readers of the output formats, for tests
	@scripts/readers

.PHONY: promtool
promtool: ## download promtool, which checks the Prometheus rules and the dashboard
	@scripts/promtool

.PHONY: systemd
systemd: ## install systemd-analyze, which checks the systemd units
	@scripts/systemd

.PHONY: shells
shells: ## install zsh and fish, for the tests of shell completion
	@scripts/shells

.PHONY: chromium
chromium: ## install Chromium, for the tests of rendering and of the pages of seine serve
	@scripts/chromium

.PHONY: vueapp
vueapp: node ## build the Vue application that tests crawl
	@scripts/vueapp

.PHONY: axe
axe: node ## install axe-core, with which tests check the accessibility of pages
	@scripts/axe

.PHONY: editor
editor: node ## bundle CodeMirror for the spec editor, in the versions of internal/serve/pages/codemirror
	@scripts/editor

.PHONY: openapiclient
openapiclient: node ## install the client generator of the HTTP API's tests
	@scripts/openapiclient

.PHONY: docs
docs: ## regenerate the parts of the documentation that come from the code; tests fail if they are out of date
	go test -vet off -run '^TestGenerated' ./internal/testing/generated ./internal/testing/e2e ./pkg/messages ./pkg/crawlspec ./internal/frontier/state -update-docs

.PHONY: pictures
pictures: chromium ## take the pictures of the pages of seine serve, in docs/pages
	go test -count 1 -timeout 15m -run TestPictures ./internal/serve/pages -pictures "$(CURDIR)/docs/pages"

.PHONY: lint
lint: ## check the format and run golangci-lint, which includes go vet (the first run builds it from its module)
	@test -z "$$(gofmt -l .)" || { echo "not formatted:"; gofmt -l .; exit 1; }
	$(GOLANGCI_LINT) run ./...
	cd bench && $(GOLANGCI_LINT) run --no-config --default none --enable govet ./...

.PHONY: render
render: chromium ## run the long tests of rendering: pages that use a core for long, a browser without a guard, 1,000 pages
	SEINE_RENDER_ALL=1 SEINE_LEAK_PAGES=1000 go test -count 1 -timeout 60m -v ./internal/render ./internal/testing/scriptweb

.PHONY: fuzz
fuzz: ## fuzz all parsers of external data, FUZZTIME (20s) each
	@scripts/fuzz $(or $(FUZZTIME),20s)

.PHONY: bench
bench: sites ## compare the speed with wget2, Colly, Scrapy, Crawlee and a bare client; ARGS="--dir … --index …"
	cd bench && go run . $(ARGS)

.PHONY: profile
profile: sites ## update the CPU profile that optimises builds
	@scripts/profile

.PHONY: soak
soak: versitygw $(if $(findstring -renderers,$(ARGS)),chromium) ## crawl for DURATION (10m) with random faults and check the contract; SEED=N repeats a run
	cd bench && go build -o bin/soak ./soak && exec bin/soak -duration $(or $(DURATION),10m) $(if $(SEED),-seed $(SEED)) $(ARGS)

.PHONY: hosts
hosts: versitygw ## run Seine on several simulated machines (network namespaces) with faults of network and machines; ARGS=-measure compares throughput; needs root and Linux
	cd bench && go build -o bin/hosts ./hosts && exec bin/hosts $(if $(SEED),-seed $(SEED)) $(ARGS)

.PHONY: chart
chart: ## run the long checks of the Helm chart, with KEDA's types, kustomize and kube-score; the first run builds them for minutes
	cd deploy/helm/check && go vet ./... && go test -vet off -count 1 ./...
	@scripts/kubescore

.PHONY: kubernetes
kubernetes: ## run the chart on a real API server with its controllers, KEDA, and nodes that run processes; the first run builds them for half an hour
	@SEINE_KUBERNETES=$$(scripts/kubernetes) && export SEINE_KUBERNETES && cd deploy/helm/check && go test -count 1 -timeout 40m -v ./cluster

.PHONY: kubelet
kubelet: ## run the chart on a real kubelet with containerd; needs root
	@scripts/kubelet-test

.PHONY: shop
shop: postgres readers ## crawl a shop of 5,000 products on 30 days into each kind of output, with kill -9, and compare the recorded changes with the real ones
	E2E_SHOP=5000x30 go test -vet off -count 1 -timeout 4h -v -run '^TestDailyShop' ./internal/testing/e2e

.PHONY: rotation
rotation: versitygw ## test the replacement of certificates, keys, users and credentials in mid-crawl
	E2E_ROTATION=1 go test -count 1 -timeout 15m -v -run '^TestRotation' ./internal/testing/e2e

.PHONY: test-cluster
test-cluster: chart kubernetes kubelet compose rotation hosts cross ## run the long tests of deployment: chart, Kubernetes, compose, rotation, several machines, other systems

.PHONY: images
images: ## build the container images, on stand-ins for their base images if no registry is accessible
	@scripts/images

.PHONY: quickstart
quickstart: ## run and time the commands of deploy/README.md from scratch to the first record
	@scripts/quickstart-test

.PHONY: compose
compose: ## run docker-compose.yml and test scaling, a kill of each container, down and up, and the locked variant; takes ten minutes
	@scripts/quickstart-test
	@scripts/compose-test
	@scripts/compose-locked-test

.PHONY: cross
cross: ## check that the commands and most tests build for Linux, macOS and Windows
	@scripts/cross

.PHONY: release
release: ## build the archives, packages, module lists and checksums of VERSION in dist/; publishes nothing
	@VERSION="$(VERSION)" scripts/release

.PHONY: clean
clean: ## remove built and downloaded files
	rm -rf $(BIN) .cache bench/bin dist
