// SPDX-License-Identifier: MIT
/** @file A capture decoded to slices. */
#ifndef PUG_TIMELINE_DECODE_H
#define PUG_TIMELINE_DECODE_H

#include "rtos/stage.h"
#include "timeline/slices.h"

/** How a capture is decoded. */
struct slices_decode {
    struct thread_stage_options stage; /**< the kernel, and the threads that are wanted */
    const struct pug_capture_selection *selection;
    unsigned threads;
    bool (*progress)(void *context, uint64_t done);
    void *progress_context;
};

/** The clocks in the decoded trace. */
struct slices_heard {
    bool time, cycles;
};

/** Decodes what is selected; `heard` may be NULL. */
enum pug_status pug_slices_decode(struct slices *slices, const struct slices_decode *how,
                                  struct slices_heard *heard, struct pug_capture_result *result);

#endif
