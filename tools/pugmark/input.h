// SPDX-License-Identifier: MIT
/** @file The input of every subcommand: a snapshot, or one file of trace described by options. */
#ifndef PUGMARK_TOOL_INPUT_H
#define PUGMARK_TOOL_INPUT_H

#include "options.h"
#include "pugmark/pugmark.h"

#define INPUT_LIST 64

struct input_list {
    const char *items[INPUT_LIST];
    size_t count;
};

/** What the shared options say. */
struct input_options {
    const char *buffer;
    struct input_list sources;
    const char *protocol, *transport, *params;
    const char *core;
    struct input_list settings, elf, image;
    bool reference, quiet;
    uint64_t jobs; /**< threads; 0: as many as there are processors */
};

extern const struct option input_option_table[];
extern const size_t input_option_count;

#define INPUT_OPTIONS(options_)                                                                    \
    {                                                                                              \
        input_option_table, input_option_count, (options_)                                         \
    }

/** A source that the input describes. Settings and their strings belong to the input. */
struct input_source {
    char name[64]; /**< of the device, or the file */
    char core[64]; /**< of the traced core, or "" */
    const char *protocol;
    struct pug_settings settings;
};

struct input {
    const struct input_options *options;
    struct pug_log *log;
    struct pug_image *image;
    const char *protocol, *transport; /**< of a described file */
    struct pug_settings transport_settings;
    struct input_source *sources;
    size_t source_count;
    char *trace_path;
    const uint8_t *trace;
    uint64_t trace_size;
    struct pug_tree *tree;
    struct diagnosis *diagnosis; /**< private: of this tree; NULL where the reference is imitated */
    size_t piece; /**< bytes that a thread decodes at once; 0: as the library thinks */
    int failure;  /**< exit code where it cannot be opened, or gets no tree */
    bool fatal;
    uint64_t errors_before; /**< private: errors logged before this tree was made */
    bool sources_told;      /**< those that were asked for and are not there */
    uint8_t *trace_copy;    /**< private: the trace where it is not mapped */
    void *snapshot;         /**< private: of a snapshot input */
    void *raw;              /**< private: settings of a described file */
};

/** Open the input; false, having said why, if it cannot be read. */
bool input_open(struct input *input, const struct input_options *options, const char *operand);

/** A new tree with all (chosen) sources, in place of the one before; false, having said why. */
bool input_tree(struct input *input, bool decode);

/** The same, to decode program flow; false, having said so, if no source has any. */
bool input_flow_tree(struct input *input);

/** Was this source chosen with --source? All are where none was named. */
bool input_wants(const struct input *input, uint16_t id);

/**
 * Run the whole trace through the tree and end it, on as many threads as wanted; `go_on` may end it
 * early. Elements go to `parts`, or, where that is NULL, where the tree's go.
 */
void input_run(struct input *input, const struct pug_parts *parts, bool (*go_on)(void));

/** How many threads input_run() uses at most. */
unsigned input_jobs(const struct input *input);

/** Elements to a function on the caller's thread, for input_run() without parts. */
void input_on_elements(struct input *input, pug_elements_fn *function, void *context);

/** After the last run: say what is wrong with it, if something is. The exit code. */
int input_result(struct input *input);

void input_close(struct input *input);

#endif
