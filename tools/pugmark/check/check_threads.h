// SPDX-License-Identifier: MIT
/** @file Checking where a kernel's threads run: its threads become streams of their own. */
#ifndef PUGMARK_TOOL_CHECK_THREADS_H
#define PUGMARK_TOOL_CHECK_THREADS_H

#include "input/capture_options.h"
#include "pugmark/check.h"

enum check_threads {
    CHECK_THREADS_NONE,  /**< there is no kernel: nothing was decoded */
    CHECK_THREADS_DONE,  /**< decoded; *status is how that ended */
    CHECK_THREADS_WRONG, /**< what was said of the kernel is wrong, which was said */
};

/** Behind pug_check_begin(): decodes an input for it, if the program has a kernel. */
enum check_threads check_threads_decode(struct pug_check *check, struct input *input,
                                        struct pug_names *names, const char *rtos,
                                        enum pug_status *status, struct pug_capture_result *result);

#endif
