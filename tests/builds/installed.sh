#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# installed.sh [ROOT [TESTS]]: builds and tests in roots of their own below build/, to find what depends on what a machine happens to have:
#   plain    Debian with packages.txt alone
#   crowded  all of Debian's cross compilers and GDBs as well, and before Debian's in PATH a python3 that has no modules
# ROOT: one of them (both). TESTS: a regular expression (what depends on what is installed). As root; the mirror is the machine's. What is mounted is so in a
# namespace that ends with the command. The roots stay, for the next time. CCACHE_DIR, where it is set, is used inside.
set -eu
cd "$(dirname "$0")/../.."
[[ $(id -u) == 0 ]] || { echo "installed.sh: a root is made by debootstrap, which needs root"; exit 1; }
command -v debootstrap >/dev/null || { echo "installed.sh: debootstrap is missing; cmake/install-packages.sh packages.txt packages installs it"; exit 1; }
depends='^(run_(record.*|truth.*|wrong_perf|python|gdb.*|debug|live.*|disasm|cortex_m|mtb|profile_.*|coverage.*|source_text|escapes|examples|demo|report.*|book.*|install|names|convert|swo.*|rtos|calls|completions)|test_armv7_flow)$'
roots=$PWD/build/roots
step() { echo "installed: $*"; }

# inside ROOT COMMAND...: with /proc, which compilers and shells need, with pseudo terminals, and the machine's network.
inside() {
  local root=$1
  shift
  # shellcheck disable=SC2016
  unshare --mount --pid --fork --kill-child bash -c '
    mount -t proc proc "$0/proc"
    mount -t devpts -o newinstance,ptmxmode=0666 devpts "$0/dev/pts" && mount --bind "$0/dev/pts/ptmx" "$0/dev/ptmx"
    if [[ -n ${CCACHE_DIR-} ]]; then mkdir -p "$0/ccache" && mount --bind "$CCACHE_DIR" "$0/ccache"; fi
    root=$0
    exec chroot "$root" env -i PATH="${INSIDE_PATH-}/usr/sbin:/usr/bin:/sbin:/bin" HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
      ${CCACHE_DIR:+CCACHE_DIR=/ccache CCACHE_BASEDIR=/work CCACHE_NOHASHDIR=1 CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache} "$@"' "$root" "$@"
}
install() { # ROOT PACKAGE...
  local root=$1
  shift
  inside "$root" apt-get -qq -o Dpkg::Use-Pty=0 update >"$root.log" 2>&1 &&
    inside "$root" apt-get -qq -o Dpkg::Use-Pty=0 install -y --no-install-recommends "$@" >>"$root.log" 2>&1 ||
    { tail -n 30 "$root.log"; echo "installed.sh: $root: apt-get failed"; exit 1; }
}
# copied FROM TO: a root that is made of another one.
copied() {
  rm -rf "$2"
  cp -a "$1" "$2"
  rm -f "$2/complete"
}

clean() {
  [[ ! -e $roots/clean/complete ]] || return 0
  step "makes a root with debootstrap"
  # shellcheck disable=SC1091
  . /etc/os-release
  rm -rf "$roots/clean"
  mkdir -p "$roots"
  debootstrap --variant=minbase "$VERSION_CODENAME" "$roots/clean" "$(cmake/debian-mirror.sh)" >"$roots/clean.log" 2>&1 || { tail "$roots/clean.log"; exit 1; }
  touch "$roots/clean/complete"
}
plain() {
  cmp -s packages.txt "$roots/plain/complete" && return 0
  clean
  step "installs packages.txt into a root"
  copied "$roots/clean" "$roots/plain"
  cp /etc/resolv.conf "$roots/plain/etc/"
  printf '127.0.0.1 localhost\n' >"$roots/plain/etc/hosts"
  apt-config dump | grep -i '^Acquire::[a-z]*::Proxy' >"$roots/plain/etc/apt/apt.conf.d/machine" || true
  # shellcheck disable=SC2046
  install "$roots/plain" $(sed -n '1,/^# ---- other hosts/s/^\([a-z0-9+.-]*\):.*/\1/p' packages.txt) git ca-certificates ${CCACHE_DIR:+ccache}
  cp packages.txt "$roots/plain/complete"
}
crowded() {
  cmp -s packages.txt "$roots/crowded/complete" && return 0
  plain
  step "installs cross compilers into another"
  copied "$roots/plain" "$roots/crowded"
  install "$roots/crowded" gcc-aarch64-linux-gnu g++-aarch64-linux-gnu gcc-arm-linux-gnueabihf g++-arm-linux-gnueabihf gcc-arm-linux-gnueabi \
    gcc-riscv64-linux-gnu g++-riscv64-linux-gnu gcc-arm-none-eabi libnewlib-arm-none-eabi gcc-riscv64-unknown-elf gcc-i686-linux-gnu \
    gcc-s390x-linux-gnu gcc-powerpc64le-linux-gnu gcc-mips-linux-gnu gdb gdb-multiarch clang-16 python3-venv
  inside "$roots/crowded" python3 -m venv --without-pip /opt/bare
  cp packages.txt "$roots/crowded/complete"
}

tested() { # ROOT TESTS
  local root=$roots/$1 tree=/work/tested/tree
  rm -rf "$root$tree/tests" "$root/work/tested/shared"
  mkdir -p "$root$tree"
  git ls-files -z | tar -cf - --null -T - | tar -xf - -C "$root$tree"
  [[ $1 == plain ]] || export INSIDE_PATH=/opt/bare/bin:
  step "$1: builds"
  inside "$root" sh -c "cd $tree && git init -q . && cmake --preset release && cmake --build --preset release -- --quiet" >"$root.log" 2>&1 ||
    { tail -n 30 "$root.log"; echo "installed.sh: $1: does not build"; return 1; }
  step "$1: tests"
  inside "$root" sh -c "cd $tree && ctest --preset release -R '$2'"
}

bad=0
for root in ${1:-plain crowded}; do
  "$root"
  (tested "$root" "${2:-$depends}") || bad=1
done
exit $bad
