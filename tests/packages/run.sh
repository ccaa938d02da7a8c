#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# run.sh: build the Debian packages twice, compare them byte by byte, and try them in a clean root below build/ (as root; nothing is
# mounted, the mirror is the machine's): lintian, upgrade from a test version, the examples (debian/tests), perf beside the drop-in,
# remove, purge, nothing left. PACKAGES_ONLY="lintian root" runs these parts alone with the packages that are there.
set -eu
cd "$(dirname "$0")/../.."
[[ $(id -u) == 0 ]] || { echo "packages-test: a root is made by debootstrap, which needs root"; exit 1; }
for tool in dpkg-buildpackage lintian debootstrap dh doxygen; do
  command -v "$tool" >/dev/null || { echo "packages-test: $tool is missing; cmake/install-packages.sh packages.txt packages installs it"; exit 1; }
done
parts=${PACKAGES_ONLY-build lintian root}
version=$(cmake/version.sh)
new=build/packages/new again=build/packages/again old=build/packages/old
has() { [[ " $parts " == *" $1 "* ]]; }
step() { echo "packages-test: $*"; }

if has build; then
  tree=$(git write-tree)
  for folder in $new $again $old; do
    [[ ! -e $folder/built || $(<"$folder/built") != "$tree" ]] || continue
    step "builds $folder"
    rm -rf "$folder"
    debian/build.sh "$folder" $([[ $folder != "$old" ]] || echo "$version~test1")
    echo "$tree" >"$folder/built"
  done
  for deb in "$new"/*.deb; do
    cmp "$deb" "$again/${deb##*/}" || { echo "two builds differ"; exit 1; }
  done
  step "two builds have the same bytes: $(ls "$new"/*.deb | wc -l) packages"
fi

if has lintian; then
  lintian --no-tag-display-limit --allow-root --fail-on error,warning "$new"/*.changes || { echo "lintian has something to say"; exit 1; }
  step "lintian has no errors and warnings"
fi

has root || exit 0
clean=$PWD/build/roots/clean root=$PWD/build/roots/packages
# shellcheck disable=SC1091
. /etc/os-release
if [[ ! -e $clean/complete ]]; then
  step "makes a root with debootstrap"
  rm -rf "$clean"
  mkdir -p "${clean%/*}"
  debootstrap --variant=minbase "$VERSION_CODENAME" "$clean" "$(cmake/debian-mirror.sh)" >"$clean.log" 2>&1 || { tail "$clean.log"; exit 1; }
  touch "$clean/complete"
fi
rm -rf "$root"
cp -a "$clean" "$root"
trap 'rm -rf "$root"' EXIT
cp /etc/resolv.conf "$root/etc/"
apt-config dump | grep -i '^Acquire::[a-z]*::Proxy' >"$root/etc/apt/apt.conf.d/machine" || true
mkdir "$root/debs"
cp -r "$new" "$root/debs/new"
cp -r "$old" "$root/debs/old"
rm -rf "$root"/debs/*/pugmark-*/
inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
get() { inside apt-get -qq -o Dpkg::Use-Pty=0 "$@" >"$root/log" 2>&1 || { tail -n 30 "$root/log"; echo "packages-test: apt-get $* failed"; exit 1; }; }
names=$(for deb in "$new"/*.deb; do dpkg-deb -f "$deb" Package; done | grep -v dbgsym)
# Packages of a folder, without debug symbols.
debs() { (cd "$root" && ls debs/"$1"/*.deb | grep -v dbgsym | sed 's|^|/|'); }

step "installs what the packages and their tests depend on"
get update
needs=$(sed -n 's/^Depends://p' debian/tests/control | tr ',' '\n' | sort -u | grep -vxF "$(sed 's/^/ /' <<<"$names")")
# shellcheck disable=SC2046,SC2086
get install -y --no-install-recommends $(debs new) $needs
# shellcheck disable=SC2086
get purge -y $names

# Files of the system, but for what apt and dpkg write down of their work.
everything() {
  (cd "$root" && find . -xdev \( -path ./var/lib/dpkg -o -path ./var/lib/apt -o -path ./var/cache -o -path ./var/log -o -path ./debs -o -path ./log \
    -o -path ./tmp -o -path ./var/lib/python -o -name __pycache__ \) -prune -o -print | sort)
}
everything >"$root/../before"
perf_link=$(inside readlink -f /usr/lib/*/libopencsd_c_api.so.1)

step "installs $version~test1"
# shellcheck disable=SC2046
get install -y --no-install-recommends $(debs old)
inside dpkg-query -W -f '${Version}\n' pugmark | grep -qx "$version~test1"
step "upgrades to $version"
# shellcheck disable=SC2046
get install -y --no-install-recommends $(debs new)
inside dpkg-query -W -f '${Version}\n' $names | sort -u | grep -qx "$version" || { echo "not upgraded"; exit 1; }

for test in $(sed -n 's/^Tests: *//p' debian/tests/control); do
  cp "debian/tests/$test" "$root/tmp/test"
  mkdir -p "$root/tmp/work"
  inside env AUTOPKGTEST_TMP=/tmp/work sh -c 'cd /tmp && /tmp/test' >"$root/log" 2>&1 || { tail -n 30 "$root/log"; echo "packages-test: debian/tests/$test failed"; exit 1; }
  step "debian/tests/$test passes"
  rm -rf "$root/tmp/work" "$root/tmp/test"
done
[[ $(inside readlink -f /usr/lib/*/libopencsd_c_api.so.1) == "$perf_link" ]] || { echo "OpenCSD's library is another"; exit 1; }

step "removes and purges"
# shellcheck disable=SC2086
get remove -y $names
# Those without files of configuration are gone, and apt has no source of them; dpkg takes their names all the same.
# shellcheck disable=SC2086
inside dpkg --purge $names >"$root/log" 2>&1 || { cat "$root/log"; exit 1; }
everything >"$root/../after"
diff "$root/../before" "$root/../after" || { echo "packages-test: purging leaves files"; exit 1; }
inside perf --version >/dev/null || { echo "packages-test: perf does not start any more"; exit 1; }
step "nothing is left, and perf starts"
