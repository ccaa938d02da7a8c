// SPDX-License-Identifier: MIT
#include <stddef.h>

#ifdef PUG_WITH_ZSTD

#include "files/zstd.h"

#ifdef PUG_STATIC

bool pug_zstd_load(struct pug_zstd *zstd)
{
    *zstd = (struct pug_zstd){.create = ZSTD_createDStream,
                              .begin = ZSTD_initDStream,
                              .unpack = ZSTD_decompressStream,
                              .end = ZSTD_freeDStream,
                              .is_error = ZSTD_isError,
                              .error_name = ZSTD_getErrorName};
    return true;
}

void pug_zstd_unload(struct pug_zstd *zstd)
{
    (void)zstd;
}

#else

#include <dlfcn.h>

bool pug_zstd_load(struct pug_zstd *zstd)
{
    static const char *const names[] = {"libzstd.so.1", "libzstd.1.dylib"};
    *zstd = (struct pug_zstd){0};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !zstd->library; i++)
        zstd->library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!zstd->library)
        return false;
    *(void **)&zstd->create = dlsym(zstd->library, "ZSTD_createDStream");
    *(void **)&zstd->begin = dlsym(zstd->library, "ZSTD_initDStream");
    *(void **)&zstd->unpack = dlsym(zstd->library, "ZSTD_decompressStream");
    *(void **)&zstd->end = dlsym(zstd->library, "ZSTD_freeDStream");
    *(void **)&zstd->is_error = dlsym(zstd->library, "ZSTD_isError");
    *(void **)&zstd->error_name = dlsym(zstd->library, "ZSTD_getErrorName");
    if (zstd->create && zstd->begin && zstd->unpack && zstd->end && zstd->is_error &&
        zstd->error_name)
        return true;
    pug_zstd_unload(zstd);
    return false;
}

void pug_zstd_unload(struct pug_zstd *zstd)
{
    if (zstd->library)
        dlclose(zstd->library);
    *zstd = (struct pug_zstd){0};
}

#endif

#endif
