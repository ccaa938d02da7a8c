# SPDX-License-Identifier: MIT
# make demo: decode the bundled capture and show the result.  make test: all tests.  make bench: speed.
# All install what is missing (Debian), build, and run.  make test-builds: the other ways to build.
# make truth: billions of instructions of programs and machines recorded, decoded and compared; hours. Goes on where it was ended.
# make gdb-truth SEED=1: 10,000 random moves in GDB for each instruction set, each where the path says; half an hour.
# make fuzz MINUTES=10: all doors for hostile input with libFuzzer; make fuzz-corpus keeps what that reached.
# make mutants: eighty small defects planted in decoders, each of which recordings must find.
# make dist: the source tarball, the same bytes for the same commit.  make dist-check: builds, tests and installs it without git.
# make dist-static: portable programs for Linux and Windows.  make packages-test: Debian packages, tried in a clean root; needs root.
# make test-compilers: builds without a warning with many compilers.  RELEASING.md says when.
# make live-test: a gigabyte through live inputs, with memory that stays flat; minutes of silence.
# make test-installed: tests in roots with nothing but packages.txt, and with all cross compilers; needs root.
# make doors: bounds taken out of what reads files of strangers, each of which a test or a fuzz target must find.
.PHONY: dist dist-check dist-static packages-test test-compilers test-installed demo docs abi truth gdb-truth mutants doors fuzz fuzz-corpus million coverage test test-release test-sanitize test-thread test-bare test-builds test-hosts test-hosts-core test-i386 test-armhf test-s390x test-windows build bench pictures format check-format tidy tidy-changes deps clean live-test

# Where page faults are dear, as on many virtual machines, memory in large pages that stays is a third of what tests take.
export GLIBC_TUNABLES ?= glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold=1073741824:glibc.malloc.trim_threshold=2147483648:glibc.malloc.top_pad=4194304
# Tests write thousands of small files; a disk takes a quarter of their time. (Recordings of hours, as truth makes, stay there.)
test-release test-sanitize test-thread test-bare: export TMPDIR ?= $(shell cmake/memory-folder.sh)
# What was freed is kept away from who comes next up to 8 MB, not 256, of which each page is a fault.
export ASAN_OPTIONS ?= quarantine_size_mb=8:clear_shadow_mmap_threshold=100000000

demo:
	@mkdir -p build
	@cmake/install-packages.sh packages.txt demo
	@cmake --preset demo >build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
	@cmake --build --preset demo -- --quiet
	@cmake/demo.sh build/demo

build: deps
	@cmake --preset release >build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
	@cmake --build --preset release -- --quiet

test: check-format test-release test-sanitize test-thread

test-release: build
	ctest --preset release -j2

# What else must build: with the other compiler, nothing that can be switched off and no C++ compiler.
test-builds: test-bare

test-bare: SURROUNDINGS = PATH=$$(cmake/path-without.sh build/path '*++*')

test-sanitize test-thread test-bare: test-%: deps
	@$(SURROUNDINGS) cmake --preset $* >build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
	@$(SURROUNDINGS) cmake --build --preset $* -- --quiet
	$(SURROUNDINGS) ctest --preset $* -j2

# On 32-bit, big-endian and Windows hosts, under emulators: an hour or so; and a small share of it.
test-hosts: build
	cmake/hosts/test.sh i386 armhf s390x windows

test-hosts-core: build
	cmake/hosts/test.sh --core i386 s390x windows

test-i386 test-armhf test-s390x test-windows: test-%: build
	cmake/hosts/test.sh $*

# For releases (RELEASING.md): the source tarball, portable programs, Debian packages, and all compilers. Each takes long.
dist:
	@cmake/dist.sh build/dist
	@cmake/dist-wrap.sh build/dist

dist-check: build
	@cmake/install-packages.sh packages.txt packages
	@tests/packages/tarball.sh

dist-static: build
	@cmake/install-packages.sh packages.txt packages
	@cmake/dist-static.sh

packages-test:
	@cmake/install-packages.sh packages.txt packages
	@tests/packages/run.sh

COMPILERS ?=
test-compilers: build
	@cmake/install-packages.sh packages.txt compilers
	@tests/builds/compilers.sh $(COMPILERS)

# ROOT=plain or crowded, TESTS=an expression: one of them, and these tests alone.
ROOT ?=
test-installed:
	@cmake/install-packages.sh packages.txt packages
	@tests/builds/installed.sh "$(ROOT)" "$(TESTS)"

