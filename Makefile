# What there is to do with Seine. `make` alone lists it.

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

# The demo site comes from testweb; a crawl of your own needs seine only.
.PHONY: crawl
crawl: ## crawl SEED=URL into OUT, or a bundled demo site without SEED
	@[ -x $(BIN)/seine ] || echo "compiling seine: some minutes the first time, seconds later"
	@scripts/compile ./cmd/seine $(if $(SEED),,./cmd/testweb)
	@if [ -n "$(SEED)" ]; then $(BIN)/seine crawl "$(SEED)" --delay $(DELAY) --data "$(DATA)" --out "$(OUT)"; \
	else scripts/demo; fi

.PHONY: build
build: ## build all commands into bin/
	CGO_ENABLED=0 go build -trimpath -pgo=internal/release/cpu.pgo -o $(BIN)/ ./cmd/...

# What has no goroutines has no races; the detector makes the hostile pages of
# these take minutes.
SEQUENTIAL := /internal/(page/(article|charset|css|document|feed|htmlpage|language|mediatype|pii|simhash|sitemap|structured|xmlstream)|base/(dates|jsontext|regexbound)|ops/items|output/(ageencrypt|format|warc)|run/specfile|schedule/traps|testing/(doclinks|htmltree|samplesites))(/|$$)|/examples/extractor/calendar$$

# Of these the detector sees a part: what takes minutes under it, and computes in one
# goroutine or as others of its table do, runs without it alone.
SLOW_UNDER_RACE := ./internal/page/extract ./internal/testing/testweb ./internal/frontier/state

# The packages that take longest begin first, so that the others run beside them.
# make lint vets all, by golangci-lint; here it would be done again, with all that is imported, for the race detector.
.PHONY: test
test: sites node versitygw postgres warcio readers promtool systemd shells chromium vueapp axe openapiclient ## run all tests with the race detector, end-to-end included
	CGO_ENABLED=1 go test -vet off -race -p 3 -timeout 15m $$(go list ./pkg/stages/... ./... | grep -vE '/e2e$$|$(SEQUENTIAL)')
	@$(MAKE) --no-print-directory -j 2 test-e2e test-alone

# Processes wait more than they compute, so that the rest of the tests has the processors meanwhile. The commands are built: the
# test cache does not see them.
.PHONY: test-e2e
test-e2e:
	go test -vet off -count 1 -parallel 5 -timeout 25m ./internal/testing/e2e

.PHONY: test-alone
test-alone:
	go test -vet off -timeout 15m $$(go list ./... | grep -E '$(SEQUENTIAL)') $(SLOW_UNDER_RACE)
	go test -vet off -count 1 -timeout 15m -run '^Test(Crash|LargeBody|DatabaseDiskFull)' ./pkg/stages/writer # takes minutes under the detector
	cd bench && go test -vet off ./...
	cd deploy/helm/check && go test -vet off .

.PHONY: check
check: ## check what has changed since the last commit, or since BASE: vet, lint, tests of it and of what imports it
	@GOLANGCI_LINT="$(GOLANGCI_LINT)" scripts/check

.PHONY: sites
sites: ## bring the real documentation that tests and benchmarks crawl
	@scripts/sites

.PHONY: node
node: ## see to it that there is Node.js, for the example of a stage in JavaScript
	@scripts/node

.PHONY: versitygw
versitygw: ## build the S3 server that the writer is tested with
	@scripts/versitygw

.PHONY: postgres
postgres: ## see to it that there is a PostgreSQL server, for the tests of databases
	@scripts/postgres

.PHONY: warcio
warcio: node ## install warcio.js, which tests read archives with
	@scripts/warcio

.PHONY: readers
readers: node ## see to it that there is what reads the formats beside Go
	@scripts/readers

.PHONY: promtool
promtool: ## bring what checks the rules and the dashboard of Prometheus
	@scripts/promtool

.PHONY: systemd
systemd: ## see to it that there is what checks the units of systemd
	@scripts/systemd

.PHONY: shells
shells: ## see to it that there are the shells that completion is made for
	@scripts/shells

.PHONY: chromium
chromium: ## see to it that there is Chromium, for the tests of rendering and of the pages of seine serve
	@scripts/chromium

.PHONY: vueapp
vueapp: node ## build the application made with Vue, which tests crawl
	@scripts/vueapp

.PHONY: axe
axe: node ## install axe-core, which the tests check pages with
	@scripts/axe

.PHONY: editor
editor: node ## bundle CodeMirror, of the versions in internal/serve/pages/codemirror, for the editor of specs
	@scripts/editor

.PHONY: openapiclient
openapiclient: node ## install what makes a client of the HTTP API, which a test crawls by
	@scripts/openapiclient

