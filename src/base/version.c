// SPDX-License-Identifier: MIT
/** @file What this library is: its version, and what it was built with. */
#include "pugmark/pugmark.h"

const char *pug_version(void)
{
    return PUG_VERSION;
}

/* Each ends with a blank, but for the last one, which is always there. */
const char *pug_features(void)
{
    return "elf "
#ifdef PUG_WITH_DWARF
           "dwarf "
#endif
#ifdef PUG_WITH_LLVM
           "llvm "
#endif
#ifdef PUG_WITH_ZSTD
           "zstd "
#endif
#ifdef PUG_WITH_ZLIB
           "zlib "
#endif
#ifdef PUG_WITH_LZMA
           "lzma "
#endif
#ifdef PUG_WITH_YAML
           "yaml "
#endif
#ifdef PUG_WITH_ZIP
           "zip "
#endif
#ifdef PUG_WITH_CAPSTONE
           "capstone "
#endif
#ifdef PUG_WITH_MPI
           "mpi "
#endif
           "threads";
}
