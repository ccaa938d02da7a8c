// SPDX-License-Identifier: MIT
/** @file A capture, opened as the shared options say. */
#ifndef PUGMARK_TOOL_CAPTURE_INPUT_H
#define PUGMARK_TOOL_CAPTURE_INPUT_H

#include "capture_options.h"
#include "set_options.h"

struct capture_input {
    const struct input_options *options;
    struct pug_capture *capture;
    struct pug_log *log;
    uint16_t sources[INPUT_LIST]; /**< chosen with --source */
    size_t source_count;
    uint64_t errors_before;                              /**< private: logged before it was open */
    struct set_options set;                              /**< private */
    struct pug_capture_program programs[2 * INPUT_LIST]; /**< private: paths are copies */
    size_t program_count;
    struct capture_roots roots; /**< private */
};

/** False, having said why: it cannot be opened. */
bool capture_input_open(struct capture_input *input, const struct input_options *options,
                        const char *operand);
/** The same, with options that say where text is; NULL: there are none. */
bool capture_input_open_with(struct capture_input *input, const struct input_options *options,
                             const struct capture_options *more, const char *operand);
void capture_input_close(struct capture_input *input);

/** The exit code: how decoding ended, and what was logged meanwhile. */
int capture_input_result(const struct capture_input *input, enum pug_status status);

#endif
