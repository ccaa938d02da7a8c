// SPDX-License-Identifier: MIT
#include "recorder/armv7.h"

#include "pugmark/element.h"

unsigned rec_armv7_shift(uint8_t isa)
{
    return isa == PUG_ISA_A32 ? 2 : isa == PUG_ISA_JAZELLE ? 0 : 1;
}

static bool once_in(struct rec_armv7_freedom *freedom, uint32_t n)
{
    return n > 0 && rec_random_once_in(&freedom->random, n);
}

unsigned rec_armv7_length(struct rec_armv7_freedom *freedom, unsigned least)
{
    return once_in(freedom, freedom->longer_once_in)
               ? least + rec_random_below(&freedom->random, 6 - least)
               : least;
}

bool rec_armv7_sends_atoms(struct rec_armv7_freedom *freedom)
{
    return once_in(freedom, freedom->shorter_once_in);
}

void rec_armv7_a_sync(struct rec_bytes *out)
{
    static const uint8_t a_sync[] = {0, 0, 0, 0, 0, 0x80};
    rec_put_n(out, a_sync, sizeof(a_sync));
}

void rec_armv7_timestamp(struct rec_bytes *out, uint64_t value, uint64_t last, unsigned longest)
{
    uint64_t differ = value ^ last;
    for (unsigned n = 1; n < longest; n++, value >>= 7) {
        differ >>= 7;
        if (differ == 0) {
            rec_put(out, value & 0x7f);
            return;
        }
        rec_put(out, (uint8_t)(0x80 | (value & 0x7f)));
    }
    rec_put(out, (uint8_t)(longest == 9 ? value : value & 0x3f));
}
