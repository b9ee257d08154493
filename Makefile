# Makefile - the way in. meson and ninja do the work; this names the things people want to do.
#
#   make            build build/mcpool            make run     build it and see it work
#   make test       all tests, and lint           make check   TSan, analyzers, longer runs
#   make bench      figures beside other programs make fuzz    FUZZ_SECONDS each (60)
#   make install    PREFIX=/usr/local, DESTDIR    make format  lay out the code
#   make dist       a source tarball that builds without Node
#   make lint       quick checks of the tree      make soak    crash loops in real time
#   make test-clients   agents that people use, against the hub; brings them here (900 MB)
#   make clean

PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
export FUZZ_SECONDS PREFIX

all: build

# A source tarball has the bundled page, so that it builds without Node.
PAGE := $(if $(wildcard dist/page_data.c),,setup-js)

build: setup-build $(PAGE)
	@tools/configure build gcc
	@ninja -C build --quiet

run: setup-build $(PAGE) build
	@tools/first-run

test: setup-build setup-test setup-lint setup-js
	@tools/run-tests

test-clients: setup-build setup-js build
	@tools/run-clients

check: setup-build setup-test setup-lint setup-js setup-fuzz setup-check lint
	@tools/run-checks

bench: setup-build setup-js setup-bench build
	@build/bench/bench_json
	@build/bench/bench_client
	@build/bench/bench_pool
	@build/bench/bench_http
	@build/bench/bench_hub build/mcpool
	@sh bench/tools.sh

soak: setup-build setup-js build
	@sh tests/pool/soak.sh
	@SESSIONS=1000 CALLS=200 SHOW=1 sh tests/hub/test_crowd.sh

fuzz: setup-build setup-js setup-fuzz
	@tools/run-fuzzers $(FUZZERS)

install: setup-build $(PAGE)
	@tools/install

dist: setup-build setup-js
	@tools/make-tarball

format: setup-lint
	@clang-format -i $$(tools/list-code)

lint: setup-lint
	@tools/lint

clean:
	@rm -rf build build-*

# Installs what is missing for that purpose, by package name; silent when all is there.
setup-%:
	@tools/setup $*

# Setting up comes before building, whatever -j says; ninja uses all cores by itself.
.NOTPARALLEL:
.PHONY: all build run test test-clients check bench soak fuzz install dist format lint clean
