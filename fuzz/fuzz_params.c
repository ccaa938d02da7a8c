// SPDX-License-Identifier: MIT
/** @file Any bytes as a parameter file, which may name itself. */
#include "driver.h"
#include "files.h"
#include "pugmark/advanced/params.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pug_params *params = NULL;
    fuzz_write("a.params", data, size);
    if (pug_params_load(fuzz_place("a.params"), NULL, &params) == PUG_OK)
        pug_params_free(params);
    return 0;
}

size_t fuzz_begin(uint8_t *data, size_t room, struct rec_random *random)
{
    static const char text[] =
        "# a comment\nprotocol = E-Trace\nxlen=64\niaddress_width_p = 64\n"
        "source 1 = a.params\nsource 0x12 = b.params\nframed = 1\n"
        "payload_params = a.params\nTRCIDR0 = 0x28000ea1\nelf = a.elf@0x10\n";
    const size_t size = sizeof(text) - 1 < room ? sizeof(text) - 1 : room;
    memcpy(data, text, size);
    return size - rec_random_below(random, 20);
}
