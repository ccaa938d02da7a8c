// SPDX-License-Identifier: MIT
/**
 * @file Trace folders of the CMSIS-Toolbox: NAME.ctrace-run.yml says how trace was set up, and
 * NAME.SWO.raw, NAME.TB.raw beside it are what was captured.
 */
#ifndef PUG_CTRACE_CTRACE_H
#define PUG_CTRACE_CTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PUG_CTRACE_PROCESSORS  16u
#define PUG_CTRACE_COMPARATORS 4u

/** How one processor was set up; what the file does not say is 0. */
struct pug_ctrace_processor {
    char name[64];
    uint64_t clock; /**< cycles in a second */
    bool has_prescaler;
    uint8_t prescaler; /**< of local timestamps, as ITM_TCR has it: 0 to 3 for 1, 4, 16, 64 */
    bool has_stream;
    uint8_t stream; /**< its ITM's id in frames */
    bool traced;    /**< something of it was traced */
    uint8_t comparator_set;
    uint32_t comparators[PUG_CTRACE_COMPARATORS];
};

/** What the file says of the channel's bytes. */
enum pug_ctrace_framing { PUG_CTRACE_UNTOLD, PUG_CTRACE_FRAMES, PUG_CTRACE_NO_FRAMES };

struct pug_ctrace {
    enum pug_ctrace_framing framing;
    struct pug_ctrace_processor processors[PUG_CTRACE_PROCESSORS];
    size_t count;
};

/** Read what the file says. False: `why`. */
bool pug_ctrace_read(const char *path, struct pug_ctrace *ctrace, char *why, size_t size);

/* ---- content.c ---- */

/** Is it memory of a Micro Trace Buffer, and no frames? */
bool pug_ctrace_is_mtb(const uint8_t *bytes, size_t size);
/** Is what came of a pin in CoreSight frames, and no bare packets of an ITM? */
bool pug_ctrace_is_framed(const uint8_t *bytes, size_t size);

/* ---- yaml.c ---- */

/** What is at a place, "run/list/-/name"; at the begin of an item of a list `value` is NULL. */
typedef void pug_yaml_fn(void *context, const char *place, const char *value);

/** Each value of a document; aliases are not followed. False: `why`. */
bool pug_yaml_read(const char *text, size_t length, pug_yaml_fn *take, void *context, char *why,
                   size_t size);

#endif
