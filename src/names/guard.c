// SPDX-License-Identifier: MIT
/**
 * @file libdw where memory ends: it calls a handler, which must not return and by default ends the
 * process; or says that there is nothing, and leaves why in errno; or, where a unit's table of
 * abbreviations is made, does not look (elfutils up to 0.191 at least). Of that there is enough
 * before it is asked.
 */
#include "names/names.h"

#ifdef PUG_WITH_DWARF

#include "base/grow.h"
#include "names/dwarf.h"

#include <errno.h>
#include <setjmp.h>
#include <stdlib.h>

#define ROOM ((size_t)256 << 10)

static _Thread_local jmp_buf *outside;

__attribute__((noreturn)) static void leave(void)
{
    if (outside)
        longjmp(*outside, 1);
    abort();
}

bool pug_names_guard_room(void)
{
    const bool room = pug_has_room(ROOM);
    if (!room)
        errno = ENOMEM;
    return room;
}

void pug_names_guard_also(Dwarf *dwarf)
{
    if (dwarf)
        (void)dwarf_new_oom_handler(dwarf, leave);
}

bool pug_names_guard(Dwarf *dwarf, bool (*work)(void *context), void *context)
{
    jmp_buf here;
    if (!pug_names_guard_room())
        return false;
    pug_names_guard_also(dwarf);
    outside = &here;
    errno = 0;
    const bool good = setjmp(here) == 0 && work(context) && errno != ENOMEM;
    outside = NULL;
    return good;
}

#endif
