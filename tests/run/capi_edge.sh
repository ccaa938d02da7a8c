#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A client that calls every function of the OpenCSD C API with good and bad arguments, on our
# library and on the installed reference.
#   capi_edge.sh BIN SOURCE
# Our answers where the reference crashes are always compared with tests/capi/edge_undefined.txt.
# The rest needs OpenCSD 1.3.3 (Debian: libopencsd-dev): the client is then built against its
# headers, and what differs must be tests/capi/edge_differences.txt, explained in docs/opencsd.md.
set -u
bin=${1:?usage: capi_edge.sh BIN SOURCE} source=${2:?usage: capi_edge.sh BIN SOURCE}
lib=$(readlink -f "$bin/../lib") source=$(readlink -f "$source")
cc=${CC:-cc}
flags=(-O1 -w -std=gnu17)
grep -aq __asan_init "$lib/libopencsd_c_api.so.1" && flags+=(-fsanitize=address,undefined)
export ASAN_OPTIONS=detect_leaks=0
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
cd "$tmp" || exit 1

here=$source/tests/capi
"$cc" "${flags[@]}" -I "$source/compat/opencsd/include" -o ours "$here"/edge_*.c \
    -L "$lib" -Wl,-rpath,"$lib" -lopencsd_c_api || exit 1
if [ "$(./ours version)" = 1.3.3 ]; then
    echo "skipped: the library was built with PUG_OPENCSD_STRICT_13"
    exit 77
fi
./ours undefined >undefined.txt
diff "$here/edge_undefined.txt" undefined.txt || { echo "edge_undefined.txt: differs"; exit 1; }
./ours defined | grep -q '^crashed' && { echo "our library crashed"; exit 1; }

if ! echo '#include <opencsd/c_api/opencsd_c_api.h>
           int main(void) { return OCSD_VER_NUM != 0x10303; }' >version.c ||
    ! "$cc" -w -o version version.c -lopencsd_c_api 2>/dev/null || ! ./version; then
    echo "skipped: OpenCSD 1.3.3 is not installed, so there is nothing to compare with"
    exit 77
fi
"$cc" "${flags[@]}" -o theirs "$here"/edge_*.c -lopencsd_c_api || exit 1
env -u LD_LIBRARY_PATH ./theirs defined >reference.txt
LD_LIBRARY_PATH=$lib ./theirs defined >dropin.txt
diff -U0 reference.txt dropin.txt | grep -v '^\(---\|+++\|@@\)' >differences.txt
if ! diff "$here/edge_differences.txt" differences.txt; then
    echo "edge_differences.txt: the libraries differ in other ways than are listed"
    exit 1
fi
echo "$(grep -c '^[^=]' dropin.txt) lines of transcript, $(wc -l <differences.txt) of differences, all known"
