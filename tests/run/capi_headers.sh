#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The headers of the OpenCSD C API, and the names in the library.
#   capi_headers.sh BIN SOURCE
# Each header compiles on its own as C99 and as C++11, in both layouts; test_capi_abi.c and
# test_capi_values.c and test_capi_packets.c hold for the layout of 1.3.3, and there also for the installed reference's headers, which have it; the library
# exports what the header declares and nothing else.
set -eu
bin=${1:?usage: capi_headers.sh BIN SOURCE} source=$(readlink -f "${2:?usage: capi_headers.sh BIN SOURCE}")
lib=$(readlink -f "$bin/../lib")
cc=${CC:-cc} cxx=${CXX:-c++}
include=$source/compat/opencsd/include
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"

cd "$include"
for header in $(find opencsd -name '*.h'); do
    echo "#include <$header>" | tee "$tmp/one.c" >"$tmp/one.cpp"
    for layout in -UOCSD_STRICT_1_3 -DOCSD_STRICT_1_3; do
        "$cc" -std=c99 -Wall -Wextra -Werror $layout -I . -fsyntax-only "$tmp/one.c"
        command -v "$cxx" >/dev/null || continue # a build needs none
        "$cxx" -std=c++11 -Wall -Wextra -Werror $layout -I . -fsyntax-only "$tmp/one.cpp"
    done
done
echo "$(find opencsd -name '*.h' | wc -l) headers compile as C99, and with a C++ compiler as C++11"

abi() {
    for part in abi values packets; do
        "$cc" -std=gnu17 -w -DOCSD_STRICT_1_3 -I "$source/tests" "$@" -o "$tmp/abi" "$source/tests/unit/test_capi_$part.c" -lcmocka
        "$tmp/abi" >/dev/null 2>"$tmp/abi.txt" || { cat "$tmp/abi.txt"; exit 1; }
    done
}
abi -I "$include"
echo "the layout of 1.3.3 holds"
if echo '#include <opencsd/ocsd_if_version.h>
         int x[OCSD_VER_NUM == 0x10303 ? 1 : -1];' | "$cc" -fsyntax-only -xc - 2>/dev/null; then
    abi
    echo "and is that of the installed headers"
fi

sed -n 's/^OCSD_C_API.* \**\(ocsd_[a-z_]*\)(.*/\1/p' opencsd/c_api/opencsd_c_api.h | sort >"$tmp/declared"
nm -D --defined-only "$lib/libopencsd_c_api.so.1" | awk '{ print $3 }' | sort >"$tmp/exported"
diff "$tmp/declared" "$tmp/exported"
[ "$(wc -l <"$tmp/exported")" = 34 ]
objdump -p "$lib/libopencsd_c_api.so.1" | grep -q 'SONAME *libopencsd_c_api.so.1$'
objdump -p "$lib/libopencsd_c_api.so.1" | grep -q 'Version definitions' && exit 1
echo "the 34 functions are exported, without versions"