.PHONY: docs
docs: ## write the parts of the documentation that follow from the code; tests fail if they are not up to date
	go test -vet off -run '^TestGenerated' ./internal/testing/generated ./internal/testing/e2e ./pkg/messages ./pkg/crawlspec ./internal/frontier/state -update-docs

.PHONY: pictures
pictures: chromium ## make the pictures of the pages of seine serve, in docs/pages
	go test -count 1 -timeout 15m -run TestPictures ./internal/serve/pages -pictures "$(CURDIR)/docs/pages"

.PHONY: lint
lint: ## check format, and golangci-lint with go vet in it (built from its module at first)
	@test -z "$$(gofmt -l .)" || { echo "not formatted:"; gofmt -l .; exit 1; }
	$(GOLANGCI_LINT) run ./...
	cd bench && $(GOLANGCI_LINT) run --no-config --default none --enable govet ./...

.PHONY: render
render: chromium ## test rendering at length: pages that take a core for long, a browser without a guard, 1,000 pages
	SEINE_RENDER_ALL=1 SEINE_LEAK_PAGES=1000 go test -count 1 -timeout 60m -v ./internal/render ./internal/testing/scriptweb

.PHONY: fuzz
fuzz: ## fuzz everything that reads foreign bytes, FUZZTIME each
	@scripts/fuzz $(or $(FUZZTIME),20s)

.PHONY: bench
bench: sites ## measure beside wget2, Colly, Scrapy, Crawlee and a bare client; ARGS="--dir … --index …"
	cd bench && go run . $(ARGS)

.PHONY: profile
profile: sites ## take the CPU profile anew that builds are optimised by
	@scripts/profile

.PHONY: soak
soak: versitygw $(if $(findstring -renderers,$(ARGS)),chromium) ## crawl for DURATION (10m) while everything breaks at random, and check the contract; SEED=N repeats
	cd bench && go build -o bin/soak ./soak && exec bin/soak -duration $(or $(DURATION),10m) $(if $(SEED),-seed $(SEED)) $(ARGS)

.PHONY: hosts
hosts: versitygw ## run Seine on several machines (network namespaces), and break the network and the machines; ARGS=-measure compares throughput; needs root and Linux
	cd bench && go build -o bin/hosts ./hosts && exec bin/hosts $(if $(SEED),-seed $(SEED)) $(ARGS)

.PHONY: chart
chart: ## check the Helm chart at length: with the types of KEDA, kustomize and kube-score, too, which take minutes to build
	cd deploy/helm/check && go vet ./... && go test -vet off -count 1 ./...
	@scripts/kubescore

.PHONY: kubernetes
kubernetes: ## run the chart on a real API server, with its controllers, KEDA, and nodes that run processes; builds them at first, for half an hour
	@SEINE_KUBERNETES=$$(scripts/kubernetes) && export SEINE_KUBERNETES && cd deploy/helm/check && go test -count 1 -timeout 40m -v ./cluster

.PHONY: kubelet
kubelet: ## run the chart on a real kubelet with containerd; as root
	@scripts/kubelet-test

.PHONY: shop
shop: postgres readers ## crawl a shop of 5,000 products on 30 days into each kind of output, with kill -9, and compare what changed with the truth
	E2E_SHOP=5000x30 go test -vet off -count 1 -timeout 4h -v -run '^TestDailyShop' ./internal/testing/e2e

.PHONY: rotation
rotation: versitygw ## replace certificates, keys, users and credentials in mid-crawl
	E2E_ROTATION=1 go test -count 1 -timeout 15m -v -run '^TestRotation' ./internal/testing/e2e

.PHONY: test-cluster
test-cluster: chart kubernetes kubelet compose rotation hosts cross ## run what takes long of the tests of deployment: chart, Kubernetes, compose, rotation, several machines, other systems

.PHONY: images
images: ## build the container images, on stand-ins for their bases where no registry is reached
	@scripts/images

.PHONY: quickstart
quickstart: ## type the commands of deploy/README.md from nothing to a record, and time them
	@scripts/quickstart-test

.PHONY: compose
compose: ## run docker-compose.yml for real: scale it, kill each container, take it down and up again; and the locked one; in ten minutes
	@scripts/quickstart-test
	@scripts/compose-test
	@scripts/compose-locked-test

.PHONY: cross
cross: ## see to it that all commands build for Linux, macOS and Windows, and what of the tests does
	@scripts/cross

.PHONY: release
release: ## make archives, packages, lists of modules and checksums in dist/, of VERSION; send nothing
	@VERSION="$(VERSION)" scripts/release

.PHONY: clean
clean: ## remove what was built and brought
	rm -rf $(BIN) .cache bench/bin dist
