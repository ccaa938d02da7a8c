// SPDX-License-Identifier: MIT
/** @file The times that timestamps of a capture's ITM sources tell, each by its own clock. */
#ifndef PUGMARK_TOOL_SWO_CLOCKS_H
#define PUGMARK_TOOL_SWO_CLOCKS_H

#include "pugmark/capture.h"
#include "swo/clock.h"

struct swo_clock_of {
    uint32_t buffer;
    uint16_t source;
    struct pug_swo_clock clock;
};

struct swo_clocks {
    struct swo_clock_of *items;
    size_t count;
};

/** The time of a timestamp element, in ticks. False: it has none, or there is no memory. */
bool swo_clocks_take(struct swo_clocks *clocks, struct pug_capture *capture,
                     const struct pug_origin *where, const struct pug_element *element,
                     uint64_t *time);
void swo_clocks_free(struct swo_clocks *clocks);

#endif
