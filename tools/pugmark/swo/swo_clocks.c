// SPDX-License-Identifier: MIT
#include "swo_clocks.h"

#include "capture/marks.h"

#include <stdlib.h>

static struct pug_swo_clock *find(struct swo_clocks *clocks, struct pug_capture *capture,
                                  uint32_t buffer, uint16_t source)
{
    for (size_t i = 0; i < clocks->count; i++)
        if (clocks->items[i].source == source && clocks->items[i].buffer == buffer)
            return &clocks->items[i].clock;
    struct swo_clock_of *grown =
        realloc(clocks->items, (clocks->count + 1) * sizeof(*clocks->items));
    if (!grown)
        return NULL;
    clocks->items = grown;
    grown[clocks->count] =
        (struct swo_clock_of){.buffer = buffer,
                              .source = source,
                              .clock = pug_capture_swo_clock(capture, buffer, source)};
    return &grown[clocks->count++].clock;
}

bool swo_clocks_take(struct swo_clocks *clocks, struct pug_capture *capture,
                     const struct pug_origin *where, const struct pug_element *element,
                     uint64_t *time)
{
    bool restarts;
    if (!pug_swo_is_timestamp(element))
        return false;
    struct pug_swo_clock *clock = find(clocks, capture, where->buffer, element->source);
    return clock && pug_swo_clock_take(clock, element, time, &restarts);
}

void swo_clocks_free(struct swo_clocks *clocks)
{
    free(clocks->items);
    *clocks = (struct swo_clocks){0};
}
