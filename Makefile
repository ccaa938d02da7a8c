# SPDX-License-Identifier: MIT
# make demo: decode the bundled capture and show the result.  make test: all tests.  make bench: speed.
# Both install what is missing (Debian), build, and run.
.PHONY: demo abi test test-release test-sanitize test-thread build bench format check-format tidy deps clean

demo: build
	@cmake/demo.sh build/release

build: deps
	@cmake --preset release >build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
	@cmake --build --preset release -- --quiet

test: check-format test-release test-sanitize test-thread

test-release: build
	ctest --preset release -j2

test-sanitize: deps
	@cmake --preset sanitize >build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
	@cmake --build --preset sanitize -- --quiet
	ctest --preset sanitize -j2

test-thread: deps
	@cmake --preset thread >build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
	@cmake --build --preset thread -- --quiet
	ctest --preset thread

bench: build
	@for b in build/release/bin/*_bench; do echo "== $$(basename $$b)"; $$b || exit 1; done

# Write down the binary interface as it is: for a release, or where a change is meant.
abi: build
	bash tests/run/abi.sh build/release/bin . --update

format:
	git ls-files '*.c' '*.h' | xargs clang-format -i

check-format: deps
	git ls-files '*.c' '*.h' | xargs clang-format --dry-run --Werror

tidy: build
	git ls-files '*.c' ':!examples/demo/program.c' | xargs -P2 -n4 clang-tidy -p build/release --quiet

deps:
	@mkdir -p build
	@cmake/install-packages.sh packages.txt

clean:
	rm -rf build
