// SPDX-License-Identifier: MIT
/** @file Profiles as inputs of a command: of captures, which are counted, and of files. */
#ifndef PUGMARK_TOOL_PROFILE_INPUT_H
#define PUGMARK_TOOL_PROFILE_INPUT_H

#include "input/capture_options.h"

/** What to add up. */
struct profile_input {
    const struct input_options *input;
    struct pug_names *names;
    bool stacks;      /**< follow calls */
    const char *rtos; /**< the kernel whose threads are tasks, as --rtos says it; or NULL */
};

/**
 * Add an input to a profile: a saved profile, or a capture, which is decoded. Returns an exit code,
 * having said what is wrong.
 */
int profile_add(const struct profile_input *what, const char *operand, struct pug_profile *profile);

/** Adds a capture that is open. */
int profile_add_opened(const struct profile_input *what, struct input *opened,
                       struct pug_profile *profile);

/** After such a code: is there something to go on with? */
bool profile_goes_on(int code);

/**
 * Add one input after the other, as long as it makes sense; the last exit code that says something.
 * Where inputs are spread over processes one that cannot be read is left out, and the code is the
 * worst.
 */
int profile_add_all(const struct profile_input *what, char **operands, struct pug_profile *profile);

/** Is it a profile that was saved? */
bool profile_is_saved(const char *path);

/** Say that an input has samples and what was added before counts, or the other way round. */
void profile_say_mixed(const char *path);

/** Say on standard error what is not in the counts, but for --quiet. */
void profile_say_notes(const struct pug_profile *profile, bool quiet);

/** Read a saved profile; NULL, having said why. */
struct pug_profile *profile_load(const char *path);

/** Write a profile to a file, or "-"; an exit code, having said what went wrong. */
int profile_save(struct pug_profile *profile, const char *path);

/** Write the branch stacks of captures to a file (NULL: standard output); an exit code. */
int profile_brstack(const struct input_options *input, char **operands, const char *path);

/** The first of the objects that an export is of that is in none of the profiles, or NULL. */
const char *profile_unknown_object(struct pug_profile *const *profiles, size_t count,
                                   const struct pug_export_options *options);

/** pug_export() or pug_export_coverage(). */
typedef enum pug_status profile_export_fn(struct pug_profile *profile, const char *format,
                                          const struct pug_export_options *options,
                                          pug_export_fn *put, void *context);

/** Write a profile in a format to a file (NULL: standard output); an exit code, having said why. */
int profile_export(profile_export_fn *write, struct pug_profile *profile,
                   const struct pug_export_format *format, const struct pug_export_options *options,
                   const char *path);

#endif
