# demo and test are all that a reader needs; check and bench are for those who change things.
# Every target works from a fresh clone on a Debian machine with Go.

GO      ?= go
BINARY  := bin/pathwise
VERSION := $(shell git describe --always --dirty 2>/dev/null || echo unknown)
FUZZ_SECONDS ?= 5

.PHONY: demo test check bench screenshots calibrate build packages fuzz clean

# The main job, on this machine alone, in about a minute. KEEP=1: then a mesh runs, with its pages, until Ctrl-C.
demo: build
	./$(BINARY) demo $(if $(KEEP),--keep) $(DEMO_FLAGS)

# Static, so that one file can be carried to any host.
build:
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w' -o $(BINARY) ./cmd/pathwise

# -count=1: what crosses a network is measured anew each time. Packages that measure run one at a time: labs and benchmarks
# share the processors with nothing else. What fails runs once more, and both outcomes are shown: these tests measure in real
# time, on machines that others may share. A data race is final.
TESTED   = $(GO) tool gotestsum --format pkgname --rerun-fails=1 --rerun-fails-max-failures=4 --rerun-fails-abort-on-data-race
MEASURES = /(agent|cmd/[a-z]+|lab|lab/(faults|gateway|scenario|topology|twin|wait)|probe|proto/[a-z0-9]+|sock|web/labs)$$

# A program with the race detector otherwise sleeps a second before it ends, and the tests start hundreds.
test: export GORACE = atexit_sleep_ms=50
test: packages
	$(GO) build -race ./...
	$(TESTED) --packages="$$($(GO) list ./... | grep -vE '$(MEASURES)' | tr '\n' ' ')" -- -race -count=1 -timeout 30m
	$(TESTED) --packages="$$($(GO) list ./... | grep -E '$(MEASURES)' | tr '\n' ' ')" -- -race -count=1 -p 1 -timeout 30m
	$(MAKE) fuzz

fuzz:
	@.ci/fuzz $(FUZZ_SECONDS)

check:
	@test -z "$$(gofmt -l .)" || { echo 'not formatted by gofmt:'; gofmt -l .; exit 1; }
	$(GO) mod tidy -diff
	$(GO) vet ./...
	$(GO) tool staticcheck ./...
	$(GO) test -count=1 -run '^TestImports' .

# Ratios against the peer in the same run.
bench: packages build
	$(GO) run ./cmd/bench

# Pictures of the pages, as the browser tests see them.
screenshots: packages
	@mkdir -p docs/pages
	PATHWISE_SCREENSHOTS=$(CURDIR)/docs/pages $(GO) test -count=1 -run '^Test(Screens|Now|DiagnoseNow|Hosts?|Configuration|LabIsAccessible)$$' ./web/browser

# Every finding in every setting, a path each: the figures in docs/diagnose.md. About half an hour.
calibrate: packages build
	PATHWISE_CALIBRATE=full $(GO) test -count=1 -v -timeout 90m -run '^TestCalibration' ./cmd/pathwise

# What the tests need beyond Go: installed where we may, named where we may not.
packages:
	@.ci/packages

clean:
	rm -rf bin
