// SPDX-License-Identifier: MIT
/** @file Paths of other simulators: their logs, and plain lists of addresses. */
#ifndef PUG_RECORDER_CONVERT_H
#define PUG_RECORDER_CONVERT_H

#include "pugmark/advanced/image.h"
#include "recorder/path.h"

#include <stdio.h>

enum rec_convert_form {
    REC_CONVERT_SPIKE,     /**< the commit log of Spike: spike --log-commits */
    REC_CONVERT_QEMU,      /**< qemu -d exec,nochain */
    REC_CONVERT_ADDRESSES, /**< hexadecimal, one a line; T32: with bit 0 set */
};

struct rec_convert {
    enum rec_convert_form form;
    uint8_t family;                /**< enum rec_path_family */
    const struct pug_image *image; /**< the program; Spike's log says itself what ran */
    bool t32_only;                 /**< the core has no A32: bit 0 of addresses does not count */
    bool data;                     /**< accesses are wanted, where the log has them: Spike's */
    FILE *file;
    const char *first; /**< a line of it that was read already */
    uint64_t lines;    /**< out: read; in: those in front of that */
    char why[160];     /**< out: what is wrong, "" if nothing is */
};

/** Which form is this line of? Of Spike's, which family, too. False: it does not say. */
bool rec_convert_guess(const char *line, struct rec_convert *convert);

/** Read it all. False: `why` says what is wrong, or `take` wants no more ("" then). */
bool rec_convert_run(struct rec_convert *convert, rec_path_take_fn *take, void *context);

#endif