truth: build
	@tests/truth/debian.sh build/debian || echo "without Debian's programs for other processors"
	@work=$$(mktemp -d) && TRUTH_REPORT=build/truth.report TRUTH_DEBIAN=$(CURDIR)/build/debian tests/truth/truth.sh build/release/bin $$work 470 2; code=$$?; \
	tests/truth/machines.sh build/release/bin $$work/machines 100000000 2 || [ $$? -eq 77 ] || code=1; \
	tests/truth/linux.sh build/release/bin $$work/linux build/debian/linux 1000000000 || [ $$? -eq 77 ] || code=1; rm -rf $$work; exit $$code

SEED ?= 1
gdb-truth: build
	@PUG_TEST_ALL=1 GDB_SEED=$(SEED) nice bash tests/run/gdb.sh build/release/bin .
	@PUG_TEST_ALL=1 GDB_SEED=$(SEED) nice bash tests/run/gdb_steps.sh build/release/bin .

live-test: build
	@PUG_LIVE_SCALE=50 bash tests/run/live_memory.sh build/release/bin .
	@PUG_LIVE_SILENCE=120 bash tests/run/live_faults.sh build/release/bin .

mutants: build
	@work=$$(mktemp -d) && tests/mutants/record.sh build/release/bin . $$work && tests/mutants/mutants.pl . $$work; code=$$?; rm -rf $$work; exit $$code

doors:
	@work=$$(mktemp -d) && tests/mutants/doors.pl . $$work; code=$$?; rm -rf $$work; exit $$code

bench: build
	@bench/table build/release/bin | tee build/bench.md

# All fuzz targets with libFuzzer (clang), for so many minutes in all; fuzz-corpus keeps what that reached.
MINUTES ?= 10
fuzz: build
	@cmake --preset fuzz >build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
	@cmake --build --preset fuzz -- --quiet
	@fuzz/run.sh $$(($(MINUTES) * 60))

# What the corpora reach, by source file.
coverage: deps
	@cmake --preset coverage >build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
	@cmake --build --preset coverage -- --quiet
	@fuzz/coverage.sh

# The commands themselves on damaged inputs, with sanitizers: hours. Goes on where it was ended.
COUNT ?= 1000000
million: build
	@cmake --preset sanitize >build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
	@cmake --build --preset sanitize --target million_pugmark million_trc_pkt_lister -- --quiet
	@fuzz/million.sh $(COUNT)

fuzz-corpus:
	@fuzz/minimise.sh

# The book in build/docs/book, and the documentation of the public headers in build/docs/html. Neither has warnings.
docs: build
	@mkdir -p build/docs
	cmake/book.sh build/release build/docs/book
	doxygen docs/Doxyfile
	@echo the book: build/docs/book/index.html, the headers: build/docs/html/index.html

# Write down the binary interface as it is: for a release, or where a change is meant.
abi: build
	bash tests/run/abi.sh build/release/bin . --update

# A picture of each view of the report, for who changes it: needs chromium and node.
pictures: build
	@mkdir -p build/pictures
	PUG_PICTURES=$(CURDIR)/build/pictures bash tests/run/report.sh $(CURDIR)/build/release/bin $(CURDIR)
	build/release/bin/pugmark report examples/crash --source-dir examples/crash -o build/pictures/crash.html
	node tests/report/pictures.mjs chromium $(CURDIR)/build/pictures/crash.html $(CURDIR)/build/pictures/views --keep
	@echo build/pictures has the pictures, build/pictures/views those that the book shows: keep them in tests/report/pictures

format:
	git ls-files '*.c' '*.h' | xargs clang-format -i

check-format: deps
	git ls-files '*.c' '*.h' | xargs -P2 -n40 clang-format --dry-run --Werror

# Programs of captures are not ours to build here.
TIDY = xargs -r -P2 -n4 clang-tidy -p build/release --quiet
TIDIED = -- '*.c' ':!examples/*/*.c' ':!tests/truth' ':!tests/capi' ':!tests/rtos' ':!tests/coverage' ':!tests/run'

tidy: build
	git ls-files $(TIDIED) | $(TIDY)

# Only what changed since the last release, or, before there is a tag, since the commit that .ci/since names.
tidy-changes: build
	git diff --name-only --diff-filter=d "$$(git describe --tags --abbrev=0 2>/dev/null || cat .ci/since)" $(TIDIED) | $(TIDY)

deps:
	@mkdir -p build
	@cmake/install-packages.sh packages.txt

clean:
	rm -rf build
