#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# release.sh [--tagged]: list what RELEASING.md asks for and this tree does not have. With --tagged: the tag, and the files to publish
# with their sums. Ends with 0 when nothing is missing.
set -u
cd "$(dirname "$0")/.." || exit 1
tagged=${1-} missing=0
miss() { echo "missing: $*"; missing=1; }
version=$(cmake/version.sh)
short=${version%.*}
echo "release $version"

# 1 to 3: the version, and the words about it.
bash tests/run/version.sh "$PWD/build/release/bin" "$PWD" || miss "step 1 or 2: one version everywhere (tests/run/version.sh)"
grep -qE "^## \[$version\] - [0-9]{4}-[0-9]{2}-[0-9]{2}$" CHANGELOG.md || miss "step 3: '## [$version] - DATE' in CHANGELOG.md"
lines=$(awk -v head="## [$version]" 'index($0, head) == 1 { on = 1; next } /^## / { on = 0 } on && NF' CHANGELOG.md | wc -l)
((lines > 0 && lines <= 70)) || miss "step 3: a short section of the change log ($lines lines)"
[[ -s docs/release-$version.md ]] || miss "step 3: docs/release-$version.md"

# 4: the interface. What is exported is listed, in both lists.
if [[ -e build/release/lib/libpugmark.so ]]; then
  nm -D --defined-only build/release/lib/libpugmark.so | awk '{sub(/@.*/, "", $3); print $3}' | LC_ALL=C sort -u >build/exported
  LC_ALL=C sort tests/abi/symbols.txt | cmp -s - build/exported || miss "step 4: tests/abi/symbols.txt is not what is exported (make abi)"
  sed -n 's/^ \(.*\)@Base .*/\1/p' "debian/libpugmark$short.symbols" | LC_ALL=C sort | cmp -s - build/exported ||
    miss "step 4: debian/libpugmark$short.symbols is not what is exported (make abi)"
  rm -f build/exported
else
  miss "step 5: build/release (make build)"
fi

# 5: files of this commit.
[[ -z $(git status --porcelain) ]] || miss "step 6: a clean tree (git status)"
tree=$(git rev-parse 'HEAD^{tree}')
[[ $(cat build/packages/new/built 2>/dev/null) == "$tree" ]] || miss "step 5: packages of this commit (make packages-test)"
files=(build/dist/pugmark-"$version".tar.gz build/dist/pugmark.wrap build/dist/pugmark-"$version"-{linux-x86_64.tar.gz,linux-aarch64.tar.gz,windows-x86_64.zip})
for file in "${files[@]}"; do [[ -s $file ]] || miss "step 5: $file (make dist, make dist-static)"; done
if [[ -s ${files[0]} ]]; then
  again=$(mktemp -d)
  cmake/dist.sh "$again" >/dev/null && cmp -s "${files[0]}" "$again/${files[0]##*/}" || miss "step 5: ${files[0]} is not of this commit (make dist)"
  rm -rf "$again"
fi

if [[ $tagged == --tagged ]]; then
  [[ $(git rev-parse -q --verify "v$version^{commit}") == $(git rev-parse HEAD) ]] || miss "step 6: tag v$version on this commit"
  [[ $(git cat-file -t "v$version" 2>/dev/null) == tag ]] || miss "step 6: an annotated tag (git tag -a)"
  ((missing)) || sha256sum "${files[@]}" build/packages/new/*.deb
else
  ! git rev-parse -q --verify "v$version" >/dev/null || [[ $(git rev-parse "v$version^{commit}") == $(git rev-parse HEAD) ]] ||
    miss "step 1: another version: v$version is a tag of an earlier commit"
fi
((missing)) || echo "nothing is missing"
exit $missing
