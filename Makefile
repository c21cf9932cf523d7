# demo and test are all that a reader needs; check and bench are for those who change things.
# Every target works from a fresh clone on a Debian machine with Go.

GO      ?= go
BINARY  := bin/pathwise
VERSION := $(shell git describe --always --dirty 2>/dev/null || echo unknown)
FUZZ_SECONDS ?= 5
ACCURACY_DIR ?= accuracy
ACCURACY_TIME ?= 25m

.PHONY: demo install test test-long check bench screenshots calibrate accuracy truth-table casebook build packages fuzz clean

# The main job, on this machine alone, in about a minute. KEEP=1: then a mesh runs, with its pages, until Ctrl-C.
demo: build
	./$(BINARY) demo $(if $(KEEP),--keep) $(DEMO_FLAGS)

# Static, so that one file can be carried to any host.
build:
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w' -o $(BINARY) ./cmd/pathwise

# What was built, its manual pages, and completion for bash, zsh and fish, below PREFIX; DESTDIR is put before all of it, for packages. It
# builds nothing, since it mostly runs as root.
PREFIX  ?= /usr/local
DESTDIR ?=
install:
	@test -x $(BINARY) || { echo "make install: there is no $(BINARY); want make build before"; exit 1; }
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/bash-completion/completions \
	  $(DESTDIR)$(PREFIX)/share/zsh/site-functions $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
	install -m 755 $(BINARY) $(DESTDIR)$(PREFIX)/bin/pathwise
	./$(BINARY) man $(DESTDIR)$(PREFIX)/share/man/man1
	./$(BINARY) completion bash > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/pathwise
	./$(BINARY) completion zsh > $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_pathwise
	./$(BINARY) completion fish > $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/pathwise.fish

# All tests, and the known inputs of every fuzz target; ends with a list of what passed only when it ran again.
test: packages
	@.ci/test

# The long forms of tests that are short in `make test`: some hours. Says what held.
test-long: packages
	@.ci/test-long

# New inputs for every fuzz target, for some seconds each; `make test` tries the known ones again.
fuzz:
	@.ci/fuzz $(FUZZ_SECONDS)

check:
	@test -z "$$(gofmt -l .)" || { echo 'not formatted by gofmt:'; gofmt -l .; exit 1; }
	$(GO) mod tidy -diff
	$(GO) -C bench mod tidy -diff
	$(GO) vet ./...
	$(GO) -C bench vet ./...
	$(GO) tool staticcheck ./...
	cd bench && "$$($(GO) -C .. tool -n staticcheck)" ./...
	$(GO) test -count=1 -run '^TestImports' .

# Ratios against the peer in the same run.
bench: packages build
	$(GO) -C bench run .

# Pictures of the pages, as the browser tests see them.
screenshots: packages
	@mkdir -p docs/pages
	PATHWISE_SCREENSHOTS=$(CURDIR)/docs/pages $(GO) test -count=1 -run '^Test(Screens|WhatIsWrong|Now|DiagnoseNow|Hosts?|Configuration|LabIsAccessible|Paper)$$' ./web/browser

# Findings in every setting, a path each: the figures in docs/diagnose.md, and those of which the name alone is held. About forty minutes.
calibrate: packages build
	PATHWISE_CALIBRATE=full $(GO) test -count=1 -v -timeout 90m -run '^TestCalibration' ./cmd/pathwise

# How often a diagnosis is right, over faults and healthy paths drawn by strata: docs/accuracy.md. Plays for ACCURACY_TIME, then judges all
# that was played; run it again to go on where it ended. All of it takes some ten hours.
accuracy: packages build
	./$(BINARY) lab accuracy play --dir $(ACCURACY_DIR) --for $(ACCURACY_TIME) $(ACCURACY_FLAGS)
	./$(BINARY) lab accuracy judge --dir $(ACCURACY_DIR)

# Every fault of the lab's library and every healthy path beside it, played and diagnosed once: the table of truth and verdict. About
# half an hour.
truth-table: packages build
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && \
	{ ./$(BINARY) lab record --dir "$$dir"; ./$(BINARY) lab record --dir "$$dir" diagnose/testdata/*/*.yaml; \
	PATHWISE_TEST_RECORDINGS="$$dir" $(GO) test -count=1 -v -run '^TestFaultsReplayed$$' ./diagnose; }

# The stories of the literature, played here: their figures beside ours. CASES="a b" plays these alone. About twenty-five minutes.
casebook: build
	@./$(BINARY) lab casebook $(CASES)

# What the tests need beyond Go: installed where we may, named where we may not.
packages:
	@.ci/packages

clean:
	rm -rf bin
