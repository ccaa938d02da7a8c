// SPDX-License-Identifier: MIT
/** @file For tests of the code map: A64 in words, a map of an image, and what it holds. */
#ifndef PUG_TESTS_SUPPORT_CODE_MAP_H
#define PUG_TESTS_SUPPORT_CODE_MAP_H

#include "image/codemap.h"
#include "support/words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define NOP    LE32(0xd503201fu)
#define B(n)   LE32(0x14000000u | ((uint32_t)(n)&0x3ffffff))      /* n words on */
#define BL(n)  LE32(0x94000000u | ((uint32_t)(n)&0x3ffffff))      /* … and link */
#define CBZ(n) LE32(0x34000000u | ((uint32_t)((n)&0x7ffff) << 5)) /* … if w0 is 0 */
#define RET    LE32(0xd65f03c0u)

static const struct pug_place anywhere = {.space = PUG_SPACE_ANY};

static inline struct pug_codemap *new_map(const struct pug_image *image)
{
    struct pug_codemap *map =
        pug_codemap_new(&(struct pug_codemap_config){.image = image, .source = 0x10});
    assert_non_null(map);
    return map;
}

static inline struct pug_codemap_stats stats_of(const struct pug_codemap *map)
{
    struct pug_codemap_stats stats;
    pug_codemap_get_stats(map, &stats);
    return stats;
}

static inline void add(struct pug_image *image, const struct pug_place *place, uint64_t address,
                       const void *bytes, size_t size)
{
    assert_int_equal(pug_image_add_buffer(image, place, address, bytes, size), PUG_OK);
}

#endif
