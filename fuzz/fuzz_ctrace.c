// SPDX-License-Identifier: MIT
/** @file Any bytes as the NAME.ctrace-run.yml of a trace folder. */
#include "ctrace/ctrace.h"
#include "driver.h"
#include "files.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pug_ctrace ctrace;
    char why[160] = "";
    fuzz_write("a.ctrace-run.yml", data, size);
    if (!pug_ctrace_read(fuzz_place("a.ctrace-run.yml"), &ctrace, why, sizeof(why)) && !why[0])
        abort();
    (void)pug_ctrace_is_mtb(data, size);
    return 0;
}

size_t fuzz_begin(uint8_t *data, size_t room, struct rec_random *random)
{
    static const char text[] =
        "ctrace-run:\n  ctrace-setup:\n  - pname: M7\n    timestamps: {clock: 100, itm-prescaler: "
        "4}\n  - &a {pname: M4, data: [1, {b: c}]}\n  ctrace-refs:\n  - pname: M7\n    stream: 5\n"
        "    regs:\n    - {name: DWT_COMP0, value: 0x20}\n    - name: ITM_TCR\n      mask: 0x300\n"
        "      value: 0x100\n  - *a\n";
    const size_t size = sizeof(text) - 1 < room ? sizeof(text) - 1 : room;
    memcpy(data, text, size);
    return size - rec_random_below(random, 20);
}
